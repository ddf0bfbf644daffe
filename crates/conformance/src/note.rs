//! What the threads of a law leave for its caller.

use crate::platform::Threads;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// What one thread tells the caller, in memory the machine does not see.
#[derive(Default)]
pub(super) struct Note(AtomicU64);

impl Note {
    pub(super) fn write(&self, value: impl Into<u64>) {
        self.0.store(value.into(), Relaxed);
    }
    pub(super) fn read(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// For laws that say all they have to say in their bodies.
pub(super) fn nothing_more<S>(_: &S) {}

/// For laws that one thread checks.
pub(super) fn alone<S: Send + Sync + 'static>(threads: &impl Threads, state: S, body: fn(&S)) {
    threads.run(state, &[body], nothing_more);
}
