//! The barrier for programs, which knows how many threads take part.

use crate::barrier::RawBarrier;
use crate::native::Native;
use core::fmt;

/// A meeting point: threads wait until a number of them have arrived, and then all go on.
///
/// It can be used again at once, also by a thread that arrives again before the others have gone on.
///
/// # Examples
///
/// ```
/// use lockwright::Barrier;
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// static PHASE: Barrier = Barrier::new(3);
/// static READY: AtomicU32 = AtomicU32::new(0);
///
/// let leaders = std::thread::scope(|scope| {
///     let worker = || {
///         READY.fetch_add(1, Relaxed);
///         let result = PHASE.wait();
///         // All three threads are ready.
///         assert_eq!(READY.load(Relaxed), 3);
///         result.is_leader()
///     };
///     let workers = [(); 3].map(|()| scope.spawn(worker));
///     workers.map(|worker| worker.join().unwrap()).into_iter().filter(|leads| *leads).count()
/// });
/// assert_eq!(leaders, 1);
/// ```
///
/// # Memory ordering
///
/// What each thread did before it arrived is visible to all threads of its group when they go on.
///
/// # Fairness
///
/// The last thread that arrives wakes all the others at once. If more threads than the number use the barrier, they
/// go on in groups of that number, in order of arrival.
///
/// # Waiting
///
/// A waiter spins for a moment, about 10 us if there is a CPU for it, and then sleeps. There are no time-outs.
///
/// # Signals and fork
///
/// A signal handler must not wait at a barrier that its own thread is needed for. In a forked child, threads of the
/// parent that had arrived still count, but do not exist.
///
/// # Freeing
///
/// As in `std`, a barrier may be freed when all calls of [`wait`](Self::wait) have returned. It is not enough that one
/// call has returned: the other threads still look at the barrier.
///
/// # Size and limits
///
/// 16 bytes. It allocates nothing. At most 4,194,303 threads can meet, which is as many as Linux can run. With a larger
/// number, all wait for ever. If more threads than the number use a barrier, one that gets no CPU while exactly 2^31
/// groups go on may wait for one group more.
pub struct Barrier {
    raw: RawBarrier<Native>,
    threads: usize,
}

/// The result of [`Barrier::wait`]. It says if the caller arrived last.
pub struct BarrierWaitResult {
    is_leader: bool,
}

impl Barrier {
    /// Creates a barrier at which `threads` threads meet. At a barrier for 0 or 1 threads, no thread waits.
    #[must_use]
    pub const fn new(threads: usize) -> Self {
        Self { raw: RawBarrier::INIT, threads }
    }

    /// Waits until all threads have arrived. One of them, the last that arrived, is the leader.
    pub fn wait(&self) -> BarrierWaitResult {
        BarrierWaitResult { is_leader: self.raw.wait(self.threads as u64) }
    }
}

impl BarrierWaitResult {
    /// Returns `true` in one thread of each group: the last that arrived.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.is_leader
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Barrier");
        fields.field("threads", &self.threads).field("arrived", &self.raw.arrived()).finish()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader).finish()
    }
}
