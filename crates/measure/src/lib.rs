//! Running a trial: a lock under a workload with a number of threads, natively and simulated, and a client under the
//! explorer.
//!
//! A trial is compiled for the type of its lock, and there are many locks, workloads and wrappers of locks. So all of
//! them are compiled here and once, behind functions without type parameters:
//! [`LabMachine::run_trial`](trial::LabMachine::run_trial) of [`NativeMachine`](native::NativeMachine) and
//! [`SimulatedMachine`](simulated::SimulatedMachine), and [`client::Target::explore`] but for a thin shell. The lab's
//! commands are on top of these. Unit tests here compile the few locks that they are about; tests of every lock are in
//! `tests/it`, which links this library.
#![warn(missing_docs)]

#[cfg(test)]
mod broken;
pub mod client;
mod erased;
pub mod error;
pub mod fairness;
pub mod interrupt;
pub mod latency;
pub mod native;
pub mod peers;
pub mod random;
pub mod record;
pub mod runner;
pub mod simulated;
pub mod starved;
pub mod stats;
pub mod stress;
pub mod subject;
pub mod suggest;
pub mod trial;
pub mod workload;

/// Stands before every visit that compiles all locks with what they run: from a unit test it would compile
/// them a second time.
#[track_caller]
fn compiles_every_lock() {
    if cfg!(test) {
        panic!("a test of every lock belongs to `tests/it`");
    }
}
