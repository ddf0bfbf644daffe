//! Locks with deadlines.

use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::raw::RawLock;
use lockwright::registry::Platform;
use lockwright::rwlock::{Fairness, RawRwLock};
use lockwright::semaphore::RawSemaphore;

/// A lock with deadlines, of the platform's clock.
pub trait TimedLock: RawLock {
    /// True if a forked child may forget the readers that do not exist in it.
    const FORGETS_READERS: bool = false;
    /// Takes it as the owner before a deadline. Returns true if it did.
    fn lock_until(&self, deadline_ns: u64) -> bool;
    /// Takes it as a reader before a deadline, or as the owner where readers do not share. Returns true if it did.
    fn lock_shared_until(&self, deadline_ns: u64) -> bool {
        self.lock_until(deadline_ns)
    }
}

impl<P: Platform> TimedLock for RawMutex<P> {
    fn lock_until(&self, deadline_ns: u64) -> bool {
        Self::lock_until(self, deadline_ns)
    }
}

impl<P: Platform> TimedLock for RawSemaphore<P, 1> {
    fn lock_until(&self, deadline_ns: u64) -> bool {
        self.acquire_until(1, deadline_ns)
    }
}

macro_rules! reader_writer {
    ($([$($bounds:tt)*] $lock:ty, $forgets:literal;)+) => {
        $(impl<$($bounds)*> TimedLock for $lock {
            const FORGETS_READERS: bool = $forgets;
            fn lock_until(&self, deadline_ns: u64) -> bool {
                <$lock>::lock_until(self, deadline_ns)
            }
            fn lock_shared_until(&self, deadline_ns: u64) -> bool {
                <$lock>::lock_shared_until(self, deadline_ns)
            }
        })+
    };
}
reader_writer! {
    [P: Platform, F: Fairness] RawRwLock<P, F>, false;
    [P: Platform] RawPercpuRwLock<P>, true;
    [P: Platform] InSlots<P>, true;
}
