//! How near simulated numbers are to native ones.

use lockwright_measure::stats::Summary;
use lockwright_measure::stats::median;
use serde::Serialize;

/// Two native medians that differ by more than this factor have an order that has to be met.
pub const CLEAR: f64 = 1.25;

/// A lock in a cell, natively and simulated, in operations per second.
#[derive(Clone, Debug, Serialize)]
pub struct CheckEntry {
    /// The lock.
    pub lock: &'static str,
    /// Native repetitions.
    pub native_ops_per_s: Summary,
    /// The median of the simulated ones.
    pub simulated_ops_per_s: f64,
    /// How much more than the native median the simulated number is.
    pub error_percent: f64,
}

impl CheckEntry {
    /// Compares one lock in one cell; `None` if one of the two has no result.
    pub fn of(lock: &'static str, native: &[f64], simulated: &[f64]) -> Option<Self> {
        let native_ops_per_s = Summary::of(native);
        let simulated_ops_per_s = median(simulated);
        let has_results = native_ops_per_s.median > 0.0 && !simulated.is_empty();
        has_results.then(|| Self {
            lock,
            native_ops_per_s,
            simulated_ops_per_s,
            error_percent: (simulated_ops_per_s / native_ops_per_s.median - 1.0) * 100.0,
        })
    }
}

/// Pairs of locks whose native order is clear, and whether they have the same order simulated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LockOrder {
    /// Pairs with a clear native order.
    pub judged: usize,
    /// Those of them that have the same order simulated.
    pub right: usize,
    /// The others.
    pub wrong: Vec<Wrong>,
}

/// A pair of locks in the wrong order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Wrong {
    /// Natively the faster one.
    pub faster: &'static str,
    /// The other one.
    pub slower: &'static str,
    /// True if some native repetition of the slower one was faster than some of the faster one: then
    /// other repetitions might have said something else.
    pub ranges_overlap: bool,
}

impl LockOrder {
    /// Judges the locks of a cell.
    pub fn of(entries: &[CheckEntry]) -> Self {
        let mut order = Self::default();
        for fast in entries {
            for slow in entries {
                if fast.native_ops_per_s.median <= slow.native_ops_per_s.median * CLEAR {
                    continue;
                }
                order.judged += 1;
                match fast.simulated_ops_per_s > slow.simulated_ops_per_s {
                    true => order.right += 1,
                    false => order.wrong.push(Wrong {
                        faster: fast.lock,
                        slower: slow.lock,
                        ranges_overlap: slow.native_ops_per_s.max > fast.native_ops_per_s.min,
                    }),
                }
            }
        }
        order
    }
    /// True if no pair is wrong.
    pub fn is_right(&self) -> bool {
        self.wrong.is_empty()
    }
}

/// The median of the absolute errors, in percent.
pub fn median_error<'a>(entries: impl Iterator<Item = &'a CheckEntry>) -> f64 {
    median(&entries.map(|entry| entry.error_percent.abs()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(lock: &'static str, native: f64, simulated: f64) -> CheckEntry {
        CheckEntry::of(lock, &[native, native * 1.5, native * 0.5], &[simulated]).expect("results")
    }

    #[test]
    fn only_pairs_with_a_clear_native_order_are_judged() {
        let cell = [entry("a", 100.0, 50.0), entry("b", 85.0, 60.0), entry("c", 40.0, 55.0)];
        let order = LockOrder::of(&cell);
        assert_eq!((order.judged, order.right), (2, 1));
        let wrong = Wrong { faster: "a", slower: "c", ranges_overlap: true };
        assert_eq!(order.wrong, [wrong]);
        assert!(!order.is_right() && LockOrder::of(&cell[..2]).is_right());
    }

    #[test]
    fn an_error_is_relative_to_the_native_median() {
        let entries = [entry("a", 100.0, 50.0), entry("b", 100.0, 110.0), entry("c", 10.0, 12.0)];
        assert!((entries[0].error_percent + 50.0).abs() < 1e-9);
        assert!((median_error(entries.iter()) - 20.0).abs() < 1e-9);
        assert!(
            CheckEntry::of("d", &[], &[1.0]).is_none()
                && CheckEntry::of("d", &[1.0], &[]).is_none()
        );
    }
}
