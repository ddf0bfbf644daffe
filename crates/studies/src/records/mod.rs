//! Records in a folder: what was measured is not measured again.
//!
//! Everything that decides the record of a trial is digested into its key. A [`Folder`] has a line for each trial that
//! ended, in a file of the part of the trials that a process does. A [`KeptMachine`] looks there for the record of a
//! trial, and runs the trial only if there is none: so every command goes on where it was interrupted or killed.

mod described;
mod folder;
mod kept;
mod key;
mod line;
mod quote;

pub(crate) use described::{About, Described, Given, SCHEDULINGS, line_of};
pub use folder::Folder;
pub(crate) use folder::{Lines, result_files};
pub use kept::KeptMachine;
pub use key::CODE;
pub(crate) use key::Sha;
#[cfg(test)]
pub(crate) use line::sealed;
pub(crate) use line::{Head, opened};
pub(crate) use quote::of_simulated;
pub use quote::{quote, quote_schedules};
