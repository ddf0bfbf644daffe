//! The policies, what they ask for, and the states of a waiter.

use crate::platform::{LockHash, SchedulerHints, Sleeping};
use crate::queue::QueuePlatform;

/// A platform on which the waiters of these locks can sleep. It needs no table of sleepers.
pub trait PvPlatform: QueuePlatform + SchedulerHints + Sleeping + LockHash {}
impl<P: QueuePlatform + SchedulerHints + Sleeping + LockHash> PvPlatform for P {}

/// The waiter is awake, or is about to look.
pub(super) const RUNNING: u32 = 0;
/// The waiter sleeps, or is about to, and is not the head of the queue.
pub(super) const HALTED: u32 = 1;
/// The waiter is the head of the queue, and has an entry in the hash or will have one before the
/// owner releases the lock.
pub(super) const HASHED: u32 = 2;

/// The paravirtual queued spinlock without lock stealing. Waiters spin for a while and then sleep. No thread passes
/// them.
///
/// For more threads than CPUs, where fairness is worth a wake-up per acquisition. Fairness bound: that of the
/// succession.
pub struct Park;

/// [`Park`] as it was at first (until December 2015): a waiter spins for as long as it may, also behind a waiter that
/// sleeps.
///
/// Fairness bound: as [`Park`].
pub struct ParkFullSpin;

/// [`ParkFullSpin`] with the first of the two changes of December 2015: each newcomer tries once to steal the lock.
/// With the second change, by which a waiter sleeps early behind one that does not run, it is [`StealOnce`].
///
/// Fairness bound: as [`StealOnce`].
pub struct StealOnceFullSpin;

/// The paravirtual queued spinlock as it was before it became hybrid (December 2015 to November 2017): each newcomer
/// tries once to steal the lock, then it queues. The head of the queue is pending while it spins, which stops them.
///
/// Fairness bound: none. While the head of the queue sleeps, each newcomer that finds the lock free passes it.
pub struct StealOnce;

/// The hybrid paravirtual queued spinlock, by the kernel's rules: *queued mode* while the head of
/// the queue spins, *unfair mode* while it sleeps.
///
/// Fairness bound: none while the head of the queue sleeps. Once it is awake, only threads that saw the lock free
/// before can pass it.
pub struct Hybrid;

/// [`Hybrid`] for programs, where a spinner costs another thread's time. Spinning is bounded by time and by the number
/// of CPUs, and the head of the queue waits a bounded time in unfair mode.
///
/// Fairness bound: other threads pass the head of the queue for 0.5 ms. Then the lock is reserved for it, except while
/// it does not get a CPU for more than 50 us. The constants and their reasons are in the module `bounded`.
pub struct HybridBounded;
