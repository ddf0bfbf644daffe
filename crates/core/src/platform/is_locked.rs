//! The use of asking if a lock is held.
//!
//! A lock that can be asked is used in pairs: the owner of one lock asks about the other. System V semaphores do this
//! with a lock for one semaphore and a lock for all. Two threads that each take one such lock and then ask about the
//! other lock must not both find it free. On every machine a store may be delayed past a later load of another word, so
//! the question needs a full barrier:
//!
//! ```text
//! S1   owner of a                    owner of b
//!      [S] a = held, in `lock`       [S] b = held, in `lock`
//!      fence                         fence
//!      [L] b, in `is_locked`         [L] a, in `is_locked`
//!      never: both read free         (both would go on alone)
//! ```
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | S1 | every store that takes a lock, then the barrier of the same thread | the load in another lock's `is_locked`, after the barrier | nothing but itself: litmus above |

use crate::platform::{Atomic, Barriers};

/// Executes the barrier that `is_locked` needs before its load. The caller may just have taken another lock.
#[inline]
pub fn barrier_before_look<P: Barriers, T: Copy + Eq>(on: &impl Atomic<T>) {
    // ordering: full barrier; S1.
    P::full_barrier(on);
}
