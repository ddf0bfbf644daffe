//! The parameters of the workloads whose locks put their waiters to sleep, `handoff` and `aim7`: their defaults
//! and ranges. They share options with `kbuild`.

use crate::options::BuildArgs;
use lockwright_measure::cell::{Section, Workload};
use lockwright_measure::error::Error;
use lockwright_studies::tables::{COMPUTE_PART, READ_PERCENT, SECTION_PART};
use lockwright_measure::workload::aim7;

/// The parameters of `handoff` and their defaults, in words.
pub const HANDOFF: &[(&str, &str)] = &[("--section", "sleep"), ("--section-ns", "1000")];
const SECTION: Section = Section::Sleep;
const SECTION_NS: u64 = 1_000;
/// The parameters of `aim7` and their defaults, in words.
pub const AIM7: &[(&str, &str)] = &[
    ("--lock-count", "1"),
    ("--unit-ops", "16"),
    ("--compute-ns", "50000"),
    ("--section-ns", "500"),
];
const LOCK_COUNT: u64 = 1;
const UNIT_OPS: u64 = 16;
const THINK_NS: u64 = 50_000;
const TASK_SECTION_NS: u64 = 500;
/// Tasks for each CPU.
pub const TASKS_PER_CPU: usize = 4;

/// The most operations in a row that can be asked for.
const OPS_MAX: u64 = 1_000_000;
/// The longest time that can be asked for, in nanoseconds.
const TIME_MAX_NS: u64 = 1_000_000_000;

/// `handoff` as it was asked for. `fitted_ns`: how long a sleep of a microsecond takes on this machine.
pub fn handoff(
    section: Option<Section>,
    args: &BuildArgs,
    fitted_ns: Option<u64>,
) -> Result<Workload, Error> {
    let section = section.unwrap_or(SECTION);
    let usual_ns = match section {
        Section::Sleep => fitted_ns.unwrap_or(SECTION_NS),
        Section::Spin | Section::Compute => SECTION_NS,
    };
    let section_ns = sensible("--section-ns", args.section_ns.unwrap_or(usual_ns), 0, TIME_MAX_NS)?;
    Ok(Workload::Handoff { section, section_ns })
}

/// `aim7` as it was asked for. `fitted_ns`: how long a part of it is on this machine.
pub fn aim7(args: &BuildArgs, fitted_ns: impl Fn(&str) -> Option<u64>) -> Result<Workload, Error> {
    let usual = |part, usual_ns| fitted_ns(part).unwrap_or(usual_ns);
    let most = aim7::LOCKS_MAX.into();
    let locks = sensible("--lock-count", args.lock_count.unwrap_or(LOCK_COUNT), 1, most)?;
    let unit_ops = sensible("--unit-ops", args.unit_ops.unwrap_or(UNIT_OPS), 1, OPS_MAX)?;
    let compute_ns = args.compute_ns.unwrap_or_else(|| usual(COMPUTE_PART, THINK_NS));
    let compute_ns = sensible("--compute-ns", compute_ns, 0, TIME_MAX_NS)?;
    let section_ns = args.section_ns.unwrap_or_else(|| usual(SECTION_PART, TASK_SECTION_NS));
    let section_ns = sensible("--section-ns", section_ns, 0, TIME_MAX_NS)?;
    Ok(Workload::Aim7 {
        lock_count: locks as u32,
        unit_ops,
        compute_ns,
        section_ns,
        read_percent: READ_PERCENT,
    })
}

fn sensible(flag: &str, value: u64, least: u64, most: u64) -> Result<u64, Error> {
    match (least..=most).contains(&value) {
        true => Ok(value),
        false => {
            Err(Error::usage(format!("{flag} must be between {least} and {most}, not {value}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(knobs: &[(&str, &str)]) -> String {
        knobs.iter().map(|(flag, value)| format!("{flag} {value}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_defaults_are_those_that_are_told() {
        let none = BuildArgs::default();
        assert_eq!(handoff(None, &none, None).expect("sound").sleepers_typed(), told(HANDOFF));
        assert_eq!(aim7(&none, |_| None).expect("sound").sleepers_typed(), told(AIM7));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_its_name() {
        let too_long = BuildArgs { section_ns: Some(u64::MAX), ..BuildArgs::default() };
        let no_lock = BuildArgs { lock_count: Some(0), ..BuildArgs::default() };
        for (refused, flag) in [
            (handoff(None, &too_long, None), "--section-ns"),
            (aim7(&too_long, |_| None), "--section-ns"),
            (aim7(&no_lock, |_| None), "--lock-count"),
        ] {
            let said = refused.expect_err("no sense").to_string();
            assert!(said.starts_with(flag), "{said}");
        }
    }
}
