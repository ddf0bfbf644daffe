//! The parameters of workload `starve`, which `bench` and `torture` have.

use super::machine::Switch;
use clap::Args;
use lockwright_measure::cell::{
    LabMachine, Section, StarveParams, StarveRole, ThreadPriority, Workload,
};
use lockwright_measure::error::Error;
use lockwright_measure::native::priority;

/// Where the help lists them.
pub const STARVE_HEADING: &str =
    "Workload `starve` (a thread waits next to others that always hold the lock)";

/// The parameters and their defaults, in words.
pub const STARVE: &[(&str, &str)] = &[
    ("--role", "writer"),
    ("--section", "sleep"),
    ("--section-ns", "1000000"),
    ("--priority", "normal"),
    ("--waiter-priority", "normal"),
    ("--forked", "off"),
];
const SECTION_NS: u64 = 1_000_000;
/// The shortest and the longest section that can be asked for.
const SECTION_RANGE_NS: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000;
/// The number of threads that can be asked for.
const THREADS: std::ops::RangeInclusive<usize> = 2..=65;
/// If none is given: one waits, eight overlap.
pub const STARVE_THREADS: usize = 9;

/// Parameters of `starve`; the section has options that other workloads have, too.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = STARVE_HEADING)]
pub struct StarveArgs {
    /// Which thread waits: a writer or an upgrader next to threads that read, a reader next to threads that
    /// write, an owner next to owners, or one that was notified on a condition variable [default: writer]
    #[arg(long, value_enum, value_name = "ROLE", hide_possible_values = true)]
    pub role: Option<StarveRole>,
    /// Priority of the threads that overlap: normal, nice:10, fifo:1, rr:1 or idle [default: normal]
    #[arg(long, value_name = "PRIORITY", allow_hyphen_values = true)]
    pub priority: Option<ThreadPriority>,
    /// Priority of the thread that waits [default: normal]
    #[arg(long, value_name = "PRIORITY", allow_hyphen_values = true)]
    pub waiter_priority: Option<ThreadPriority>,
    /// Run in a forked child [default: off]
    #[arg(long, value_enum, value_name = "on|off", num_args = 0..=1, default_missing_value = "on",
          hide_possible_values = true)]
    pub forked: Option<Switch>,
}

impl StarveArgs {
    /// Those that were given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
        let all = [
            ("--role", self.role.is_some()),
            ("--priority", self.priority.is_some()),
            ("--waiter-priority", self.waiter_priority.is_some()),
            ("--forked", self.forked.is_some()),
        ];
        all.into_iter().filter_map(|(flag, is)| is.then_some(flag))
    }
    /// The workload as it was asked for, with these numbers of threads.
    pub fn workload(
        &self,
        section: Option<Section>,
        section_ns: Option<u64>,
        threads: &[usize],
        machine: &dyn LabMachine,
    ) -> Result<Workload, Error> {
        if machine.is_simulated() {
            return Err(Error::usage("`starve` runs on this computer only: leave out --on"));
        }
        let section_ns = section_ns.unwrap_or(SECTION_NS);
        if !SECTION_RANGE_NS.contains(&section_ns) {
            return Err(Error::usage(format!(
                "--section-ns of `starve` must be between 1us and 1s, not {section_ns} ns"
            )));
        }
        if let Some(count) = threads.iter().find(|count| !THREADS.contains(count)) {
            return Err(Error::usage(format!(
                "`starve` needs 2 to 65 threads, one that waits and the others, not {count}"
            )));
        }
        let params = StarveParams {
            role: self.role.unwrap_or(StarveRole::Writer),
            section: section.unwrap_or(Section::Sleep),
            section_ns,
            priority: self.priority.unwrap_or_default(),
            waiter_priority: self.waiter_priority.unwrap_or_default(),
            forked: self.forked == Some(Switch::On),
        };
        let others = threads.iter().max().map_or(STARVE_THREADS, |&most| most) - 1;
        let takes_all = params.section != Section::Sleep && others >= machine.cpus();
        if params.priority.is_real_time() && takes_all {
            return Err(Error::usage(format!(
                "{others} threads with --priority {} that compute would leave no CPU to anything else: take fewer \
                 --threads, or --section sleep",
                params.priority
            )));
        }
        priority::check("--priority", params.priority)?;
        priority::check("--waiter-priority", params.waiter_priority)?;
        Ok(Workload::Starve(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockMachine;
    use crate::options::read;

    #[test]
    fn the_defaults_are_those_that_are_told() {
        let args: StarveArgs = read("");
        let workload = args.workload(None, None, &[], &MockMachine::default()).expect("sound");
        let told = STARVE.iter().map(|(flag, value)| format!("{flag} {value}"));
        assert_eq!(workload.sleepers_typed(), told.collect::<Vec<_>>().join(" "));
        assert_eq!(workload.readers_and_writers(STARVE_THREADS), (8, 1));
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_a_sentence() {
        let said = |line: &str, section, section_ns, threads: &[usize]| {
            let args: StarveArgs = read(line);
            let workload = args.workload(section, section_ns, threads, &MockMachine::default());
            workload.expect_err("no sense").to_string()
        };
        for threads in [1, 66] {
            assert!(said("", None, None, &[threads]).contains("2 to 65 threads"));
        }
        assert!(said("", None, Some(0), &[]).contains("--section-ns"));
        let all_cpus = said("--priority fifo", Some(Section::Spin), None, &[65]);
        assert!(all_cpus.contains("no CPU to anything else"), "{all_cpus}");
    }
}
