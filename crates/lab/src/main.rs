//! `lockwright`: the lab.

mod calibrate;
mod cell;
mod cli;
mod error;
mod interrupt;
mod latency;
mod native;
mod published;
mod report;
mod simulated;
mod stats;
mod subject;
mod suggest;

fn main() {}
