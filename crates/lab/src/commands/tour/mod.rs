//! The tour: what programs use next to its peers, here; why waiters should sleep; a guest and a
//! published table, simulated. Under a minute on two cores.

mod run;
mod sentences;
mod stops;

pub use run::{TourArgs, run};
