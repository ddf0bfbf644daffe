//! The boots of a run: a machine, a plan, and what has to come of it.

use super::build::LAWS;
use super::request::{Request, semaphores, spinning};

/// One boot of the guest.
pub struct Boot {
    pub name: &'static str,
    /// A file in crates/kernel/guest/plans.
    pub plan: &'static str,
    pub machine: Machine,
    /// Words for the kernel's command line.
    pub words: String,
    pub expects: Expects,
    pub seconds_max: u64,
    /// The build: how the Rust part is wrong on purpose, and if it has the laws. Values of `lockwright_variant`.
    pub variant: &'static [&'static str],
}

/// How the machine is emulated.
#[derive(Clone, Copy)]
pub struct Machine {
    pub cpus: u32,
    /// CPUs that are not there and could be plugged in.
    pub absent: u32,
    /// NUMA nodes, each with as many CPUs.
    pub nodes: u32,
    /// One thread of the host for each CPU. With one for all, a pause gives the turn to the next CPU, so queues are
    /// long; with several, CPUs really run at the same time, and programs contend.
    pub is_parallel: bool,
    /// The processor says that it is virtual.
    pub is_guest: bool,
}

const ONE_THREAD: Machine =
    Machine { cpus: 8, absent: 0, nodes: 4, is_parallel: false, is_guest: false };
const PARALLEL: Machine = Machine { cpus: 4, is_parallel: true, ..ONE_THREAD };
/// The kernel starts the first CPU only, and the plan some others.
const SPARSE: Machine = Machine { cpus: 70, absent: 60, nodes: 2, ..ONE_THREAD };

/// What has to come of a boot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Expects {
    /// The plan ends, everything is right, and the log is clean.
    Success,
    /// The guest dies: the plan does not end.
    Death,
    /// The module refuses, with this reason.
    Refusal(&'static str),
    /// The torture says that it is stuck.
    Stuck,
}

/// How much a boot does, with one thread of the host and in parallel: words for the plan.
/// - `seconds` of each torture, and of each under a lock that has taken over (`takeover`);
/// - `flips` under torture, for each lock that takes over; half as many more under programs;
/// - `reloads`: how often the module is unloaded under load;
/// - `programs`: seconds of one round of the programs, which run until all flips are done;
/// - `jitter`: pauses between two critical sections, at random below this.
type Amounts = [&'static str; 2];

// A flip waits for each CPU, which takes longer if the host has fewer. In parallel a pause takes the emulator's big
// lock, so sections are apart by nothing.
const QUICK: Amounts = [
    "seconds=1 takeover=1 flips=40 reloads=2 programs=5 jitter=6",
    "seconds=1 takeover=1 flips=40 reloads=2 programs=5 jitter=0",
];
const FULL: Amounts = [
    "seconds=3 takeover=30 flips=2300 reloads=10 programs=20 jitter=6",
    "seconds=3 takeover=40 flips=250 reloads=10 programs=20 jitter=0",
];

/// The boots that a request asks for.
pub fn of(request: &Request) -> Vec<Boot> {
    let few = vec!["qspinlock", "cna"];
    let one = request.replace.map(|lock| vec![lock]);
    let (amounts, replace, torture, sleeping, seconds_max) = match (request.quick, one) {
        (quick, Some(one)) => (if quick { QUICK } else { FULL }, one.clone(), one, vec![], 2400),
        (true, None) => {
            let torture = vec!["qspinlock", "cna", "qrwlock"];
            let sleeping = vec!["rwsem-current", "rwsem-v3_12_wake_flag"];
            (QUICK, few, torture, sleeping, 300)
        }
        (false, None) => {
            let replace = vec!["qspinlock", "cna", "two-level"];
            (FULL, replace, spinning(), semaphores(), 2400)
        }
    };
    let [torture, sleeping, replace] = [torture, sleeping, replace].map(|locks| locks.join(","));
    let boot = |name, machine, amounts| {
        let locks = format!("torture={torture} semaphores={sleeping} replace={replace}");
        let boot = control(name, "locks", machine, Expects::Success);
        Boot { words: format!("{locks} {amounts}"), seconds_max, ..boot }
    };
    let mut boots = vec![
        boot("8 CPUs, one thread", ONE_THREAD, amounts[0]),
        boot("4 CPUs, parallel", PARALLEL, amounts[1]),
    ];
    if request.replace.is_none() {
        let times = if request.quick { 5 } else { 50 };
        boots.push(sparse(request.quick));
        boots.push(laws("the laws, 4 CPUs, parallel", PARALLEL, times));
        boots.extend(controls());
        if !request.quick {
            boots.push(laws("the laws, 8 CPUs, one thread", ONE_THREAD, 200));
            boots.extend(slow_controls());
        }
    }
    boots
}

impl Boot {
    /// The value of one of its words.
    pub fn value(&self, name: &str) -> Option<&str> {
        let mut values = self.words.split(' ').filter_map(|word| word.split_once('='));
        values.find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// Four CPUs of 130, with holes between their numbers.
fn sparse(is_quick: bool) -> Boot {
    let name = "4 CPUs of 130, one thread";
    let (torture, seconds, flips) = match is_quick {
        true => ("qspinlock,cna-v15,hq,resilient".into(), 2, 40),
        false => (spinning().join(","), 3, 1000),
    };
    let words = format!("maxcpus=1 torture={torture} seconds={seconds} flips={flips} jitter=6");
    Boot { words, seconds_max: 1200, ..control(name, "sparse", SPARSE, Expects::Success) }
}

/// The laws of the platforms, each checked this many times.
fn laws(name: &'static str, machine: Machine, times: u32) -> Boot {
    let boot = control(name, "laws", machine, Expects::Success);
    Boot { words: format!("times={times}"), seconds_max: 300, variant: &[LAWS], ..boot }
}

fn control(name: &'static str, plan: &'static str, machine: Machine, expects: Expects) -> Boot {
    let words = "jitter=0".into();
    Boot { name, plan, machine, words, expects, seconds_max: 60, variant: &[] }
}

/// Boots that show that this harness can fail, and what the module refuses and survives.
fn controls() -> [Boot; 4] {
    let tracer = "there is a tracer on the slow path";
    let guest = Machine { is_guest: true, ..ONE_THREAD };
    let reason = "in a virtual machine the kernel's lock is";
    let others = control("what others do", "others", PARALLEL, Expects::Success);
    [
        control("a slow path that returns at once", "returns", PARALLEL, Expects::Death),
        control("a virtual machine", "guest", guest, Expects::Refusal(reason)),
        control("a tracer", "tracer", PARALLEL, Expects::Refusal(tracer)),
        Boot { seconds_max: 300, ..others },
    ]
}

/// The same, of guests that hang and of threads that sleep for ever.
fn slow_controls() -> [Boot; 7] {
    let stays = Expects::Refusal("ftrace has not let go of the slow path, so this module stays");
    let dead = control("a dead ftrace", "dead-ftrace", PARALLEL, stays);
    let nesting = control("nodes that do not nest", "nesting", ONE_THREAD, Expects::Death);
    let law = control("a law that does not hold", "broken-law", PARALLEL, Expects::Death);
    let forgets = control("a forgotten waiter", "forgets", ONE_THREAD, Expects::Death);
    let forgets = Boot { variant: &["forgets"], seconds_max: 150, ..forgets };
    let sleeper = stuck("a forgotten sleeper", "rwsem-current");
    let posted = "rwsem-v3_12_wake_flag_as_posted,rwsem-v3_12_series_wake_flag_as_posted";
    [
        control("a flip while the CPUs run", "running", ONE_THREAD, Expects::Death),
        Boot { variant: &["nesting"], ..nesting },
        Boot { variant: &[LAWS, "nesting"], ..law },
        forgets,
        Boot { variant: &["forgets"], ..sleeper },
        stuck("the wake-up flag as posted", posted),
        Boot { seconds_max: 300, ..dead },
    ]
}

/// Semaphores that lose wake-ups. Pauses let threads arrive at random moments.
fn stuck(name: &'static str, locks: &str) -> Boot {
    let words = format!("torture={locks} seconds=120 jitter=20");
    let boot = control(name, "stuck", ONE_THREAD, Expects::Stuck);
    Boot { words, seconds_max: 600, ..boot }
}
