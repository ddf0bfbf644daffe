//! [`HybridBy`]: the hybrid with decisions of one's own.

use super::policy::PvPlatform;
use super::rules::{Rules, SPIN_LOOKS, must_queue, steal_unless};
use crate::qspinlock::Word;
use core::marker::PhantomData;

/// The decisions of a waiting policy that otherwise is the hybrid. Each has that of [`Hybrid`](super::Hybrid) as its
/// default. No decision can break the lock, but it can be unfair, and slow.
pub trait HybridRules: Send + Sync + 'static {
    /// How often a thread in the queue looks before it sleeps.
    const LOOKS: u32 = SPIN_LOOKS;

    /// Returns true if a newcomer that sees this word queues. Otherwise it waits until the lock is free, and takes it
    /// in front of the queue. `lost` is how often it tried to and another thread was faster.
    fn must_queue(seen: Word, lost: u32) -> bool {
        let _ = lost;
        must_queue(seen)
    }
}

/// The hybrid with the decisions `R`.
///
/// Fairness bound: none, unless they make one.
pub struct HybridBy<R>(PhantomData<fn() -> R>);

impl<R: HybridRules> Rules for HybridBy<R> {
    const STEALS: bool = true;
    const ASKS_HYPERVISOR: bool = true;
    const LOOKS: u32 = R::LOOKS;

    fn steal<P: PvPlatform>(word: &P::Word) -> bool {
        steal_unless::<P>(word, R::must_queue)
    }
}
