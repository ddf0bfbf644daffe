//! The workloads of a question, and the parameters that their section may give.

use crate::sweep::axis::AxisValue;
use lockwright_measure::cell::{RealUse, Section, Workload};
use lockwright_measure::workload::counter::ReaderOrder;
use lockwright_measure::workload::kbuild::{BuildParams, LOCKS_MAX};
use std::collections::BTreeMap;

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ParamKind {
    /// A whole number: its default and its limits.
    Whole(u64, u64, u64),
    /// True or false: its default.
    Truth(bool),
    /// What the owner of a lock does in a section: the default.
    Section(Section),
}

/// A parameter: its key, and what it may be.
type Param = (&'static str, ParamKind);

/// A workload and its parameters.
#[derive(Debug)]
pub(crate) struct SweptWorkload {
    pub(crate) name: &'static str,
    pub(crate) params: &'static [Param],
}

/// The longest time, in nanoseconds.
pub(crate) const TIME_MAX_NS: u64 = 1_000_000_000;
const PAUSES_MAX: u64 = 1_000_000;
const COUNT_MAX: u64 = 1_000_000_000;

const fn time(usual_ns: u64) -> ParamKind {
    ParamKind::Whole(usual_ns, 0, TIME_MAX_NS)
}

const fn percent(usual: u64) -> ParamKind {
    ParamKind::Whole(usual, 0, 100)
}

/// Every workload of a sweep. Parameters have the names and the defaults of the options of `bench`.
pub(crate) const WORKLOADS: &[SweptWorkload] = &[
    SweptWorkload {
        name: "counter",
        params: &[
            ("cs_load", ParamKind::Whole(1, 0, PAUSES_MAX)),
            ("think_load", ParamKind::Whole(0, 0, PAUSES_MAX)),
            ("read_percent", percent(0)),
            ("empty_section", ParamKind::Truth(false)),
        ],
    },
    SweptWorkload {
        name: "locktorture",
        params: &[("long_hold", ParamKind::Truth(true)), (STUTTER, time(0))],
    },
    SweptWorkload { name: "lock2", params: &[] },
    SweptWorkload { name: "open1", params: &[] },
    SweptWorkload { name: "readrandom", params: &[] },
    SweptWorkload {
        name: "handoff",
        params: &[("section", ParamKind::Section(Section::Sleep)), ("section_ns", time(1_000))],
    },
    SweptWorkload {
        name: "sections",
        params: &[
            ("section", ParamKind::Section(Section::Spin)),
            ("section_ns", time(5_000)),
            ("think_ns", time(5_000)),
            ("read_percent", percent(0)),
        ],
    },
    SweptWorkload {
        name: "kbuild",
        params: &[
            ("units", ParamKind::Whole(400, 1, COUNT_MAX)),
            ("unit_ops", ParamKind::Whole(250, 1, COUNT_MAX)),
            ("lock_count", ParamKind::Whole(256, 1, LOCKS_MAX as u64)),
            ("hot_locks", ParamKind::Whole(4, 1, LOCKS_MAX as u64)),
            ("hot_percent", percent(10)),
            ("serial_percent", ParamKind::Whole(0, 0, 99)),
            ("compute_ns", time(4_000)),
            ("section_ns", time(150)),
            ("io_ns", time(0)),
        ],
    },
];

/// The parameter of locktorture that is not one of the workload but of its run.
pub(crate) const STUTTER: &str = "stutter_ns";

/// What a section gives, by key.
pub(crate) type Given = BTreeMap<String, AxisValue>;

impl SweptWorkload {
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        WORKLOADS.iter().find(|listed| listed.name == name)
    }

    /// The parts of its software that are not simulated but take a time of the calibration.
    pub(crate) fn software_parts(&self) -> &'static [&'static str] {
        self.with(&Given::new()).software_parts()
    }

    /// What is wrong with a value of a parameter, as the end of a sentence; `None` if it is one of another workload.
    pub(crate) fn check(&self, key: &str, value: &AxisValue) -> Option<Result<(), String>> {
        let &(_, kind) = self.params.iter().find(|(param, _)| *param == key)?;
        Some(match (kind, value) {
            (ParamKind::Whole(_, least, most), AxisValue::Number(number))
                if number.fract() == 0.0 && (least as f64..=most as f64).contains(number) =>
            {
                Ok(())
            }
            (ParamKind::Whole(_, least, most), _) => {
                Err(format!("must be a whole number from {least} to {most}"))
            }
            (ParamKind::Truth(_), AxisValue::Truth(_)) => Ok(()),
            (ParamKind::Truth(_), _) => Err("must be true or false".into()),
            (ParamKind::Section(_), AxisValue::Text(text)) if section(text).is_some() => Ok(()),
            (ParamKind::Section(_), _) => Err("must be \"spin\" or \"sleep\"".into()),
        })
    }

    /// The number that was given, or the default.
    pub(crate) fn whole(&self, given: &Given, key: &str) -> u64 {
        match (given.get(key), self.params.iter().find(|(param, _)| *param == key)) {
            (Some(AxisValue::Number(number)), _) => *number as u64,
            (_, Some((_, ParamKind::Whole(usual, ..)))) => *usual,
            _ => 0,
        }
    }

    fn truth(&self, given: &Given, key: &str) -> bool {
        match (given.get(key), self.params.iter().find(|(param, _)| *param == key)) {
            (Some(AxisValue::Truth(truth)), _) => *truth,
            (_, Some((_, ParamKind::Truth(usual)))) => *usual,
            _ => false,
        }
    }

    fn section(&self, given: &Given) -> Section {
        let asked = match given.get("section") {
            Some(AxisValue::Text(text)) => section(text),
            _ => None,
        };
        asked.unwrap_or(if self.name == "handoff" { Section::Sleep } else { Section::Spin })
    }

    /// The workload with its parameters, which were checked.
    pub(crate) fn with(&self, given: &Given) -> Workload {
        let whole = |key| self.whole(given, key);
        let small = |key| self.whole(given, key) as u32;
        match self.name {
            "counter" => Workload::Counter {
                cs_load: small("cs_load"),
                think_load: small("think_load"),
                readers: small("read_percent"),
                reader_order: ReaderOrder::Alternate,
                is_empty: self.truth(given, "empty_section"),
            },
            "lock2" => Workload::Lock2,
            "open1" => Workload::Open1,
            "readrandom" => Workload::Readrandom,
            "handoff" => {
                Workload::Handoff { section: self.section(given), section_ns: whole("section_ns") }
            }
            "sections" => Workload::RealUse(RealUse::sections_of(
                self.section(given),
                whole("section_ns"),
                whole("think_ns"),
                small("read_percent"),
            )),
            "kbuild" => Workload::Kbuild(BuildParams {
                units: whole("units"),
                unit_ops: whole("unit_ops"),
                lock_count: small("lock_count"),
                hot_locks: small("hot_locks").min(small("lock_count")),
                hot_percent: small("hot_percent"),
                serial_percent: small("serial_percent"),
                compute_ns: whole("compute_ns"),
                section_ns: whole("section_ns"),
                io_ns: whole("io_ns"),
            }),
            _ => Workload::Locktorture { long_hold: self.truth(given, "long_hold") },
        }
    }
}

fn section(name: &str) -> Option<Section> {
    [Section::Spin, Section::Sleep].into_iter().find(|section| section.name() == name)
}
