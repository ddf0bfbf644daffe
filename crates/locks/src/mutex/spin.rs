//! Waiting awake: past the queue, in the queue, and at its head.

use super::wait::WokenHow;
use super::{Between, GIVEN, HELD, KEPT, LOWER_HALF, RESERVED, RawMutex, said_in};
use crate::events::Event;
use crate::park::MarkPlatform;
use crate::platform::{Atomic, Bound};
use crate::qspinlock::{Alone, Grant, Succession, Word, queue};
use crate::queue::{NodeId, Patience, QNode, SPIN_NS, UNTIL_OVER, look_for_grant, wait_for_link};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The time that a free lock stays reserved for a thread that does not take it: a few wake-ups.
const RESERVED_NS: u64 = 50_000;
/// The time that a spinner waits awake to become the head: the turns of some heads that had a CPU.
const QUEUED_NS: u64 = 4 * SPIN_NS;
/// The time that it naps after that, before it looks again.
const QUEUED_NAP_NS: u64 = 50_000;

impl<P: MarkPlatform, S: Succession<P>, B: Between> RawMutex<P, S, B> {
    /// Takes the lock after the first attempt has failed. Returns `true` if it is taken. Without a deadline it always
    /// is.
    #[cold]
    pub(super) fn lock_slowpath(&self, deadline_ns: Option<u64>) -> bool {
        if P::has_forked() {
            self.bury_orphans();
        }
        !P::must_not_spin() && (self.barge() || self.spin())
            || self.sleep(deadline_ns, WokenHow::No, None)
    }

    /// Competes for the lock without a place in the queue, while no other thread spins in the queue. Returns `true` if
    /// it is taken.
    fn barge(&self) -> bool {
        // ordering: Relaxed; only a hint.
        let has_queue = || self.spinners.load(Relaxed) > LOWER_HALF;
        self.compete(Patience::short(), has_queue) || !has_queue() && self.take_after_others()
    }

    /// Looks again and again if the lock is free, with pauses that double, until the caller's patience is over or
    /// `stops` returns `true`. Returns `true` if the lock is taken.
    fn compete(&self, mut patience: Patience<P>, stops: impl Fn() -> bool) -> bool {
        while !stops() {
            if self.take_when_free(|| patience.pause() || stops()) {
                return true;
            }
            if patience.pause() {
                return false;
            }
        }
        false
    }

    /// Lets another thread run that wants this CPU, which may be the owner. Then tries to take the lock, once. Returns
    /// `true` if it is taken.
    fn take_after_others(&self) -> bool {
        P::yield_cpu();
        self.take_unreserved()
    }

    /// Waits until the lock is free or `pause` says that the time is over. If it is free, tries to take it, once.
    /// Returns `true` if it is taken. A reservation that no thread uses ends here.
    fn take_when_free(&self, mut pause: impl FnMut() -> bool) -> bool {
        let is_free = |seen| said_in::<P>(seen) & (HELD | GIVEN) == 0;
        // ordering: Relaxed; only a hint, re-checked at the compare-exchanges.
        match self.state.cond_load_bounded(Relaxed, UNTIL_OVER, is_free, &mut pause) {
            Ok(seen) if said_in::<P>(seen) & KEPT != 0 => self.take_abandoned(),
            Ok(_) => self.take_unreserved(),
            Err(_) => false,
        }
    }

    /// Takes a lock that has been reserved and free for as long as a lock may be, and ends the reservation. The thread
    /// that made it has no CPU, and makes it again when it runs. Returns `true` if the lock is taken.
    #[cold]
    fn take_abandoned(&self) -> bool {
        let is_used = |seen| said_in::<P>(seen) & (HELD | KEPT) != RESERVED;
        let bound = Bound::nanoseconds(RESERVED_NS);
        // On a single CPU the thread that made it cannot run before the caller yields.
        let pause = || {
            if P::has_single_cpu() {
                P::yield_cpu();
            }
            false
        };
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let Err(seen) = self.state.cond_load_bounded(Relaxed, bound, is_used, pause) else {
            return false;
        };
        let held = said_in::<P>(seen) & !RESERVED | HELD;
        // reserved -> held
        // ordering: Acquire; F1. On failure Relaxed: the failure value is not used.
        self.state.compare_exchange(seen, held, Acquire, Relaxed).is_ok()
    }

    /// Spins in the queue, if there are a place and a node, and competes at the head of the queue. Returns `true` if
    /// the lock is taken.
    fn spin(&self) -> bool {
        if !P::begin_spinning() {
            return self.take_after_others();
        }
        let id = P::claim_node();
        let is_ours = id.is_some_and(|id| self.spin_as(id));
        if let Some(id) = id {
            // SAFETY: the node was claimed above. No thread reaches it, because it has left the queue.
            unsafe { P::release_node(id) };
        } else {
            P::count(Event::lock_no_node);
        }
        P::end_spinning();
        is_ours
    }

    fn spin_as(&self, id: NodeId) -> bool {
        let me = queue::prepare::<P, S>(id);
        let granted = match queue::join::<P>(&self.spinners, id) {
            Some(_) => wait_in_queue(me),
            None => Grant::PLAIN,
        };
        let turn = S::become_head(id, me, granted);
        let is_ours = self.compete(Patience::seated(), || false);
        self.pass_on(id, me, turn);
        is_ours
    }

    /// Leaves the queue as its head, with the lock or without.
    fn pass_on(&self, id: NodeId, me: &QNode<P>, mut turn: S::Turn) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange in `try_clear_tail`.
        let mut seen = Word::from_bits(self.spinners.load(Relaxed));
        while seen.tail() == id.code() {
            match S::try_clear_tail(&self.spinners, seen, seen.bits() as u16, &mut turn) {
                Alone::Left => return,
                Alone::Granted(grant) => return queue::make_head::<P>(grant),
                Alone::Joined(now) => seen = now,
            }
        }
        wait_for_link(me);
        queue::make_head::<P>(S::choose(id, me, turn));
    }

    /// In a forked child, removes a queue of spinners that do not exist here from the word.
    #[cold]
    fn bury_orphans(&self) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut bits = self.spinners.load(Relaxed);
        while Word::from_bits(bits).tail().node().is_some_and(P::is_orphaned) {
            // ordering: Relaxed; nothing is read through it: orphans published nothing here.
            match self.spinners.compare_exchange(bits, bits & LOWER_HALF, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => bits = now,
            }
        }
    }
}

/// Waits to become the head. Returns what was granted. Only the head may leave the queue. So a spinner that waits
/// behind a thread without a CPU naps, and does not keep that thread from running.
fn wait_in_queue<P: MarkPlatform>(me: &QNode<P>) -> u32 {
    let bound = Bound::nanoseconds(QUEUED_NS);
    loop {
        match look_for_grant(me, bound, || false) {
            Ok(granted) => return granted,
            Err(_) => P::futex_wait(&me.locked, 0, Some(P::now_ns().saturating_add(QUEUED_NAP_NS))),
        }
    }
}
