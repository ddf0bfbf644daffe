//! The presets of the lock. A preset says when the lock turns to HQ mode, and which mode follows HQ mode.

use crate::queue::QueuePlatform;
use crate::tunables::Tunable;

/// The rule by which a lock in queued mode turns to HQ mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HqTurn {
    /// The lock turns when the last waiter has left after more than `handoffs` in a row, and a thread has to queue
    /// again. It is undecided in between, and after HQ mode.
    WhenEmpty {
        /// The number of handoffs; tunable `hqlock_general_handoffs_turn_numa`.
        handoffs: u32,
    },
    /// The lock turns while threads wait. After more than `handoffs` the head looks how many waiters are linked behind
    /// it, and counts anew. The lock turns if there are `waiters`, or as many as NUMA nodes if these are more. Queued
    /// mode follows HQ mode.
    UnderLoad {
        /// The number of handoffs; tunable `hqlock_general_handoffs_turn_numa`.
        handoffs: u32,
        /// The number of waiters; tunable `hqlock_waiters_turn_numa` takes the place of both numbers.
        waiters: u32,
    },
}

/// A preset of the hierarchical queued spinlock.
pub trait HqPolicy: Send + Sync + 'static {
    /// The rule by which the lock turns to HQ mode.
    const TURN: HqTurn;
}

/// The lock as posted in 2025.
pub struct HqPosted;
impl HqPolicy for HqPosted {
    const TURN: HqTurn = HqTurn::WhenEmpty { handoffs: 50 };
}

/// The tuned lock: HQ mode begins only while many threads wait. With few threads it is the queued spinlock.
pub struct HqBounded;
impl HqPolicy for HqBounded {
    const TURN: HqTurn = HqTurn::UnderLoad { handoffs: 511, waiters: 8 };
}

impl HqTurn {
    /// Returns `true` if the lock turns while threads wait.
    pub(super) const fn is_under_load(self) -> bool {
        matches!(self, Self::UnderLoad { .. })
    }
    /// Returns `true` if a head after this many handoffs may change the mode.
    pub(super) fn is_due<P: QueuePlatform>(self, handoffs: u32) -> bool {
        let (Self::WhenEmpty { handoffs: most } | Self::UnderLoad { handoffs: most, .. }) = self;
        let most = P::tunable(Tunable::hqlock_general_handoffs_turn_numa).unwrap_or(most.into());
        u64::from(handoffs) > most
    }
    /// Returns the number of waiters behind the head that is enough; `None` if their number does not matter.
    pub(super) fn waiters<P: QueuePlatform>(self) -> Option<u64> {
        match self {
            Self::WhenEmpty { .. } => None,
            Self::UnderLoad { waiters, .. } => {
                let usual = waiters.max(P::numa_nodes()).into();
                Some(P::tunable(Tunable::hqlock_waiters_turn_numa).unwrap_or(usual))
            }
        }
    }
}
