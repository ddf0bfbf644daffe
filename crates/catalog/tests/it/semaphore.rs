//! The semaphore as programs use it.

use super::alone;
use super::mutex::{await_sleep, this_thread};
use lockwright::semaphore::RawSemaphore;
use lockwright::{Semaphore, SemaphorePermit};
use lockwright_core::native::Native;
use std::mem::size_of;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

static SLOTS: Semaphore = Semaphore::new(3);
const SOON: Duration = Duration::from_millis(5);

#[test]
fn it_lives_in_a_static_of_four_bytes_with_the_permits_it_is_told() {
    assert_eq!(size_of::<Semaphore>(), 4);
    let three = SLOTS.acquire_many(3);
    assert!(SLOTS.try_acquire().is_none() && SLOTS.try_acquire_many(1).is_none());
    drop(three);
    assert_eq!(SLOTS.available_permits(), 3);
    assert_eq!(format!("{SLOTS:?}"), "Semaphore { available_permits: 3 }");
}

#[test]
fn zeroed_memory_is_a_semaphore_without_permits() {
    // SAFETY: one atomic integer, for which zero is a value.
    let zero: Semaphore = unsafe { std::mem::zeroed() };
    assert!(zero.available_permits() == 0 && zero.try_acquire().is_none());
    assert!(zero.add_permits(1));
    assert_eq!(zero.acquire().permits(), 1);
    // SAFETY: as above.
    let seven: RawSemaphore<Native, 7> = unsafe { std::mem::zeroed() };
    assert_eq!((seven.available(), RawSemaphore::<Native, 7>::with_permits(2).available()), (7, 2));
}

#[test]
fn permits_are_given_back_by_their_guard_unless_it_forgets_them() {
    let semaphore = Semaphore::new(2);
    let both = semaphore.acquire_many(2);
    assert_eq!((both.permits(), semaphore.available_permits()), (2, 0));
    drop(both);
    semaphore.acquire().forget();
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn an_owned_permit_keeps_the_semaphore_and_goes_to_another_thread() {
    let semaphore = Arc::new(Semaphore::new(7));
    let one = semaphore.acquire_owned();
    let many = semaphore.acquire_many_owned(2);
    let attempts = [
        semaphore.try_acquire_owned(),
        semaphore.try_acquire_owned_for(Duration::ZERO),
        semaphore.try_acquire_owned_until(Instant::now()),
        semaphore.try_acquire_many_owned(1),
    ];
    assert_eq!((one.permits(), many.permits(), semaphore.available_permits()), (1, 2, 0));
    assert!(attempts.iter().all(|it| it.as_ref().is_some_and(|it| it.permits() == 1)));
    assert!(semaphore.try_acquire_owned().is_none());
    assert!(semaphore.try_acquire_many_owned_for(2, SOON).is_none());
    assert!(semaphore.try_acquire_many_owned_until(2, Instant::now() + SOON).is_none());
    assert!(Arc::ptr_eq(one.semaphore(), &semaphore));
    one.forget();
    drop(attempts);
    assert_eq!(semaphore.available_permits(), 4);
    let weak = Arc::downgrade(&semaphore);
    drop(semaphore);
    thread::spawn(move || {
        let semaphore = Arc::clone(many.semaphore());
        drop(many);
        assert_eq!(semaphore.available_permits(), 6);
    })
    .join()
    .expect("no panic");
    assert!(weak.upgrade().is_none());
}

#[test]
fn more_permits_than_can_be_counted_are_refused() {
    let semaphore = Semaphore::new(Semaphore::MAX_PERMITS);
    assert_eq!(semaphore.available_permits(), Semaphore::MAX_PERMITS);
    assert!(!semaphore.add_permits(1) && semaphore.add_permits(0));
    semaphore.acquire().forget();
    assert!(!semaphore.add_permits(u32::MAX));
    assert!(semaphore.add_permits(1) && !semaphore.add_permits(1));
    assert_eq!(semaphore.available_permits(), Semaphore::MAX_PERMITS);
}

#[test]
#[should_panic(expected = "more permits than `Semaphore::MAX_PERMITS`")]
fn a_semaphore_is_not_made_with_more_permits_than_can_be_counted() {
    drop(Semaphore::new(Semaphore::MAX_PERMITS + 1));
}

#[test]
fn an_attempt_ends_at_its_deadline_and_leaves_no_trace() {
    let semaphore = Semaphore::new(1);
    let began = Instant::now();
    assert!(semaphore.try_acquire_many_for(2, SOON).is_none());
    assert!(began.elapsed() >= SOON);
    assert!(semaphore.try_acquire_many_until(2, Instant::now()).is_none());
    assert!(semaphore.try_acquire_until(Instant::now()).is_some());
    assert!(semaphore.try_acquire().is_some(), "nobody waits");
}

#[test]
fn whoever_gives_up_lets_those_behind_have_what_is_there() {
    let semaphore = Semaphore::new(1);
    thread::scope(|scope| {
        let greedy = scope.spawn(|| semaphore.try_acquire_many_for(2, 20 * SOON).is_some());
        while semaphore.try_acquire().is_some() {
            thread::yield_now();
        }
        let began = Instant::now();
        assert_eq!(semaphore.acquire().permits(), 1, "it was in the way of one");
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(!greedy.join().expect("no panic"));
    });
}

#[test]
fn waiters_are_served_in_the_order_they_came() {
    let _alone = alone();
    let semaphore = Semaphore::new(0);
    let (order, thread_of_last) = (Mutex::new(Vec::<u32>::new()), AtomicI32::new(0));
    thread::scope(|scope| {
        for waiter in 0..4 {
            let (semaphore, order, thread_of_last) = (&semaphore, &order, &thread_of_last);
            thread_of_last.store(0, Relaxed);
            scope.spawn(move || {
                thread_of_last.store(this_thread(), Relaxed);
                let permits = semaphore.acquire_many(1 + waiter % 2);
                order.lock().expect("no panic").push(waiter);
                permits.forget();
            });
            await_sleep(thread_of_last);
        }
        for waiter in 0..4 {
            // One that needs two permits keeps the first of them from those behind it.
            for _ in 0..1 + waiter % 2 {
                assert!(semaphore.add_permits(1));
            }
            let end = Instant::now() + Duration::from_secs(10);
            while order.lock().expect("no panic").len() <= waiter as usize && Instant::now() < end {
                thread::yield_now();
            }
        }
    });
    assert_eq!(*order.lock().expect("no panic"), [0, 1, 2, 3]);
}

#[test]
fn no_more_threads_are_inside_than_there_are_permits() {
    let _alone = alone();
    let (inside, most, rounds) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU64::new(0));
    let semaphore = Semaphore::new(2);
    let end = Instant::now() + Duration::from_millis(100);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (inside, most, rounds, semaphore) = (&inside, &most, &rounds, &semaphore);
            scope.spawn(move || {
                while Instant::now() < end {
                    let permit: Option<SemaphorePermit<'_>> = match thread {
                        0 => semaphore.try_acquire_for(Duration::from_micros(20)),
                        _ => Some(semaphore.acquire()),
                    };
                    if permit.is_some() {
                        most.fetch_max(inside.fetch_add(1, Relaxed) + 1, Relaxed);
                        thread::yield_now();
                        inside.fetch_sub(1, Relaxed);
                        rounds.fetch_add(1, Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!((most.into_inner(), semaphore.available_permits()), (2, 2));
    assert!(rounds.into_inner() > 10);
}

#[test]
fn whoever_gets_the_last_permit_may_free_it() {
    let end = Instant::now() + Duration::from_millis(50);
    while Instant::now() < end {
        let at = Box::into_raw(Box::new(RawSemaphore::<Native, 0>::INIT));
        let shared = AtomicPtr::new(at);
        let releaser = thread::spawn(move || {
            // SAFETY: freed when this permit was taken.
            unsafe { &*shared.load(Relaxed) }.release(1);
        });
        // SAFETY: freed below, by this thread.
        unsafe { &*at }.acquire(1);
        // SAFETY: the other one has released its permit, and may not have returned yet.
        drop(unsafe { Box::from_raw(at) });
        releaser.join().expect("no panic");
    }
}
