//! Waiting times, as documents tell them.

use crate::duration;
use lockwright_measure::latency::Waited;
use lockwright_measure::record::TrialRecord;
use lockwright_measure::starved::{Starved, StarvedWait};
use lockwright_measure::stats::{Histogram, median};
use serde::Serialize;

/// Quantiles: of times in nanoseconds, or of counts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Waits {
    /// Half of them were not greater.
    pub p50: u64,
    /// 99 of 100 were not greater.
    pub p99: u64,
    /// 999 of 1000 were not greater.
    pub p999: u64,
    /// The greatest.
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
    /// Simulated: from a release to the next acquisition of a thread that waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_ns: Option<Waits>,
    /// Simulated: waiters that NUMA-aware succession looked at meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_looks: Option<Waits>,
}

impl TrialWaits {
    /// Those of `runs`, as far as waits were timed in them.
    pub fn of<'a>(runs: impl Iterator<Item = &'a TrialRecord>) -> Self {
        let (mut all, mut by_role) = (None::<Histogram>, Waited::default());
        for run in runs {
            by_role.transfers.merge(&run.transfers.clone().unwrap_or_default());
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
            transfer_ns: of_role(&by_role.transfers.ns),
            transfer_looks: of_role(&by_role.transfers.looks),
        }
    }
}

/// The waits of a thread that waits again and again, in workload `starve`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Starving {
    /// How many.
    pub waits: usize,
    /// Half of them were no longer, in nanoseconds.
    pub p50_ns: u64,
    /// The longest.
    pub longest: OneWait,
    /// The one that went farthest beyond the sections that the bound allows.
    pub farthest: OneWait,
    /// The median of the longest waits of all tenths of the runs.
    pub window_longest_ns: u64,
    /// How many tenths had a wait.
    pub windows: usize,
}

/// A wait, in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OneWait {
    /// How long it was.
    pub wait_ns: u64,
    /// The sections of others that the bound allows.
    pub sections_ns: u64,
    /// What is left without them.
    pub difference_ns: u64,
    /// The part of the sections in which threads had no CPU, or overslept.
    pub lost_ns: u64,
    /// For how long the thread was ready to run and had no CPU.
    pub no_cpu_ns: u64,
    /// Sections of threads that asked later and were served first.
    pub overtakes: u64,
    /// True if the others stopped before it ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl From<&StarvedWait> for OneWait {
    fn from(wait: &StarvedWait) -> Self {
        let (wait_ns, difference_ns) = (wait.length_ns(), wait.beyond_ns());
        let &StarvedWait { sections_ns, lost_ns, no_cpu_ns, overtakes, is_cut, .. } = wait;
        Self { wait_ns, sections_ns, difference_ns, lost_ns, no_cpu_ns, overtakes, is_cut }
    }
}

impl OneWait {
    /// A time of it for people: of a wait that was cut, at least that.
    pub fn shown(&self, ns: u64) -> String {
        format!("{}{}", if self.is_cut { ">" } else { "" }, duration(ns as f64))
    }
}

impl Starving {
    /// Those of `runs`; `None` if there were none.
    pub fn of<'a>(runs: impl Iterator<Item = &'a Starved> + Clone) -> Option<Self> {
        let waits = || runs.clone().flat_map(|run| &run.waits);
        let of = |numbers: Vec<u64>| {
            median(&numbers.iter().map(|&ns| ns as f64).collect::<Vec<_>>()).round() as u64
        };
        let windows: Vec<u64> = runs.clone().flat_map(Starved::longest_of_windows).collect();
        Some(Self {
            longest: waits().max_by_key(|wait| wait.length_ns())?.into(),
            farthest: waits().max_by_key(|wait| wait.beyond_ns())?.into(),
            waits: waits().count(),
            p50_ns: of(waits().map(StarvedWait::length_ns).collect()),
            windows: windows.len(),
            window_longest_ns: of(windows),
        })
    }
    /// In words and numbers: what, and how much.
    pub fn items(&self) -> Vec<(&'static str, String)> {
        let Self { longest, farthest, .. } = self;
        let time = |ns: u64| duration(ns as f64);
        vec![
            ("waits", self.waits.to_string()),
            ("median", time(self.p50_ns)),
            ("longest", longest.shown(longest.wait_ns)),
            ("sections", time(longest.sections_ns)),
            ("difference", longest.shown(longest.difference_ns)),
            ("lost in sections", time(longest.lost_ns)),
            ("without a CPU", time(longest.no_cpu_ns)),
            ("overtaken", longest.overtakes.to_string()),
            ("largest difference", farthest.shown(farthest.difference_ns)),
            ("longest (median of ten windows)", time(self.window_longest_ns)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_need_not_be_the_one_that_went_farthest() {
        let wait = |from_ns, to_ns, sections_ns| StarvedWait {
            from_ns,
            to_ns,
            sections_ns,
            ..StarvedWait::default()
        };
        let cut = StarvedWait { is_cut: true, ..wait(700, 790, 10) };
        let waits = vec![wait(0, 100, 90), wait(200, 205, 0), cut];
        let runs = [Starved { start_ns: 0, end_ns: 1_000, waits }, Starved::default()];
        let all = Starving::of(runs.iter()).expect("there are waits");
        assert_eq!((all.waits, all.p50_ns, all.windows), (3, 90, 4));
        assert_eq!((all.longest.wait_ns, all.longest.difference_ns), (100, 10));
        assert_eq!(all.farthest.shown(all.farthest.difference_ns), ">80 ns");
        assert!(Starving::of(runs[1..].iter()).is_none());
    }
}
