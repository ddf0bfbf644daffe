//! The workloads by name, and their parameters.

use super::args::BenchArgs;
use super::handoff_aim7;
use crate::options::{LISTED, STARVE, Switch};
use lockwright_measure::cell::{LabMachine, ReaderOrder, Workload};
use lockwright_measure::error::Error;
use lockwright_studies::tables::SECTION_PART;
use lockwright_measure::workload::locktorture::LONG_HOLD_NS;

/// The option of a parameter, and its default.
pub type Knob = (&'static str, &'static str);

/// A workload of the list.
pub struct ListedWorkload {
    /// Its name.
    pub name: &'static str,
    /// Its parameters and their defaults.
    pub knobs: &'static [Knob],
    /// One line about it.
    pub is: &'static str,
}

/// Every workload.
pub const WORKLOADS: &[ListedWorkload] = &[
    ListedWorkload {
        name: "uncontended",
        knobs: &[],
        is: "lock and unlock on one thread; floors run here",
    },
    ListedWorkload {
        name: "counter",
        knobs: &[
            ("--cs-load", "1"),
            ("--think-load", "0"),
            ("--read-percent", "0"),
            ("--reader-order", "alternate"),
            ("--empty-section", "off"),
        ],
        is: "a shared counter, with pauses in and between critical sections; readers share a reader-writer lock and own any other",
    },
    ListedWorkload {
        name: "locktorture",
        knobs: &[("--long-hold", "100ms (native: off)")],
        is: "the kernel's locktorture with the rules of v5.6",
    },
    ListedWorkload {
        name: "lock2",
        knobs: &[],
        is: "will-it-scale's lock2_threads: record locks on one file, one `fcntl` for each operation",
    },
    ListedWorkload {
        name: "open1",
        knobs: &[],
        is: "will-it-scale's open1_threads: a file opened and closed; the table's lock and a lockref",
    },
    ListedWorkload {
        name: "readrandom",
        knobs: &[],
        is: "leveldb lookups behind a futex mutex; the lock is that of the futex's hash bucket",
    },
    ListedWorkload {
        name: "kbuild",
        knobs: LISTED,
        is: "a build with many jobs: the wall time of a fixed amount of work",
    },
    ListedWorkload {
        name: "handoff",
        knobs: handoff_aim7::HANDOFF,
        is: "a lock that every thread always wants, held for a fixed time: how often each gets it",
    },
    ListedWorkload {
        name: "aim7",
        knobs: handoff_aim7::AIM7,
        is: "many tasks that take a lock for a short section, nine times in ten to write",
    },
    ListedWorkload {
        name: "starve",
        knobs: STARVE,
        is: "a thread waits again and again next to others that always hold the lock: how long, and beyond whose sections; natively",
    },
];

const CS_LOAD: u32 = 1;
const THINK_LOAD: u32 = 0;

/// The workload with its parameters; a parameter of another workload is an error.
pub fn asked(args: &BenchArgs, machine: &dyn LabMachine) -> Result<Workload, Error> {
    let listed = WORKLOADS.iter().find(|listed| listed.name == args.workload).ok_or_else(|| {
        let names = WORKLOADS.iter().map(|listed| listed.name);
        Error::unknown("workload", &args.workload, names, "lockwright workloads")
    })?;
    let has = |listed: &ListedWorkload, flag| listed.knobs.iter().any(|&(knob, _)| knob == flag);
    if let Some(flag) = given(args).find(|&flag| !has(listed, flag)) {
        let owner =
            WORKLOADS.iter().find(|listed| has(listed, flag)).map_or("", |owner| owner.name);
        return Err(Error::usage(format!(
            "{flag} is a parameter of the workload `{owner}`, not of `{}`: leave it out, or add --workload {owner}",
            listed.name
        )));
    }
    Ok(match listed.name {
        "counter" => counter(args, machine.is_simulated())?,
        "locktorture" => {
            Workload::Locktorture { long_hold: holds_long(args, machine.is_simulated())? }
        }
        "lock2" => Workload::Lock2,
        "open1" => Workload::Open1,
        "readrandom" => Workload::Readrandom,
        "handoff" => {
            let fitted_ns = machine.fitted_ns("handoff", SECTION_PART);
            handoff_aim7::handoff(args.section, &args.build, fitted_ns)?
        }
        "aim7" => handoff_aim7::aim7(&args.build, |part| machine.fitted_ns("aim7", part))?,
        "starve" => {
            let (section, section_ns) = (args.section, args.build.section_ns);
            args.starve.workload(section, section_ns, &args.threads, machine)?
        }
        "kbuild" => Workload::Kbuild(args.build.knobs(!args.machine.guest.vcpus.is_empty())?),
        _ => Workload::Uncontended,
    })
}

fn counter(args: &BenchArgs, is_simulated: bool) -> Result<Workload, Error> {
    let readers = args.read_percent.unwrap_or(0);
    if args.reader_order.is_some() && !(1..100).contains(&readers) {
        return Err(Error::usage(
            "--reader-order is for a mix of reads and writes: add --read-percent with 1 to 99",
        ));
    }
    Ok(Workload::Counter {
        cs_load: args.cs_load.first().copied().unwrap_or(CS_LOAD),
        think_load: args.think_load.unwrap_or(THINK_LOAD),
        readers,
        reader_order: args.reader_order.unwrap_or(ReaderOrder::Alternate),
        is_empty: args
            .empty_section
            .map_or(is_simulated && readers > 0, |switch| switch == Switch::On),
    })
}

/// The parameters that were given.
fn given(args: &BenchArgs) -> impl Iterator<Item = &'static str> {
    let own = [
        ("--cs-load", !args.cs_load.is_empty()),
        ("--think-load", args.think_load.is_some()),
        ("--read-percent", args.read_percent.is_some()),
        ("--reader-order", args.reader_order.is_some()),
        ("--empty-section", args.empty_section.is_some()),
        ("--long-hold", args.long_hold.is_some()),
        ("--section", args.section.is_some()),
    ];
    let own = own.into_iter().filter_map(|(flag, is)| is.then_some(flag));
    own.chain(args.build.given()).chain(args.starve.given())
}

/// True if locktorture holds the lock for 100 ms now and then. A simulation adds that by formula; natively it
/// would fill most of a short run.
fn holds_long(args: &BenchArgs, is_simulated: bool) -> Result<bool, Error> {
    match args.long_hold {
        None => Ok(is_simulated),
        Some(0) => Ok(false),
        Some(LONG_HOLD_NS) => Ok(true),
        Some(_) => Err(Error::usage(
            "in `bench` --long-hold is the kernel's: write 100ms or off (`torture` takes other times)",
        )),
    }
}
