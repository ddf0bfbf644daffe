//! `lockwright compare`: our locks against every peer, in a matrix that is part of the source.

mod args;
mod cells;
mod contest;
mod effort;
mod locks;
mod overall;
mod plan;
mod real_use;
mod report;
mod run;
mod rw_section;
mod score;
mod simulated;

pub use args::CompareArgs;
pub use run::run;
