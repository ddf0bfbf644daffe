//! The limit after which waiters in the secondary queue get their turn in any case.

use crate::platform::Atomic;
use crate::queue::{QNode, QueuePlatform};
use crate::raw::FairnessThreshold;
use crate::tunables::Tunable;
use core::sync::atomic::Ordering::Relaxed;

/// The length of a jiffy, in nanoseconds: that of a kernel whose `HZ` is 250. A threshold in jiffies is rounded up to
/// full ones, and it is over when more of them have passed. A threshold that the program sets is exact.
pub const JIFFY_NS: u64 = 4_000_000;

/// A limit that ends the preference for one NUMA node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// There is none: waiters in the secondary queue may starve.
    Never,
    /// This many handoffs within the node while waiters are in the secondary queue, as a power of two.
    Handoffs {
        /// The exponent; run-time knob `numa_spinlock_threshold`.
        log2: u32,
    },
    /// More time than this; run-time knob `numa_spinlock_threshold_ns`.
    Time {
        /// The time in nanoseconds.
        ns: u64,
    },
}

type Set<'a> = &'a dyn Fn(Tunable) -> Option<u64>;

impl Threshold {
    /// Returns what it promises about fairness.
    pub(super) fn of_fairness(
        self,
        counts_jiffies: bool,
        set: Set<'_>,
        none: FairnessThreshold,
    ) -> FairnessThreshold {
        match self {
            Self::Never => none,
            Self::Handoffs { log2 } => {
                FairnessThreshold { handoffs_per_node: handoffs_max(log2, set).into(), ..none }
            }
            Self::Time { ns } => {
                let in_jiffies = (ns.div_ceil(JIFFY_NS) + 1) * JIFFY_NS;
                let longest_ns = if counts_jiffies { in_jiffies } else { ns };
                let set_ns = set(Tunable::numa_spinlock_threshold_ns);
                FairnessThreshold { ns_per_node: set_ns.unwrap_or(longest_ns), ..none }
            }
        }
    }

    /// Prepares the node of a waiter.
    pub(super) fn enter<P: QueuePlatform>(self, me: &QNode<P>) {
        match self {
            Self::Never => {}
            // ordering: Relaxed; published by Q2.
            Self::Handoffs { .. } => me.intra_count.store(0, Relaxed),
            // ordering: Relaxed; published by Q2.
            Self::Time { .. } => me.since_ns.store(0, Relaxed),
        }
    }

    /// Returns the time that the last head has passed on to `me`; 0 if there is none.
    pub(super) fn since_ns<P: QueuePlatform>(self, me: &QNode<P>) -> u64 {
        match self {
            // ordering: Relaxed; written by the last head before it granted, Q3.
            Self::Time { .. } => me.since_ns.load(Relaxed),
            Self::Never | Self::Handoffs { .. } => 0,
        }
    }

    /// Returns `true` if the head `me` finds that it is over.
    #[doc(alias = "intra_node_threshold_reached")]
    pub(super) fn is_over<P: QueuePlatform>(
        self,
        me: &QNode<P>,
        since_ns: u64,
        counts_jiffies: bool,
    ) -> bool {
        match self {
            Self::Never => false,
            // ordering: Relaxed; written by the last head before it granted, Q3.
            Self::Handoffs { log2 } => {
                me.intra_count.load(Relaxed) >= handoffs_max(log2, &P::tunable)
            }
            Self::Time { ns } => {
                let now_ns = P::now_ns();
                match P::tunable(Tunable::numa_spinlock_threshold_ns) {
                    None if counts_jiffies => {
                        let passed = (now_ns / JIFFY_NS).saturating_sub(since_ns / JIFFY_NS);
                        passed > ns.div_ceil(JIFFY_NS)
                    }
                    set_ns => now_ns.saturating_sub(since_ns) > set_ns.unwrap_or(ns),
                }
            }
        }
    }

    /// Passes the count or the time on from the head `me` to the next head.
    pub(super) fn pass_on<P: QueuePlatform>(self, me: &QNode<P>, since_ns: u64, next: &QNode<P>) {
        match self {
            Self::Never => {}
            Self::Handoffs { .. } => {
                // ordering: Relaxed; written by the last head before it granted, Q3.
                let handoffs = me.intra_count.load(Relaxed).saturating_add(1);
                // ordering: Relaxed; published by the grant, Q3.
                next.intra_count.store(handoffs, Relaxed);
            }
            // ordering: Relaxed; published by the grant, Q3.
            Self::Time { .. } => next.since_ns.store(since_ns, Relaxed),
        }
    }
}

/// Returns the number of handoffs after which the preference ends.
#[inline]
fn handoffs_max(log2: u32, set: Set<'_>) -> u32 {
    let log2 = set(Tunable::numa_spinlock_threshold).unwrap_or(log2.into());
    1 << log2.min(31)
}
