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
/// The waiter is the head of the queue, and sleeps, is about to, or was kicked and does not run yet.
pub(super) const HASHED: u32 = 2;

/// [`StealOnce`] without lock stealing: no thread passes a waiter. No kernel had this lock; it is for more threads than
/// CPUs, where fairness is worth a wake-up per acquisition.
///
/// Fairness bound: that of the succession.
pub struct Park;

/// The paravirtual queued spinlock of Linux 4.4. A waiter spins for as long as it may, also behind a waiter that
/// sleeps. No thread passes it.
///
/// Fairness bound: as [`Park`].
pub struct ParkFullSpin;

/// [`StealOnce`] whose waiters do not ask if their predecessor runs. It separates the two changes of December 2015,
/// which came together: limited stealing, and halting early.
///
/// Fairness bound: as [`StealOnce`].
pub struct StealOnceFullSpin;

/// The paravirtual queued spinlock of Linux 4.11 to 4.14, before it became hybrid: each newcomer tries once to steal
/// the lock, then it queues. The head of the queue is pending while it spins, which stops them. A waiter halts early
/// behind a waiter that halts, and behind one whose CPU the hypervisor does not run.
///
/// Fairness bound: none. While the head of the queue sleeps, each newcomer that finds the lock free passes it.
pub struct StealOnce;

/// The hybrid paravirtual queued spinlock, as posted in November 2017 (Linux 4.15 to 5.3): *queued mode* while the head
/// of the queue spins, *unfair mode* while it sleeps.
///
/// Fairness bound: none while the head of the queue sleeps. Once it is awake, only threads that saw the lock free
/// before, or between two of its budgets, can pass it.
pub struct Hybrid;

/// [`Hybrid`] for programs, where a spinner costs another thread's time. Spinning is bounded by time and by the number
/// of CPUs, and the head of the queue waits a bounded time in unfair mode.
///
/// Fairness bound: other threads pass the head of the queue for 0.5 ms. Then the lock is reserved for it, except while
/// it does not get a CPU for more than 50 us. The constants and their reasons are in the module `bounded`.
pub struct HybridBounded;
