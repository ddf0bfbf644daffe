//! Which cells a command runs: locks, threads and time, checked before anything is measured.

use crate::thread_counts::ThreadCounts;
use lockwright_measure::error::Error;
use lockwright_measure::native::locks::stalls_if_oversubscribed;
use lockwright_measure::subject::{Asked, Selection};
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::Workload;

/// The locks and thread counts of a command.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The locks, each once.
    pub locks: Vec<Asked>,
    /// Who runs.
    pub thread_counts: ThreadCounts,
    /// What the reader should know about it.
    pub warnings: Vec<String>,
    cpus: usize,
}

impl Matrix {
    /// Checks what was asked of `machine`.
    pub fn new(
        machine: &dyn LabMachine,
        workload: Workload,
        locks: &[String],
        thread_counts: ThreadCounts,
    ) -> Result<Self, Error> {
        let locks = runnable(machine, workload, locks)?;
        let mut warnings = machine.warnings(workload);
        let cpus = machine.cpus();
        if thread_counts.counts().iter().any(|&threads| threads > cpus) {
            warnings.extend(of_oversubscription(&locks, thread_counts.noun(), cpus));
        }
        Ok(Self { locks, thread_counts, warnings, cpus })
    }
    /// The locks to run with that many threads.
    ///
    /// In a queue of spinners every handoff to a thread that has no CPU costs a scheduling slice:
    /// with more threads than CPUs such locks run only when they were named, natively and simulated.
    /// What comes out is the collapse, in a bounded time.
    pub fn locks_with(&self, threads: usize) -> impl Iterator<Item = Asked> + '_ {
        let oversubscribed = threads > self.cpus;
        let runs = move |asked: &Asked| {
            !oversubscribed || asked.explicitly || !stalls_if_oversubscribed(asked.subject)
        };
        self.locks.iter().copied().filter(runs)
    }
}

/// Warnings if some `noun` have no CPU.
fn of_oversubscription(locks: &[Asked], noun: &str, cpus: usize) -> Vec<String> {
    let more = format!("with more {noun} than the {cpus} CPUs, these locks");
    let why = "the next waiter in the queue often has no CPU, and all others wait for it";
    let names = |explicitly: bool| {
        let locks = locks.iter().filter(|asked| stalls_if_oversubscribed(asked.subject));
        let locks = locks.filter(|asked| asked.explicitly == explicitly);
        locks.map(|asked| asked.subject.name()).collect::<Vec<_>>().join(", ")
    };
    let (slow, left_out) = (names(true), names(false));
    let mut warnings = Vec::new();
    if !slow.is_empty() {
        warnings.push(format!("{more} are very slow: {slow}; {why}"));
    }
    if !left_out.is_empty() {
        warnings.push(format!(
            "{more} were left out because they are very slow: {left_out}; {why}. To run one, name it with --lock"
        ));
    }
    warnings
}

/// The locks that `machine` can run; one that was named and cannot run is an error.
fn runnable(
    machine: &dyn LabMachine,
    workload: Workload,
    names: &[String],
) -> Result<Vec<Asked>, Error> {
    let mut locks = Vec::new();
    for asked in Selection::of(names)?.subjects {
        match machine.refuses(asked.subject, workload) {
            None => locks.push(asked),
            Some(why) if asked.explicitly => return Err(Error::usage(why)),
            Some(_) => {}
        }
    }
    if locks.is_empty() {
        return Err(Error::usage("no lock to run: name one with --lock"));
    }
    Ok(locks)
}

/// `--secs` in nanoseconds.
pub fn window_ns(secs: Option<f64>, default_s: f64) -> Result<u64, Error> {
    const LONGEST_S: f64 = 86_400.0;
    const SHORTEST_S: f64 = 1e-6;
    let secs = secs.unwrap_or(default_s);
    if !(SHORTEST_S..=LONGEST_S).contains(&secs) {
        return Err(Error::usage(format!(
            "--secs must be between 1us and {LONGEST_S} seconds, not {secs}"
        )));
    }
    Ok((secs * 1e9).round() as u64)
}

/// Powers of two up to `cpus`, and `cpus`.
pub fn usual_threads(cpus: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |&count| Some(count * 2));
    let mut counts: Vec<usize> = powers.take_while(|&count| count < cpus).collect();
    counts.push(cpus.max(1));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockMachine;

    const COUNTER: Workload = Workload::counter(1, 0);

    fn matrix(locks: &str, threads: &[usize]) -> Result<Matrix, Error> {
        let locks: Vec<String> = locks.split(',').map(String::from).collect();
        let machine = MockMachine::default();
        Matrix::new(
            &machine,
            COUNTER,
            &locks,
            ThreadCounts::of_threads(&machine, COUNTER, threads)?,
        )
    }

    fn names(matrix: &Matrix, threads: usize) -> Vec<&'static str> {
        matrix.locks_with(threads).map(|asked| asked.subject.name()).collect()
    }

    #[test]
    fn with_more_threads_than_cpus_a_queue_runs_only_if_it_was_named() {
        let matrix = matrix("mcs,all", &[2, 64]).expect("a sound matrix");
        assert!(names(&matrix, 2).contains(&"ticket"));
        let oversubscribed = names(&matrix, 64);
        assert!(oversubscribed.contains(&"mcs") && oversubscribed.contains(&"unfair"));
        assert!(!oversubscribed.contains(&"ticket"));
        assert_eq!(matrix.warnings.len(), 2, "{:?}", matrix.warnings);
    }

    #[test]
    fn thread_counts_that_make_no_sense_are_refused() {
        assert!(matrix("mcs", &[0]).is_err());
        assert!(matrix("mcs", &[5_000]).is_err());
        assert_eq!(matrix("mcs", &[2, 1, 2]).expect("sound").thread_counts.counts(), [2, 1]);
    }

    #[test]
    fn times_that_make_no_sense_are_refused() {
        for secs in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert!(window_ns(Some(secs), 1.0).is_err(), "{secs}");
        }
        assert_eq!(window_ns(Some(0.05), 1.0).expect("sound"), 50_000_000);
    }

    #[test]
    fn the_usual_threads_end_with_the_cpus() {
        assert_eq!(usual_threads(1), [1]);
        assert_eq!(usual_threads(2), [1, 2]);
        assert_eq!(usual_threads(144), [1, 2, 4, 8, 16, 32, 64, 128, 144]);
    }
}
