//! The abilities that only some locks have: to give up at a deadline, to work with a condition variable, and to take
//! the place of a kernel's own slow path.
//!
//! A row of the registry says which of these abilities its lock has. Then the lock has the trait, and harnesses can ask
//! for its type as a lock with that trait.

use crate::condvar::RawCondvar;
use crate::futex3::{Futex3, Futex3Condvar, FutexPlatform, SpinLimit};
use crate::mutex::{RawFairMutex, RawMutex};
use crate::park::ParkPlatform;
use crate::percpu_rwlock::testing::InSlots;
use crate::percpu_rwlock::{RawPercpuRwLock, ReaderPlatform};
use crate::qspinlock::resilient::{
    AcquireLimits, HolderPlatform, InPrograms, RawResilientSpinLock,
};
use crate::qspinlock::{QSpinlock, Spin, Succession, Word};
use crate::queue::QueuePlatform;
use crate::raw::RawLock;
use crate::rwlock::{Fairness, RawRwLock};
use crate::semaphore::RawSemaphore;

/// A lock with deadlines, of the platform's clock.
pub trait TimedLock: RawLock {
    /// True if a forked child may forget the readers that do not exist in it.
    const FORGETS_READERS: bool = false;
    /// Takes the lock as the owner before a deadline. Returns `true` if it did.
    fn lock_until(&self, deadline_ns: u64) -> bool;
    /// Takes the lock as a reader before a deadline, or as the owner where readers do not share. Returns `true` if it
    /// did.
    fn lock_shared_until(&self, deadline_ns: u64) -> bool {
        self.lock_until(deadline_ns)
    }
}

/// A lock with the word of the kernel's queued spinlock: free is zero, and the owner releases it by storing zero in
/// byte 0. So a lock function of a kernel can call the slow path and keep its own first attempt and its own release.
pub trait SlowpathLock: RawLock {
    /// Takes the lock, waiting as long as it takes, after a first attempt that has found the word `seen`.
    fn lock_contended(&self, seen: u32);
}

/// A lock whose library has a condition variable for it.
pub trait CondvarLock: RawLock {
    /// The condition variable.
    type Condvar: LockCondvar<Self>;
}

/// A condition variable for locks of the type `L`.
pub trait LockCondvar<L>: Send + Sync + Sized + 'static {
    /// Returns a condition variable on which no thread waits.
    fn new() -> Self;
    /// Releases `lock`, waits to be notified, and takes `lock` again. Returns `false` if the deadline, of the
    /// platform's clock, has passed and no thread had notified this one. A condition variable of another library may
    /// return for no reason.
    ///
    /// # Safety
    /// The caller owns `lock`, and owns it again afterwards. All waits on a condition variable are with one lock.
    unsafe fn wait(&self, lock: &L, deadline_ns: Option<u64>) -> bool;
    /// Notifies one thread that waits, if there is one. Returns `false` if it knows that there was none.
    fn notify_one(&self) -> bool;
    /// Notifies all threads that wait.
    fn notify_all(&self);
}

impl<P: ParkPlatform, S: Succession<P>> CondvarLock for RawMutex<P, S> {
    type Condvar = RawCondvar<P>;
}

impl<P: ParkPlatform, S: Succession<P>> LockCondvar<RawMutex<P, S>> for RawCondvar<P> {
    fn new() -> Self {
        Self::new()
    }
    #[inline]
    unsafe fn wait(&self, lock: &RawMutex<P, S>, deadline_ns: Option<u64>) -> bool {
        // SAFETY: the caller owns the lock.
        unsafe { Self::wait(self, lock, deadline_ns) }
    }
    #[inline]
    fn notify_one(&self) -> bool {
        Self::notify_one(self)
    }
    #[inline]
    fn notify_all(&self) {
        Self::notify_all(self);
    }
}

/// A mutex for programs, as checkers use it.
pub trait ProgramMutex: TimedLock {
    /// Makes a release a store if no thread sleeps, so that a checker need not wait for that.
    fn calm(&self);
    /// Takes the lock as `lock` does, but sleeps at once where `lock` waits.
    fn lock_asleep(&self);
    /// Returns `true` if releases of this mutex look for sleepers at the same place as those of `other`.
    fn shares_bucket_with(&self, other: &Self) -> bool;
    /// Releases the lock for a thread that sleeps, if there is one.
    ///
    /// # Safety
    /// The caller owns the lock.
    unsafe fn unlock_fair(&self);
}

macro_rules! program_mutexes {
    ($($(#[$doc:meta])* $lock:ty;)+) => {$(
        $(#[$doc])*
        impl<P: ParkPlatform, S: Succession<P>> ProgramMutex for $lock {
            fn calm(&self) {
                RawMutex::calm(self);
            }
            fn lock_asleep(&self) {
                RawMutex::lock_asleep(self);
            }
            fn shares_bucket_with(&self, other: &Self) -> bool {
                RawMutex::shares_bucket_with(self, other)
            }
            unsafe fn unlock_fair(&self) {
                // SAFETY: the caller owns it.
                unsafe { RawMutex::unlock_fair(self) };
            }
        }
    )+};
}
program_mutexes! {
    RawMutex<P, S>;
    /// Each release of this mutex is for a thread that sleeps.
    RawFairMutex<P, S>;
}

impl<P: FutexPlatform, S: SpinLimit> CondvarLock for Futex3<P, S> {
    type Condvar = Futex3Condvar<P>;
}

impl<P: FutexPlatform, S: SpinLimit> LockCondvar<Futex3<P, S>> for Futex3Condvar<P> {
    fn new() -> Self {
        Self::new()
    }
    #[inline]
    unsafe fn wait(&self, lock: &Futex3<P, S>, deadline_ns: Option<u64>) -> bool {
        // SAFETY: the caller owns the lock.
        unsafe { Self::wait(self, lock, deadline_ns) }
    }
    /// Always returns `true`, because it does not know if there was a waiter.
    #[inline]
    fn notify_one(&self) -> bool {
        Self::notify_one(self);
        true
    }
    #[inline]
    fn notify_all(&self) {
        Self::notify_all(self);
    }
}

/// Checkers run the same clients with this mutex as with the others. Where it has no special release or acquisition, it
/// uses the usual one.
impl<P: FutexPlatform, S: SpinLimit> ProgramMutex for Futex3<P, S> {
    fn calm(&self) {}
    fn lock_asleep(&self) {
        self.lock();
    }
    fn shares_bucket_with(&self, _other: &Self) -> bool {
        false
    }
    unsafe fn unlock_fair(&self) {
        // SAFETY: the caller owns it.
        unsafe { self.unlock() };
    }
}

impl<P: QueuePlatform, S: Succession<P>> SlowpathLock for QSpinlock<P, S, Spin> {
    fn lock_contended(&self, seen: u32) {
        self.lock_slowpath(Word::from_bits(seen));
    }
}

macro_rules! timed {
    ($([$($bounds:tt)*] $lock:ty, |$this:ident, $deadline_ns:ident| $until:expr;)+) => {
        $(impl<$($bounds)*> TimedLock for $lock {
            #[inline]
            fn lock_until(&self, $deadline_ns: u64) -> bool {
                let $this = self;
                $until
            }
        })+
    };
}
timed! {
    [P: ParkPlatform, S: Succession<P>] RawMutex<P, S>, |lock, until_ns| Self::lock_until(lock, until_ns);
    [P: ParkPlatform, S: Succession<P>] RawFairMutex<P, S>, |lock, until_ns| RawMutex::lock_until(lock, until_ns);
    [P: FutexPlatform, S: SpinLimit] Futex3<P, S>, |lock, until_ns| Self::lock_until(lock, until_ns);
    [P: QueuePlatform, S: Succession<P>] QSpinlock<P, S, Spin>, |lock, until_ns| Self::lock_until(lock, until_ns);
    [P: HolderPlatform] RawResilientSpinLock<P, InPrograms>,
        |lock, until_ns| lock.acquire(AcquireLimits::until(until_ns)).is_ok();
    [P: ParkPlatform] RawSemaphore<P, 1>, |lock, until_ns| lock.acquire_until(1, until_ns);
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
    [P: ParkPlatform, F: Fairness] RawRwLock<P, F>, false;
    [P: ReaderPlatform] RawPercpuRwLock<P>, true;
    [P: ReaderPlatform] InSlots<P>, true;
}
