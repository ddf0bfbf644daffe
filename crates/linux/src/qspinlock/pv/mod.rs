#![doc = include_str!("README.md")]

pub(crate) mod bounded;
pub(super) mod hash;
mod own;
mod policy;
mod rules;
pub mod testing;
mod wait;

pub use own::{HybridBy, HybridRules};
pub use policy::{
    Hybrid, HybridBounded, Park, ParkFullSpin, PvPlatform, StealOnce, StealOnceFullSpin,
};

use super::{LOCKED, SLOW, Waiting, Word};
use crate::events::Event;
use crate::platform::{Atomic, LockWordOps};
use crate::queue::{NodeId, QNode, node};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use policy::{HALTED, HASHED, RUNNING};
use rules::Rules;

/// Implements `Waiting` for all policies, which share this code.
macro_rules! waiting {
    ($($policy:ty, tries_before_queueing $tries_before_queueing:literal, barges $barges:literal
        $(, with $R:ident: $Bound:ident)?;)+) => { $(
        // SAFETY: a grant is returned only after an acquiring load of it. The head and the thieves return only after
        // they have changed the locked byte from 0 by an acquiring read-modify-write. The byte is changed to 3 only by
        // the head, or for it by the owner, and back to 0 by the owner only.
        unsafe impl<P: PvPlatform $(, $R: $Bound)?> Waiting<P> for $policy {
            const USES_PENDING: bool = false;
            const TRIES_BEFORE_QUEUEING: bool = $tries_before_queueing;
            const BARGES: bool = $barges;
            const COUNTS_ENTRY: bool = false;
            const SLEEPS: bool = true;
            const KEEPS_ORDER: bool = !<$policy as Rules>::STEALS;
            const UNFAIR_NS: u64 = <$policy as Rules>::UNFAIR_NS;

            #[inline]
            fn before_queueing(word: &P::Word) -> bool {
                <$policy>::steal::<P>(word)
            }
            #[inline]
            fn enter(me: &QNode<P>) {
                // ordering: Relaxed; published by Q1 and Q2.
                me.state.store(RUNNING, Relaxed);
            }
            fn wait_node(me: &QNode<P>, prev: NodeId) -> u32 {
                wait::wait_in_queue::<P, $policy>(me, prev)
            }
            fn wait_for_lock(
                word: &P::Word,
                (id, me): (NodeId, &QNode<P>),
                steps: bool,
                mut step: impl FnMut() -> bool,
            ) -> Word {
                // The work that can be done while the lock is busy is done before the wait, which may be a sleep. It
                // takes no longer than the head spins.
                let mut left = if steps { rules::SPIN_LOOKS } else { 0 };
                // ordering: Relaxed; only a hint.
                while left > 0 && Word::from_bits(word.load(Relaxed)).is_locked() && step() {
                    left -= 1;
                }
                P::count(Event::lock_slowpath);
                <$policy as Rules>::take_as_head::<P>(word, id, me);
                // ordering: Relaxed; the lock is ours, and of the queue only its end matters.
                Word::from_bits(word.load(Relaxed))
            }
            #[inline]
            fn take(_word: &P::Word) {}
            #[inline]
            fn wait_for_link(me: &QNode<P>) {
                <$policy as Rules>::wait_for_link::<P>(me);
            }
            #[inline]
            fn kick(word: &P::Word, granted: NodeId) {
                kick::<P>(word, granted);
            }
            #[inline]
            fn unlock(word: &P::Word) {
                // (*,*,1) -> (*,*,0)
                // ordering: Release; Q4. On failure Acquire; K3.
                if word.compare_exchange_byte0(LOCKED, 0, Release, Acquire).is_err() {
                    unlock_slowpath::<P, $policy>(word);
                }
            }
            fn word_is_legal(word: Word) -> bool {
                word.is_legal() && !(word.is_pending() && word.tail().bits() == 0)
            }
            fn forget(word: &P::Word, may_go: impl Fn(NodeId) -> bool) {
                hash::remove::<P>(word, may_go);
            }
        }
    )+ };
}
waiting! {
    Park, tries_before_queueing true, barges false;
    ParkFullSpin, tries_before_queueing true, barges false;
    StealOnce, tries_before_queueing false, barges false;
    StealOnceFullSpin, tries_before_queueing false, barges false;
    Hybrid, tries_before_queueing false, barges false;
    HybridBounded, tries_before_queueing false, barges true;
    HybridBy<R>, tries_before_queueing false, barges false, with R: HybridRules;
}

/// Makes sure that `id` wakes up, which the owner has granted. It wakes up when the lock is released, not now.
#[inline]
#[doc(alias = "pv_kick_node")]
fn kick<P: PvPlatform>(word: &P::Word, id: NodeId) {
    let granted = node::<P>(id);
    // ordering: full barrier; K1.
    P::full_barrier(&granted.state);
    // halted -> hashed
    // ordering: Relaxed; published by the barrier, K1 and K5. On failure Relaxed: the waiter is awake
    // and will find the grant.
    if granted.state.compare_exchange(HALTED, HASHED, Relaxed, Relaxed).is_ok() {
        // (n,*,1) -> (n,*,3)
        // ordering: Relaxed; the owner reads it in its release. If another thread releases the lock, the owner has
        // ordered that thread after itself by its own means.
        word.store_byte0(SLOW, Relaxed);
        hash::insert::<P>(word, id);
    }
}

/// Releases the lock and wakes the head of the queue.
#[cold]
#[doc(alias = "__pv_queued_spin_unlock_slowpath")]
fn unlock_slowpath<P: PvPlatform, R: Rules>(word: &P::Word) {
    // In a forked child the entry of an orphan may be gone.
    let sleeper = hash::remove::<P>(word, |_| true);
    if sleeper.is_none() && !P::has_forked() {
        // The lock was released twice. Another thread may have it by now, so the word stays.
        debug_assert!(false, "qspinlock: no thread sleeps for a slow lock");
        return;
    }
    if let Some(id) = sleeper {
        R::entry_is_gone::<P>(id);
    }
    // (n,*,3) -> (n,*,0)
    // ordering: Release; Q4.
    word.store_byte0(0, Release);
    // From here on the lock may no longer exist.
    if let Some(id) = sleeper {
        wait::wake(node::<P>(id));
    }
}
