//! The command that repeats a simulated cell that failed.
//!
//! A simulated cell is decided by its arguments alone, so the command fails in the same way on
//! every computer.

use crate::machines::NATIVE;
use crate::options::{MachineArgs, typed};
use clap::ValueEnum;
use lockwright_measure::cell::{CellSpec, Purpose, Workload};
use lockwright_measure::native::locks::readers_share;
use lockwright_measure::stress::Stress;
use lockwright_sheets::quoted;
use lockwright_sim::{ScheduledKind, Scheduling};

/// The line that tells how to repeat `spec` on the machine of `machine`, if that is simulated.
pub fn line(machine: &MachineArgs, spec: &CellSpec) -> Option<String> {
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
    let CellSpec { lock, threads, .. } = spec;
    let thread_counts = thread_counts(spec.scheduling);
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

/// The flag that takes the number of threads.
fn thread_counts(scheduling: Option<Scheduling>) -> &'static str {
    match scheduling.map(|scheduling| scheduling.kind) {
        Some(ScheduledKind::Guest { .. }) => "--vcpus",
        Some(ScheduledKind::Program | ScheduledKind::Kernel) | None => "--threads",
    }
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
fn bench(spec: &CellSpec) -> (String, u64) {
    let knobs = match spec.workload {
        // What programs do is run by `compare`, which is not repeated cell by cell.
        Workload::Uncontended
        | Workload::Lock2
        | Workload::Open1
        | Workload::Readrandom
        | Workload::RealUse(_) => String::new(),
        Workload::Counter { .. } => {
            format!(" {}", spec.workload.counter_typed().unwrap_or_default())
        }
        Workload::Handoff { .. } | Workload::Aim7 { .. } | Workload::Starve(_) => {
            format!(" {}", spec.workload.sleepers_typed())
        }
        Workload::Kbuild(knobs) => format!(" {}", typed(&knobs)),
        Workload::Locktorture { long_hold: true } => " --long-hold 100ms".into(),
        Workload::Locktorture { long_hold: false } => " --long-hold off".into(),
    };
    let seed = spec.seed.wrapping_add(spec.repetition.into());
    let is_extra = spec.purpose == Purpose::Latency && spec.scheduling.is_none();
    let seed = seed.wrapping_sub(is_extra.into());
    (format!("bench --workload {}{knobs} --runs 1", spec.workload.name()), seed)
}

/// What was set of the machine and its locks.
fn knobs(machine: &MachineArgs) -> Vec<(&'static str, String)> {
    fn name<V: ValueEnum>(value: V) -> Option<String> {
        value.to_possible_value().map(|value| value.get_name().into())
    }
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let calibration = machine.calibration.as_ref();
    let knobs = [
        ("--calibration", calibration.map(|file| quoted(&file.to_string_lossy()))),
        ("--placement", machine.placement.map(|placement| placement.name().into())),
        ("--numa-spinlock", machine.numa_spinlock.and_then(name)),
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
    use lockwright_measure::cell::ReaderOrder;
    use lockwright_measure::subject::{FLOORS, Subject, SubjectOrigin};

    const SPEC: CellSpec = CellSpec {
        lock: Subject { row: &FLOORS[0], origin: SubjectOrigin::Floor },
        workload: Workload::counter(2, 3),
        threads: 4,
        scheduling: None,
        window_ns: 1_234_567,
        repetition: 5,
        seed: 10,
        purpose: Purpose::Throughput,
        has_neighbours: false,
    };

    fn told(machine: &str, spec: &CellSpec) -> String {
        line(&options::read(machine), spec).expect("it is simulated")
    }

    #[test]
    fn everything_that_decides_a_cell_is_in_its_line() {
        assert_eq!(
            told("--on x5-4 --placement scheduler-5.6 --numa-spinlock off", &SPEC),
            "replay: lockwright bench --workload counter --cs-load 2 --think-load 3 --runs 1 \
             --on x5-4 --lock floor-8 --threads 4 --secs 0.001234567 --seed 15 \
             --placement scheduler-5.6 --numa-spinlock off"
        );
    }

    #[test]
    fn the_calibration_is_in_its_line() {
        let line = told("--on ./mine.toml --calibration x5-4.calibration.toml", &SPEC);
        assert!(line.ends_with(" --seed 15 --calibration x5-4.calibration.toml"), "{line}");
    }

    #[test]
    fn the_readers_of_a_counter_are_in_its_line() {
        let reader_order = ReaderOrder::Random;
        let (cs_load, think_load, readers, is_empty) = (2, 3, 40, true);
        let workload = Workload::Counter { cs_load, think_load, readers, reader_order, is_empty };
        let mixed = told("--on x5-4", &CellSpec { workload, ..SPEC });
        assert!(
            mixed.contains(
                " --think-load 3 --read-percent 40 --reader-order random --empty-section on "
            ),
            "{mixed}"
        );
    }

    #[test]
    fn the_repetition_that_times_waits_follows_one_that_does_not() {
        let latency = CellSpec { purpose: Purpose::Latency, ..SPEC };
        assert!(told("--on x5-4", &latency).contains("--runs 1"));
        assert!(told("--on x5-4", &latency).ends_with("--seed 14"));
        assert!(
            line(&options::read(""), &latency).is_none(),
            "this computer does not repeat itself"
        );
    }
}
