//! `lockwright completions`: completion scripts for shells.

mod args;
mod run;

pub use args::CompletionsArgs;
pub use run::run;
