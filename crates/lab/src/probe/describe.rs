//! The description: a machine file, every number with its source.

use super::measured::Measured;
use super::numbers::Numbers;
use super::samples::quantile;
use super::sourced::Sourced;
use crate::stats::median;
use std::fmt::Write;

/// The text of the file; `name` is what the processor and the kernel call themselves.
pub fn text(measured: &Measured, name: &str) -> String {
    let numbers = Numbers::of(measured);
    let mut text = head(measured, name);
    text += &topology(measured, &numbers);
    text += "\n# Costs.\n";
    numbers.costs.iter().for_each(|(key, number)| text += &entry("costs", key, number));
    text += "\n# How the kernel shares out CPUs.\n";
    numbers.scheduler.iter().for_each(|(key, number)| text += &entry("scheduler", key, number));
    text
}

/// What the reader should know first, and what was measured and has no place in the format.
fn head(measured: &Measured, name: &str) -> String {
    let clean: String = name.chars().filter(|c| !c.is_control() && !"\"\\".contains(*c)).collect();
    let mut text = format!(
        "# Written by `lockwright machines probe`, which measured the computer it ran on.\n\
         #\n\
         # Every number names its source. What was measured is the middle of many short rounds; what could\n\
         # not be measured says so. Numbers of another run differ: by some percent for costs, by more for\n\
         # what depends on who else used the computer.\n\
         #\n"
    );
    text += "# Pairs of CPUs, nanoseconds of a line (least quarter, median, greatest quarter):\n";
    for pair in &measured.pairs {
        let three = |values: &[f64]| {
            let [low, high] = [0.25, 0.75].map(|part| quantile(values, part));
            format!("{low:.1} {:.1} {high:.1}", median(values))
        };
        let _ = writeln!(
            text,
            "#   CPUs {:>3} {:>3}: hop {}, load of a modified line {}, read-modify-write of one {}, of one \
             that this core has read since {}, that both have {}, load of one that the other has read {}",
            pair.couple.cpus[0],
            pair.couple.cpus[1],
            three(&pair.hop),
            three(&pair.transfer),
            three(&pair.rmw_of_dirty),
            three(&pair.rmw_of_read),
            three(&pair.rmw_of_shared),
            three(&pair.load_again),
        );
    }
    for (idle, wake_up) in &measured.wake_ups {
        let _ = writeln!(
            text,
            "# Wake-up on a CPU idle for {} us: call {:.0} ns, then {:.0} ns until it runs.",
            idle.as_micros(),
            wake_up.call,
            wake_up.latency
        );
    }
    for (what, contest) in [("read-modify-writes", measured.hammer), ("a word", measured.turns)] {
        if let Some(contest) = contest {
            let _ = writeln!(
                text,
                "# Two cores that want {what}: {:.1} ns each, {:.2} in a row of one core.",
                contest.each_ns, contest.run_length
            );
        }
    }
    if !measured.shape.left_out.is_empty() {
        let _ = writeln!(
            text,
            "# Left out, because the format knows uniform machines only: CPUs {:?}.",
            measured.shape.left_out
        );
    }
    text + &format!("\ndescription = \"measured: {clean}\"\n")
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

fn entry(section: &str, key: &str, number: &Sourced) -> String {
    let Sourced { unit, value, source } = number;
    format!("\n[{section}.{key}]\n{unit} = {value}\nsource = \"{source}\"\n")
}
