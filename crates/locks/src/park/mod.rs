#![doc = include_str!("README.md")]

mod bucket;
mod granting;
mod moving;
mod waiter;

pub use bucket::Bucket;
pub(crate) use bucket::BucketGuard;
pub(crate) use granting::{Served, Waiters};
pub(crate) use waiter::waiter;
pub use waiter::{HoldMode, Place, Waiter};

use crate::events::Event;
use crate::platform::{Atomic, AtomicInt, LockHash, SchedulerHints, SleepStorage, Sleeping};
use crate::queue::{NodeId, QueuePlatform};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What a lock asks for whose waiters sleep.
pub trait ParkPlatform:
    QueuePlatform
    + SchedulerHints
    + Sleeping
    + LockHash
    + SleepStorage<Bucket = Bucket<Self>, Waiter = Waiter<Self>>
{
}
impl<P> ParkPlatform for P where
    P: QueuePlatform
        + SchedulerHints
        + Sleeping
        + LockHash
        + SleepStorage<Bucket = Bucket<P>, Waiter = Waiter<P>>
{
}

/// How long a thread without a queue node naps between two attempts.
pub(crate) const NAP_NS: u64 = 1_000_000;

/// Signal: sleeps, or is about to.
pub(crate) const ASLEEP: u32 = 0;
/// Signal: it is the first waiter, and the lock was free or about to be. It stays in the table.
pub(crate) const WOKEN: u32 = 1;
/// Signal: it owns the lock, and is no longer in the table.
pub(crate) const GRANTED: u32 = 2;
/// Signal: it is not the first, and looks for a moment whether it becomes that before it sleeps.
pub(crate) const BEHIND: u32 = 3;

/// What the waiter `id` was last told. It is told by exchanges, and this is one: so it is not
/// something older.
pub(crate) fn told<P: ParkPlatform>(id: NodeId) -> u32 {
    // ordering: Acquire; W4.
    waiter::<P>(id).signal.fetch_or(0, Acquire)
}

/// Mark: somebody may sleep, look at the bucket. Every thread of the process knows that, or passes a
/// barrier before it misses it.
const RESTLESS: u32 = 0;
/// Mark: no thread sleeps. A thread that changes that without owning the lock pays a heavy barrier.
const QUIET: u32 = 1;
/// Mark: as [`RESTLESS`], but only those threads know it that own the lock after the one who wrote it.
const STIRRED: u32 = 2;

/// Looks of unlocking threads without success before a bucket may become quiet again.
const CALM_LOOKS: u32 = 64;

/// The sleeping waiters of all locks and condition variables: static, keyed by the address of a lock
/// word. Never touches the lock itself.
pub struct SleepTable<P>(PhantomData<fn() -> P>);

/// What a sleeper waits for. It is a part of the name, so that a release that comes late, when the lock is gone, does
/// not take a waiter for something else at the same address for one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Awaited {
    Mutex = 1,
    Condvar,
    Semaphore,
    RwLock,
    FairRwLock,
}

/// Where the kind is in a name, above the platform's name of the word.
const KIND_SHIFT: u32 = 48;

/// What is left behind by a waiter that has taken itself out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It was granted the lock before it could.
    Owner,
    /// Nobody depends on it.
    Nobody,
    /// A sleeper is now the first. The lock may have become free meanwhile: look again.
    Sleeper,
}

impl<P: ParkPlatform> SleepTable<P> {
    /// The name of what sleepers wait for, by its word.
    #[inline(always)]
    pub(crate) fn name<W>(kind: Awaited, word: *const W) -> u64 {
        P::lock_name(word.cast()) | (kind as u64) << KIND_SHIFT
    }

    #[inline(always)]
    pub(crate) fn place(name: u64) -> usize {
        // The middle bits of a product depend on all bits of the name (Fibonacci hashing).
        (name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (P::sleep_buckets() - 1)
    }
    #[inline(always)]
    fn mark<'a>(at: usize) -> &'a P::U32 {
        // SAFETY: by the contract of `SleepStorage` it lives as long as the machine.
        unsafe { P::sleep_mark(at).as_ref() }
    }
    fn bucket<'a>(at: usize) -> &'a Bucket<P> {
        // SAFETY: as above.
        unsafe { P::sleep_bucket(at).as_ref() }
    }
    /// Runs `section` with the bucket of `name` locked.
    pub(crate) fn within<R>(name: u64, section: impl FnOnce(usize, &BucketGuard<P>) -> R) -> R {
        let at = Self::place(name);
        P::uninterrupted(|| section(at, &Self::bucket(at).lock()))
    }

    /// Sleeps until `until_ns`, or not, without being a waiter.
    pub(crate) fn nap(name: u64, until_ns: u64) {
        let mark = Self::mark(Self::place(name));
        // ordering: Relaxed; nothing is read through it.
        P::futex_wait(mark, mark.load(Relaxed), Some(until_ns));
    }

    /// Returns `true` if a release of the lock `name` may be a store; otherwise somebody may sleep, and it had
    /// better be an exchange.
    #[inline(always)]
    pub(crate) fn is_quiet(name: u64) -> bool {
        // ordering: Relaxed; only a hint, re-checked in `released`.
        Self::mark(Self::place(name)).load(Relaxed) == QUIET
    }

    /// Called by a thread that has just released the lock `name` by an exchange; it may no longer
    /// exist. Wakes its first waiter if that sleeps.
    #[inline(always)]
    pub(crate) fn released_by_exchange(name: u64) {
        let at = Self::place(name);
        let bucket = Self::bucket(at);
        // ordering: full barrier; W3.
        P::barrier_after_exchange(&bucket.wanted);
        Self::look(name, at, bucket);
    }

    /// As [`released_by_exchange`](Self::released_by_exchange) after a store.
    #[inline(always)]
    pub(crate) fn released(name: u64) {
        // ordering: light barrier; W2.
        P::light_barrier();
        let at = Self::place(name);
        // ordering: Relaxed; after the barrier, W2.
        if Self::mark(at).load(Relaxed) != QUIET {
            Self::look_late(name, at);
        }
    }

    /// The bucket was quiet before the release, and no longer is.
    #[cold]
    fn look_late(name: u64, at: usize) {
        let bucket = Self::bucket(at);
        // ordering: full barrier; W3.
        P::full_barrier(&bucket.wanted);
        Self::look(name, at, bucket);
    }

    #[inline(always)]
    fn look(name: u64, at: usize, bucket: &Bucket<P>) {
        // ordering: Relaxed; after the barrier, W3.
        if bucket.wanted.load(Relaxed) == 0 {
            return Self::calm_down(at, bucket);
        }
        // ordering: Relaxed; nothing is read through it.
        bucket.calm.store(0, Relaxed);
        Self::wake_first(name);
    }

    /// Wakes the first waiter for the lock `name` if it sleeps.
    pub(crate) fn wake_first(name: u64) {
        let woken = Self::within(name, |_, section| {
            let first = waiter::<P>(section.first_of(name)?);
            // ordering: Relaxed; written under the lock, W1.
            if first.signal.load(Relaxed) != ASLEEP {
                return None;
            }
            section.change_wanted(-1);
            // ordering: Relaxed; what it was woken for it acquires from the lock.
            first.signal.swap(WOKEN, Relaxed);
            Some(&raw const first.signal)
        });
        if let Some(signal) = woken {
            P::count(Event::mutex_wake);
            P::futex_wake(signal, 1);
        }
    }

    /// After some looks without success: makes the bucket quiet, if there are heavy barriers.
    #[inline]
    fn calm_down(at: usize, bucket: &Bucket<P>) {
        if P::has_heavy_barrier() {
            Self::count_calm(at, bucket);
        }
    }
    #[cold]
    fn count_calm(at: usize, bucket: &Bucket<P>) {
        // ordering: Relaxed; nothing is read through it, and looks may be missed.
        let calm = bucket.calm.load(Relaxed).wrapping_add(1);
        // ordering: Relaxed; as above.
        bucket.calm.store(calm, Relaxed);
        if calm < CALM_LOOKS {
            return;
        }
        // ordering: Relaxed; as above.
        bucket.calm.store(0, Relaxed);
        Self::quieten(at);
    }

    /// Makes the bucket of `name` quiet if nobody sleeps in it.
    #[cfg(feature = "internals")]
    pub(crate) fn calm(name: u64) {
        Self::quieten(Self::place(name));
    }

    fn quieten(at: usize) {
        if !P::may_use_heavy_barrier() {
            return;
        }
        let bucket = Self::bucket(at);
        P::uninterrupted(|| {
            let _section = bucket.lock();
            // ordering: Relaxed; written under the lock, W1.
            if bucket.wanted.load(Relaxed) == 0 {
                // ordering: Relaxed; a thread that reads it passes the barriers of W2.
                Self::mark(at).store(QUIET, Relaxed);
            }
        });
    }

    /// The first waiter of a word of bucket `at` is going to sleep. A thread that looks at its lock after this
    /// finds it free, or the next release finds the waiter.
    ///
    /// With the bucket held: once the mark says restless, others rely on every thread having passed a
    /// barrier since.
    fn want(at: usize, section: &BucketGuard<P>) {
        section.change_wanted(1);
        let mark = Self::mark(at);
        // ordering: Relaxed; written under the lock, W1.
        if mark.load(Relaxed) == RESTLESS {
            // ordering: full barrier; W3.
            return P::full_barrier(&Self::bucket(at).wanted);
        }
        // ordering: Relaxed; ordered by the heavy barrier, W2.
        mark.store(RESTLESS, Relaxed);
        P::count(Event::heavy_barrier);
        // Every owner sees the mark when it looks next.
        // ordering: heavy barrier; W2, W3.
        P::heavy_barrier();
    }
    /// As [`want`](Self::want), for a thread that owns the lock whose waiter it is: those that will
    /// own it later find the mark without a barrier.
    fn want_as_owner(at: usize, section: &BucketGuard<P>) {
        section.change_wanted(1);
        let mark = Self::mark(at);
        // ordering: Relaxed; written under the lock, W1.
        if mark.load(Relaxed) == QUIET {
            // ordering: Relaxed; published by the release of the lock.
            mark.store(STIRRED, Relaxed);
        }
    }
    /// Appends `id` to the waiters for the lock `name`. Returns `true` if it is the first. Then the caller has to
    /// look at the lock once more before it sleeps: nobody may have seen it.
    pub(crate) fn enqueue(name: u64, id: NodeId) -> bool {
        // ordering: Relaxed; published by W1.
        waiter::<P>(id).signal.store(ASLEEP, Relaxed);
        Self::within(name, |at, section| {
            let is_first = section.first_of(name).is_none();
            section.push(id, name);
            if is_first {
                Self::want(at, section);
            }
            is_first
        })
    }

    /// The first waiter goes to sleep again. Returns `true` if it has to look at the lock once more; otherwise it
    /// has been granted the lock meanwhile.
    pub(crate) fn sleep_again(name: u64, id: NodeId) -> bool {
        Self::within(name, |at, section| {
            let signal = &waiter::<P>(id).signal;
            // ordering: Relaxed; written under the lock, W1.
            if signal.load(Relaxed) == GRANTED {
                return false;
            }
            // ordering: Relaxed; read under the lock, W1.
            signal.store(ASLEEP, Relaxed);
            Self::want(at, section);
            true
        })
    }

    /// Takes out the first waiter `id`, which owns the lock now.
    pub(crate) fn leave_as_owner(name: u64, id: NodeId) {
        Self::within(name, |at, section| {
            Self::take_out(section, name, id);
            if section.first_of(name).is_some() {
                Self::want_as_owner(at, section);
            }
        });
    }

    /// Takes out `id`, which no longer wants the lock.
    pub(crate) fn leave(name: u64, id: NodeId) -> Left {
        Self::within(name, |at, section| {
            // ordering: Relaxed; written under the lock, W1, which carries the section, too.
            if waiter::<P>(id).signal.load(Relaxed) == GRANTED {
                return Left::Owner;
            }
            let was_first = section.first_of(name) == Some(id);
            Self::take_out(section, name, id);
            if !was_first || section.first_of(name).is_none() {
                return Left::Nobody;
            }
            Self::want(at, section);
            Left::Sleeper
        })
    }

    /// Takes `id` out of the bucket of `name`.
    fn take_out(section: &BucketGuard<P>, name: u64, id: NodeId) {
        let is_first = section.first_of(name) == Some(id);
        // ordering: Relaxed; written under the lock, W1.
        if is_first && waiter::<P>(id).signal.load(Relaxed) == ASLEEP {
            section.change_wanted(-1);
        }
        section.remove(id);
    }

    /// Makes the first waiter the owner of the lock `name`, which the caller holds. Returns `true` if there is one.
    /// `before` runs before it can know.
    pub(crate) fn grant(name: u64, before: impl FnOnce()) -> bool {
        let granted = Self::within(name, |at, section| {
            let id = section.first_of(name)?;
            Self::take_out(section, name, id);
            if section.first_of(name).is_some() {
                Self::want_as_owner(at, section);
            }
            before();
            let signal = &waiter::<P>(id).signal;
            // The last access to the waiter: it may be gone then.
            // ordering: Release; W4.
            signal.swap(GRANTED, Release);
            Some(signal)
        });
        if let Some(signal) = granted {
            P::count(Event::mutex_handoff);
            P::futex_wake(signal, 1);
        }
        granted.is_some()
    }
}
