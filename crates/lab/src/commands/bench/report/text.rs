//! The results of a benchmark for people.

use super::columns;
use super::document::{BenchDocument, BenchResult, Ratio};
use lockwright_measure::trial::{On, Scheduled};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{
    Column, Sheet, SheetOf, count, digits, duration, known, provenance, setting, warned, wrapped,
};

/// What ran, and where.
pub fn title(document: &BenchDocument) -> String {
    let simulated = if document.on.is_simulated() { "simulated " } else { "" };
    let guest = if document.on.is_guest() { "a guest of " } else { "" };
    let described = document.asked.described();
    format!("{described} on {guest}{simulated}{}", document.on.machine())
}

/// Everything, with units.
pub fn text(document: &BenchDocument) -> String {
    let table = table(document, columns::contended);
    let mut text = wrapped(&title(document)) + &wrapped(&conditions(document)) + "\n";
    text += &table.text();
    text += &notes(document);
    text += &warned(&document.warnings);
    if let On::Simulated { machine, calibration, .. } = &document.on {
        text = text + "\n" + &wrapped(&provenance(machine, calibration.as_ref()));
    }
    text
}

/// The numbers that a person looks at first.
pub fn brief(document: &BenchDocument) -> String {
    table(document, columns::brief).without_legend() + &warned(&document.warnings)
}

/// Pairs, or what there is to know of threads that compete.
fn table(document: &BenchDocument, contended: fn(&BenchDocument) -> Sheet) -> Sheet {
    match document.workload() {
        Workload::Uncontended(_) => pairs(document),
        _ => contended(document),
    }
}

/// How long it ran, how often, and where the threads were.
fn conditions(document: &BenchDocument) -> String {
    let runs = document.results.iter().map(|result| result.runs).max().unwrap_or(0);
    let plural = if runs == 1 { "" } else { "s" };
    let window = setting(document.secs * 1e9);
    let mut text = match document.workload() {
        Workload::Kbuild(knobs) => format!(
            "{}\n{runs} run{plural} of {} lock operations (a real build has about a thousand times as \
             many), at most {window} each",
            document.workload().typed(|_, _| true),
            count(knobs.ops() as f64)
        ),
        _ => format!("{runs} run{plural} of {window}"),
    };
    text += &format!(", seed {}", document.seed);
    if let On::Simulated { placement, scheduled, cpus, .. } = &document.on {
        text += &match (scheduled, placement) {
            (Some(scheduled), _) => format!("; {}", shared(*scheduled, *cpus)),
            (None, Some(placement)) => format!("; placement {placement}"),
            (None, None) => String::new(),
        };
    }
    text
}

/// Which threads share the CPUs.
fn shared(scheduled: Scheduled, cpus: usize) -> String {
    match scheduled {
        Scheduled::Guest { virtual_numa: false } => {
            format!("the guest sees one NUMA node; its host has {cpus} CPUs")
        }
        Scheduled::Guest { virtual_numa: true } => {
            format!("the guest sees the NUMA nodes; its host has {cpus} CPUs")
        }
        Scheduled::Program => {
            format!("up to {cpus} threads are pinned to a CPU each, more threads are not pinned")
        }
        Scheduled::Kernel => format!("tasks of a kernel on {cpus} CPUs"),
    }
}

/// The cost of a lock/unlock pair.
fn pairs(document: &BenchDocument) -> Sheet {
    let mut table = SheetOf::new(&document.results);
    let pair = |it: &BenchResult| it.pair_ns.unwrap_or_default();
    let ratio = |get: fn(&Ratio) -> f64| {
        move |it: &BenchResult| known(it.ratio_to_floor.as_ref(), |ratio| digits(get(ratio)))
    };
    table.key(Column::name("lock"), |it| it.lock.into());
    let means = "time of a lock/unlock pair, the median of the runs";
    table.number("pair", means, |it| duration(pair(it).median));
    table.number("min", "", |it| duration(pair(it).min));
    table.number("max", "", |it| duration(pair(it).max));
    let means = "the pair as a multiple of the fastest floor in the same run; a floor is one atomic compare-exchange \
                 and one store of the same number of bits, 8, 16 or 32, a lower bound for every lock";
    table.number("x floor", means, ratio(|ratio| ratio.median));
    table.number("min", "", ratio(|ratio| ratio.min));
    table.number("max", "", ratio(|ratio| ratio.max));
    table.sheet
}

/// Why results have no numbers about fairness: the reasons of the first locks, with the most threads, and the
/// names of the others.
fn notes(document: &BenchDocument) -> String {
    const SHOWN: usize = 3;
    let mut reasons: Vec<(&str, &str)> = Vec::new();
    for BenchResult { lock, fairness, .. } in &document.results {
        let Some(why) = fairness.as_deref() else { continue };
        match reasons.iter_mut().find(|(known, _)| known == lock) {
            Some((_, reason)) => *reason = why,
            None => reasons.push((lock, why)),
        }
    }
    let (shown, others) = reasons.split_at(reasons.len().min(SHOWN));
    let mut notes: Vec<String> = shown.iter().map(|(_, why)| format!("note: {why}")).collect();
    if !others.is_empty() {
        let names: Vec<_> = others.iter().map(|(lock, _)| *lock).collect();
        notes.push(format!("note: the runs are too short for {}, too", names.join(", ")));
    }
    match notes.is_empty() {
        true => String::new(),
        false => format!("\n{}", wrapped(&notes.join("\n"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::bench::schedule::{BenchRuns, Benchmark, Together};
    use crate::matrix::Matrix;
    use crate::mock::MockMachine;
    use crate::thread_counts::ThreadCounts;
    use lockwright_measure::trial::{LabMachine, Settings};
    use lockwright_sheets::Progress;

    const COUNTER: Workload = Workload::counter(1, 0);

    fn document(locks: &[&str]) -> BenchDocument {
        let machine = MockMachine::default();
        let locks: Vec<String> = locks.iter().map(ToString::to_string).collect();
        let thread_counts = ThreadCounts::of_threads(&machine, COUNTER, &[2]).expect("a number");
        let schedule = Benchmark {
            matrix: Matrix::new(&machine, COUNTER, &locks, thread_counts).expect("known names"),
            workloads: vec![COUNTER],
            runs: 2,
            window_ns: 1_000,
            seed: 1,
            together: Together::on(&machine),
            part: lockwright_parts::Part::default(),
        };
        let mut document = BenchDocument::new(&schedule, &machine, &Settings::default());
        let mut add = |sample: BenchRuns| {
            document.add(sample);
            Ok(())
        };
        let machine: &dyn LabMachine = &machine;
        schedule.run(machine, Progress::new(true), &mut add).expect("nothing fails");
        document
    }

    #[test]
    fn a_result_without_fairness_numbers_says_why_below_the_table() {
        let locks = ["mcs", "clh", "unfair", "ticket", "qspinlock"];
        let mut document = document(&locks);
        assert!(!text(&document).contains("note:"), "{}", text(&document));
        let cells = |text: &str, lock: &str| {
            let rows = text.lines().filter(|line| line.starts_with(lock));
            rows.flat_map(str::split_whitespace).filter(|cell| *cell == "-").count()
        };
        let before = text(&document);
        for result in &mut document.results[..4] {
            result.fairness = Some(format!("{} needs longer runs", result.lock));
        }
        document.warnings.push("the machine is busy".into());
        let text = text(&document);
        let table = text.find("min/max").expect("a column");
        let note = text.find("note: mcs needs longer runs").expect("a note");
        let warning = text.find("warning: the machine is busy").expect("it is told");
        assert!(table < note && note < warning, "{text}");
        assert!(text.contains("note: the runs are too short for ticket, too"), "{text}");
        // The shares of the threads, the rare waits and the longest ones.
        assert_eq!(cells(&text, "mcs"), cells(&before, "mcs") + 3, "{text}");
        assert_eq!(cells(&text, "qspinlock"), cells(&before, "qspinlock"), "{text}");
    }
}
