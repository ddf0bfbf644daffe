//! Waiting times, as documents tell them.

use lockwright_measure::stats::Histogram;
use serde::Serialize;

/// Quantiles of waiting times, in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Waits {
    /// Half of the waits were no longer.
    pub p50: u64,
    /// 99 of 100 were no longer.
    pub p99: u64,
    /// 999 of 1000 were no longer.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

impl Waits {
    /// The quantiles of `waits`.
    pub fn of(waits: &Histogram) -> Self {
        let [p50, p99, p999] = [500, 990, 999].map(|per_mille| waits.quantile(per_mille));
        Self { p50, p99, p999, max: waits.max() }
    }
}
