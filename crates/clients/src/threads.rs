//! Starting threads, whatever the machine.

use crate::ClientType;
use lockwright_catalog::registry::Platform;
use lockwright_conformance::Threads;

/// A machine on which a test chooses the CPU of a thread.
pub trait Migrate: Platform {
    /// Puts the calling thread on `cpu`.
    fn run_on_cpu(cpu: u32);
}

/// Threads of the operating system.
pub struct NativeThreads;

impl NativeThreads {
    /// Runs a client with this many threads, each of which repeats its operation `rounds` times.
    ///
    /// # Panics
    /// If the property does not hold.
    pub fn client(client: ClientType, threads: usize, rounds: u32) {
        let client = client.make(threads, rounds);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let client = &client;
                scope.spawn(move || client.body(thread));
            }
        });
        client.finish();
    }
}

impl Threads for NativeThreads {
    fn run<S: Send + Sync + 'static>(&self, state: S, bodies: &[fn(&S)], finish: fn(&S)) {
        std::thread::scope(|scope| {
            for body in bodies {
                scope.spawn(|| body(&state));
            }
        });
        finish(&state);
    }
}
