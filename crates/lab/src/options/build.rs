//! The parameters of the workload `kbuild`: their options, defaults and ranges.

use super::values::{between, nanoseconds, whole};
use clap::Args;
use lockwright_measure::error::Error;
use lockwright_measure::workload::kbuild::{BuildParams, LOCKS_MAX};
use std::time::Duration;

/// What a build is made of, unless something else is asked for: an operation every few microseconds,
/// a tenth of them on four locks.
const DEFAULTS: BuildParams = BuildParams {
    units: 400,
    unit_ops: 250,
    lock_count: 256,
    hot_locks: 4,
    hot_percent: 10,
    serial_percent: 0,
    compute_ns: 4_000,
    section_ns: 150,
    io_ns: 0,
};
/// Units in a guest: enough for the build to last for many time slices.
const GUEST_UNITS: u64 = 8_000;

/// The most units, or operations in a unit, that can be asked for.
const COUNT_MAX: u64 = 1_000_000_000;
/// The longest time that can be asked for, in nanoseconds.
const TIME_MAX_NS: u64 = 1_000_000_000;

/// Where the help lists the parameters.
const HEADING: &str = "Workload `kbuild` (a fixed amount of work, for --secs at most)";
/// Where the help lists those that several workloads have.
pub const HANDOFF_HEADING: &str = "Workloads `kbuild`, `aim7`, `handoff` and `starve`";

/// Parameters of `kbuild`; `aim7` and `handoff` have some of them.
#[derive(Clone, Debug, Default, Args)]
pub struct BuildArgs {
    /// Units of work [default: 400 (in a guest: 8000)]
    #[arg(long, help_heading = HEADING, value_name = "N", value_parser = between::<u64, 1, COUNT_MAX>)]
    pub units: Option<u64>,
    /// Lock operations of a unit [default: 250]; `aim7`: 16
    #[arg(long, help_heading = HANDOFF_HEADING, value_name = "N", value_parser = between::<u64, 1, COUNT_MAX>)]
    pub unit_ops: Option<u64>,
    /// Number of locks [default: 256]; `aim7`: 1
    #[arg(long, help_heading = HANDOFF_HEADING, value_name = "N", value_parser = whole::<u64>)]
    pub lock_count: Option<u64>,
    /// How many of the --lock-count locks are hot [default: 4]
    #[arg(long, help_heading = HEADING, value_name = "N", value_parser = whole::<u64>)]
    pub hot_locks: Option<u64>,
    /// Percentage of the operations that take a hot lock [default: 10]
    #[arg(long, help_heading = HEADING, value_name = "PERCENT", value_parser = whole::<u64>)]
    pub hot_percent: Option<u64>,
    /// Percentage of the units that one thread does alone at the end [default: 0]
    #[arg(long, help_heading = HEADING, value_name = "PERCENT", value_parser = whole::<u64>)]
    pub serial_percent: Option<u64>,
    /// Mean time of work before each operation [default: 4us]; `aim7`: 50us, or what was fitted
    #[arg(long, help_heading = HANDOFF_HEADING, value_name = "TIME", value_parser = nanoseconds)]
    pub compute_ns: Option<u64>,
    /// Time of work in the critical section [default: 150ns]; `handoff`: 1us, `aim7`: 500ns, or what
    /// was fitted; `starve`: 1ms, and each section has a half to one and a half of it
    #[arg(long, help_heading = HANDOFF_HEADING, value_name = "TIME", value_parser = nanoseconds)]
    pub section_ns: Option<u64>,
    /// Mean time of a sleep at the start of each unit; 0 is none [default: 0]
    #[arg(long, help_heading = HEADING, value_name = "TIME", value_parser = nanoseconds)]
    pub io_ns: Option<u64>,
}

/// A parameter: its option and its value.
pub type Flag = (&'static str, u64);

/// The parameters and their defaults, in words.
pub const LISTED: &[(&str, &str)] = &[
    ("--units", "400 (in a guest: 8000)"),
    ("--unit-ops", "250"),
    ("--lock-count", "256"),
    ("--hot-locks", "4"),
    ("--hot-percent", "10"),
    ("--serial-percent", "0"),
    ("--compute-ns", "4000"),
    ("--section-ns", "150"),
    ("--io-ns", "0"),
];

/// All parameters, in the order of the list.
pub const fn flags(knobs: &BuildParams) -> [Flag; 9] {
    [
        ("--units", knobs.units),
        ("--unit-ops", knobs.unit_ops),
        ("--lock-count", knobs.lock_count as u64),
        ("--hot-locks", knobs.hot_locks as u64),
        ("--hot-percent", knobs.hot_percent as u64),
        ("--serial-percent", knobs.serial_percent as u64),
        ("--compute-ns", knobs.compute_ns),
        ("--section-ns", knobs.section_ns),
        ("--io-ns", knobs.io_ns),
    ]
}

impl BuildArgs {
    /// What was typed, in the order of [`flags`].
    fn typed(&self) -> [Option<u64>; 9] {
        [
            self.units,
            self.unit_ops,
            self.lock_count,
            self.hot_locks,
            self.hot_percent,
            self.serial_percent,
            self.compute_ns,
            self.section_ns,
            self.io_ns,
        ]
    }
    /// The flags that were given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let names = flags(&DEFAULTS).map(|(name, _)| name);
        names.into_iter().zip(self.typed()).filter_map(|(name, typed)| typed.map(|_| name))
    }
    /// The parameters of a build, in a guest or not.
    pub fn knobs(&self, is_guest: bool) -> Result<BuildParams, Error> {
        let units = if is_guest { GUEST_UNITS } else { DEFAULTS.units };
        let usual = flags(&BuildParams { units, ..DEFAULTS });
        let locks = self.lock_count.unwrap_or(DEFAULTS.lock_count.into());
        let ranges = [
            1..=COUNT_MAX,
            1..=COUNT_MAX,
            1..=LOCKS_MAX.into(),
            1..=locks.max(1),
            0..=100,
            0..=99,
            0..=TIME_MAX_NS,
            0..=TIME_MAX_NS,
            0..=TIME_MAX_NS,
        ];
        let mut values = [0; 9];
        let asked = self.typed().into_iter().zip(usual).zip(ranges);
        for (value, ((typed, (flag, usual)), range)) in values.iter_mut().zip(asked) {
            // A set that is smaller than the usual number of hot locks is all hot.
            *value = typed.unwrap_or(usual.min(*range.end()));
            if !range.contains(value) {
                let [least, most, value] = [*range.start(), *range.end(), *value].map(|number| {
                    if flag.ends_with("-ns") {
                        humantime::format_duration(Duration::from_nanos(number)).to_string()
                    } else {
                        number.to_string()
                    }
                });
                return Err(Error::usage(format!(
                    "{flag} must be between {least} and {most}, not {value}"
                )));
            }
        }
        let [units, unit_ops, locks, hot, hot_percent, serial_percent, compute, section, io] =
            values;
        Ok(BuildParams {
            units,
            unit_ops,
            lock_count: locks as u32,
            hot_locks: hot as u32,
            hot_percent: hot_percent as u32,
            serial_percent: serial_percent as u32,
            compute_ns: compute,
            section_ns: section,
            io_ns: io,
        })
    }
}

/// All parameters as they are typed.
pub fn typed(knobs: &BuildParams) -> String {
    flags(knobs).map(|(flag, value)| format!("{flag} {value}")).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use lockwright_sheets::setting;

    #[test]
    fn what_is_not_given_keeps_its_default() {
        let args = BuildArgs { unit_ops: Some(7), io_ns: Some(5), ..BuildArgs::default() };
        let knobs = args.knobs(false).expect("they make sense");
        assert_eq!(knobs, BuildParams { unit_ops: 7, io_ns: 5, ..DEFAULTS });
        assert_eq!(args.knobs(true).expect("they make sense").units, GUEST_UNITS);
        assert_eq!(args.given().collect::<Vec<_>>(), ["--unit-ops", "--io-ns"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_its_name() {
        let none = BuildArgs::default;
        for (args, flag) in [
            (BuildArgs { units: Some(0), ..none() }, "--units"),
            (BuildArgs { lock_count: Some(5_000), ..none() }, "--lock-count"),
            (BuildArgs { lock_count: Some(0), ..none() }, "--lock-count"),
            (BuildArgs { hot_locks: Some(300), ..none() }, "--hot-locks"),
            (BuildArgs { hot_percent: Some(101), ..none() }, "--hot-percent"),
            (BuildArgs { serial_percent: Some(100), ..none() }, "--serial-percent"),
            (BuildArgs { compute_ns: Some(u64::MAX), ..none() }, "--compute-ns"),
        ] {
            let said = args.knobs(false).expect_err("no sense").to_string();
            assert!(said.starts_with(flag), "{said}");
        }
    }

    #[test]
    fn the_defaults_are_told_where_people_look() {
        let bench = crate::cli::Cli::command();
        let bench = bench.find_subcommand("bench").expect("a command");
        for ((flag, told), (same, value)) in LISTED.iter().zip(flags(&DEFAULTS)) {
            let first: String = told.chars().take_while(char::is_ascii_digit).collect();
            assert_eq!((*flag, first), (same, value.to_string()));
            let knob = bench.get_arguments().find(|arg| arg.get_long() == flag.strip_prefix("--"));
            let help = knob.and_then(|knob| knob.get_help()).expect("it is told").to_string();
            let time = setting(value as f64).replace(' ', "");
            let told = if flag.ends_with("-ns") && value > 0 { &time } else { *told };
            assert!(help.contains(&format!("[default: {told}]")), "{flag}: {help}");
        }
        assert!(LISTED[0].1.ends_with(&format!("{GUEST_UNITS})")));
    }

    #[test]
    fn a_small_set_is_all_hot() {
        let args = BuildArgs { lock_count: Some(2), ..BuildArgs::default() };
        let knobs = args.knobs(false).expect("it makes sense");
        assert_eq!((knobs.lock_count, knobs.hot_locks), (2, 2));
    }
}
