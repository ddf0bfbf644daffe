//! The spinlock that reports deadlocks, as a program uses it.

use crate::native::{Native, address_of, this_thread_id, thread_of};
use crate::qspinlock::resilient::{AcquireError, AcquireLimits, InPrograms, RawResilientSpinLock};
use crate::raw::RawLock;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use lockwright_core::glue::deadline_after;
use std::time::Duration;

/// A value behind a spinlock that gives up: in a deadlock, and after a time. It is the Linux kernel's resilient queued
/// spinlock.
///
/// It is for the places of a [`SpinLock`](crate::SpinLock) where a bug must not end in a silent hang. Waiters spin, so
/// every thread that wants the lock needs a CPU to itself.
///
/// # Examples
///
/// ```
/// use lockwright_linux::{LockErrorKind, ResilientSpinLock};
///
/// static HITS: ResilientSpinLock<u64> = ResilientSpinLock::new(0);
///
/// let mut hits = HITS.lock().expect("no deadlock");
/// *hits += 1;
/// let error = HITS.lock().expect_err("this thread holds it");
/// assert_eq!(error.kind(), LockErrorKind::AlreadyHeld);
/// drop(hits);
/// assert_eq!(*HITS.lock().expect("no deadlock"), 1);
/// ```
///
/// # When `lock` fails
///
/// | kind of the error | when |
/// |---|---|
/// | [`AlreadyHeld`](LockErrorKind::AlreadyHeld) | the thread holds the lock: at once. [In signal handlers](Self#signals-and-fork) also if the interrupted thread waits for it |
/// | [`Deadlock`](LockErrorKind::Deadlock) | another thread holds it and waits for a lock that this thread holds: after about a millisecond |
/// | [`TimedOut`](LockErrorKind::TimedOut) | after 250 ms, or 500 ms at the head of the queue; in [`lock_for`](Self::lock_for), after the time given |
/// | [`QueueDissolved`](LockErrorKind::QueueDissolved) | the thread at the head of the queue has given up, and all threads behind it do, too |
///
/// A thread that was told `QueueDissolved` and tries again at once joins the queue while it dissolves, and is told
/// `QueueDissolved` again. Let it do something else first.
///
/// Only this kind of lock is known to the search for deadlocks, and only deadlocks of two threads are found. Longer
/// circles end by the time-out. A thread that holds more than 31 of these locks takes no part in the search, nor does
/// the 4,097th thread that uses one.
///
/// # Memory ordering
///
/// `lock`, and an attempt that succeeds, see what all earlier owners did before they unlocked.
///
/// # Fairness
///
/// First come, first served, from the moment at which a thread has joined the queue.
///
/// # Panics
///
/// There are none. A panic in the critical section unlocks the lock; there is no poisoning.
///
/// # Forgotten guards
///
/// If a guard is forgotten, its lock stays locked. Its thread still counts as the owner of a lock at that address. So
/// if another lock lies there later, and another thread holds that one, this thread may be told `AlreadyHeld` or
/// `Deadlock` instead of waiting for it. No two threads ever hold a lock at the same time.
///
/// # Signals and fork
///
/// A signal handler may use the lock: if the interrupted thread holds it, `lock` fails at once with `AlreadyHeld`. It
/// does so, too, if another thread holds the lock and the interrupted one waits for it, is about to take it, or has
/// just released it. If the interrupted thread is at one of the last two moments, its handler waits for a second lock,
/// and a third thread holds that one and waits for the first, the handler or the third thread may be told `Deadlock`.
///
/// The first use in a process must not be in a handler, unless [`prepare`](crate::native::prepare) was called before:
/// it registers a fork handler with the C library, which may allocate for it, or hold a lock of its own at that moment.
///
/// In a forked child, a lock that another thread of the parent held stays locked, and `lock` fails by its time-out.
///
/// # Size and cost
///
/// Four bytes and the value. Without contention, a lock and unlock cost two more stores each than a `SpinLock`. When a
/// thread first takes such a lock, it claims a slot, as for a `lockwright::PercpuRwLock`.
pub struct ResilientSpinLock<T: ?Sized> {
    raw: RawResilientSpinLock<Native, InPrograms>,
    value: UnsafeCell<T>,
}

// SAFETY: the lock lets one thread at a time use the value.
unsafe impl<T: ?Sized + Send> Sync for ResilientSpinLock<T> {}
// SAFETY: as for the value.
unsafe impl<T: ?Sized + Send> Send for ResilientSpinLock<T> {}

impl<T> ResilientSpinLock<T> {
    /// Creates an unlocked lock.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { raw: RawResilientSpinLock::INIT, value: UnsafeCell::new(value) }
    }
    /// Returns the value, without locking.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> ResilientSpinLock<T> {
    /// Takes the lock, and waits for it.
    ///
    /// # Errors
    ///
    /// If it would wait for ever or has waited for too long; see [above](Self#when-lock-fails).
    #[inline]
    pub fn lock(&self) -> Result<ResilientSpinLockGuard<'_, T>, LockError> {
        self.lock_within(AcquireLimits::IN_PROGRAMS)
    }
    /// Takes the lock, and waits no longer than `timeout`. It returns at most 100 us later than that if it has a CPU.
    ///
    /// # Errors
    ///
    /// They are as for [`lock`](Self::lock). The times of `lock` do not apply.
    pub fn lock_for(&self, timeout: Duration) -> Result<ResilientSpinLockGuard<'_, T>, LockError> {
        self.lock_within(AcquireLimits::until(deadline_after::<Native>(timeout)))
    }
    /// Takes the lock if it is free and no thread waits for it. Never waits.
    #[inline]
    pub fn try_lock(&self) -> Option<ResilientSpinLockGuard<'_, T>> {
        self.raw.try_lock().then(|| ResilientSpinLockGuard::new(self))
    }
    /// Returns `true` if a thread holds the lock.
    pub fn is_locked(&self) -> bool {
        self.raw.is_locked()
    }
    /// Returns the value, without locking.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[inline]
    fn lock_within(
        &self,
        limits: AcquireLimits,
    ) -> Result<ResilientSpinLockGuard<'_, T>, LockError> {
        match self.raw.acquire(limits) {
            Ok(()) => Ok(ResilientSpinLockGuard::new(self)),
            Err(failure) => Err(LockError::of(&self.raw, failure)),
        }
    }
}

impl<T: Default> Default for ResilientSpinLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ResilientSpinLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("ResilientSpinLock");
        match self.try_lock() {
            Some(value) => fields.field("value", &&*value),
            None => fields.field("value", &format_args!("<locked>")),
        };
        fields.finish()
    }
}

/// The guard of a [`ResilientSpinLock`]: unlocks it when it is dropped. It cannot be sent to another thread.
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct ResilientSpinLockGuard<'a, T: ?Sized> {
    lock: &'a ResilientSpinLock<T>,
    _stays: PhantomData<*const ()>,
}

// SAFETY: shares the value and nothing else.
unsafe impl<T: ?Sized + Sync> Sync for ResilientSpinLockGuard<'_, T> {}

impl<'a, T: ?Sized> ResilientSpinLockGuard<'a, T> {
    /// Makes the guard of the owner.
    fn new(lock: &'a ResilientSpinLock<T>) -> Self {
        Self { lock, _stays: PhantomData }
    }
}

impl<T: ?Sized> Deref for ResilientSpinLockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for ResilientSpinLockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for ResilientSpinLockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard holds the lock.
        unsafe { self.lock.raw.unlock() };
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ResilientSpinLockGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// The reason why a [`ResilientSpinLock`] was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockErrorKind {
    /// The thread holds the lock already. In a signal handler: it is [using it](ResilientSpinLock#signals-and-fork).
    AlreadyHeld,
    /// Another thread holds the lock and waits for one that this thread holds.
    Deadlock,
    /// The time was over.
    TimedOut,
    /// The thread at the head of the queue has given up, and so have all threads behind it.
    QueueDissolved,
}

/// The error of a [`ResilientSpinLock`] that was not taken. It says which locks and which threads it is about.
///
/// A lock is named by its address, and a thread by its number, as debuggers show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockError {
    kind: LockErrorKind,
    lock: usize,
    thread: u32,
    other_lock: Option<usize>,
    other_thread: Option<u32>,
}

impl LockError {
    #[cold]
    fn of(raw: &RawResilientSpinLock<Native, InPrograms>, failure: AcquireError) -> Self {
        let lock = core::ptr::from_ref(raw).addr();
        let thread = this_thread_id();
        let error = |kind| Self { kind, lock, thread, other_lock: None, other_thread: None };
        let with_suspect = |kind| match raw.suspect() {
            Some((other, wanted)) => Self {
                other_thread: Some(thread_of(other)),
                other_lock: wanted.map(address_of),
                ..error(kind)
            },
            None => error(kind),
        };
        match failure {
            AcquireError::Held => Self {
                other_lock: Some(lock),
                other_thread: Some(thread),
                ..error(LockErrorKind::AlreadyHeld)
            },
            AcquireError::Crossed { other, wanted } => Self {
                other_lock: Some(address_of(wanted)),
                other_thread: Some(thread_of(other)),
                ..error(LockErrorKind::Deadlock)
            },
            AcquireError::TimedOut => with_suspect(LockErrorKind::TimedOut),
            AcquireError::Dissolved | AcquireError::Deadlock => {
                with_suspect(LockErrorKind::QueueDissolved)
            }
        }
    }

    /// Returns why the lock was not taken.
    #[must_use]
    pub fn kind(&self) -> LockErrorKind {
        self.kind
    }
    /// Returns the address of the lock that was not taken.
    #[must_use]
    pub fn lock(&self) -> usize {
        self.lock
    }
    /// Returns the number of the thread that waited.
    #[must_use]
    pub fn thread(&self) -> u32 {
        self.thread
    }
    /// Returns the address of the other lock: the one for which [`other_thread`](Self::other_thread) waits. `None` if
    /// it seemed to wait for none.
    #[must_use]
    pub fn other_lock(&self) -> Option<usize> {
        self.other_lock
    }
    /// Returns the number of the thread that holds the lock. It is known for a deadlock. In the other cases it is the
    /// thread that seemed to hold the lock when this one gave up.
    #[must_use]
    pub fn other_thread(&self) -> Option<u32> {
        self.other_thread
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, lock, thread, .. } = self;
        match kind {
            LockErrorKind::AlreadyHeld => {
                return write!(
                    f,
                    "thread {thread} waits for lock {lock:#x}, which it holds itself"
                );
            }
            LockErrorKind::Deadlock => write!(f, "deadlock: thread {thread}")?,
            LockErrorKind::TimedOut => write!(f, "time-out: thread {thread}")?,
            LockErrorKind::QueueDissolved => {
                write!(f, "the head of the queue gave up: thread {thread}")?;
            }
        }
        write!(f, " waits for lock {lock:#x}")?;
        if let Some(other) = self.other_thread {
            write!(f, ", which thread {other} holds")?;
        }
        if let Some(other) = self.other_lock {
            write!(f, "; that thread waits for lock {other:#x}")?;
        }
        Ok(())
    }
}

impl core::error::Error for LockError {}
