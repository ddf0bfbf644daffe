//! What a picture shows, in one sentence that is made of its numbers.

use crate::bench::BenchDocument;

/// What results call the lock for programs with more threads than CPUs.
const HYBRID_LOCK: &str = "cna-hybrid-bounded";

/// Locks without company: what each costs in terms of the least possible.
pub fn alone(document: &BenchDocument) -> Option<String> {
    let costs = document.ratios_to_floor().filter(|(lock, _)| *lock != "floor");
    let costs: Vec<String> = costs.map(|(lock, ratio)| format!("{lock} {ratio:.2}")).collect();
    (!costs.is_empty())
        .then(|| format!("Alone, in terms of the least a lock can cost: {}.", costs.join(", ")))
}

/// A lock with company: what it does in terms of the best.
pub fn in_company(document: &BenchDocument) -> Option<String> {
    let rates = Rates::of(document);
    let most = rates.counts().max()?;
    let (best, rate) = rates.best(most)?;
    let ours = rates.rate("qspinlock", most)? / rate;
    Some(format!(
        "With {most} {}, {best} does the most and qspinlock {ours:.2} of it.",
        document.noun()
    ))
}

/// More threads than CPUs: what is left of each lock, and which of them does most.
pub fn crowded(document: &BenchDocument) -> Option<String> {
    let (rates, cpus) = (Rates::of(document), document.cpus());
    let most = rates.counts().max().filter(|&count| count > cpus)?;
    let few = rates.counts().filter(|&count| count <= cpus).max()?;
    let kept = |lock| {
        let share = rates.rate(lock, most)? / rates.rate(lock, few)? * 100.0;
        let digits = if share < 10.0 { 1 } else { 0 };
        Some(format!("{lock} keeps {share:.digits$} %"))
    };
    let kept: Vec<String> = rates.locks().into_iter().filter_map(kept).collect();
    let (best, rate) = rates.best(most)?;
    let times = rate / rates.rate("qspinlock", most).filter(|&rate| rate > 0.0)?;
    let ours = rates.rate(HYBRID_LOCK, most).filter(|_| best != HYBRID_LOCK);
    let ours = ours.map(|ours| format!(", and {HYBRID_LOCK} {:.2} of that", ours / rate));
    let (noun, ours) = (document.noun(), ours.unwrap_or_default());
    let simulated = if document.is_simulated() { " (simulated)" } else { "" };
    Some(format!(
        "From {few} {noun} to {most} on {cpus} CPUs, of what it did {}; with {most}, {best} does the \
         most, {times:.1} times as much as qspinlock{ours}{simulated}.",
        kept.join(", ")
    ))
}

/// Operations per second by lock and number of threads.
struct Rates(Vec<(&'static str, usize, f64)>);

impl Rates {
    fn of(document: &BenchDocument) -> Self {
        Self(document.rates().collect())
    }
    fn counts(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|&(_, threads, _)| threads)
    }
    /// Each once, in the order of the results.
    fn locks(&self) -> Vec<&'static str> {
        let mut locks = Vec::new();
        for &(lock, ..) in &self.0 {
            if !locks.contains(&lock) {
                locks.push(lock);
            }
        }
        locks
    }
    fn rate(&self, lock: &str, threads: usize) -> Option<f64> {
        let is_it = |&&(name, count, _): &&(&str, usize, f64)| (name, count) == (lock, threads);
        self.0.iter().find(is_it).map(|&(.., rate)| rate)
    }
    /// The lock with the most operations, and its rate.
    fn best(&self, threads: usize) -> Option<(&'static str, f64)> {
        let with = self.0.iter().filter(|&&(_, count, _)| count == threads);
        with.map(|&(lock, _, rate)| (lock, rate)).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_of_those_with_as_many_threads() {
        let rates = Rates(vec![("a", 1, 9.0), ("a", 2, 1.0), ("b", 1, 5.0), ("b", 2, 3.0)]);
        assert_eq!((rates.best(1), rates.best(2)), (Some(("a", 9.0)), Some(("b", 3.0))));
        assert_eq!((rates.best(3), rates.rate("b", 1)), (None, Some(5.0)));
        assert_eq!(rates.locks(), ["a", "b"]);
    }
}
