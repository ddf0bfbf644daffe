//! The knobs of CNA, and the presets: its versions.

use crate::tunables::Tunable;

/// A limit that ends the preference for one NUMA node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// This many handoffs within the node while waiters are set aside, as a power of two.
    Handoffs {
        /// The exponent; run-time knob `numa_spinlock_threshold`.
        log2: u32,
    },
    /// This long since a waiter was first set aside.
    Time {
        /// The time in nanoseconds; run-time knob `numa_spinlock_threshold_ns`.
        ns: u64,
    },
}

/// A way in which the head looks for a waiter of the preferred node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// The whole queue, before the head waits for the lock, and the rest of it once the lock is
    /// taken: O(n) while others wait.
    Full,
    /// As `Full`, but the second scan has forgotten which waiters the first one passed. It sets them aside only
    /// together with others that it has passed itself. A waiter of the preferred node directly behind them stays where
    /// it is, and the first waiter gets its turn, of whatever node it is.
    FullForgetful,
    /// As `Full`, but before the lock is taken one waiter per step, for as long as the lock is busy, and at most
    /// `waiters_max` once it is taken.
    LimitedAfterTaking {
        /// The number of waiters.
        waiters_max: u32,
    },
    /// One waiter per turn, before the head waits for the lock.
    OneNeighbour,
    /// One waiter per step for as long as the lock is busy, none once it is taken.
    WhileBusy,
}

/// A version of CNA: one line per choice.
pub trait CnaPolicy: Send + Sync + 'static {
    /// The limit after which waiters that were set aside get their turn in any case.
    const THRESHOLD: Threshold;
    /// The way in which the head looks for a waiter of the preferred node.
    const SCAN: Scan;
    /// True if a waiter granted before it was looked at stands for the preferred node, so that the
    /// preference survives it.
    const INHERITS: bool;
    /// If no waiter is set aside, the head looks for a local waiter only once in 2^n turns; 0 means always.
    const SHUFFLE_REDUCTION_LOG2: u32 = 0;
}

/// CNA v10 (April 2020) as its text describes it: handoffs counted, the queue scanned before and after taking the lock.
pub struct V10;
impl CnaPolicy for V10 {
    const THRESHOLD: Threshold = Threshold::Handoffs { log2: 16 };
    const SCAN: Scan = Scan::Full;
    const INHERITS: bool = false;
}

/// v10 as its code was posted: each scan asks if it has passed a waiter itself.
pub struct V10Posted;
impl CnaPolicy for V10Posted {
    const THRESHOLD: Threshold = Threshold::Handoffs { log2: 16 };
    const SCAN: Scan = Scan::FullForgetful;
    const INHERITS: bool = false;
}

/// v10 with the first change asked for in its review: a threshold in time.
pub struct V10Time;
impl CnaPolicy for V10Time {
    const THRESHOLD: Threshold = Threshold::Time { ns: 1_000_000 };
    const SCAN: Scan = Scan::Full;
    const INHERITS: bool = false;
}

/// v10 with the second change asked for in its review: a bound on the scan once the lock is free, because the head
/// could then take the lock and run its section.
pub struct V10Limited;
impl CnaPolicy for V10Limited {
    const THRESHOLD: Threshold = Threshold::Handoffs { log2: 16 };
    const SCAN: Scan = Scan::LimitedAfterTaking { waiters_max: 8 };
    const INHERITS: bool = false;
}

/// v11: the answer to the review. One neighbour per turn; a waiter granted unseen inherits the
/// preference and goes on looking.
pub struct V11;
impl CnaPolicy for V11 {
    const THRESHOLD: Threshold = Threshold::Time { ns: 10_000_000 };
    const SCAN: Scan = Scan::OneNeighbour;
    const INHERITS: bool = true;
}

/// v13 (December 2020): v11 that seldom looks for a first waiter to set aside (shuffle reduction).
pub struct V13;
impl CnaPolicy for V13 {
    const THRESHOLD: Threshold = V11::THRESHOLD;
    const SCAN: Scan = V11::SCAN;
    const INHERITS: bool = V11::INHERITS;
    const SHUFFLE_REDUCTION_LOG2: u32 = 7;
}

/// v15 (May 2021, the last): neighbours one by one while the lock is busy, and seldom a first one.
pub struct V15;
impl CnaPolicy for V15 {
    const THRESHOLD: Threshold = Threshold::Time { ns: 1_000_000 };
    const SCAN: Scan = Scan::WhileBusy;
    const INHERITS: bool = true;
    const SHUFFLE_REDUCTION_LOG2: u32 = 7;
}

/// v15 that looks for a first waiter to set aside in every turn.
pub struct V15Unreduced;
impl CnaPolicy for V15Unreduced {
    const THRESHOLD: Threshold = V15::THRESHOLD;
    const SCAN: Scan = V15::SCAN;
    const INHERITS: bool = V15::INHERITS;
}

/// v15 with the threshold of the versions before it.
pub struct V15TenMs;
impl CnaPolicy for V15TenMs {
    const THRESHOLD: Threshold = V11::THRESHOLD;
    const SCAN: Scan = V15::SCAN;
    const INHERITS: bool = V15::INHERITS;
    const SHUFFLE_REDUCTION_LOG2: u32 = V15::SHUFFLE_REDUCTION_LOG2;
}

/// Returns the number of handoffs after which the preference ends.
#[inline]
pub(super) fn handoffs_max(log2: u32, set: impl Fn(Tunable) -> Option<u64>) -> u32 {
    let log2 = set(Tunable::numa_spinlock_threshold).unwrap_or(log2.into());
    1 << log2.min(31)
}

/// Returns the number of nanoseconds after which the preference ends.
#[inline]
pub(super) fn ns_max(ns: u64, set: impl Fn(Tunable) -> Option<u64>) -> u64 {
    set(Tunable::numa_spinlock_threshold_ns).unwrap_or(ns)
}
