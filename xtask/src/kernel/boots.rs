//! The boots of a run: a machine, a plan, and what has to come of it.

use super::request::{Request, spinning};

/// One boot of the guest.
pub struct Boot {
    pub name: &'static str,
    /// A file in crates/kernel/guest/plans.
    pub plan: &'static str,
    pub machine: Machine,
    /// Words for the kernel's command line.
    pub words: Vec<String>,
    pub expects: Expects,
    pub seconds_max: u64,
    /// How the Rust part is wrong on purpose: the value of `lockwright_control`.
    pub control: Option<&'static str>,
}

/// How the machine is emulated.
#[derive(Clone, Copy)]
pub struct Machine {
    pub cpus: u32,
    /// One thread of the host for each CPU. With one for all, a pause gives the turn to the next CPU, so queues are
    /// long; with several, CPUs really run at the same time, and programs contend.
    pub is_parallel: bool,
    /// The processor says that it is virtual.
    pub is_guest: bool,
}

const ONE_THREAD: Machine = Machine { cpus: 8, is_parallel: false, is_guest: false };
const PARALLEL: Machine = Machine { cpus: 4, is_parallel: true, is_guest: false };

/// What has to come of a boot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Expects {
    /// The plan ends, everything is right, and the log is clean.
    Success,
    /// The guest dies: the plan does not end.
    Death,
    /// The module refuses, with this reason.
    Refusal(&'static str),
}

/// The boots that a request asks for.
pub fn of(request: &Request) -> Vec<Boot> {
    let few = vec!["qspinlock", "cna"];
    let replace = request.replace.map_or(few.clone(), |lock| vec![lock]);
    let torture = match request.replace {
        Some(lock) => vec![lock],
        None if request.quick => few,
        None => spinning(),
    };
    let (seconds, reloads) = if request.quick { (2, 2) } else { (3, 10) };
    let programs = if request.quick { 12 } else { 120 };
    // A flip waits for each CPU, which takes longer if the host has fewer.
    let (flips, flips_parallel) = if request.quick { (100, 40) } else { (1250, 250) };
    let words = |torture: &[&str], flips: u32, pauses: u32| {
        vec![
            format!("torture={}", torture.join(",")),
            format!("replace={}", replace.join(",")),
            format!("seconds={seconds}"),
            format!("flips={flips}"),
            format!("reloads={reloads}"),
            format!("programs={programs}"),
            format!("jitter={pauses}"),
        ]
    };
    let seconds_max = if request.quick { 300 } else { 2400 };
    let locks = |name, machine, words| Boot {
        name,
        plan: "locks",
        machine,
        words,
        expects: Expects::Success,
        seconds_max,
        control: None,
    };
    let mut boots = vec![
        locks("8 CPUs, one thread", ONE_THREAD, words(&torture, flips, 6)),
        // A pause takes the emulator's big lock here, so sections are apart by nothing.
        locks("4 CPUs, parallel", PARALLEL, words(&replace, flips_parallel, 0)),
    ];
    if request.replace.is_none() {
        boots.extend(controls());
        if !request.quick {
            boots.extend(slow_controls());
        }
    }
    boots
}

fn control(name: &'static str, plan: &'static str, machine: Machine, expects: Expects) -> Boot {
    let words = vec!["jitter=0".into()];
    Boot { name, plan, machine, words, expects, seconds_max: 60, control: None }
}

/// Boots that show that this harness can fail, and that the module refuses.
fn controls() -> [Boot; 3] {
    let tracer = "there is a tracer on the slow path";
    let guest = Machine { is_guest: true, ..ONE_THREAD };
    let reason = "in a virtual machine the kernel's lock is";
    [
        control("a slow path that returns at once", "returns", PARALLEL, Expects::Death),
        control("a virtual machine", "guest", guest, Expects::Refusal(reason)),
        control("a tracer", "tracer", PARALLEL, Expects::Refusal(tracer)),
    ]
}

/// The same, of guests that hang.
fn slow_controls() -> [Boot; 2] {
    let nesting = control("nodes that do not nest", "nesting", ONE_THREAD, Expects::Death);
    [
        control("a flip while the CPUs run", "running", ONE_THREAD, Expects::Death),
        Boot { control: Some("nesting"), ..nesting },
    ]
}
