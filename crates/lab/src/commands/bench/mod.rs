//! `lockwright bench`: how fast, how long, how fair.

mod args;
mod handoff_aim7;
mod report;
mod run;
mod schedule;
mod workloads;

pub use args::BenchArgs;
pub use report::BenchDocument;
pub use run::run;
pub use schedule::{Benchmark, Together};
pub use workloads::{ListedWorkload, WORKLOADS};
