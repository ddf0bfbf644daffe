//! Waiting: in the queue, at its head, and asleep.

use super::hash;
use super::policy::{HALTED, HASHED, PvPlatform, RUNNING};
use super::rules::Rules;
use crate::events::Event;
use crate::platform::{Atomic, LockWordOps};
use crate::qspinlock::{Word, word};
use crate::queue::{NodeId, QNode};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// A value of `kick`: no thread has kicked since the waiter looked.
const NOT_KICKED: u32 = 0;
/// A value of `kick`: a thread has kicked.
const KICKED: u32 = 1;

/// Waits behind `prev` until `me` is the head of the queue. Returns the value that it was granted.
pub(super) fn wait_in_queue<P: PvPlatform, R: Rules>(me: &QNode<P>, prev: &QNode<P>) -> u32 {
    loop {
        let mut is_early = false;
        // Another waiter may use the node `prev` by now. Then this is a bad hint and nothing worse.
        let prev_has_stopped = || {
            // ordering: Relaxed; only a hint.
            is_early = prev.state.load(Relaxed) != RUNNING;
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
        sleep_while(me, HALTED);
    }
    // halted -> running. Hashed stays: the owner that granted us has made our entry, or is about to.
    // ordering: Relaxed; nothing is read through it. On failure Acquire; K5.
    let _ = me.state.compare_exchange(HALTED, RUNNING, Relaxed, Acquire);
}

/// Waits for the lock as the head of the queue, and takes it. Returns the word afterwards.
pub(super) fn take_as_head<P: PvPlatform, R: Rules>(
    word: &P::Word,
    id: NodeId,
    me: &QNode<P>,
) -> Word {
    P::count(Event::lock_slowpath);
    let mut has_slept = false;
    let mut head = R::Head::default();
    while !R::try_as_head::<P>(word, &mut head) {
        // ordering: Acquire; K4.
        if me.state.load(Acquire) != HASHED {
            if R::SLEEPS_ONCE && has_slept {
                // The head was woken, and a thief has taken the lock since. No other thief follows. In the kernel this
                // wait ends at once.
                count_wait::<P>(has_slept);
                continue;
            }
            match make_slow(word, id, me) {
                Slow::WasHeld => {}
                Slow::WasFree => break,
                Slow::BeingReleased => continue,
            }
        }
        count_wait::<P>(has_slept);
        has_slept = true;
        sleep_while(me, HASHED);
    }
    // ordering: Relaxed; the lock is ours, and of the queue only its end matters.
    Word::from_bits(word.load(Relaxed))
}

/// Counts that the head has used up its budget and waits for a wake-up.
fn count_wait<P: PvPlatform>(is_again: bool) {
    P::count(Event::pv_wait_head);
    if is_again {
        P::count(Event::pv_wait_again);
    }
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

/// Sleeps while the state is `state`. It may return earlier for no reason.
fn sleep_while<P: PvPlatform>(me: &QNode<P>, state: u32) {
    // This forgets a kick that was meant for an earlier user of the node, or that came while we were awake. The state
    // shows what it was for.
    forget_kick(me);
    if !is_still::<P>(me, state) {
        return;
    }
    P::futex_wait(&me.kick, NOT_KICKED, None);
    if P::is_counting() {
        count_wake(me);
    }
}

/// Forgets a kick: gives `kick` the value for which the waiter sleeps. Returns `true` if a thread had kicked.
fn forget_kick<P: PvPlatform>(me: &QNode<P>) -> bool {
    // ordering: Acquire; K2.
    me.kick.swap(NOT_KICKED, Acquire) != NOT_KICKED
}

fn is_still<P: PvPlatform>(me: &QNode<P>, state: u32) -> bool {
    // ordering: Relaxed; acquired with the kick, K2.
    me.state.load(Relaxed) == state
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
