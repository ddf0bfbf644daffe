//! The queue in which the spinners of a sleeping lock wait: an MCS queue that a waiter may leave.
//!
//! A thread that would rather spin than sleep waits until it is the head, and only the head looks at the lock. It is
//! worth spinning only while the owner runs and no other thread wants the CPU. So a waiter has to be able to take
//! itself out, from anywhere in the queue. This is the kernel's optimistic spin queue of 2014. [`OsqLock`] is one word,
//! a tail code:
//!
//! ```text
//!  31               16 15               0
//! +-------------------+------------------+
//! |         0         |     newest       |      0: the queue is empty
//! +-------------------+------------------+
//!
//!   tail ─────────────────────────┐
//!                                 v
//!   [head] <─prev─ [waiter] <─prev─ [newest]
//!          ─next─>          ─next─>
//! ```
//!
//! A node has two words, and each is written by one thread at a time. `prev` names the node in front, and is 0 in the
//! head. A waiter waits on it. It changes when the thread in front leaves or passes the head on. `next` names the node
//! behind. It is the `word` on which neighbours agree which of them moves. In this table a node is `(prev, link of the
//! node in front)`:
//!
//! | node | state | moved by |
//! |---|---|---|
//! | (-, -) | in no queue | its thread: an exchange of the tail makes it the newest, and the head, if no thread was there |
//! | (p, not yet me) | has joined, or is being linked behind another node | its thread, by its link; the thread that left in between |
//! | (p, me) | waits | its thread: leaves; `p`: takes it |
//! | (p, me taken) | waits, and cannot leave | `p`: makes it the head, or puts it behind the node in front of `p` and leaves |
//! | (p, me leaving) | leaves; `p` stays where it is | its thread, below |
//! | (0, -) | head | its thread, by `unlock` |
//!
//! To leave, a waiter
//! 1. marks the link of the thread in front, so that this thread stays and does not pass the head on;
//! 2. takes its own link, so that the thread behind stays; if there is no thread behind, it puts the tail back to the
//!    node in front instead;
//! 3. tells the thread behind which node is in front of it now, and puts the link to that thread in place of its own
//!    mark; if there is no thread behind, it clears the mark.
//!
//! `unlock` is step 2 with no thread in front, and then the grant. The kernel empties the link in step 1, and its waits
//! look at two words alternately, of which either may change. With a mark, each wait is for one word:
//!
//! | which thread waits | on | for | which comes because |
//! |---|---|---|---|
//! | a waiter | its `prev` | its turn | each head passes it on |
//! | step 1, link taken | its `prev` | another value | the thread that has taken the link has only stores before it |
//! | step 1, link marked | the link in front | another value | the thread that leaves in between has one access before it |
//! | step 2, own link marked | its link | no mark | the thread behind leaves: by induction from the tail |
//! | step 2, not the newest | its link | a code | the newcomer has two stores before it |
//!
//! In this table only a waiter waits for a thread in front, and the newest waits at most for a newcomer. A thread takes
//! a link before it waits for the mark of that link. So the threads that leave in a row, each behind the other, are
//! fixed, and there are no more of them than threads. So a thread that wants to leave has left or is the head after
//! finitely many steps of the others. A thread without a CPU within these few steps holds up its neighbours.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | O1 | `swap` in `join`, Release half | the next `swap`, Acquire half | the init of `next`, to which the newcomer adds |
//! | O2 | `compare_exchange` in `put_tail_back`, to 0, Release half | `swap` in `join`, Acquire half | the work of the head |
//! | O3 | `fetch_add` in `join` and in `leave`, Release | `fetch_or` and the waits in `take_next`, Acquire | which node was put in front of the waiter that is taken |
//! | O4 | `prev.store` in `tell`, Release | the waits for `prev`, Acquire | the work of the head; if the waiter is not the head yet, that the link in front of it is marked |
//! | O5 | `compare_exchange` in `put_tail_back`, to the node in front, Release half | the next `compare_exchange` there, Acquire half | the mark: no thread returns before it is cleared |
//!
//! All writes of the tail, and all writes of a link after its init, are read-modify-writes. So what one of them
//! releases reaches every thread that acquires a later one.
//!
//! Fairness: first come, first served, among the threads that stay. Cost: to join costs an exchange of the tail and an
//! addition in the line of the node in front. To pass the head on costs a failed exchange of the tail, one in the
//! node's own line, and a store in the line of the node behind. A node may be given back as soon as it has left: no
//! thread writes to it after that, and a thread that reads it takes the value for a hint.
//!
//! A thread must not exit while it is in the queue, as within any other lock. A forked child throws away a queue of
//! threads that do not exist in it. A thread that forks, in a signal handler, while it is in the queue cannot go on in
//! the child.

mod leave;
pub mod testing;
mod word;

use crate::platform::{
    Atomic, AtomicInt, Bound, Cells, ConstCells, ConstZeroed, SchedulerHints, Zeroed,
};
use crate::queue::{NodeId, QueuePlatform, node};
use core::cell::Cell;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use word::{code, named};

/// A waiter asks after this many looks, about half a microsecond, if it should give up. It asks about time slices and
/// critical sections, which are longer.
const UNTIL_ASKED: Bound = Bound::until_stopped(16);

/// A queue of spinners; zero is empty.
///
/// It only says which thread is the head. What the head does, and what a waiter does that gives up, is up to the lock
/// that owns this queue.
#[doc(alias = "optimistic_spin_queue")]
#[repr(transparent)]
pub struct OsqLock<P: Cells> {
    tail: P::U32,
}

impl<P: ConstCells> OsqLock<P> {
    /// An empty queue, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { tail: ConstZeroed::ZEROED };
}

impl<P: Cells> OsqLock<P> {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self { tail: Zeroed::zeroed() }
    }
}

impl<P: Cells> Default for OsqLock<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: QueuePlatform + SchedulerHints> OsqLock<P> {
    /// Queues the node `me` and waits until it is the head. Returns `true` then. Gives up, and takes the node out, if
    /// `stop` says so or if the thread in front does not seem to run. The waiter asks both now and then while it waits.
    /// Acquires what the head before did, but only on success.
    ///
    /// # Safety
    /// The caller has claimed `me`, which is in no queue, and does not release it while it is in this one.
    #[doc(alias = "osq_lock")]
    pub unsafe fn lock(&self, me: NodeId, mut stop: impl FnMut() -> bool) -> bool {
        if self.join(me) {
            return true;
        }
        let mut gives_up = false;
        while !gives_up {
            // If the thread in front leaves, another one is in front.
            let prev = Cell::new(0);
            let is_head = |code| {
                prev.set(code);
                code == 0
            };
            let is_over = || {
                gives_up = stop() || !is_running::<P>(prev.get());
                gives_up
            };
            // ordering: Acquire; O4.
            let waited =
                node::<P>(me).prev.cond_load_bounded(Acquire, UNTIL_ASKED, is_head, is_over);
            if waited.is_ok() {
                return true;
            }
        }
        !self.leave(me)
    }
    /// As [`lock`](Self::lock), but the thread waits for its turn, whatever happens. For it the queue is a plain MCS
    /// lock.
    ///
    /// # Safety
    /// As for [`lock`](Self::lock).
    pub unsafe fn lock_for_turn(&self, me: NodeId) {
        if !self.join(me) {
            // ordering: Acquire; O4.
            node::<P>(me).prev.cond_load(Acquire, |prev| prev == 0);
        }
    }
    /// Makes the thread behind the caller the head. Releases everything the caller did as the head. Its node is in no
    /// queue afterwards.
    ///
    /// # Safety
    /// The caller is the head with node `me`.
    #[doc(alias = "osq_unlock")]
    pub unsafe fn unlock(&self, me: NodeId) {
        if let Some(next) = self.take_next(me, None) {
            leave::tell::<P>(next, None);
        }
    }
    /// Returns `true` if a thread is in the queue: a hint.
    #[doc(alias = "osq_is_locked")]
    pub fn is_locked(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.tail.load(Relaxed) != 0
    }

    /// Makes `me` the newest. Returns `true` if it is the head.
    fn join(&self, me: NodeId) -> bool {
        if P::has_forked() {
            self.bury_orphans();
        }
        let mine = node::<P>(me);
        // ordering: Relaxed; published by O1.
        mine.next.store(0, Relaxed);
        // ordering: AcqRel; O1 both ways, O2.
        let Some(prev) = named(self.tail.swap(code(me), AcqRel)) else { return true };
        // ordering: Relaxed; published by O3.
        mine.prev.store(code(prev), Relaxed);
        // An addition, because the thread that was behind `prev` before may be about to clear its mark there.
        // (t,l,n) -> (t,l,n+me)
        // ordering: Release; O3.
        node::<P>(prev).next.fetch_add(code(me), Release);
        false
    }

    /// Forgets, in a forked child, a queue of threads that do not exist here. The newest is one of them, or no waiter
    /// is: a thread that came later forgot them first.
    #[cold]
    fn bury_orphans(&self) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let newest = self.tail.load(Relaxed);
        if named(newest).is_some_and(P::is_orphaned) {
            // ordering: Relaxed; nothing is read through it: orphans published nothing here.
            let _ = self.tail.compare_exchange(newest, 0, Relaxed, Relaxed);
        }
    }
}

/// Returns `true` if the thread of the node with this code seems to run. This is a hint: the node may be used by
/// another thread by now.
fn is_running<P: QueuePlatform + SchedulerHints>(code: u32) -> bool {
    named(code).is_none_or(|id| P::is_running(id))
}
