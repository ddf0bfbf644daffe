//! The machine file, every number with its source.

use super::lines::PairCosts;
use super::measured::Measured;
use super::numbers::Numbers;
use super::samples::quantile;
use super::sourced::SourcedNumber;
use lockwright_measure::stats::median;
use std::fmt::Write;

/// The text of the file; `name` is what the processor and the kernel call themselves.
pub fn text(measured: &Measured, name: &str) -> String {
    let numbers = Numbers::of(measured);
    let mut text = head(measured, name);
    text += &topology(measured, &numbers);
    text += "\n# Costs.\n";
    text.extend(numbers.costs.iter().map(|number| entry("costs", number)));
    text += "\n# How the kernel shares out CPUs.\n";
    text.extend(numbers.scheduler.iter().map(|number| entry("scheduler", number)));
    text
}

/// What the reader should know first, and what was measured and has no place in the format.
fn head(measured: &Measured, name: &str) -> String {
    let clean: String = name.chars().filter(|c| !c.is_control() && !"\"\\".contains(*c)).collect();
    let mut text = String::from(
        "# Written by `lockwright machines probe`, which measured the computer it ran on.\n\
         #\n\
         # Every number names its source. A measured number is the middle of many short rounds; a number that\n\
         # could not be measured says so. Another run gives other numbers: costs differ by some percent, and\n\
         # what depends on other users of the computer differs by more.\n\
         #\n",
    );
    text += &measured.widths.table();
    text += "# Pairs of CPUs, nanoseconds of a line (first quartile, median, third quartile):\n";
    measured.pairs.iter().for_each(|pair| text += &pair_line(pair));
    for (idle, wake_up) in &measured.wake_ups {
        let _ = writeln!(
            text,
            "# Wake-up on a CPU idle for {} us: call {:.0} ns, then {:.0} ns until it runs.",
            idle.as_micros(),
            wake_up.call,
            wake_up.latency
        );
    }
    for (what, contest) in
        [("to change one line", measured.hammer), ("to take one word", measured.turns)]
    {
        if let Some(contest) = contest {
            let _ = writeln!(
                text,
                "# Two cores that both want {what}: {:.1} ns for each operation, {:.2} in a row by one core.",
                contest.each_ns, contest.run_length
            );
        }
    }
    if !measured.shape.left_out.is_empty() {
        let _ = writeln!(
            text,
            "# Left out, because the format describes uniform machines only: CPUs {:?}.",
            measured.shape.left_out
        );
    }
    text + &format!("\ndescription = \"measured: {clean}\"\n")
}

fn pair_line(pair: &PairCosts) -> String {
    let three = |values: &[f64]| {
        let [low, high] = [0.25, 0.75].map(|part| quantile(values, part));
        format!("{low:.1} {:.1} {high:.1}", median(values))
    };
    let [a, b] = pair.couple.cpus;
    format!(
        "#   CPUs {a:>3} {b:>3}: hop {}, load of a modified line {}, read-modify-write of one {}, of one that \
         this core has read since {}, of one that both have {}, load of one that the other has read {}\n",
        three(&pair.hop),
        three(&pair.transfer),
        three(&pair.rmw_of_dirty),
        three(&pair.rmw_of_read),
        three(&pair.rmw_of_shared),
        three(&pair.load_again),
    )
}

fn topology(measured: &Measured, numbers: &Numbers) -> String {
    const SOURCE: &str = "measured in this computer: what the kernel says about the CPUs that the \
                          process may use";
    let shape = &measured.shape;
    let counts = [
        ("sockets", shape.sockets.len()),
        ("cores_per_socket", shape.cores_per_socket()),
        ("threads_per_core", shape.threads_per_core()),
    ];
    let mut text = String::from("\n[topology]\n");
    for (key, count) in counts {
        let _ = writeln!(text, "{key} = {{ count = {count}, source = \"{SOURCE}\" }}");
    }
    let _ = writeln!(
        text,
        "\n[topology.distance]\nclasses = {:?}\nsource = \"{}\"",
        numbers.classes, numbers.classes_source
    );
    text
}

fn entry(section: &str, number: &SourcedNumber) -> String {
    let SourcedNumber { key, unit, value, source } = number;
    let value = value.as_deref().unwrap_or_default();
    format!("\n[{section}.{key}]\n{unit} = {value}\nsource = \"{source}\"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::lines::LineContest;
    use crate::probe::own::OwnCosts;
    use crate::probe::sleep::WakeUp;
    use crate::probe::slices::Watch;
    use crate::probe::topology::{CpuLayout, CpuPlace};
    use crate::probe::widths::tests::WAITS;
    use lockwright_sim::machine::{Machine, MachineFile, Origin};
    use std::time::Duration;

    /// What might have been measured on a machine with this number of sockets, each with two cores.
    fn measured(sockets: u64) -> Measured {
        let place = |cpu: usize| CpuPlace { cpu, package: cpu as u64 / 2, core: cpu as u64 };
        let shape = CpuLayout::of(&(0..sockets as usize * 2).map(place).collect::<Vec<_>>());
        let pair = |couple: crate::probe::topology::Couple| {
            let ns = if couple.sockets[0] == couple.sockets[1] { 60.0 } else { 130.0 };
            PairCosts {
                couple,
                transfer: vec![ns * 1.2, ns * 1.21, ns * 1.22],
                rmw_of_dirty: vec![ns * 1.3],
                load_again: vec![ns],
                rmw_of_read: vec![6.0],
                rmw_of_shared: vec![ns * 1.2],
                hop: vec![ns],
            }
        };
        let wake_up = WakeUp { call: 11_000.0, latency: 10_000.0, ..WakeUp::default() };
        let visit = |stayed, call, delay| WakeUp { stayed, call, delay, ..WakeUp::default() };
        Measured {
            pairs: shape.couples(100).into_iter().map(pair).collect(),
            shape,
            widths: WAITS,
            own: OwnCosts { load: 1.3, store: 0.5, rmw: 6.5, pause: 9.0, dram: Some(150.0) },
            hammer: Some(LineContest { run_length: 3.0, each_ns: 20.0 }),
            turns: Some(LineContest { run_length: 5.0, each_ns: 140.0 }),
            sibling: None,
            barrier_alone: 180.0,
            barrier_in_company: Some(16_000.0),
            refused_sleep: 140.0,
            round_trip: 1_500.0,
            wake_ups: vec![(Duration::from_micros(3), wake_up)],
            noise: Watch { had: 990_000.0, gaps: vec![10_000.0] },
            shared: Watch { had: 12e6, gaps: vec![4e6; 3] },
            arrivals: vec![visit(false, 11_000.0, 20_000.0)],
            visits: vec![
                visit(true, 800.0, 2_000.0),
                visit(true, 900.0, 3e6),
                visit(false, 12_000.0, 40_000.0),
                visit(false, 12_000.0, 40_000.0),
            ],
        }
    }

    fn parsed(measured: &Measured) -> (Machine, Vec<Origin>) {
        let text = text(measured, "A \"processor\"\nwith control characters");
        let file = MachineFile::parse("here.toml", "here", &text).unwrap_or_else(|error| {
            panic!("{error}:\n{text}");
        });
        (file.machine, file.sources.iter().map(|sourced| sourced.origin).collect())
    }

    #[test]
    fn what_is_written_is_a_machine_with_the_numbers_that_were_measured() {
        let (machine, origins) = parsed(&measured(1));
        assert_eq!(machine.topology.cpus(), 2);
        let costs = &machine.costs;
        assert_eq!((costs.transfer_local_ns, costs.rmw_extra_ns, costs.pause_ns), (60.0, 5.2, 9.0));
        assert_eq!((costs.migratory, costs.arbitration), (1.0, 0.2));
        assert_eq!(costs.width_mismatch_ns, 6.25);
        assert!((costs.owner_retention - 13.0 / 60.0).abs() < 1e-3, "{costs:?}");
        assert_eq!(costs.heavy_barrier_per_cpu_ns, 15_820.0);
        let scheduler = machine.scheduler().expect("it has one");
        assert_eq!((scheduler.slice_ns, scheduler.noise_ns), (4e6, 40_000.0));
        assert_eq!((scheduler.wake_local, scheduler.wake_granularity_ns), (0.5, 2e6));
        assert!(origins.iter().filter(|&&origin| origin == Origin::Measured).count() > 20);
    }

    #[test]
    fn sockets_have_distances_and_a_single_core_has_guesses() {
        let (machine, _) = parsed(&measured(2));
        assert_eq!(machine.topology.distance, [[0, 1], [1, 0]]);
        assert_eq!(machine.costs.transfer_remote_ns, [130.0]);
        let mut lonely = measured(1);
        lonely.shape = CpuLayout::of(&[CpuPlace { cpu: 3, package: 0, core: 0 }]);
        lonely.pairs.clear();
        (lonely.hammer, lonely.turns, lonely.barrier_in_company) = (None, None, None);
        (lonely.arrivals, lonely.visits, lonely.wake_ups) = (Vec::new(), Vec::new(), Vec::new());
        let (machine, origins) = parsed(&lonely);
        assert_eq!((machine.topology.cpus(), machine.costs.migratory), (1, 0.0));
        assert!(origins.iter().filter(|&&origin| origin == Origin::Guess).count() > 10);
    }
}
