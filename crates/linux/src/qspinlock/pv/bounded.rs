//! [`HybridBounded`]: the hybrid for programs.
//!
//! The kernel's rules are made for guests. There a spinner that wastes its time wastes the time of its own virtual CPU.
//! In a program with more threads than CPUs it wastes the time of the owner. So the hybrid differs here:
//!
//! - A waiter looks at the word at longer and longer intervals (`Patience`). So an owner that takes and releases the
//!   lock again and again keeps its cache line.
//! - Spinning is bounded by time, about that of a wake-up, and by places: fewer threads spin than there are CPUs
//!   ([`SchedulerHints::begin_spinning`](crate::platform::SchedulerHints::begin_spinning)).
//! - A newcomer takes a free lock at its first attempt, even if threads wait.
//! - The head of the queue does not stop newcomers at once: it competes with them. After [`UNFAIR_NS`] it makes itself
//!   pending and stays so, asleep or not, until it has the lock.
//! - If a lock is reserved in this way and stays free for longer than [`RESERVED_NS`], the thread for which it is
//!   reserved does not run. A newcomer that saw this all the while takes the lock.
//! - The owner that waits for the next waiter to link itself sleeps for short times. So a waiter that was preempted in
//!   between gets the CPU.
//!
//! Fairness bound: a waiter becomes the head when those in front of it have had the lock. Other threads pass the head
//! for [`UNFAIR_NS`]. From then on no thread passes it while it has a CPU. So a waiter behind `n` others that gets a
//! CPU whenever it is woken waits for `n + 1` times [`UNFAIR_NS`], two sections and two wake-ups at most. A waiter that
//! does not get a CPU may be passed every 50 us until it does.

use super::hash;
use super::policy::{HASHED, HybridBounded, PvPlatform, RUNNING};
use super::rules::Rules;
use super::wait::{count_wait, sleep_while};
use crate::events::Event;
use crate::platform::{Atomic, LockWordOps};
use crate::qspinlock::reservation::{self, RESERVED_HALF};
use crate::qspinlock::{Word, word};
use crate::queue::{NodeId, Patience, QNode, UNTIL_OVER, look_for_grant, node, wait_for_link};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The time for which the head of the queue competes before it reserves the lock. It is some fifty wake-ups,
/// so that reserving costs little of the throughput, although it makes all other threads sleep.
const UNFAIR_NS: u64 = 500_000;

impl Rules for HybridBounded {
    const STEALS: bool = true;
    const UNFAIR_NS: u64 = UNFAIR_NS;

    fn steal<P: PvPlatform>(word: &P::Word) -> bool {
        let mut patience = Patience::<P>::long();
        loop {
            let decides = |bits| {
                let seen = Word::from_bits(bits);
                seen.is_free_for_head() || seen.is_pending()
            };
            // ordering: Relaxed; only a hint, re-checked at the compare-exchanges.
            let looked = word.cond_load_bounded(Relaxed, UNTIL_OVER, decides, || patience.pause());
            let Ok(seen) = looked.map(Word::from_bits) else { return false };
            let is_ours = match (seen.is_pending(), seen.is_locked()) {
                (true, true) => return false,
                (true, false) => take_from_absent::<P>(word),
                (false, _) => take_free::<P>(word),
            };
            if is_ours {
                P::count(Event::pv_lock_stealing);
                return true;
            }
            if patience.pause() {
                return false;
            }
        }
    }

    fn spin_in_queue<P: PvPlatform>(
        me: &QNode<P>,
        mut prev_has_stopped: impl FnMut() -> bool,
    ) -> Result<u32, u32> {
        let mut patience = Patience::<P>::long();
        let is_over = || prev_has_stopped() || patience.pause();
        look_for_grant(me, UNTIL_OVER, is_over)
    }

    /// The head may be robbed, and then it sleeps again. So it makes several entries, one after another, and the owner
    /// that takes one out says so in the state.
    fn take_as_head<P: PvPlatform>(word: &P::Word, id: NodeId, me: &QNode<P>) {
        let since_ns = P::now_ns();
        let mut has_slept = false;
        while !spin_as_head::<P>(word, since_ns) {
            // ordering: Acquire; K4.
            if me.state.load(Acquire) != HASHED {
                match make_slow(word, id, me) {
                    Slow::WasHeld => {}
                    Slow::WasFree => return,
                    Slow::BeingReleased => continue,
                }
            }
            count_wait::<P>(has_slept);
            has_slept = true;
            // ordering: Relaxed; acquired with the kick, K2.
            sleep_while(me, || me.state.load(Relaxed) == HASHED);
        }
    }
    fn entry_is_gone<P: PvPlatform>(id: NodeId) {
        // hashed -> running. The node is its waiter's as long as the lock is ours.
        // ordering: Release; K4.
        node::<P>(id).state.store(RUNNING, Release);
    }

    fn wait_for_link<P: PvPlatform>(me: &QNode<P>) {
        wait_for_link(me);
    }
}

/// Competes for the lock, or reserves it, as the head that has waited since `since_ns`. Returns `true` if it has it.
fn spin_as_head<P: PvPlatform>(word: &P::Word, since_ns: u64) -> bool {
    let waits_ns = P::now_ns().saturating_sub(since_ns);
    waits_ns < UNFAIR_NS && compete::<P>(word) || waits_ns >= UNFAIR_NS && reserve::<P>(word)
}

/// The state in which the head found the lock when it made the lock slow.
enum Slow {
    /// A thread owned it, and will kick.
    WasHeld,
    /// It was free, and is ours now.
    WasFree,
    /// Its owner has taken out our last entry and is about to release the lock. The owner will not see another entry,
    /// so there is none.
    BeingReleased,
}

/// Makes the owner kick us when it releases the lock.
#[cold]
fn make_slow<P: PvPlatform>(word: &P::Word, id: NodeId, me: &QNode<P>) -> Slow {
    // running -> hashed. This comes before the byte: after the byte the owner may turn the state back.
    // ordering: Relaxed; published by K3.
    me.state.store(HASHED, Relaxed);
    hash::insert::<P>(word, id);
    // (n,*,*) -> (n,*,3)
    // ordering: AcqRel; K3, and Q4 if no thread holds it.
    let was = match word.swap_byte0(word::SLOW, AcqRel) {
        word::LOCKED => return Slow::WasHeld,
        0 => {
            // (n,*,3) -> (n,0,1)
            // ordering: Relaxed; no other thread touches the half while it is slow and no thread holds the lock.
            word.store_half0(word::LOCKED_HALF, Relaxed);
            Slow::WasFree
        }
        // (n,*,3) as before: the owner will overwrite it.
        _ => Slow::BeingReleased,
    };
    hash::remove::<P>(word, |entered| entered == id);
    // hashed -> running
    // ordering: Relaxed; no other thread writes it while there is no entry.
    me.state.store(RUNNING, Relaxed);
    was
}

/// Takes a lock that is free and not reserved.
fn take_free<P: PvPlatform>(word: &P::Word) -> bool {
    // (*,0,0) -> (*,0,1)
    // ordering: Acquire; Q4. On failure Relaxed: the failure value is not used.
    word.compare_exchange_half0(0, word::LOCKED_HALF, Acquire, Relaxed).is_ok()
}

/// Takes a lock that was reserved and free for as long as that may last.
#[cold]
fn take_from_absent<P: PvPlatform>(word: &P::Word) -> bool {
    let taken = RESERVED_HALF | word::LOCKED_HALF;
    // (n,1,0) -> (n,1,1)
    // ordering: Acquire; Q4. On failure Relaxed: the failure value is not used.
    reservation::is_abandoned::<P>(word)
        && word.compare_exchange_half0(RESERVED_HALF, taken, Acquire, Relaxed).is_ok()
}

/// Competes as the head, like a newcomer.
fn compete<P: PvPlatform>(word: &P::Word) -> bool {
    let mut patience = Patience::<P>::long();
    reservation::compete::<P>(word, || patience.pause(), || take_free::<P>(word))
}

/// Reserves the lock for the head, and spins for it. The lock stays reserved.
fn reserve<P: PvPlatform>(word: &P::Word) -> bool {
    let take = || {
        // (n,1,0) -> (n,0,1)
        // ordering: Acquire; Q4. On failure Relaxed: the failure value is not used.
        word.compare_exchange_half0(RESERVED_HALF, word::LOCKED_HALF, Acquire, Relaxed).is_ok()
    };
    reservation::reserve::<P>(word, || false, take)
}
