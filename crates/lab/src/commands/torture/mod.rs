//! `lockwright torture`: try to break locks.
//!
//! The output is the kernel's locktorture's: a start line, a line of statistics for writers and one for
//! readers if there are any, and an end line for each lock. Lines between them say how often what is mixed
//! in happened, and how long the longest wait was.

mod args;
mod mix;
mod report;
mod roles;
mod run;

pub use args::TortureArgs;
pub use run::run;
