//! Running trials on simulated machines.
//!
//! A machine and a [`Trial`](crate::trial::Trial) name everything that decides the result, which is the same on every
//! computer.

mod fitted;
mod machine;
mod run;
mod watched;
mod worker;

pub use fitted::{Fitted, ResidualOf};
pub use machine::SimulatedMachine;
pub use watched::Watched;
