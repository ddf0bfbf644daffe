//! The event loop of a run.
//!
//! The loop has no home of its own: it runs wherever a thread has to wait for a time or for
//! another thread, on that thread's stack, until the next event that makes a thread go on. Only if
//! that is another thread, control goes through the main stack to it. Stores that commit, spinners
//! that read again and timers need no switch at all, and an access that completes before every
//! queued event just moves the clock.

mod access;
mod arbitration;
pub mod cell;
mod change;
mod cpus;
mod event_loop;
mod exploration;
mod explore;
mod family;
mod faults;
mod forks;
mod handler;
mod host;
mod predicate;
mod preemption;
pub mod queue;
mod signals;
mod sleep;
mod sleepers;
mod state;
mod thread;
mod timeline;
mod trace;
mod turn;
mod wait;

pub use change::CellChange;
pub use exploration::Exploration;
pub use state::Engine;
pub use thread::{Activity, Thread};
pub use wait::Deadline;

use cell::CellRef;
use predicate::Predicate;
use state::Step;
