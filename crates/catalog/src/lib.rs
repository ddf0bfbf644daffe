//! The list of all locks, for checkers and the lab, and the locks that only they use: reference locks, and locks that
//! are broken on purpose.
//!
//! A lock is a row of the [`registry`]. An ability that only some locks have is a trait of [`capabilities`].
#![no_std]
#![deny(missing_docs)]

pub mod busted;
pub mod capabilities;
pub mod clh;
pub mod futex3;
pub mod mcs;
pub mod registry;
pub mod word_lock;

use lockwright::{condvar, mutex, once, percpu_rwlock, rwlock, semaphore, seqlock};
use lockwright_core::{events, park, platform, queue, raw};
use lockwright_linux::{hq, kernel_mutex, osq, qrwlock, qspinlock, rwsem, ticket, unfair};
