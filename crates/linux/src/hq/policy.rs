//! The presets of the lock: when it turns to HQ mode, and what follows HQ mode.

use crate::queue::QueuePlatform;
use crate::tunables::Tunable;

/// When a lock in queued mode turns to HQ mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HqTurn {
    /// When the last waiter leaves after more than `handoffs` in a row, and a thread has to queue again: the lock is
    /// undecided in between, and after HQ mode.
    WhenEmpty {
        /// How many handoffs; tunable `hqlock_general_handoffs_turn_numa`.
        handoffs: u32,
    },
    /// While threads wait. After more than `handoffs` the head looks how many waiters are linked behind it, and counts
    /// anew. The lock turns if there are `waiters`, or as many as NUMA nodes if these are more. Queued mode follows HQ
    /// mode.
    UnderLoad {
        /// How many handoffs; tunable `hqlock_general_handoffs_turn_numa`.
        handoffs: u32,
        /// How many waiters; tunable `hqlock_waiters_turn_numa` takes the place of both numbers.
        waiters: u32,
    },
}

/// A preset of the hierarchical queued spinlock.
pub trait HqPolicy: Send + Sync + 'static {
    /// When it turns to HQ mode.
    const TURN: HqTurn;
}

/// As posted in 2025.
pub struct HqPosted;
impl HqPolicy for HqPosted {
    const TURN: HqTurn = HqTurn::WhenEmpty { handoffs: 50 };
}

/// Tuned: HQ mode begins while many threads wait, and only then. With few threads it is the queued spinlock.
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
    /// How many waiters behind the head are enough; `None` if their number does not matter.
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
