//! `lockwright sweep`: a question in a file, and many simulated trials that answer it.

mod args;
mod run;

pub use args::SweepArgs;
pub use run::run;
