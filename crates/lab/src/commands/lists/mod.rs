//! What there is: locks, machines, workloads, tables, clients, bugs, events.

mod args;
mod card;
mod clients;
mod report;
mod run;

pub use args::LocksArgs;
pub use clients::client_names;
pub use run::{bugs, clients, events, instead_of, locks, machines, tables, workloads};
