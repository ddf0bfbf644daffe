//! Waiting awake: past the queue, in the queue, and at its head.

use super::{HELD_HALF, RawMutex};
use crate::events::Event;
use crate::park::{NAP_NS, ParkPlatform, SleepTable};
use crate::platform::{Atomic, Bound, LockWordOps};
use crate::qspinlock::reservation::{self, RESERVED_HALF};
use crate::qspinlock::{Alone, Grant, Succession, Word, queue};
use crate::queue::{NodeId, Patience, QNode, SPIN_NS, UNTIL_OVER, look_for_grant, wait_for_link};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// How long a spinner waits to become the head, awake: the turns of some heads that had a CPU.
const QUEUED_NS: u64 = 4 * SPIN_NS;
/// How long it naps after that, before it looks again.
const QUEUED_NAP_NS: u64 = 50_000;
impl<P: ParkPlatform, S: Succession<P>> RawMutex<P, S> {
    /// Everything but the first attempt. Returns `true` if the lock is taken, which it is without a deadline.
    #[cold]
    pub(super) fn lock_slowpath(&self, deadline_ns: Option<u64>) -> bool {
        if P::has_forked() {
            self.bury_orphans();
        }
        if self.barge() {
            return true;
        }
        let Some(id) = P::claim_node() else { return self.lock_without_node(deadline_ns) };
        let is_ours = self.spin(id) || self.sleep(id, deadline_ns);
        // SAFETY: claimed above. Nobody reaches the node any more: it has left the queue, and any thread that
        // took it out of the table is done with it.
        unsafe { P::release_node(id) };
        is_ours
    }

    /// Competes for the lock without a place in the queue, with pauses that double. Returns `true` if it is taken.
    /// Not while others spin in the queue.
    fn barge(&self) -> bool {
        let mut patience = Patience::<P>::short();
        loop {
            let decides = |bits| {
                let seen = Word::from_bits(bits);
                !seen.is_locked() || seen.is_pending() || seen.tail().bits() != 0
            };
            // ordering: Relaxed; only a hint, re-checked at the compare-exchanges.
            let looked =
                self.word.cond_load_bounded(Relaxed, UNTIL_OVER, decides, || patience.pause());
            let Ok(seen) = looked.map(Word::from_bits) else { return false };
            let is_ours = match (seen.is_pending(), seen.is_locked()) {
                (_, true) => return false,
                (true, false) => self.take_abandoned(),
                (false, false) => self.take_free(),
            };
            if is_ours {
                return true;
            }
            if patience.pause() {
                return false;
            }
        }
    }

    /// Takes a lock that is reserved and free for as long as one may be, and ends the reservation: the
    /// first waiter makes it again when it runs.
    #[cold]
    pub(super) fn take_abandoned(&self) -> bool {
        // (*,1,0) -> (*,0,1)
        // ordering: Acquire; L1. On failure Relaxed: the failure value is not used.
        reservation::is_abandoned::<P>(&self.word)
            && self.word.compare_exchange_half0(RESERVED_HALF, HELD_HALF, Acquire, Relaxed).is_ok()
    }

    /// No node is left: competes for the word, with naps.
    #[cold]
    fn lock_without_node(&self, deadline_ns: Option<u64>) -> bool {
        P::count(Event::lock_no_node);
        while !self.barge() {
            let now_ns = P::now_ns();
            if deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns) {
                return false;
            }
            SleepTable::<P>::nap(
                self.name(),
                now_ns.saturating_add(NAP_NS).min(deadline_ns.unwrap_or(u64::MAX)),
            );
        }
        true
    }

    /// Spins in the queue, if there is a place, and competes at its head. Returns `true` if the lock is taken.
    fn spin(&self, id: NodeId) -> bool {
        if !P::begin_spinning() {
            return false;
        }
        let me = queue::prepare::<P, S>(id);
        let granted = match queue::join::<P>(&self.word, id) {
            Some(_) => wait_in_queue(me),
            None => Grant::PLAIN,
        };
        let turn = S::become_head(id, me, granted);
        let mut patience = Patience::<P>::seated();
        let is_ours =
            reservation::compete::<P>(&self.word, || patience.pause(), || self.take_free());
        self.pass_on(id, me, turn);
        P::end_spinning();
        is_ours
    }

    /// Leaves the queue as its head, with the lock or without.
    fn pass_on(&self, id: NodeId, me: &QNode<P>, mut turn: S::Turn) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange in `leave_alone`.
        let mut seen = Word::from_bits(self.word.load(Relaxed));
        while seen.tail() == id.code() {
            match S::leave_alone(&self.word, seen, seen.lower_half(), &mut turn) {
                Alone::Left => return,
                Alone::Granted(grant) => return queue::make_head::<P>(grant),
                Alone::Joined(now) => seen = now,
            }
        }
        wait_for_link(me);
        queue::make_head::<P>(S::choose(id, me, turn));
    }

    /// In a forked child, removes a queue of spinners that do not exist here from the word. Why a
    /// compare-exchange of the whole word is safe is said in `qspinlock::fork`. A reservation by a
    /// thread that does not exist here ends as any other that is not used.
    #[cold]
    fn bury_orphans(&self) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut bits = self.word.load(Relaxed);
        while Word::from_bits(bits).tail().node().is_some_and(P::is_orphaned) {
            let buried = Word::from_bits(bits).lower_half().into();
            // (orphan,p,l) -> (0,p,l)
            // ordering: Relaxed; nothing is read through it: orphans published nothing here.
            match self.word.compare_exchange(bits, buried, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => bits = now,
            }
        }
    }
}

/// Waits to become the head; what was granted. Nobody may leave the queue but its head, so one who waits
/// behind a thread without a CPU naps: it does not keep that one from running.
fn wait_in_queue<P: ParkPlatform>(me: &QNode<P>) -> u32 {
    let bound = Bound::nanoseconds(QUEUED_NS);
    loop {
        match look_for_grant(me, bound, || false) {
            Ok(granted) => return granted,
            Err(_) => P::futex_wait(&me.locked, 0, Some(P::now_ns().saturating_add(QUEUED_NAP_NS))),
        }
    }
}
