//! Clients of the once: threads that call, wait and give up, and a last user that frees it.

use crate::Client;
use crate::handler::Attempted;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU32};
use lockwright::once::{Begun, RawOnce, Running};
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;

/// A once whose closure writes a note.
struct Noted<P: Platform> {
    once: RawOnce<P>,
    note: Guarded<P, u32>,
    /// Closures that ran, unseen by the machine.
    ran: AtomicU32,
}

impl<P: Platform> Noted<P> {
    fn new() -> Self {
        Self { once: RawOnce::new(), note: Guarded::new(0), ran: AtomicU32::new(0) }
    }
    fn write(&self, running: Running<'_, P>) {
        // SAFETY: one thread runs, and the others read when it is done.
        unsafe { self.note.set(1) };
        self.ran.fetch_add(1, Relaxed);
        running.complete();
    }
    fn read(&self) {
        // SAFETY: it is done.
        assert_eq!(unsafe { self.note.get() }, 1, "it is said to be done, and is not");
        assert!(self.once.is_done(), "it was done, and is no longer");
    }
    fn finish(&self) {
        self.read();
        assert_eq!(self.ran.load(Relaxed), 1, "it was not done once");
        assert!(self.once.wait(), "it is done, and is said to be poisoned");
    }
}

/// Threads with an even number call, and one of them does it; those with an odd number wait for it. All find what it
/// has written.
pub struct Calls<P: Platform> {
    object: Noted<P>,
}

impl<P: Platform> Client for Calls<P> {
    const NAME: &'static str = "once-call";

    fn new(_threads: usize) -> Self {
        Self { object: Noted::new() }
    }
    fn body(&self, thread: usize) {
        let Self { object } = self;
        if !thread.is_multiple_of(2) {
            assert!(object.once.wait(), "nobody gave up");
        } else if !object.once.is_done() {
            match object.once.begin(false) {
                Begun::Ours(running) => object.write(running),
                Begun::Done => {}
                Begun::Poisoned => panic!("nobody gave up"),
            }
        }
        object.read();
    }
    fn finish(&self) {
        self.object.finish();
    }
}

impl<P: Platform> Attempted for Calls<P> {
    const IN_HANDLER: &'static str = "once-call-handler";
    fn attempt(&self) {
        if self.object.once.is_done() {
            self.object.read();
        }
    }
}

/// The first thread begins, gives up and calls; other threads with an even number call, those with an odd number wait
/// until it is done. The one that does it after a thread that gave up finds what that one has written.
pub struct GivesUp<P: Platform> {
    object: Noted<P>,
    /// Written before it is given up.
    draft: Guarded<P, u32>,
}

impl<P: Platform> GivesUp<P> {
    fn call(&self) {
        if let Begun::Ours(running) = self.object.once.begin(true) {
            if running.was_poisoned() {
                // SAFETY: written before it was given up, and this thread alone runs.
                assert_eq!(unsafe { self.draft.get() }, 1, "what was given up is not seen");
            }
            self.object.write(running);
        }
    }
}

impl<P: Platform> Client for GivesUp<P> {
    const NAME: &'static str = "once-give-up";

    fn new(_threads: usize) -> Self {
        Self { object: Noted::new(), draft: Guarded::new(0) }
    }
    fn body(&self, thread: usize) {
        if thread.is_multiple_of(2) {
            if thread == 0
                && let Begun::Ours(running) = self.object.once.begin(false)
            {
                // SAFETY: this thread alone runs.
                unsafe { self.draft.set(1) };
                drop(running);
            }
            self.call();
        } else {
            self.object.once.wait_until_done();
        }
        self.object.read();
    }
    fn finish(&self) {
        self.object.finish();
    }
}

/// The first thread waits until it is done and frees it then, while the second one, which has done it, may still be
/// about to return. Other threads do nothing.
///
/// For machines that see accesses to what was freed.
pub struct FreedWhenDone<P: Platform> {
    object: Noted<P>,
    freed: AtomicBool,
}

impl<P: Platform> Client for FreedWhenDone<P> {
    const NAME: &'static str = "once-freed";

    fn new(_threads: usize) -> Self {
        Self { object: Noted::new(), freed: AtomicBool::new(false) }
    }
    fn body(&self, thread: usize) {
        let Self { object, freed } = self;
        match thread {
            0 => {
                object.once.wait_until_done();
                object.read();
                P::freed(&object.once);
                freed.store(true, Relaxed);
            }
            1 => match object.once.begin(false) {
                Begun::Ours(running) => object.write(running),
                Begun::Done | Begun::Poisoned => panic!("nobody else begins"),
            },
            _ => {}
        }
    }
    fn finish(&self) {
        assert!(self.freed.load(Relaxed), "nobody was the last user");
        assert_eq!(self.object.ran.load(Relaxed), 1, "it was not done once");
    }
}
