//! Laws S: sleeping and waking.

use super::run_two;
use crate::Threads;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright::platform::{Atomic, Platform, Zeroed};
use std::sync::Arc;

pub fn a_wait_for_another_value_returns<P: Platform>(_: &dyn Threads) {
    let word = P::U32::zeroed();
    word.store(1, Relaxed);
    P::futex_wait(&word, 0, None);
    P::futex_wait(&word, 2, Some(u64::MAX));
}

/// Sleeps until the word is not zero.
fn sleep_until_set<P: Platform>(word: &P::U32) {
    while word.load(Acquire) == 0 {
        P::futex_wait(word, 0, None);
    }
}

pub fn a_wake_after_a_change_is_not_lost<P: Platform>(threads: &dyn Threads) {
    let wake = |word: &P::U32| {
        word.store(1, Release);
        P::futex_wake(word, 1);
    };
    run_two(threads, P::U32::zeroed(), wake, sleep_until_set::<P>);
}

pub fn everybody_can_be_woken_at_once<P: Platform>(threads: &dyn Threads) {
    let word = Arc::new(P::U32::zeroed());
    let [waker, one, two] = [(); 3].map(|()| word.clone());
    threads.run(vec![
        Box::new(move || {
            waker.store(1, Release);
            P::futex_wake(&*waker, u32::MAX);
        }),
        Box::new(move || sleep_until_set::<P>(&one)),
        Box::new(move || sleep_until_set::<P>(&two)),
    ]);
}

pub fn a_deadline_ends_a_wait<P: Platform>(_: &dyn Threads) {
    let word = P::U32::zeroed();
    let deadline_ns = P::now_ns() + 50_000;
    while P::now_ns() < deadline_ns {
        P::futex_wait(&word, 0, Some(deadline_ns));
    }
    // A deadline that has passed is no reason to sleep for ever either.
    P::futex_wait(&word, 0, Some(deadline_ns));
}

pub fn waking_nobody_does_nothing<P: Platform>(_: &dyn Threads) {
    let address = {
        let word = P::U32::zeroed();
        P::futex_wake(&word, 0);
        std::ptr::from_ref(&word)
    };
    // The word is gone.
    P::futex_wake(address, u32::MAX);
}
