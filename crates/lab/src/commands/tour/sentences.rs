//! What a table of the tour shows, in a sentence or two that are made of its numbers.

use crate::commands::bench::BenchDocument;

/// One thread alone: the cost of a lock/unlock pair, and how it compares.
pub fn alone(document: &BenchDocument) -> Option<String> {
    let rates = Rates::of(document);
    let ours = rates.rate("mutex", 1)?;
    let others = ["std", "parking_lot", "pthread"].into_iter().filter_map(|lock| {
        Some(format!("{} as long as that of {lock}", times(rates.rate(lock, 1)? / ours)))
    });
    let others: Vec<String> = others.collect();
    Some(format!(
        "One thread: a lock/unlock pair of mutex takes {}. The floors are not locks but one atomic \
         compare-exchange and one store of 8, 16 or 32 bits; the fastest is a lower bound.",
        others.join(", ")
    ))
}

/// Several threads: what `ours` does in terms of the others, with most threads.
pub fn against(document: &BenchDocument, ours: &[&str]) -> Option<String> {
    let rates = Rates::of(document);
    let most = rates.counts().max()?;
    let of = |own: &&str| {
        let rate = rates.rate(own, most)?;
        let others = rates.with(most).filter(|(lock, _)| !ours.contains(lock));
        let others = others.map(|(lock, its)| format!("{} that of {lock}", times(rate / its)));
        let others: Vec<String> = others.collect();
        Some(format!("the throughput of {own} is {}", others.join(", ")))
    };
    let sentences: Vec<String> = ours.iter().filter_map(of).collect();
    let noun = if most == 1 { "thread" } else { document.noun() };
    (!sentences.is_empty()).then(|| format!("With {most} {noun}, {}.", sentences.join("; ")))
}

/// More threads than CPUs: what is left of each lock.
pub fn oversubscribed(document: &BenchDocument) -> Option<String> {
    let (rates, cpus) = (Rates::of(document), document.cpus());
    let most = rates.counts().max().filter(|&count| count > cpus)?;
    let few = rates.counts().filter(|&count| count <= cpus).max()?;
    let kept =
        |(lock, rate)| Some(format!("{lock} {}", percent(rate / rates.rate(lock, few)? * 100.0)));
    let kept: Vec<String> = rates.with(most).filter_map(kept).collect();
    let noun = document.noun();
    let simulated = if document.is_simulated() { "Simulated: with" } else { "With" };
    Some(format!(
        "{simulated} {most} {noun} instead of {few} on {cpus} CPUs, each lock has this much of its throughput: \
         {}.",
        kept.join(", ")
    ))
}

/// A ratio, in words.
fn times(ratio: f64) -> String {
    let digits = if ratio < 10.0 { 2 } else { 1 };
    format!("{ratio:.digits$} times")
}

fn percent(share: f64) -> String {
    match share {
        small if small < 0.1 => "less than 0.1 %".into(),
        small if small < 10.0 => format!("{small:.1} %"),
        share => format!("{share:.0} %"),
    }
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
    /// With this number of threads, in the order of the results.
    fn with(&self, threads: usize) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        let measured = self.0.iter().filter(move |it| it.1 == threads && it.2 > 0.0);
        measured.map(|&(lock, _, rate)| (lock, rate))
    }
    fn rate(&self, lock: &str, threads: usize) -> Option<f64> {
        self.with(threads).find(|it| it.0 == lock).map(|(_, rate)| rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_found_by_lock_and_threads() {
        let rates = Rates(vec![("a", 1, 9.0), ("a", 2, 1.0), ("b", 1, 5.0), ("b", 2, 0.0)]);
        assert_eq!((rates.rate("a", 2), rates.rate("b", 1)), (Some(1.0), Some(5.0)));
        assert_eq!((rates.rate("b", 2), rates.rate("c", 1)), (None, None));
        assert_eq!(rates.with(1).collect::<Vec<_>>(), [("a", 9.0), ("b", 5.0)]);
    }

    #[test]
    fn small_shares_do_not_look_like_nothing() {
        assert_eq!([0.01, 0.25, 83.4].map(percent), ["less than 0.1 %", "0.2 %", "83 %"]);
    }
}
