//! `lockwright reproduce`: published tables, simulated.

mod args;
mod run;

pub use args::ReproduceArgs;
pub use run::run;
