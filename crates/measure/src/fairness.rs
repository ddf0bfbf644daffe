//! How long a cell has to be before it says something about the fairness of its lock.
//!
//! Many locks let waiters be overtaken for a while and give them their turn then
//! ([`RawLock::fairness_threshold`](lockwright_core::raw::RawLock::fairness_threshold)). A window has to hold a turn of
//! everyone:
//!
//! - NUMA nodes have their turns one after the other: a threshold for each node that has threads.
//! - So have waiters of which only the first one is counted: a threshold for each waiter.
//! - Waiters that are counted from when they came all have their turn at about the same time: two thresholds, so that
//!   those that came in the first half had theirs in the second.
//!
//! With less the numbers say which thread had the lock first, and nothing about the lock.

use lockwright_core::raw::FairnessThreshold;

/// What decides how long a cell has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FairnessWindow {
    /// How long the lock lets waiters be overtaken.
    pub threshold: FairnessThreshold,
    /// NUMA nodes on which the threads run.
    pub nodes: u32,
    /// The most threads that may wait for one lock.
    pub waiters: u32,
    /// Locks that the operations are spread over.
    pub locks: u32,
}

/// A bound of a lock, as measured in a window.
struct Bound {
    needs_ns: f64,
    words: String,
}

impl FairnessWindow {
    /// Why a window with `ops` operations says nothing about the fairness of `lock`, and what to type instead; `None`
    /// if it says something.
    pub fn too_short(&self, lock: &str, window_ns: f64, ops: f64) -> Option<String> {
        let bounds = self.bounds(window_ns / (ops / f64::from(self.locks.max(1))));
        let longest = bounds.into_iter().max_by(|a, b| a.needs_ns.total_cmp(&b.needs_ns))?;
        let Bound { needs_ns, words } = longest;
        (ops > 0.0 && window_ns < needs_ns).then(|| {
            format!(
                "{} is too short to show the fairness of {lock}, which lets {words}: give --secs {}",
                duration(window_ns),
                rounded_up(needs_ns / 1e9)
            )
        })
    }

    /// The bounds that the lock has.
    fn bounds(&self, handoff_ns: f64) -> Vec<Bound> {
        let FairnessThreshold { handoffs_per_node, ns_per_node, ns_per_waiter, ns } =
            self.threshold;
        let Self { nodes, waiters, .. } = *self;
        let mut bounds = Vec::new();
        let mut add = |each_ns: f64, times: u32, words: &dyn Fn(String) -> String| {
            if each_ns > 0.0 && each_ns.is_finite() && waiters > 0 {
                let needs_ns = each_ns * f64::from(times);
                bounds.push(Bound { needs_ns, words: words(duration(each_ns)) });
            }
        };
        if nodes > 1 {
            add(handoffs_per_node as f64 * handoff_ns, nodes, &|here| {
                format!(
                    "waiters of another NUMA node be overtaken for {handoffs_per_node} handoffs, about \
                     {here} here, and {nodes} nodes take turns"
                )
            });
            add(ns_per_node as f64, nodes, &|time| {
                format!(
                    "waiters of another NUMA node be overtaken for {time}, and {nodes} nodes take turns"
                )
            });
        }
        add(ns_per_waiter as f64, waiters, &|time| {
            format!("each of up to {waiters} waiters be overtaken for {time}")
        });
        add(ns as f64, 2, &|time| format!("a waiter be overtaken for {time}"));
        bounds
    }
}

/// Milliseconds, with two significant digits.
fn duration(ns: f64) -> String {
    let ms = ns / 1e6;
    // The logarithm of nothing is infinite.
    let digits = (1.0 - ms.log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{ms:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} ms")
}

/// The next number with one significant digit.
fn rounded_up(seconds: f64) -> String {
    let unit = 10f64.powf(seconds.log10().floor());
    // A number that has one digit already stays as it is.
    let rounded = (seconds / unit - 1e-9).ceil() * unit;
    let digits = (-rounded.log10().floor()).max(0.0) as usize;
    format!("{rounded:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: FairnessThreshold =
        FairnessThreshold { handoffs_per_node: 0, ns_per_node: 0, ns_per_waiter: 0, ns: 0 };

    fn window(threshold: FairnessThreshold, nodes: u32) -> FairnessWindow {
        FairnessWindow { threshold, nodes, waiters: 35, locks: 1 }
    }

    #[test]
    fn numa_nodes_take_turns_and_need_a_threshold_each() {
        let by_count = FairnessThreshold { handoffs_per_node: 1 << 16, ..NONE };
        // 3.45 million operations per second.
        let told = window(by_count, 4).too_short("cna", 5e6, 17_250.0).expect("too short");
        assert_eq!(
            told,
            "5 ms is too short to show the fairness of cna, which lets waiters of another NUMA node be \
             overtaken for 65536 handoffs, about 19 ms here, and 4 nodes take turns: give --secs 0.08"
        );
        assert_eq!(window(by_count, 4).too_short("cna", 8e7, 276_000.0), None);
        assert_eq!(
            window(by_count, 1).too_short("cna", 5e6, 17_250.0),
            None,
            "one node has all turns"
        );
        let by_time = FairnessThreshold { ns_per_node: 1_000_000, ..NONE };
        let told = window(by_time, 4).too_short("cna-v15", 3e6, 10_000.0).expect("too short");
        assert!(
            told.ends_with("overtaken for 1 ms, and 4 nodes take turns: give --secs 0.004"),
            "{told}"
        );
        assert_eq!(window(by_time, 4).too_short("cna-v15", 4e6, 10_000.0), None);
    }

    #[test]
    fn waiters_need_a_turn_each_or_all_at_once() {
        let each = FairnessThreshold { ns_per_waiter: 500_000, ..NONE };
        let told = window(each, 1).too_short("hybrid-bounded", 5e6, 1e4).expect("too short");
        assert!(told.contains("lets each of up to 35 waiters be overtaken for 0.5 ms"), "{told}");
        assert!(told.ends_with("give --secs 0.02"), "{told}");
        let at_once = FairnessThreshold { ns: 4_000_000, ..NONE };
        let told = window(at_once, 1).too_short("mutex", 5e6, 1e4).expect("too short");
        assert!(told.ends_with("a waiter be overtaken for 4 ms: give --secs 0.008"), "{told}");
        assert_eq!(window(at_once, 1).too_short("mutex", 8e6, 1e4), None);
    }

    #[test]
    fn a_lock_without_a_threshold_and_a_thread_alone_are_always_told() {
        assert_eq!(window(NONE, 4).too_short("mcs", 1.0, 1.0), None);
        assert_eq!(window(NONE, 4).too_short("mcs", 0.0, 0.0), None, "interrupted at once");
        let alone =
            FairnessWindow { waiters: 0, ..window(FairnessThreshold { ns: 4_000_000, ..NONE }, 1) };
        assert_eq!(alone.too_short("mutex", 1.0, 1.0), None);
    }

    #[test]
    fn seconds_are_rounded_up_to_one_digit() {
        for (seconds, text) in
            [(0.0774, "0.08"), (0.2, "0.2"), (0.0961, "0.1"), (12.0, "20"), (0.95, "1")]
        {
            assert_eq!(rounded_up(seconds), text);
        }
    }
}
