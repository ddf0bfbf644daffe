#![doc = include_str!("README.md")]

mod bucket;
mod granting;
mod marks;
mod sections;
mod waiter;

pub use bucket::{Bucket, BucketGuard};
pub use granting::{LaterWakes, Served, Waiters};
pub use marks::{Counted, Mark, MarkLook, MarkPlatform, MarkState, NotifiedSleepers, WaiterKind};
pub use waiter::{HoldMode, LockMode, Place, Waiter, waiter};

use crate::platform::{Atomic, AtomicInt, SleepStorage};
use crate::queue::NodeId;
use crate::tunables::Tunable;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The operations that a lock asks for if its waiters sleep in the table.
pub trait ParkPlatform:
    MarkPlatform + SleepStorage<Bucket = Bucket<Self>, Waiter = Waiter<Self>>
{
}
impl<P> ParkPlatform for P where
    P: MarkPlatform + SleepStorage<Bucket = Bucket<P>, Waiter = Waiter<P>>
{
}

/// The time that a thread without a queue node naps between two attempts, in nanoseconds.
pub const NAP_NS: u64 = 1_000_000;

/// Signal: the waiter sleeps, or is about to.
pub const ASLEEP: u32 = 0;
/// Signal: the waiter is the first one, and the lock was free or about to be. It stays in the table.
pub const WOKEN: u32 = 1;
/// Signal: the waiter owns the lock, and is no longer in the table.
pub const GRANTED: u32 = 2;
/// Signal: the waiter is not the first one. Before it sleeps, it looks for a moment if it becomes the first one.
pub const BEHIND: u32 = 3;

/// Returns the last signal that the waiter `id` was told. A waiter is told by exchanges, and this is an exchange, too,
/// so it does not return an older signal.
pub fn told<P: ParkPlatform>(id: NodeId) -> u32 {
    // ordering: Acquire; W4.
    waiter::<P>(id).signal.fetch_or(0, Acquire)
}

/// The sleeping waiters of reader-writer locks and semaphores: static, keyed by the address of a lock word. It never
/// touches the lock itself.
pub struct SleepTable<P>(PhantomData<fn() -> P>);

/// The kind of lock that a sleeper waits for. It is a part of the name. So if a release comes late and its lock is
/// gone, it does not mistake a waiter for a lock of another kind at that address for one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Awaited {
    /// Permits of a semaphore.
    Semaphore = 1,
    /// A reader-writer lock.
    RwLock,
    /// A fair reader-writer lock.
    FairRwLock,
}

/// The position of the kind in a name, above the platform's name of the word.
const KIND_SHIFT: u32 = 48;

impl<P: ParkPlatform> SleepTable<P> {
    /// Returns the name of the lock that sleepers wait for, from its kind and its word.
    #[inline(always)]
    pub fn name<W>(kind: Awaited, word: *const W) -> u64 {
        P::lock_name(word.cast()) | (kind as u64) << KIND_SHIFT
    }

    /// Returns the number of the bucket of a name.
    #[inline(always)]
    pub fn place(name: u64) -> usize {
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
    /// Returns `true` if sections of the lock `name` in this mode are long.
    pub fn are_long(name: u64, held: HoldMode) -> bool {
        let long_ns = P::tunable(Tunable::rwlock_long_ns);
        Self::bucket(Self::place(name)).sections.are_long(name, held, long_ns)
    }
    /// Runs `section` with the bucket of `name` locked.
    pub fn within<R>(name: u64, section: impl FnOnce(usize, &BucketGuard<P>) -> R) -> R {
        let at = Self::place(name);
        P::uninterrupted(|| section(at, &Self::bucket(at).lock()))
    }

    /// Sleeps until `until_ns`, or not, without being a waiter.
    pub fn nap(name: u64, until_ns: u64) {
        let mark = Self::mark(Self::place(name));
        // ordering: Relaxed; nothing is read through it.
        P::futex_wait(mark, mark.load(Relaxed), Some(until_ns));
    }
}
