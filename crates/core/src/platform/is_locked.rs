//! What a look at whether a lock is held is good for.
//!
//! A lock that can be asked is used in pairs: the owner of one asks about the other, as System V
//! semaphores do with a lock for one semaphore and a lock for all. Two threads that each take one
//! such lock and then ask about the other's must not both find it free. On every machine a store
//! may be delayed past a later load of another word, so the question needs a full barrier:
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

/// The barrier between taking a lock and the load by which `is_locked` looks at another one.
#[inline]
pub fn barrier_before_look<P: Barriers, T: Copy + Eq>(on: &impl Atomic<T>) {
    // ordering: full barrier; S1.
    P::full_barrier(on);
}
