//! `lockwright calibrate`: fits a simulated machine to published measurements of unpatched code.

mod args;
mod report;
mod run;

pub use args::CalibrateArgs;
pub use run::run;
