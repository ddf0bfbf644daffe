//! Reader-writer locks that cannot make an owner a reader.

use crate::peers::methods::methods;
use lockwright_core::raw::{Order, RawLock};
use std::sync::atomic::{AtomicBool, Ordering};

/// A reader-writer lock that cannot make an owner a reader and tells the two apart when they leave. An owner that asks
/// to become a reader stays the owner, and leaves as one.
///
/// Readers look at a word for that. It is on a cache line of its own, which no thread writes meanwhile, so that the
/// look costs one load that hits.
pub struct StaysOwner<L> {
    lock: L,
    is_owned: OwnLine,
}

/// True if the reader that leaves next is the owner.
#[repr(align(64))]
struct OwnLine(AtomicBool);

impl<L: RawLock> RawLock for StaysOwner<L> {
    const ORDER: Order = L::ORDER;

    fn new() -> Self {
        Self { lock: L::new(), is_owned: OwnLine(AtomicBool::new(false)) }
    }
    methods! { self;
        lock => self.lock.lock();
        try_lock => self.lock.try_lock();
        // SAFETY: the caller owns the lock.
        unlock => unsafe { self.lock.unlock() };
        is_locked => self.lock.is_locked();
        lock_shared => self.lock.lock_shared();
        try_lock_shared => self.lock.try_lock_shared();
        unlock_shared => {
            // ordering: Relaxed; a thread that holds the lock is ordered after the owner that wrote this.
            if self.is_owned.0.load(Ordering::Relaxed) {
                // ordering: Relaxed; as above.
                self.is_owned.0.store(false, Ordering::Relaxed);
                // SAFETY: while the flag is set only the caller of `downgrade` holds the lock, as its owner.
                return unsafe { self.lock.unlock() };
            }
            // SAFETY: the caller is a reader of the lock.
            unsafe { self.lock.unlock_shared() }
        };
        // ordering: Relaxed; as in `unlock_shared`.
        downgrade => self.is_owned.0.store(true, Ordering::Relaxed);
    }
}
