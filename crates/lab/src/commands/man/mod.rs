//! `lockwright man`: the manual pages.

mod args;
mod run;

pub use args::ManArgs;
pub use run::run;
