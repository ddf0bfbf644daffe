//! `lockwright run`: a program in C or C++ with our locks in the place of glibc's.

mod check;
mod inherited;
mod program;
mod start;

pub use start::{RunArgs, run};
