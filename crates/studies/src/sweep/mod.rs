//! Sweeps: a question in a file, many simulated trials that answer it, on as many computers as there are.
//!
//! A [`Question`] names machines, locks, workloads and numbers of threads, each as one value, a list or a range. Its
//! [`Trials`] are all combinations of the lists, each with all points that are drawn from the ranges. Everything that
//! decides the result of a [`SweptTrial`] is digested into its key. A part of the trials is what one process does;
//! which trials it has follows from the question alone. [`run()`] appends a line for each trial to a file of the part.
//! It runs nothing that is there. [`merge()`] sorts such files into one, which does not depend on how the trials
//! were divided.

mod axis;
mod estimate;
mod merge;
mod parquet_table;
mod question;
mod reader;
mod report;
mod run;
mod sample;
mod software;
mod table;
#[cfg(test)]
mod tests;
mod trial;
mod trials;

pub use estimate::SweepCost;
pub use merge::{Merged, merge};
pub use parquet_table::to_parquet;
pub use question::Question;
pub use report::{GainReport, LinesAsked, LinesReport, Sensitivity, map, page};
pub use run::{Ran, run};
pub use table::to_csv;
pub use trial::SweptTrial;
pub use trials::Trials;
