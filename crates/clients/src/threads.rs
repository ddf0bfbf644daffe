//! Starting threads, whatever the machine.

use lockwright::platform::Platform;

/// How a machine runs several threads.
pub trait Threads {
    /// Runs each body on a thread of its own, all at the same time, and returns when all of them
    /// have. A panic in one of them reaches the caller or fails the run.
    fn run(&self, bodies: Vec<Box<dyn FnOnce() + Send>>);
    /// How many queue nodes one thread can claim at most; `None` if that is too many to try.
    fn node_limit(&self) -> Option<usize> {
        None
    }
}

/// A machine on which a test chooses the CPU of a thread.
pub trait Migrate: Platform {
    /// Puts the calling thread on `cpu`.
    fn run_on_cpu(cpu: u32);
}

/// Threads of the operating system.
pub struct NativeThreads;

impl Threads for NativeThreads {
    fn run(&self, bodies: Vec<Box<dyn FnOnce() + Send>>) {
        let threads: Vec<_> = bodies.into_iter().map(std::thread::spawn).collect();
        let panics: Vec<_> = threads.into_iter().filter_map(|thread| thread.join().err()).collect();
        if let Some(panic) = panics.into_iter().next() {
            std::panic::resume_unwind(panic);
        }
    }
}
