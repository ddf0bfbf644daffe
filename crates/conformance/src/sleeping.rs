//! Laws S: sleeping and waking.

use super::note::{alone, nothing_more};
use crate::platform::Threads;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright_core::park::ParkPlatform;
use lockwright_core::platform::{Atomic, AtomicInt, EVERY_KIND, Zeroed, low_half};
use lockwright_core::queue::{NodeId, TailCode};

pub fn a_wait_for_another_value_returns<P: ParkPlatform, T: Threads>(threads: &T) {
    alone(threads, P::U32::zeroed(), |word| {
        word.store(1, Relaxed);
        P::futex_wait(word, 0, None);
        P::futex_wait(word, 2, Some(P::now_ns() + 1_000_000_000));
    });
}

/// Sleeps until the word is not zero.
fn sleep_until_set<P: ParkPlatform>(word: &P::U32) {
    while word.load(Acquire) == 0 {
        P::futex_wait(word, 0, None);
    }
}

/// Sets the word and wakes up to `count` sleepers.
fn set_and_wake<P: ParkPlatform>(word: &P::U32, count: u32) {
    word.store(1, Release);
    P::futex_wake(word, count);
}

pub fn a_wake_after_a_change_is_not_lost<P: ParkPlatform, T: Threads>(threads: &T) {
    let wake: fn(&P::U32) = |word| set_and_wake::<P>(word, 1);
    threads.run(P::U32::zeroed(), &[wake, sleep_until_set::<P>], nothing_more);
}

/// Sleeps as locks do: on the word of a waiter. `code` names it to the thread that wakes.
fn with_waiter<P: ParkPlatform>(code: &P::U32, sleep: impl FnOnce(&P::U32)) {
    let id = P::claim_node().expect("a thread without nodes finds none");
    let signal = signal_of::<P>(id);
    signal.store(0, Relaxed);
    code.store(id.code().bits().into(), Release);
    sleep(signal);
    // SAFETY: claimed above, and the other thread only passes an address on once the signal is set.
    unsafe { P::release_node(id) };
}
/// The word on which the thread sleeps, or is about to, that has named its waiter.
fn named<P: ParkPlatform>(code: &P::U32) -> &P::U32 {
    let code = code.cond_load(Acquire, |code| code != 0);
    signal_of::<P>(TailCode::from_bits(code as u16).node().expect("not a node"))
}
fn signal_of<'a, P: ParkPlatform>(id: NodeId) -> &'a P::U32 {
    // SAFETY: by the contract of `SleepStorage` it lives as long as the machine, and so longer than a law.
    unsafe { P::waiter(id).as_ref() }.signal()
}

pub fn a_wake_of_a_waiter_is_not_lost<P: ParkPlatform, T: Threads>(threads: &T) {
    let sleep: fn(&P::U32) = |code| with_waiter::<P>(code, sleep_until_set::<P>);
    let wake: fn(&P::U32) = |code| set_and_wake::<P>(named::<P>(code), 1);
    threads.run(P::U32::zeroed(), &[wake, sleep], nothing_more);
}

pub fn everybody_can_be_woken_at_once<P: ParkPlatform, T: Threads>(threads: &T) {
    let wake: fn(&P::U32) = |word| set_and_wake::<P>(word, u32::MAX);
    let bodies = [wake, sleep_until_set::<P>, sleep_until_set::<P>];
    threads.run(P::U32::zeroed(), &bodies, nothing_more);
}

pub fn a_deadline_ends_a_wait<P: ParkPlatform, T: Threads>(threads: &T) {
    alone(threads, P::U32::zeroed(), |word| {
        let deadline_ns = P::now_ns() + 50_000;
        while P::now_ns() < deadline_ns {
            P::futex_wait(word, 0, Some(deadline_ns));
        }
        // A deadline that has passed is no reason to sleep for ever either.
        P::futex_wait(word, 0, Some(deadline_ns));
    });
}

pub fn waking_nobody_does_nothing<P: ParkPlatform, T: Threads>(threads: &T) {
    alone(threads, P::U32::zeroed(), |word| {
        P::futex_wake(word, 0);
        P::futex_wake(word, u32::MAX);
        // The address of a word that is gone.
        let address = core::ptr::from_ref(&P::U32::zeroed());
        P::futex_wake(address, u32::MAX);
    });
}

pub fn a_wake_passes_over_sleepers_of_another_kind<P: ParkPlatform, T: Threads>(threads: &T) {
    const ITS_KIND: u32 = 1;
    const OTHER_KINDS: u32 = !ITS_KIND;
    let sleep: fn(&P::U32) = |code| {
        with_waiter::<P>(code, |word| {
            while word.load(Acquire) == 0 {
                P::futex_wait_as(ITS_KIND, word, 0, None);
            }
        });
    };
    let wake: fn(&P::U32) = |code| {
        let word = named::<P>(code);
        assert_eq!(P::futex_wake_only(OTHER_KINDS, word, 1), 0, "a sleeper of another kind");
        word.store(1, Release);
        assert_eq!(P::futex_wake_only(OTHER_KINDS, word, 1), 0, "a sleeper of another kind");
        P::futex_wake_only(OTHER_KINDS | ITS_KIND, word, 1);
    };
    threads.run(P::U32::zeroed(), &[wake, sleep], nothing_more);
}

pub fn who_was_woken_was_counted<P: ParkPlatform, T: Threads>(threads: &T) {
    struct Counted<P: ParkPlatform> {
        code: P::U32,
        woken: P::U32,
        told: P::U32,
    }
    fn sleep<P: ParkPlatform>(it: &Counted<P>) {
        with_waiter::<P>(&it.code, |word| {
            while word.load(Acquire) == 0 {
                let was_woken = P::futex_wait_as(EVERY_KIND, word, 0, None);
                it.told.fetch_add(u32::from(was_woken), Relaxed);
            }
        });
    }
    fn wake<P: ParkPlatform>(it: &Counted<P>) {
        let word = named::<P>(&it.code);
        word.store(1, Release);
        it.woken.fetch_add(P::futex_wake_only(EVERY_KIND, word, 5), Relaxed);
    }
    let state =
        Counted::<P> { code: Zeroed::zeroed(), woken: Zeroed::zeroed(), told: Zeroed::zeroed() };
    threads.run(state, &[wake::<P>, sleep::<P>], |it| {
        assert_eq!(it.woken.load(Relaxed), it.told.load(Relaxed));
    });
}

/// Two words, as a condition variable and its mutex.
struct TwoWords<P: ParkPlatform> {
    from: P::U64,
    to: P::U32,
}

pub fn moved_sleepers_are_woken_where_they_were_moved_to<P: ParkPlatform, T: Threads>(threads: &T) {
    fn sleep<P: ParkPlatform>(it: &TwoWords<P>) {
        while it.from.load(Acquire) as u32 == 0 {
            P::futex_wait_low(EVERY_KIND, &it.from, 0, None, None);
        }
    }
    fn wake<P: ParkPlatform>(it: &TwoWords<P>) {
        it.from.store(1, Release);
        if P::futex_requeue(1, &it.from, 1, &it.to).is_none() {
            P::futex_wake(low_half::<P>(&it.from), u32::MAX);
        }
        P::futex_wake(&it.to, u32::MAX);
    }
    let state = TwoWords::<P> { from: Zeroed::zeroed(), to: Zeroed::zeroed() };
    threads.run(state, &[wake::<P>, sleep::<P>, sleep::<P>], nothing_more);
}

pub fn only_the_lower_half_is_compared<P: ParkPlatform, T: Threads>(threads: &T) {
    let body: fn(&TwoWords<P>) = |it| {
        it.from.store(1 << 32 | 2, Relaxed);
        P::futex_wait_low(EVERY_KIND, &it.from, 1, None, None);
        assert_eq!(P::futex_requeue(1, &it.from, 1, &it.to), None, "another value");
        let moved = P::futex_requeue(1, &it.from, 2, &it.to);
        assert!(matches!(moved, Some(0) | None), "nobody sleeps");
    };
    let state = TwoWords::<P> { from: Zeroed::zeroed(), to: Zeroed::zeroed() };
    threads.run(state, &[body], nothing_more);
}

/// What a sleeper waits for, the word that it takes afterwards, 0 while it is held, and a place where it is left to the
/// owner of that word to wake it.
struct Left<P: ParkPlatform> {
    sequence: P::U64,
    then: P::U32,
    is_left: P::U32,
}

pub fn a_wake_that_is_left_to_the_owner_is_not_lost<P: ParkPlatform, T: Threads>(threads: &T) {
    fn sleep<P: ParkPlatform>(it: &Left<P>) {
        while it.sequence.load(Acquire) as u32 == 0 {
            P::futex_wait_low(EVERY_KIND, &it.sequence, 0, Some(&it.then), None);
        }
    }
    fn wake_if<P: ParkPlatform>(is_mine: bool, it: &Left<P>) {
        if is_mine {
            P::futex_wake(low_half::<P>(&it.sequence), 1);
        }
    }
    fn leave<P: ParkPlatform>(it: &Left<P>) {
        it.sequence.store(1, Release);
        it.is_left.store(1, Relaxed);
        wake_if(P::futex_holds(&it.then, 1, low_half::<P>(&it.sequence)), it);
    }
    fn release<P: ParkPlatform>(it: &Left<P>) {
        let was_held = it.then.compare_exchange(0, 1, Release, Relaxed);
        assert!(was_held.is_ok(), "another thread released it");
        P::barrier_after_exchange(&it.is_left);
        wake_if(it.is_left.load(Relaxed) == 1, it);
    }
    let state =
        Left::<P> { sequence: Zeroed::zeroed(), then: Zeroed::zeroed(), is_left: Zeroed::zeroed() };
    threads.run(state, &[leave::<P>, sleep::<P>, release::<P>], nothing_more);
}
