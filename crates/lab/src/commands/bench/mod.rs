//! `lockwright bench`: how fast, how long, how fair.

mod args;
mod report;
mod run;
mod schedule;

pub use args::BenchArgs;
pub use report::BenchDocument;
pub use run::run;
pub use schedule::{Benchmark, Together};
