//! Test bodies, written once, generic over the platform.
//!
//! A [`Client`] is a property with a body per thread; every machine runs the same ones, on every lock: those of
//! [`owners`], listed in [`CLIENTS`]. Where readers share there are those of [`shared`] as well ([`READER_CLIENTS`]).
//! [`clients_of`] the mutex has more: deadlines, handing over, and the condition variable ([`mod@mutex`], [`condvar`],
//! [`promise`]); so have the semaphore for programs ([`mod@semaphore`]), the sequence lock ([`mod@seqlock`]), the once
//! ([`mod@once`], with the clients of the barrier, [`mod@barrier`]), the queue of optimistic spinners ([`osq`]), the
//! queued reader-writer spinlock ([`mod@qrwlock`]), the hierarchical queued spinlock ([`mod@hq`]) and the semaphore
//! ([`mod@rwsem`]). Spinlocks with deadlines have [`timed_spin`], and the resilient one has [`mod@resilient`]. The
//! locks for programs have some about memory that is used again ([`mod@reused`]), about guards that are given back
//! elsewhere or never ([`guards`]), and about their limits ([`limits`]). The clients of [`prebuilt`] are about the
//! queued spinlock and start in the middle of a queue; those of [`handler`], [`fork`], [`slots`] and [`overlap`] are
//! for machines with signals, forks and a clock ([`disturbed_clients_of`]); [`free`] is for real threads; harnesses
//! with readers are tested with [`plain_rw`]. Which rows of the registry a test suite runs is in [`due`]. The suite
//! that a platform itself has to pass is the crate `lockwright-conformance`.
#![warn(missing_docs)]

pub mod barrier;
mod client;
pub mod condvar;
mod disturbed;
pub mod due;
pub mod fork;
pub mod free;
pub mod guards;
pub mod handler;
pub mod hq;
pub mod limits;
pub mod mutex;
pub mod once;
pub mod osq;
pub mod overlap;
pub mod owners;
mod place;
pub mod plain_rw;
pub mod prebuilt;
pub mod promise;
pub mod qrwlock;
pub mod resilient;
pub mod reused;
mod round;
pub mod rwlock;
pub mod rwsem;
pub mod semaphore;
pub mod seqlock;
pub mod shared;
pub mod slots;
mod table;
mod threads;
pub mod timed_spin;
mod turns;
pub mod two_kinds;
pub mod upgrade;

pub use client::{
    AnyClient, BeginInChild, Client, ClientOutcome, ClientType, ClientVisitor, Fork, TypeOf,
};
pub use disturbed::{disturbed_clients, disturbed_clients_of, visit_disturbed};
pub use table::{
    CLIENTS, READER_CLIENTS, client_types_on, clients, clients_of, clients_on, is_of_guards,
    is_of_limits, is_of_reused, visit_client, visit_client_of,
};
pub use threads::{Migrate, NativeThreads};
