//! Laws S: sleeping and waking.

use super::note::nothing_more;
use crate::Threads;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright::platform::{Atomic, Zeroed};
use lockwright::registry::Platform;

pub fn a_wait_for_another_value_returns<P: Platform, T: Threads>(threads: &T) {
    fn body<P: Platform>(word: &P::U32) {
        word.store(1, Relaxed);
        P::futex_wait(word, 0, None);
        P::futex_wait(word, 2, Some(P::now_ns() + 1_000_000_000));
    }
    threads.run(P::U32::zeroed(), &[body::<P>], nothing_more);
}

/// Sleeps until the word is not zero.
fn sleep_until_set<P: Platform>(word: &P::U32) {
    while word.load(Acquire) == 0 {
        P::futex_wait(word, 0, None);
    }
}

/// Sets the word and wakes up to `count` sleepers.
fn set_and_wake<P: Platform>(word: &P::U32, count: u32) {
    word.store(1, Release);
    P::futex_wake(word, count);
}

pub fn a_wake_after_a_change_is_not_lost<P: Platform, T: Threads>(threads: &T) {
    let wake: fn(&P::U32) = |word| set_and_wake::<P>(word, 1);
    threads.run(P::U32::zeroed(), &[wake, sleep_until_set::<P>], nothing_more);
}

pub fn everybody_can_be_woken_at_once<P: Platform, T: Threads>(threads: &T) {
    let wake: fn(&P::U32) = |word| set_and_wake::<P>(word, u32::MAX);
    let bodies = [wake, sleep_until_set::<P>, sleep_until_set::<P>];
    threads.run(P::U32::zeroed(), &bodies, nothing_more);
}

pub fn a_deadline_ends_a_wait<P: Platform, T: Threads>(threads: &T) {
    fn body<P: Platform>(word: &P::U32) {
        let deadline_ns = P::now_ns() + 50_000;
        while P::now_ns() < deadline_ns {
            P::futex_wait(word, 0, Some(deadline_ns));
        }
        // A deadline that has passed is no reason to sleep for ever either.
        P::futex_wait(word, 0, Some(deadline_ns));
    }
    threads.run(P::U32::zeroed(), &[body::<P>], nothing_more);
}

pub fn waking_nobody_does_nothing<P: Platform, T: Threads>(threads: &T) {
    fn body<P: Platform>(word: &P::U32) {
        P::futex_wake(word, 0);
        P::futex_wake(word, u32::MAX);
        // The address of a word that is gone.
        let address = std::ptr::from_ref(&P::U32::zeroed());
        P::futex_wake(address, u32::MAX);
    }
    threads.run(P::U32::zeroed(), &[body::<P>], nothing_more);
}
