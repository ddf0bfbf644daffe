//! What comes out of a run.

use crate::digest::Digest;
use crate::explore::Traced;
use crate::memory::Transfers;
use crate::scheduling::ScheduleReport;
use core::fmt;
use lockwright_core::events::Event;

/// The result of a run. All times are simulated.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Operations of each thread within the window.
    pub ops: Vec<u64>,
    /// How long operations were counted, in picoseconds.
    pub window_ps: u64,
    /// When the last event happened, in picoseconds.
    pub end_ps: u64,
    /// Events of the simulation.
    pub events: u64,
    /// Switches from one thread to another.
    pub switches: u64,
    /// Fingerprint of the history.
    pub digest: Digest,
    /// Events of the locks within the window, by [`Event`].
    pub lock_events: Vec<u64>,
    /// Where accesses were served from.
    pub transfers: Transfers,
    /// What the scheduler did, if there was one.
    pub schedule: Option<ScheduleReport>,
    /// How often a thread was preempted by the fault of that name, warm-up included.
    pub preemptions: u64,
    /// The most others that queued later and got a watched lock earlier than one waiting thread;
    /// `None` if nothing watched the order.
    pub most_overtakes: Option<u32>,
    /// What each move did, if the run was explored and that was asked for.
    pub trace: Vec<Traced>,
    /// What went wrong: the first failures in the order in which they were noticed.
    pub failures: Vec<Failure>,
    /// How often something went wrong.
    pub failures_total: u64,
}

impl RunReport {
    /// Operations of all threads within the window.
    pub fn ops_total(&self) -> u64 {
        self.ops.iter().sum()
    }
    /// Operations per simulated second.
    pub fn ops_per_s(&self) -> f64 {
        if self.window_ps == 0 {
            return 0.0;
        }
        self.ops_total() as f64 * 1e12 / self.window_ps as f64
    }
    /// How often the locks counted `event`.
    pub fn count_of(&self, event: Event) -> u64 {
        self.lock_events[event as usize]
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    Stuck,
    TimeLimit,
    EventLimit,
    Panicked(usize, String),
    WaitWhilePanicking(usize),
    /// A checker has noticed something, and nothing after that is of interest.
    Violated,
    /// The policy of an exploration had no answer.
    Diverged {
        step: u64,
    },
}

/// Something that went wrong in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When, in simulated picoseconds.
    pub at_ps: u64,
    /// In which thread, if in one.
    pub thread: Option<usize>,
    /// What.
    pub kind: FailureKind,
}

/// What can go wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The thread got a lock that others held.
    Exclusion {
        /// The writer among them.
        holder: Option<usize>,
        /// How many readers.
        readers: u32,
    },
    /// The thread gave back a lock it did not hold.
    NotHeld {
        /// The thread that did hold it, if one did.
        holder: Option<usize>,
    },
    /// The thread got a lock before one that had queued earlier.
    OutOfOrder {
        /// That one.
        passed: usize,
    },
    /// With this thread, too many got the lock before one that had queued earlier.
    Overtaken {
        /// That one.
        passed: usize,
        /// How many were allowed.
        max: u32,
    },
    /// The thread wrote a value to a lock word that is no state of the lock.
    IllegalWord {
        /// The line of the word.
        line: usize,
        /// The value.
        word: u32,
    },
    /// The thread touched an object that was freed.
    Freed {
        /// The line it touched.
        line: usize,
    },
    /// The thread panicked.
    Panicked {
        /// With this message.
        message: String,
    },
    /// Nothing will happen any more, and these threads still wait.
    Stuck {
        /// All threads that have not finished.
        threads: Vec<StuckThread>,
    },
    /// The run took longer than its limit of simulated time.
    TimeLimit {
        /// All threads that have not finished.
        threads: Vec<StuckThread>,
    },
    /// The run took more events than its limit.
    EventLimit {
        /// All threads that have not finished.
        threads: Vec<StuckThread>,
    },
    /// All threads are done, and the lock hash still says that a thread sleeps for a lock.
    SleeperLeft,
    /// All threads are done, and a lock has not given its metadata back.
    MetadataLeft,
    /// The schedule that was to be replayed wanted something that cannot happen here.
    Diverged {
        /// How many of its moves were possible.
        step: u64,
    },
    /// Two runs of one schedule went different ways.
    Nondeterministic {
        /// How many moves were the same.
        step: u64,
    },
}

/// A thread that had not finished when its run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckThread {
    /// Its number.
    pub thread: usize,
    /// Its CPU.
    pub cpu: u32,
    /// How it waits.
    pub kind: WaitKind,
    /// The line it waits on.
    pub line: Option<usize>,
    /// The object there: its type, its number if there are several in a row, and the byte in it.
    pub object: String,
    /// The value that a spinner saw last.
    pub seen: Option<u64>,
    /// Since when, in picoseconds.
    pub since_ps: u64,
}

/// How a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// For a write to a line.
    Spinning,
    /// To be woken.
    Sleeping,
    /// It does not: it works, or would be going on by itself.
    Running,
}

impl fmt::Display for StuckThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, cpu, .. } = self;
        write!(f, "thread {thread} on CPU {cpu} ")?;
        let verb = match self.kind {
            WaitKind::Spinning => "spins on",
            WaitKind::Sleeping => "sleeps on",
            WaitKind::Running => return write!(f, "runs"),
        };
        write!(f, "{verb} line {} ({})", self.line.unwrap_or_default(), self.object)?;
        if let Some(seen) = self.seen {
            write!(f, ", saw {seen:#x}")?;
        }
        write!(f, ", since {}", Nanoseconds(self.since_ps))
    }
}

struct Nanoseconds(u64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 1000 {
            0 => write!(f, "{} ns", self.0 / 1000),
            rest => write!(f, "{}.{rest:03} ns", self.0 / 1000),
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, what: &str, threads: &[StuckThread]| {
            write!(f, "{what}; threads that have not finished: {}", threads.len())?;
            threads.iter().try_for_each(|thread| write!(f, "\n  {thread}"))
        };
        match self {
            Self::Exclusion { holder: Some(holder), .. } => {
                write!(f, "got a lock that thread {holder} holds")
            }
            Self::Exclusion { holder: None, readers } => {
                write!(f, "got a lock that {readers} readers hold")
            }
            Self::NotHeld { holder: Some(holder) } => {
                write!(f, "gave back a lock that thread {holder} holds")
            }
            Self::NotHeld { holder: None } => write!(f, "gave back a lock that no thread holds"),
            Self::OutOfOrder { passed } => {
                write!(f, "got a lock before thread {passed}, which had queued earlier")
            }
            Self::Overtaken { passed, max } => {
                write!(f, "thread {passed} was overtaken more than {max} times")
            }
            Self::IllegalWord { line, word } => {
                write!(f, "the lock word in line {line} became {word:#010x}, which is no state")
            }
            Self::Freed { line } => write!(f, "touched line {line}, which was freed"),
            Self::Panicked { message } => write!(f, "panicked: {message}"),
            Self::Stuck { threads } => list(f, "stuck", threads),
            Self::TimeLimit { threads } => list(f, "not done within the time limit", threads),
            Self::EventLimit { threads } => list(f, "not done within the event limit", threads),
            Self::SleeperLeft => write!(f, "an entry was left in the lock hash"),
            Self::MetadataLeft => write!(f, "a lock has not given its metadata back"),
            Self::Diverged { step } => {
                write!(f, "the schedule does not fit: its move {} is not possible", step + 1)
            }
            Self::Nondeterministic { step } => write!(
                f,
                "two runs of one schedule differ after {step} moves: the program depends on \
                 something outside of the machine"
            ),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {} (simulated)", Nanoseconds(self.at_ps))?;
        if let Some(thread) = self.thread {
            write!(f, ", thread {thread}")?;
        }
        write!(f, ": {}", self.kind)
    }
}
