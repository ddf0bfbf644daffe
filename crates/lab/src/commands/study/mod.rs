//! `lockwright study`: questions about locks that no published table answers, simulated.

mod args;
mod run;

pub use args::StudyArgs;
pub use run::run;
