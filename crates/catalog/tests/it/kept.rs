//! What a mutex keeps for a waiter, in forked children: as in the parent for a thread of the child, and nothing for one
//! that does not exist there.
//!
//! No test waits for a time. A waiter that is to be slow shares a CPU with the test and has the policy `SCHED_IDLE`, or
//! stands still.

use super::children::{How, await_child, in_child, start_child};
use super::fork::forks_can_be_told;
use super::fresh::stay_on;
use super::mutex::{await_sleep, this_thread};
use super::parked::Waiter;
use super::{alone, not_run, own_once};
use lockwright::mutex::RawMutex;
use lockwright_core::native::Native;
use lockwright_core::platform::QueueNodes;
use lockwright_core::raw::RawLock;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

unsafe extern "C" {
    fn sched_setscheduler(thread: c_int, policy: c_int, priority: *const c_int) -> c_int;
    fn alarm(seconds: u32) -> u32;
}

const HELD: u32 = 1;
const RESERVED: u32 = 8;
const GIVEN: u32 = 16;
/// The bits of the state that are no epoch.
const SAID: u32 = 31;

fn word(lock: &RawMutex<Native>) -> u32 {
    super::word(lock).load(Relaxed)
}

/// Lets the process run on one CPU only.
fn stay_on_one_cpu() {
    let all = sched_getaffinity(None).expect("a set of CPUs");
    stay_on(None, (0..CpuSet::MAX_CPU).find(|&cpu| all.is_set(cpu)).expect("a CPU"));
}

/// A policy of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Other,
    /// Real time.
    Fifo,
    /// Only where no other thread wants the CPU.
    Idle,
}

impl Policy {
    /// Gives it to the thread, 0 for the caller. Returns `false` if that is not allowed.
    fn is_given_to(self, thread: c_int) -> bool {
        let (policy, priority) = match self {
            Self::Other => (0, 0),
            Self::Fifo => (1, 1),
            Self::Idle => (5, 0),
        };
        // SAFETY: a valid place for the priority.
        let is_set = unsafe { sched_setscheduler(thread, policy, &raw const priority) == 0 };
        // The locks remember a policy for ten milliseconds.
        thread::sleep(Duration::from_millis(if self == Self::Idle { 0 } else { 20 }));
        is_set
    }
}

type Take = fn(&RawMutex<Native>) -> bool;
/// The ways to take a mutex. Each returns `true` if it did.
const WAYS: [Take; 4] = [
    |lock| lock.try_lock(),
    |lock| lock.lock_until(0),
    |lock| {
        lock.lock();
        true
    },
    |lock| {
        lock.lock_asleep();
        true
    },
];

/// A thread sleeps for a mutex whose owner gives it to a waiter and takes it again at once. Returns `true` if the one
/// that slept was first.
fn hands_over(take: Take, sleeper: Policy) -> bool {
    let (lock, turns, number) = (RawMutex::<Native>::INIT, AtomicU32::new(0), AtomicI32::new(0));
    lock.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            number.store(this_thread(), Relaxed);
            lock.lock();
            turns.fetch_add(1, Relaxed);
            // SAFETY: taken above.
            unsafe { lock.unlock() };
        });
        await_sleep(&number);
        sleeper.is_given_to(number.load(Relaxed));
        // SAFETY: taken above.
        unsafe { lock.unlock_fair() };
        if !take(&lock) {
            lock.lock();
        }
        let is_first = turns.load(Relaxed) == 1;
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        is_first
    })
}

/// Other programs may need the CPU on which a slow waiter is to run, so the child gets more time.
fn begin_slow_child() {
    // SAFETY: ends this process if it hangs.
    unsafe { alarm(60) };
}

/// The same on one CPU, with a waiter that is slow.
fn hands_over_on_one_cpu() -> bool {
    begin_slow_child();
    stay_on_one_cpu();
    WAYS.into_iter().all(|take| hands_over(take, Policy::Idle))
}

/// The same with all pairs of policies.
fn hands_over_with_each_policy() -> bool {
    begin_slow_child();
    let after = |sleeper| hands_over(WAYS[0], sleeper);
    [Policy::Other, Policy::Idle, Policy::Fifo].into_iter().all(|releaser| {
        if !releaser.is_given_to(0) {
            not_run("a real-time policy is not allowed");
            return true;
        }
        let is_well = [Policy::Idle, Policy::Other, Policy::Fifo].into_iter().all(after);
        is_well && Policy::Other.is_given_to(0)
    })
}

#[test]
fn a_mutex_that_is_given_to_a_thread_of_a_forked_child_is_for_that_thread() {
    let _alone = alone();
    // A child of a process that has not asked knows nothing of a fork.
    assert!(!Native::has_forked());
    if forks_can_be_told() {
        let on_one_cpu = || in_child(How::Fork, hands_over_on_one_cpu);
        let in_grandchild = || {
            begin_slow_child();
            on_one_cpu()
        };
        assert!(on_one_cpu() && in_child(How::Clone, in_grandchild), "on one CPU");
        assert!(in_child(How::Fork, hands_over_with_each_policy), "on all CPUs");
        let on_one_cpu = || {
            stay_on_one_cpu();
            hands_over_with_each_policy()
        };
        assert!(in_child(How::Fork, on_one_cpu), "on one CPU, with priorities");
    }
}

/// A lock that is free, and reserved for a waiter that stands still.
fn reserved() -> (&'static RawMutex<Native>, Waiter) {
    let lock: &'static RawMutex<Native> = Box::leak(Box::new(RawMutex::INIT));
    lock.lock();
    let waiter = Waiter::asleep(|| {
        own_once(lock);
    });
    // It was woken more than 4 ms ago, and finds the lock held.
    while word(lock) & RESERVED == 0 {
        waiter.rouse();
    }
    waiter.park();
    // SAFETY: taken above.
    unsafe { lock.unlock() };
    (lock, waiter)
}

/// A thread that has not been woken comes to sleep for a lock that is reserved for another one. Returns `true` if it
/// does not take the lock before that one.
fn newcomer_sleeps() -> bool {
    let (lock, waiter) = reserved();
    let (number, has_it, is_over) =
        (AtomicI32::new(0), AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            number.store(this_thread(), Relaxed);
            lock.lock_asleep();
            has_it.store(true, Relaxed);
            while !is_over.load(Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            // SAFETY: taken above.
            unsafe { lock.unlock() };
        });
        await_sleep(&number);
        let is_well = !has_it.load(Relaxed) && word(lock) & (HELD | RESERVED) == RESERVED;
        is_over.store(true, Relaxed);
        waiter.resume();
        is_well
    })
}

#[test]
fn a_mutex_that_is_reserved_for_a_thread_of_a_forked_child_is_kept_from_newcomers() {
    let _alone = alone();
    assert!(newcomer_sleeps(), "in the parent");
    if forks_can_be_told() {
        assert!(in_child(How::Fork, newcomer_sleeps));
    }
}

/// In a child this way takes the lock, and what the word said of a thread of the parent is gone. Returns `false` if it
/// no longer said `kept` when the child was made.
fn takes_what_was(kept: u32, lock: &'static RawMutex<Native>, way: usize) -> bool {
    let status = await_child(start_child(How::Fork, || {
        if word(lock) & SAID & !2 != kept {
            return 2;
        }
        let is_taken = !lock.is_locked() && WAYS[way](lock);
        c_int::from(!is_taken || word(lock) & !2 != HELD)
    }));
    assert!(matches!(status, Some(0 | 2)), "way {way}: {kept}: {status:?}");
    status == Some(0)
}

/// Gives a lock to a thread that does not run before this one waits, and makes a child before that.
fn takes_what_was_given(way: usize) -> bool {
    let lock: &'static RawMutex<Native> = Box::leak(Box::new(RawMutex::INIT));
    static NUMBER: AtomicI32 = AtomicI32::new(0);
    NUMBER.store(0, Relaxed);
    lock.lock();
    let waiter = thread::spawn(|| {
        NUMBER.store(this_thread(), Relaxed);
        own_once(lock);
    });
    await_sleep(&NUMBER);
    Policy::Idle.is_given_to(NUMBER.load(Relaxed));
    // SAFETY: taken above.
    unsafe { lock.unlock_fair() };
    let is_well = takes_what_was(GIVEN, lock, way);
    waiter.join().expect("no panic");
    is_well
}

#[test]
fn a_forked_child_takes_a_mutex_that_was_kept_for_a_thread_of_its_parent() {
    let _alone = alone();
    if !forks_can_be_told() {
        return;
    }
    let (lock, waiter) = reserved();
    assert!((0..WAYS.len()).all(|way| takes_what_was(RESERVED, lock, way)));
    waiter.resume();
    // On one CPU, in a child: the waiter does not run between the release and the fork.
    let is_well = in_child(How::Fork, || {
        begin_slow_child();
        stay_on_one_cpu();
        (0..WAYS.len()).all(|way| (0..20).any(|_| takes_what_was_given(way)))
    });
    assert!(is_well);
}
