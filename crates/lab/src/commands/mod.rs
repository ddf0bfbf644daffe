//! The commands. A directory has the arguments, the run and the report of one; a small command is a file.

pub mod bench;
pub mod calibrate;
pub mod compare;
pub mod completions;
pub mod diff;
pub mod explore;
pub mod lists;
pub mod machines;
pub mod man;
pub mod reproduce;
pub mod run;
pub mod sweep;
pub mod torture;
pub mod tour;
