//! `lockwright machines`: the machines, and what can be done with one.

mod args;
mod run;

pub use args::MachinesArgs;
pub use run::run;
