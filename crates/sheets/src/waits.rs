//! Waiting times, as documents tell them.

use lockwright_measure::latency::Waited;
use lockwright_measure::record::TrialRecord;
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

/// The waits in some repetitions: of all threads, and by role if a thread did anything but own.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TrialWaits {
    /// Of all threads.
    pub wait_ns: Option<Waits>,
    /// Of readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader_wait_ns: Option<Waits>,
    /// Of writers next to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer_wait_ns: Option<Waits>,
    /// Of readers that become the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrader_wait_ns: Option<Waits>,
    /// Of threads that were notified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notified_wait_ns: Option<Waits>,
}

impl TrialWaits {
    /// Those of `runs`, as far as waits were timed in them.
    pub fn of<'a>(runs: impl Iterator<Item = &'a TrialRecord>) -> Self {
        let (mut all, mut by_role) = (None::<Histogram>, Waited::default());
        for run in runs {
            run.waits.iter().for_each(|waits| all.get_or_insert_default().merge(waits));
            run.waited.iter().for_each(|waited| by_role.merge(waited));
        }
        let of_role = |waits: &Histogram| (waits.count() > 0).then(|| Waits::of(waits));
        Self {
            wait_ns: all.as_ref().map(Waits::of),
            reader_wait_ns: of_role(&by_role.readers),
            writer_wait_ns: of_role(&by_role.writers),
            upgrader_wait_ns: of_role(&by_role.upgraders),
            notified_wait_ns: of_role(&by_role.notified),
        }
    }
}
