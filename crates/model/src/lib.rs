//! Model checkers as platforms for the locks.
//!
//! - [`Loom`] explores every schedule of a small program up to a number of preemptions, and with
//!   every schedule every value an atomic load may return under the C11 memory model.
//! - [`Shuttle`] runs random schedules of a larger program; its memory is sequentially consistent.
//!
//! Both are plain types: no `cfg` selects them, and the locks they check are compiled once, from the same source as
//! everywhere. What they have in common is [`cell`] (cells that know whether waiting is futile), [`settings`] (the
//! machine of one run) and [`world`] (its queue nodes, clock and counters), on top of [`raw`]. [`LoomRun`] and
//! [`ShuttleRun`] run a client and panic if its property does not hold; [`outcome`] catches that. [`checks`] is the
//! table of all explorations. What each platform gives up is in `PLATFORM.md`.
//!
//! Neither shows that a waiter gets the lock at all. For the waiting policies that sleep, the model in `promela/` next
//! to this source does; `cargo xtask promela` has it searched.
#![warn(missing_docs)]

pub mod cell;
mod check;
pub mod checks;
pub mod raw;
pub mod settings;
#[cfg(feature = "samples")]
pub mod shuttle_checks;
pub mod world;

mod hq_checks;
mod loom;
mod loom_run;
mod machine;
mod mutex_checks;
mod once_checks;
mod reused_checks;
mod rwlock_checks;
mod rwsem_checks;
mod shuttle;
mod shuttle_run;
mod shuttle_schedule;
mod sleeping_checks;
mod threads;
mod timed_spin_checks;

pub use self::loom::Loom;
pub use self::shuttle::Shuttle;
pub use loom_run::LoomRun;
pub use settings::{CheckDepth, MachineSettings};
pub use shuttle_run::{ShuttleFailure, ShuttleRun};
pub use shuttle_schedule::{ShuttleSchedule, ShuttleScheduler};
pub use threads::{LoomThreads, ShuttleThreads};
pub use world::Explored;

use lockwright_clients::ClientOutcome;
use std::any::Any;

/// What became of a run.
pub fn outcome(run: impl FnOnce() -> Explored) -> ClientOutcome {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok(_) => ClientOutcome::Held,
        Err(panic) => ClientOutcome::Violated(message_of(panic)),
    }
}

/// What a panic says.
fn message_of(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_string())
}
