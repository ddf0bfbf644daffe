//! Numbers of threads. No number is used twice in the life of a process and of its children.
//!
//! A thread draws its number at its first question and keeps it, also in a child that it forks. The child goes on
//! counting where its parent was. So no thread that starts in the child has the number of one that its parent had
//! before the fork, and a lock that such a thread held stays held.
//!
//! Each copy of this library in a process counts for itself. It begins at a number that depends on the copy's place in
//! memory. So two threads that have their numbers by different copies have different numbers, unless they are very
//! unlucky.

use super::per_thread::per_thread;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The count of numbers that were drawn.
static DRAWN: AtomicU64 = AtomicU64::new(0);

per_thread! {
    /// The number of the thread, when it has one.
    NUMBER at "lockwright_thread_number": u64 = 0
}

/// The distance between two numbers: the lowest three bits of a number are 0.
const APART: u64 = 8;

/// Returns the number of the calling thread, which is not 0.
#[inline(always)]
pub(super) fn this_thread() -> u64 {
    match NUMBER.get() {
        0 => draw(),
        number => number,
    }
}

#[cold]
fn draw() -> u64 {
    // Products spread addresses over all numbers (Fibonacci hashing).
    let place = (&raw const DRAWN).addr() as u64;
    let first = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) & !(APART - 1);
    // ordering: Relaxed; nothing is read through it.
    let next = || first.wrapping_add(DRAWN.fetch_add(1, Relaxed).wrapping_mul(APART));
    let drawn = match next() {
        0 => next(),
        number => number,
    };
    // A signal handler may have drawn one in between.
    if NUMBER.get() == 0 {
        NUMBER.set(drawn);
    }
    NUMBER.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::thread;

    #[test]
    fn a_thread_keeps_its_number_and_no_later_thread_has_it() {
        let threads = if cfg!(miri) { 5 } else { 200 };
        let number = || {
            assert_eq!(this_thread(), this_thread());
            this_thread()
        };
        let numbers: HashSet<_> =
            (0..threads).map(|_| thread::spawn(number).join().expect("no panic")).collect();
        assert_eq!(numbers.len(), threads, "a thread has the number of one that has ended");
        assert!(numbers.iter().all(|number| *number != 0 && number % APART == 0));
    }
}
