//! What the runs came to.

use std::time::Duration;

/// Shorter tests are not compared: they take as long as a process takes to start.
const LONG: Duration = Duration::from_millis(100);
/// The ratio above which a long test is named.
const RATIO: f64 = 1.2;

/// The runs of one test with one library.
#[derive(Debug, Default)]
pub struct Runs {
    /// How long each run took that passed.
    pub times: Vec<Duration>,
    /// What each run printed that failed.
    pub failures: Vec<String>,
}

/// A test with both libraries.
#[derive(Debug)]
pub struct Measured {
    name: String,
    pub ours: Runs,
    pub theirs: Runs,
}

impl Runs {
    /// The upper one of the two in the middle, if their number is even.
    fn median(&self) -> Option<Duration> {
        let mut times = self.times.clone();
        times.sort();
        times.get(times.len() / 2).copied()
    }
    fn text(&self) -> String {
        let verdict = match (self.failures.len(), self.times.len()) {
            (0, _) => "passed".into(),
            (failed, passed) => format!("FAILED {failed} of {}", failed + passed),
        };
        let median = self.median().map_or("-".into(), |it| format!("{:.0}", millis(it)));
        format!("{verdict} {median:>5} ms")
    }
}

/// The name of a test, with its file and without the module in it.
pub fn shown(name: &str) -> String {
    match (name.split_once("::"), name.rsplit_once("::")) {
        (Some((file, _)), Some((_, test))) => format!("{file}::{test}"),
        _ => name.into(),
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Measured {
    /// A test that has not run.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), ours: Runs::default(), theirs: Runs::default() }
    }
    /// True if it passed in each run with Lockwright.
    pub fn passes(&self) -> bool {
        self.ours.failures.is_empty()
    }
    /// Our median time divided by parking_lot's.
    fn ratio(&self) -> Option<f64> {
        Some(millis(self.ours.median()?) / millis(self.theirs.median()?))
    }
    /// True if it is a long test.
    fn is_long(&self) -> bool {
        self.ours.median().max(self.theirs.median()).is_some_and(|median| median > LONG)
    }
    fn is_slow(&self) -> bool {
        self.is_long() && self.ratio().is_some_and(|ratio| ratio > RATIO)
    }
    /// A line for the reader.
    pub fn line(&self) -> String {
        let ratio = self.ratio().map_or("-".into(), |ratio| format!("{ratio:.2}"));
        let mark = match (self.is_long(), self.is_slow()) {
            (false, _) => " (short)",
            (true, true) => " slow",
            (true, false) => "",
        };
        let Self { name, ours, theirs } = self;
        let (ours, theirs) = (ours.text(), theirs.text());
        format!("{}: {ours}, parking_lot {theirs}, ratio {ratio}{mark}", shown(name))
    }
}

/// The last lines.
pub fn summary(measured: &[Measured]) -> String {
    let names = |is_one: &dyn Fn(&Measured) -> bool| -> Vec<String> {
        measured.iter().filter(|it| is_one(it)).map(|it| format!("  {}\n", it.line())).collect()
    };
    let mut text = String::new();
    let failed = names(&|it| !it.passes());
    let passed = measured.len() - failed.len();
    text += &format!("\n{passed} of {} tests pass with Lockwright.\n", measured.len());
    if !failed.is_empty() {
        text += &format!("These fail:\n{}", failed.concat());
    }
    let long = measured.iter().filter(|it| it.is_long()).count();
    let slow = names(&Measured::is_slow);
    text += &format!("{long} take more than {} ms, ", LONG.as_millis());
    text += &match slow.len() {
        0 => format!("none of them more than {RATIO} times parking_lot's time.\n"),
        count => format!(
            "{count} of them more than {RATIO} times parking_lot's time:\n{}",
            slow.concat()
        ),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ours: &[u64], theirs: &[u64]) -> Measured {
        let runs = |times: &[u64]| Runs {
            times: times.iter().copied().map(Duration::from_millis).collect(),
            failures: vec![],
        };
        Measured { name: "mutex::tests::a".into(), ours: runs(ours), theirs: runs(theirs) }
    }

    #[test]
    fn a_long_test_above_the_ratio_is_named_and_no_other() {
        for (ours, theirs, is_slow) in [
            (&[300, 130, 100][..], &[100, 100, 100][..], true),
            (&[130, 100, 100], &[100, 100, 100], false),
            (&[90, 90, 90], &[10, 10, 10], false),
            (&[100, 100, 100], &[300, 300, 300], false),
            (&[], &[100], false),
        ] {
            let test = measured(ours, theirs);
            assert_eq!(test.is_slow(), is_slow, "{ours:?} {theirs:?}");
            assert_eq!(summary(&[test]).contains("mutex::a: "), is_slow);
        }
    }

    #[test]
    fn a_line_has_the_verdicts_the_medians_and_the_ratio() {
        let mut test = measured(&[150, 100], &[100]);
        assert_eq!(
            test.line(),
            "mutex::a: passed   150 ms, parking_lot passed   100 ms, ratio 1.50 slow"
        );
        test.ours.failures.push("why".into());
        assert!(test.line().starts_with("mutex::a: FAILED 1 of 3   150 ms, "));
        let text = summary(&[test]);
        assert!(text.contains("0 of 1 tests pass") && text.contains("These fail:\n  mutex::a"));
    }
}
