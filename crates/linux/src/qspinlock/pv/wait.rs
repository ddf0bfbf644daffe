//! Waiting: in the queue, at its head, and asleep.

use super::hash;
use super::policy::{HALTED, HASHED, PvPlatform, RUNNING};
use super::rules::{Rules, spin_as_head};
use crate::events::Event;
use crate::platform::{Atomic, LockWordOps};
use crate::qspinlock::word;
use crate::queue::{NodeId, QNode, node};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// A value of `kick`: no thread has kicked since the waiter looked.
const NOT_KICKED: u32 = 0;
/// A value of `kick`: a thread has kicked.
pub(super) const KICKED: u32 = 1;

/// Waits behind `prev` until `me` is the head of the queue. Returns the value that it was granted.
#[doc(alias = "pv_wait_node")]
pub(super) fn wait_in_queue<P: PvPlatform, R: Rules>(me: &QNode<P>, prev: NodeId) -> u32 {
    loop {
        let mut is_early = false;
        // Another waiter may use the node `prev` by now. Then this is a bad hint and nothing worse.
        let prev_has_stopped = || {
            // ordering: Relaxed; only a hint.
            let is_asleep = || node::<P>(prev).state.load(Relaxed) != RUNNING;
            is_early = R::ASKS_STATE && is_asleep() || R::ASKS_HYPERVISOR && !P::is_running(prev);
            is_early
        };
        if let Ok(granted) = R::spin_in_queue(me, prev_has_stopped) {
            return granted;
        }
        halt(me, is_early);
        // ordering: Acquire; Q3.
        match me.locked.load(Acquire) {
            0 => P::count(Event::pv_spurious_wakeup),
            granted => return granted,
        }
    }
}

/// Sleeps until it is worth looking at the grant again.
#[cold]
#[doc(alias = "pv_wait")]
fn halt<P: PvPlatform>(me: &QNode<P>, is_early: bool) {
    // running -> halted
    // ordering: Relaxed; ordered before the look by the barrier, K1.
    me.state.store(HALTED, Relaxed);
    // ordering: full barrier; K1.
    P::full_barrier(&me.state);
    // ordering: Relaxed; after the barrier, K1. Acquired by the caller.
    if me.locked.load(Relaxed) == 0 {
        P::count(Event::pv_wait_node);
        if is_early {
            P::count(Event::pv_wait_early);
        }
        // ordering: Relaxed; acquired with the kick, K2.
        sleep_while(me, || me.state.load(Relaxed) == HALTED);
    }
    // halted -> running. Hashed stays: the owner that granted us has made our entry, or is about to.
    // ordering: Relaxed; nothing is read through it. On failure Acquire; K5.
    let _ = me.state.compare_exchange(HALTED, RUNNING, Relaxed, Acquire);
}

/// Waits for the lock as the head of the queue, and takes it.
#[doc(alias = "pv_wait_head_or_lock")]
#[doc(alias = "pv_wait_head")]
pub(super) fn take_as_head<P: PvPlatform, R: Rules>(word: &P::Word, id: NodeId, me: &QNode<P>) {
    // If the granter found us asleep, it has made our entry, or makes it before it releases the lock. A head has one
    // entry at most. If it was woken and robbed, its entry is gone, and it spins until it has the lock.
    // ordering: Relaxed; if the granter has written it, the failed exchange in `halt` has read that, K5.
    let mut has_entry = me.state.load(Relaxed) == HASHED;
    for round in 0.. {
        if R::SAYS_STATE_AS_HEAD {
            // ordering: Relaxed; only a hint for the waiter behind.
            me.state.store(RUNNING, Relaxed);
        }
        if spin_as_head::<P, R>(word) {
            return;
        }
        if !has_entry {
            match make_slow::<P, R>(word, id) {
                0 if R::EXCHANGES_FOR_SLOW => return,
                0 => continue,
                _ => has_entry = true,
            }
        }
        if R::SAYS_STATE_AS_HEAD {
            // ordering: Relaxed; only a hint for the waiter behind.
            me.state.store(HASHED, Relaxed);
        }
        count_wait::<P>(round > 0);
        // ordering: Relaxed; acquired with the kick, K2.
        sleep_while(me, || word.load(Relaxed) as u8 == word::SLOW);
    }
}

/// Counts that the head has used up its budget and waits for a wake-up.
pub(super) fn count_wait<P: PvPlatform>(is_again: bool) {
    P::count(Event::pv_wait_head);
    if is_again {
        P::count(Event::pv_wait_again);
    }
}

/// Makes an entry, so that the owner kicks us when it releases the lock. Returns the byte that was there: 0 if there is
/// no owner, and then there is no entry.
#[cold]
fn make_slow<P: PvPlatform, R: Rules>(word: &P::Word, id: NodeId) -> u8 {
    hash::insert::<P>(word, id);
    let before = if R::EXCHANGES_FOR_SLOW {
        // (n,0,*) -> (n,0,3)
        // ordering: AcqRel; K3, and Q4 if no thread holds it.
        word.swap_byte0(word::SLOW, AcqRel)
    } else {
        // (n,0,1) -> (n,0,3)
        // ordering: Release; K3. On failure Acquire; Q4: the last owner has taken out the entry of an earlier sleeper,
        // and the head must not find that one in the place of its own.
        match word.compare_exchange_byte0(word::LOCKED, word::SLOW, Release, Acquire) {
            Ok(before) | Err(before) => before,
        }
    };
    if before == 0 {
        if R::EXCHANGES_FOR_SLOW {
            // (n,0,3) -> (n,0,1)
            // ordering: Relaxed; no other thread touches the byte while it is slow and no thread holds the lock.
            word.store_byte0(word::LOCKED, Relaxed);
        }
        hash::remove::<P>(word, |entered| entered == id);
    }
    before
}

/// Sleeps if `must_sleep`. It may return for no reason.
pub(super) fn sleep_while<P: PvPlatform>(me: &QNode<P>, must_sleep: impl FnOnce() -> bool) {
    // This forgets a kick that was meant for an earlier user of the node, or that came while we were awake. The state
    // or the word shows what it was for.
    forget_kick(me);
    if !must_sleep() {
        return;
    }
    P::futex_wait(&me.kick, NOT_KICKED, None);
    if P::is_counting() {
        count_wake(me);
    }
}

/// Forgets a kick: gives `kick` the value for which the waiter sleeps. Returns `true` if a thread had kicked.
pub(super) fn forget_kick<P: PvPlatform>(me: &QNode<P>) -> bool {
    // ordering: Acquire; K2.
    me.kick.swap(NOT_KICKED, Acquire) != NOT_KICKED
}

#[cold]
fn count_wake<P: PvPlatform>(me: &QNode<P>) {
    // ordering: Acquire; K2.
    if me.kick.load(Acquire) != NOT_KICKED {
        P::count(Event::pv_kick_wake);
        // ordering: Relaxed; written before the kick, K2.
        let took_ns = u64::from((P::now_ns() as u32).wrapping_sub(me.kicked.load(Relaxed)));
        P::count_many(Event::pv_latency_wake, took_ns);
    }
}

/// Stores that there was a kick, unless a lock of another kind sleeps on the word by now.
fn set_kick<P: PvPlatform>(kick: &P::U32) {
    let mut seen = NOT_KICKED;
    while seen == NOT_KICKED || seen == KICKED {
        // This is an exchange even if there was a kick already, so that a thread that reads that one acquires this one,
        // too.
        // ordering: Release; K2. On failure Relaxed: only says what to expect.
        match kick.compare_exchange(seen, KICKED, Release, Relaxed) {
            Ok(_) => return,
            Err(now) => seen = now,
        }
    }
}

/// Wakes the waiter with this node. Another waiter may use the node by now: then that one wakes for no reason.
#[doc(alias = "pv_kick")]
pub(super) fn wake<P: PvPlatform>(sleeper: &QNode<P>) {
    P::count(Event::pv_kick_unlock);
    let is_counting = P::is_counting();
    let before_ns = if is_counting { P::now_ns() } else { 0 };
    // ordering: Relaxed; published by K2.
    sleeper.kicked.store(before_ns as u32, Relaxed);
    set_kick::<P>(&sleeper.kick);
    P::futex_wake(&raw const sleeper.kick, 1);
    if is_counting {
        P::count_many(Event::pv_latency_kick, P::now_ns().saturating_sub(before_ns));
    }
}
