//! The command that repeats a simulated cell that failed.
//!
//! A simulated cell is decided by its arguments alone, so the command fails in the same way on
//! every computer.

use crate::machines::NATIVE;
use crate::options::MachineArgs;
use clap::ValueEnum;
use lockwright_measure::native::locks::readers_share;
use lockwright_measure::stress::Stress;
use lockwright_measure::trial::{Purpose, Trial};
use lockwright_sheets::quoted;
use lockwright_sim::{ScheduledKind, Scheduling};

/// The line that tells how to repeat `spec` on the machine of `machine`, if that is simulated.
pub fn line(machine: &MachineArgs, spec: &Trial) -> Option<String> {
    if machine.on == NATIVE {
        return None;
    }
    let (command, seed) = match spec.purpose {
        Purpose::Torture(stress) => (
            torture(stress, readers_share(spec.lock)),
            spec.seed.wrapping_add(spec.repetition.into()),
        ),
        Purpose::Throughput | Purpose::Latency => bench(spec),
    };
    let Trial { lock, threads, .. } = spec;
    let thread_counts = match spec.scheduling {
        Some(Scheduling { kind: ScheduledKind::Guest { .. }, .. }) => "--vcpus",
        _ => "--threads",
    };
    let (on, secs) = (quoted(&machine.on), spec.window_ns as f64 / 1e9);
    let mut line = format!(
        "replay: lockwright {command} --on {on} --lock {} {thread_counts} {threads} --secs {secs} \
         --seed {seed}",
        lock.name()
    );
    if let Some(Scheduling { kind, start }) = spec.scheduling {
        line += &format!(" --start-state {}", start.name());
        if kind == (ScheduledKind::Guest { virtual_numa: true }) {
            line += " --virtual-numa";
        }
    }
    for (flag, value) in knobs(machine) {
        line += &format!(" {flag} {value}");
    }
    Some(line)
}

/// A torture with everything that is mixed in. The faults follow from the time.
fn torture(stress: Stress, has_readers: bool) -> String {
    let readers =
        if has_readers { format!(" --readers {}", stress.readers) } else { String::new() };
    let faults = if stress.preemption.is_some() { " --faults" } else { "" };
    format!(
        "torture --long-hold {}ns --stutter {} --nested {}{readers}{faults}",
        stress.long_hold_ns,
        stress.stutter_s(),
        stress.nested
    )
}

/// A benchmark of one repetition. Waits are timed in the repetition after the last one, with the
/// seed after the last one, unless threads share CPUs: then in every one.
fn bench(spec: &Trial) -> (String, u64) {
    let knobs = spec.workload.typed(|_, _| true);
    let knobs = if knobs.is_empty() { knobs } else { format!(" {knobs}") };
    let seed = spec.seed.wrapping_add(spec.repetition.into());
    let is_extra = spec.purpose == Purpose::Latency && spec.scheduling.is_none();
    let seed = seed.wrapping_sub(is_extra.into());
    (format!("bench --workload {}{knobs} --runs 1", spec.workload.name()), seed)
}

/// What was set of the machine and its locks.
fn knobs(machine: &MachineArgs) -> Vec<(&'static str, String)> {
    let numa = machine.numa_spinlock.and_then(|mode| mode.to_possible_value());
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let calibration = machine.calibration.as_ref();
    let knobs = [
        ("--calibration", calibration.map(|file| quoted(&file.to_string_lossy()))),
        ("--placement", machine.placement.map(|placement| placement.name().into())),
        ("--numa-spinlock", numa.map(|mode| mode.get_name().into())),
        ("--numa-spinlock-threshold", number(machine.numa_spinlock_threshold)),
        ("--numa-spinlock-threshold-ns", number(machine.numa_spinlock_threshold_ns)),
        ("--heavy-barrier-apart-ns", number(machine.heavy_barrier_apart_ns)),
    ];
    knobs.into_iter().filter_map(|(flag, value)| Some((flag, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options;
    use lockwright_measure::subject::{FLOORS, Subject, SubjectOrigin};
    use lockwright_measure::workload::Workload;
    use lockwright_measure::workload::counter::{CounterParams, ReaderOrder};

    fn spec() -> Trial {
        let lock = Subject { row: &FLOORS[0], origin: SubjectOrigin::Floor };
        Trial { repetition: 5, ..Trial::new(lock, Workload::counter(2, 3), 4, 1_234_567, 10) }
    }

    fn told(machine: &str, spec: &Trial) -> String {
        line(&options::read(machine), spec).expect("it is simulated")
    }

    #[test]
    fn everything_that_decides_a_cell_is_in_its_line() {
        assert_eq!(
            told("--on x5-4 --placement scheduler-5.6 --numa-spinlock off", &spec()),
            "replay: lockwright bench --workload counter --cs-load 2 --think-load 3 --read-percent 0 \
             --reader-order alternate --empty-section off --runs 1 \
             --on x5-4 --lock floor-8 --threads 4 --secs 0.001234567 --seed 15 \
             --placement scheduler-5.6 --numa-spinlock off"
        );
    }

    #[test]
    fn the_calibration_is_in_its_line() {
        let line = told("--on ./mine.toml --calibration x5-4.calibration.toml", &spec());
        assert!(line.ends_with(" --seed 15 --calibration x5-4.calibration.toml"), "{line}");
    }

    #[test]
    fn the_readers_of_a_counter_are_in_its_line() {
        let workload = Workload::Counter(CounterParams {
            read_percent: 40,
            reader_order: ReaderOrder::Random,
            empty_section: true,
            ..CounterParams::USUAL
        });
        let mixed = told("--on x5-4", &Trial { workload, ..spec() });
        assert!(
            mixed.contains(
                " --think-load 0 --read-percent 40 --reader-order random --empty-section on "
            ),
            "{mixed}"
        );
    }

    #[test]
    fn the_repetition_that_times_waits_follows_one_that_does_not() {
        let latency = Trial { purpose: Purpose::Latency, ..spec() };
        assert!(told("--on x5-4", &latency).contains("--runs 1"));
        assert!(told("--on x5-4", &latency).ends_with("--seed 14"));
        assert!(
            line(&options::read(""), &latency).is_none(),
            "this computer does not repeat itself"
        );
    }
}
