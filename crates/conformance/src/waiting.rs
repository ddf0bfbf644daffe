//! Laws A: awaiting a value.

use super::note::{alone, nothing_more};
use crate::platform::{CommonPlatform, Threads};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright_core::platform::{Atomic, Bound, Budget, Clock, Guarded, Zeroed};

pub fn cond_load_returns_the_value_that_pleased<P: CommonPlatform, T: Threads>(threads: &T) {
    fn write(cell: &impl Atomic<u32>) {
        cell.store(1, Relaxed);
        cell.store(2, Relaxed);
        cell.store(3, Relaxed);
    }
    fn wait(cell: &impl Atomic<u32>) {
        let value = cell.cond_load(Relaxed, |value| value >= 2);
        assert!(value == 2 || value == 3, "the wait returned {value}");
    }
    threads.run(P::U32::zeroed(), &[write, wait], nothing_more);
}

pub fn cond_load_acquires_what_it_waited_for<P: CommonPlatform, T: Threads>(threads: &T) {
    struct Message<P: CommonPlatform> {
        text: Guarded<P, u64>,
        flag: P::Ptr,
    }
    fn write<P: CommonPlatform>(message: &Message<P>) {
        // SAFETY: no thread reads before the flag is set, which comes after this.
        unsafe { message.text.set(1) };
        let anything = core::ptr::from_ref(message).cast_mut().cast();
        message.flag.store(anything, Release);
    }
    fn read<P: CommonPlatform>(message: &Message<P>) {
        message.flag.cond_load(Acquire, |pointer| !pointer.is_null());
        // SAFETY: the flag was seen set, and no thread writes after that.
        assert_eq!(unsafe { message.text.get() }, 1);
    }
    let message = Message::<P> { text: Guarded::new(0), flag: Zeroed::zeroed() };
    threads.run(message, &[write, read], nothing_more);
}

pub fn a_bounded_wait_looks_at_least_once<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, P::U64::zeroed(), |cell| {
        cell.store(5, Relaxed);
        let never = || panic!("the stop condition was asked although the value pleased");
        for budget in [Budget::Looks(0), Budget::Looks(1), Budget::Nanoseconds(0)] {
            let bound = Bound::of(budget, 1);
            assert_eq!(cell.cond_load_bounded(Acquire, bound, |value| value == 5, never), Ok(5));
        }
    });
}

pub fn a_bounded_wait_gives_up_and_returns_the_last_value<P: CommonPlatform, T: Threads>(
    threads: &T,
) {
    fn write(cell: &impl Atomic<u32>) {
        cell.store(1, Relaxed);
    }
    fn wait(cell: &impl Atomic<u32>) {
        let mut last = None;
        let remember = |value| {
            last = Some(value);
            false
        };
        let result = cell.cond_load_bounded(Relaxed, Bound::looks(4), remember, || false);
        assert_eq!(result.err(), last, "not the value seen last");
    }
    threads.run(P::U32::zeroed(), &[write, wait], nothing_more);
}

pub fn a_wait_bounded_by_time_gives_up<P: CommonPlatform, T: Threads>(threads: &T) {
    fn body<C: Clock>(cell: &impl Atomic<u32>) {
        let before = C::now_ns();
        let bound = Bound::nanoseconds(20_000);
        assert_eq!(cell.cond_load_bounded(Relaxed, bound, |value| value != 0, || false), Err(0));
        assert!(C::now_ns() - before >= 20_000, "the wait gave up before its time");
    }
    threads.run(P::Word::zeroed(), &[|cell| body::<P>(cell)], nothing_more);
}

pub fn the_stop_condition_ends_a_bounded_wait<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, P::U32::zeroed(), |cell| {
        let mut asked = 0;
        let stop = || {
            asked += 1;
            true
        };
        let bound = Bound::until_stopped(1);
        assert_eq!(cell.cond_load_bounded(Relaxed, bound, |value| value != 0, stop), Err(0));
        assert_eq!(asked, 1, "a stop condition that said yes was asked again");
    });
}

pub fn stepping_goes_on_until_the_value_pleases<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, P::U32::zeroed(), |cell| {
        let mut steps = 0;
        let step = || {
            steps += 1;
            if steps == 3 {
                cell.store(9, Relaxed);
            }
            true
        };
        assert_eq!(cell.cond_load_stepping(Relaxed, |value| value == 9, step), 9);
        assert_eq!(steps, 3, "a step was made after the value pleased");
    });
}

pub fn stepping_ends_when_there_is_no_more_to_do<P: CommonPlatform, T: Threads>(threads: &T) {
    fn write(cell: &impl Atomic<u32>) {
        cell.store(1, Release);
    }
    fn wait(cell: &impl Atomic<u32>) {
        let mut steps = 0;
        let step = || {
            steps += 1;
            steps < 2
        };
        assert_eq!(cell.cond_load_stepping(Acquire, |value| value == 1, step), 1);
        assert!(steps <= 2, "a step was made after there was no more to do");
    }
    threads.run(P::U32::zeroed(), &[write, wait], nothing_more);
}
