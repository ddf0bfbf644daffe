//! Test bodies and workloads, written once, generic over the platform.
//!
//! A [`Client`] is a property with a body per thread; every machine runs the same ones. A workload
//! ([`workload`]) is the loop of a benchmark; the lab runs it natively and on simulated machines.

mod client;
pub mod workload;

pub use client::{Client, Outcome};
