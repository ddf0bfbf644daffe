//! Exploration of schedules: the same program on the same engine, in other orders.
//!
//! A run by time is one history of a program. An exploration runs the program many times, and each
//! time a policy ([`PolicyKind`]) picks what happens next from everything that can happen:
//!
//! - the next step of a thread: an access to a cell or to a guarded field, or going on after a
//!   barrier;
//! - the commit of the oldest store in a store buffer, so memory is TSO: a store may become visible
//!   at any time after it was issued, but before the next read-modify-write or barrier of its
//!   thread;
//! - the look of a spinner whose cell has changed since it looked (one that has seen everything
//!   there is to see cannot go on);
//! - the end of a bounded wait or of a sleep with a deadline: its time may run out whenever it
//!   waits;
//! - a wake-up of a sleeper for no reason, and the loss of a CPU. Each happens in one schedule at most as often as
//!   [`Limits`] allows. A thread without a CPU does nothing until it is dispatched again, and the scheduler's hints
//!   tell the others;
//! - a signal, limited in the same way, that interrupts a thread with a handler
//!   ([`thread::handling`](crate::thread::handling)) between any two of its accesses. The handler runs on the thread's
//!   stack, and its accesses are moves like any others. No signal interrupts the handler. A spinner looks on after it,
//!   and a sleep ends with it. No signal comes within `SleepStorage::uninterrupted`, in a heavy barrier (a system call
//!   that nothing interrupts) or while the thread has no CPU;
//! - if all threads share one CPU and have real-time priorities ([`Limits::by_priority`]), only what the first of them
//!   does that can run, and the beginning of others and the end of their sleeps;
//! - a fork, once, where a thread calls for it ([`thread::fork_point`](crate::thread::fork_point)) and the others are
//!   anywhere. From there on the world is the child's: the other threads vanish with their stores that were not
//!   visible, and what they hold stays held. The platform tells the locks that there was a fork, as after one made by
//!   the C library or, if the thread says so, after the system call without the C library's handlers. The memory is
//!   copied at one moment. A move of a child takes a microsecond.
//!
//! Costs and lines play no role; every move takes one nanosecond. If no thread can go on and one has not finished, the
//! threads are *stuck*. This is how a lost wake-up shows, whether its thread spins or sleeps. A program that makes too
//! many moves ([`Limits::steps_max`]) goes round in circles: from half of them on all policies are fair. The checkers
//! of a [`Config`](crate::Config) watch as ever; the first thing that they see ends the schedule.
//!
//! # What it covers, and what it does not
//!
//! Sequential consistency and store buffers, with many threads. Weaker orders (stores that overtake
//! stores, loads that overtake loads) are for a checker that knows them. Writes of guarded fields
//! take effect at once. Where a thread waits for its stores to become visible, they do so one by one.
//! The random policies sample. Only a search ([`PolicyKind::Dfs`]) that ends by itself has seen everything within its
//! bound, except that it does not search a schedule that got so long that it had to become fair. The program's own code
//! runs every schedule, so a program has to be a function of its schedule: the first schedule of each policy and
//! setting is run twice, and has to make the same moves and to read and write the same values. A failure is run again
//! before it is reported.
//!
//! # Failures
//!
//! What failed is shortened: moves are dropped and switches are joined for as long as it fails in
//! the same way. What remains is a [`Schedule`], one word of text, and [`Explorer::replay`] repeats
//! it. [`Explorer::replay_traced`] also says what each move did.

mod choice;
mod explorer;
mod policy;
mod schedule;
mod shorten;
mod trace;

pub use choice::{Action, Move};
pub(crate) use choice::{Choice, Touch};
pub use explorer::{Explorer, Findings, Found, Plan, SpawnProgram};
pub use policy::PolicyKind;
pub(crate) use policy::SchedulePolicy;
pub use schedule::{NotASchedule, Schedule, THREADS_MAX, letter};
pub use trace::Traced;

/// How much may happen in one schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Moves.
    pub steps_max: u64,
    /// How often a thread loses its CPU.
    pub preemptions: u32,
    /// How often a sleeper wakes up for no reason.
    pub wake_ups: u32,
    /// How often a signal interrupts a thread that has a handler.
    pub signals: u32,
    /// How often a thread forks: once at most.
    pub forks: u32,
    /// All threads share one CPU, and of those that have begun and do not sleep the last one has it, as with real-time
    /// priorities: a thread that is woken runs at once, and one that begins, or whose sleep ends, interrupts the others
    /// wherever they are. Threads begin when they are picked.
    pub by_priority: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps_max: 20_000,
            preemptions: 2,
            wake_ups: 2,
            signals: 2,
            forks: 1,
            by_priority: false,
        }
    }
}
