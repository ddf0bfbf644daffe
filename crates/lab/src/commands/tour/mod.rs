//! The tour: what programs use next to its peers, here; why waiters should sleep; a guest and a
//! published table, simulated. Under a minute on two cores.

mod args;
mod guide;
mod native;
mod oversubscribed;
mod plan;
mod report;
mod run;
mod sentences;

pub use args::TourArgs;
pub use run::run;
