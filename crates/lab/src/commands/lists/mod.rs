//! What there is: locks, machines, workloads, tables, clients, bugs, events.

mod card;
mod report;
mod run;

pub use run::{
    LocksArgs, bugs, client_names, clients, events, instead_of, locks, machines, tables, workloads,
};
