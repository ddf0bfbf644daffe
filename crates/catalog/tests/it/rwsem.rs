//! The reader-writer semaphore as programs use it.

use super::readers::{self, SOON};
use lockwright::{InterruptibleRwLock, RwSemLock};
use lockwright_core::native::Native;
use lockwright_core::platform::Clock;
use lockwright_core::raw::RawLock;
use lockwright_linux::rwsem::{
    Current, CurrentInPrograms, Interrupt, RwSem, RwSemPolicy, Until, V3_12, V3_12On32Bits, V4_14,
    V4_14Handoff, V5_10,
};
use std::thread;
use std::time::Duration;

type ForPrograms = RwSem<Native>;

#[test]
fn readers_share_and_a_writer_does_not() {
    readers::share::<ForPrograms>();
}

#[test]
fn whoever_gives_up_leaves_a_lock_that_others_get() {
    readers::leave_it::<ForPrograms>();
}

#[test]
fn a_writer_among_many_readers_is_not_kept_out() {
    readers::let_a_writer_in::<ForPrograms>();
}

/// A waiter that `waits` on a lock which is held is interrupted, and the next one gets the lock.
fn is_interrupted<C: RwSemPolicy>(waits: fn(&RwSem<Native, C>, Until<'_, Native>) -> bool) {
    let (lock, interrupt) = (RwSem::<Native, C>::INIT, Interrupt::<Native>::INIT);
    lock.lock();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| waits(&lock, Until::interrupted(&interrupt)));
        thread::sleep(SOON);
        assert!(!waiter.is_finished());
        interrupt.interrupt();
        assert!(!waiter.join().expect("no panic"));
    });
    // SAFETY: taken above.
    unsafe { lock.unlock() };
    assert!(interrupt.is_interrupted() && !lock.is_locked());
    assert!(waits(&lock, Until::interrupted(&interrupt)), "a free lock is not waited for");
    interrupt.reset();
    assert!(!interrupt.is_interrupted());
}

#[test]
fn an_interrupt_ends_a_wait() {
    is_interrupted::<Current>(RwSem::lock_within);
    is_interrupted::<Current>(RwSem::lock_shared_within);
    is_interrupted::<V5_10>(RwSem::lock_within);
    is_interrupted::<V5_10>(RwSem::lock_shared_within);
    is_interrupted::<V4_14Handoff>(RwSem::lock_within);
    is_interrupted::<V3_12>(RwSem::lock_shared_within);
}

/// A reader and a writer wait, are interrupted one after the other, and get no guard.
fn guards_of_interrupted_waits<C: RwSemPolicy>() {
    let lock = lock_api::RwLock::<RwSem<Native, C>, _>::new(1);
    let [first, second] = [(); 2].map(|()| Interrupt::<Native>::default());
    let mut guard = lock.write_interruptible(&first).expect("it is free");
    *guard += 1;
    thread::scope(|scope| {
        let reader = scope.spawn(|| lock.read_interruptible(&first).is_some());
        let writer = scope.spawn(|| lock.write_interruptible(&second).is_some());
        thread::sleep(SOON);
        assert!(!reader.is_finished() && !writer.is_finished());
        first.interrupt();
        assert!(!reader.join().expect("no panic"));
        assert!(!writer.is_finished(), "it was not interrupted");
        second.interrupt();
        assert!(!writer.join().expect("no panic"));
    });
    let soon = Until::after(SOON);
    assert!(lock.read_within(soon).is_none() && lock.write_within(soon).is_none());
    drop(guard);
    // The lock is free, so an interrupt that has happened keeps no thread out.
    assert_eq!(lock.read_interruptible(&first).map(|guard| *guard), Some(2));
    assert_eq!(lock.write_within(soon.or_interrupted(&second)).map(|guard| *guard), Some(2));
    assert!(!lock.is_locked());
}

#[test]
fn an_interrupted_wait_gives_no_guard_and_the_next_one_does() {
    guards_of_interrupted_waits::<CurrentInPrograms>();
    guards_of_interrupted_waits::<Current>();
    guards_of_interrupted_waits::<V3_12>();
}

#[test]
fn a_granted_wait_gives_a_guard_although_it_could_have_been_interrupted() {
    let (lock, interrupt) = (RwSemLock::new(1), Interrupt::<Native>::default());
    let guard = lock.write();
    thread::scope(|scope| {
        let reader = scope.spawn(|| lock.read_interruptible(&interrupt).map(|guard| *guard));
        let writer = scope.spawn(|| lock.write_interruptible(&Interrupt::default()).is_some());
        thread::sleep(SOON);
        drop(guard);
        assert_eq!(reader.join().expect("no panic"), Some(1));
        assert!(writer.join().expect("no panic"));
    });
    assert!(!lock.is_locked());
}

#[test]
fn more_readers_than_can_be_counted_do_not_get_in_and_leave_no_trace() {
    fills_up::<Current>();
    fills_up::<V4_14Handoff>();
    fills_up::<V4_14>();
    fills_up::<V3_12>();
    fills_up::<V3_12On32Bits>();
}

#[test]
fn a_count_of_32_bits_has_room_for_as_many_readers_as_its_half_counts() {
    fn readers<C: RwSemPolicy>() -> usize {
        let lock = RwSem::<Native, C>::INIT;
        (0..40_000).take_while(|_| lock.try_lock_shared()).count()
    }
    assert_eq!(readers::<V3_12On32Bits>(), (1 << 15) - 1);
    assert_eq!(readers::<V3_12>(), 40_000);
}

fn fills_up<C: RwSemPolicy>() {
    let lock = RwSem::<Native, C>::INIT;
    // SAFETY: nobody uses it yet.
    unsafe { lock.fill_readers(1) };
    assert!(lock.try_lock_shared(), "one more fits");
    assert!(!lock.try_lock_shared(), "and no other");
    let soon = || Until::deadline(Native::now_ns() + 1_000_000);
    assert!(!lock.lock_shared_within(soon()), "it waits");
    assert!(!lock.lock_within(soon()), "readers hold it");
    // SAFETY: taken above.
    unsafe { lock.unlock_shared() };
    assert!(lock.try_lock_shared(), "one fits again");
}

#[test]
fn a_wait_without_time_is_an_attempt() {
    let lock = RwSem::<Native>::INIT;
    lock.lock();
    assert!(!lock.lock_within(Until::deadline(0)) && !lock.lock_shared_within(Until::deadline(0)));
    // SAFETY: taken above.
    unsafe { lock.unlock() };
    assert!(lock.lock_within(Until::deadline(0)), "it is free");
    // SAFETY: as above.
    unsafe { lock.unlock() };
    // SAFETY: nobody uses it any more.
    assert!(unsafe { lock.is_untouched() });
}

#[test]
fn a_wait_ends_at_what_comes_first() {
    let (lock, interrupt) = (RwSem::<Native>::new(), Interrupt::<Native>::default());
    lock.lock();
    let until = Until::interrupted(&interrupt).or_deadline(Native::now_ns() + 1_000_000);
    assert!(!lock.lock_within(until), "the deadline");
    interrupt.interrupt();
    let until = Until::after(Duration::from_secs(3600)).or_deadline(u64::MAX);
    assert!(!lock.lock_within(until.or_interrupted(&interrupt)), "the interrupt");
    // SAFETY: taken above.
    unsafe { lock.unlock() };
}
