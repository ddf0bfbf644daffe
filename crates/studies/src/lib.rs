//! What simulated machines have to do with real ones: published tables and their reproduction, the fit of a machine
//! to them, and the machine file of this computer.
//!
//! The commands of the lab are on top of this.

pub mod calibrate;
pub mod check;
pub mod probe;
pub mod published;
pub mod records;
pub mod reproduce;
pub mod sweep;
pub mod tables;
