//! Children of a process, however they are made.

use super::fresh::{comes_to_use_slots, read_in_slot};
use super::{alone, not_run, own_once, word};
use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::{RawPercpuRwLock, ReadIn};
use lockwright::rwlock::{Fair, RawRwLock};
use lockwright::{Once, OnceState};
use lockwright_core::native::Native;
use lockwright_core::platform::{Clock, MarkStorage, QueueNodes};
use lockwright_core::raw::RawLock;
use std::ffi::{c_int, c_long};
use std::process::Command;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

unsafe extern "C" {
    fn fork() -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
    fn alarm(seconds: u32) -> u32;
    fn sched_setscheduler(thread: c_int, policy: c_int, priority: *const c_int) -> c_int;
}
const CLONE: c_long = if cfg!(target_arch = "x86_64") { 56 } else { 220 };
const SIGCHLD: c_long = 17;

/// How a child is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    /// By the C library, with its handlers.
    Fork,
    /// By the system call, without them, as by `_Fork`.
    Clone,
}

/// Runs `body` in a child, which has one thread and 10 s. Returns `true` if it returned `true`.
pub(super) fn in_child(how: How, body: impl FnOnce() -> bool) -> bool {
    await_child(start_child(how, || c_int::from(!body()))) == Some(0)
}

/// Starts a child with one thread and 10 s, which ends with the status that `body` returns. Returns its number.
pub(super) fn start_child(how: How, body: impl FnOnce() -> c_int) -> c_int {
    let child = match how {
        // SAFETY: the child runs `body`, which only uses locks, and exits.
        How::Fork => unsafe { fork() },
        // SAFETY: as above; with these flags it is a fork.
        How::Clone => unsafe { syscall(CLONE, SIGCHLD, 0_u64, 0_u64, 0_u64, 0_u64) as c_int },
    };
    assert!(child >= 0, "there are no more processes");
    if child == 0 {
        // SAFETY: ends this process if it hangs.
        unsafe { alarm(10) };
        let status = body();
        // SAFETY: leaves without running the parent's destructors.
        unsafe { _exit(status) }
    }
    child
}

/// Waits for a child to end. Returns its status, unless a signal has ended it.
pub(super) fn await_child(child: c_int) -> Option<c_int> {
    let mut status = -1;
    // SAFETY: our child, and a valid place for the status.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    (status & 0x7f == 0).then_some(status >> 8)
}

/// Kept for a waiter that does not exist in the child, the lock is free there when its owner gives it back.
fn attempts_get_a_lock_that_was_kept<L: RawLock>(lock: &'static L, how: How) -> bool {
    let after = |before_ms, held_ms| {
        move || {
            thread::sleep(Duration::from_millis(before_ms));
            lock.lock();
            thread::sleep(Duration::from_millis(held_ms));
            // SAFETY: taken above.
            unsafe { lock.unlock() };
        }
    };
    lock.lock();
    thread::scope(|scope| {
        scope.spawn(after(0, 20));
        scope.spawn(after(20, 0));
        thread::sleep(Duration::from_millis(10));
        // The first of them has slept for long: so the lock is kept for it, and the caller is the next one. When the
        // caller has the lock, it is kept for the second.
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        lock.lock();
        let is_well = in_child(how, || {
            // SAFETY: the thread of this process that came through the fork holds the lock.
            unsafe { lock.unlock() };
            let reads = lock.try_lock_shared();
            if reads {
                // SAFETY: taken above.
                unsafe { lock.unlock_shared() };
            }
            reads && lock.try_lock()
        });
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        is_well
    })
}

#[test]
fn an_attempt_in_a_forked_child_gets_a_free_reader_writer_lock() {
    let _alone = alone();
    static BARGING: [RawRwLock<Native>; 2] = [const { RawRwLock::INIT }; 2];
    static FAIR: [RawRwLock<Native, Fair>; 2] = [const { RawRwLock::INIT }; 2];
    static PERCPU: [RawPercpuRwLock<Native>; 2] = [const { RawPercpuRwLock::INIT }; 2];
    if !super::fork::forks_can_be_told() {
        return;
    }
    for (at, how) in [How::Fork, How::Clone].into_iter().enumerate() {
        assert!(attempts_get_a_lock_that_was_kept(&BARGING[at], how), "{how:?}");
        assert!(attempts_get_a_lock_that_was_kept(&FAIR[at], how), "{how:?}");
        assert!(attempts_get_a_lock_that_was_kept(&PERCPU[at], how), "{how:?}");
    }
}

/// Returns `true` if the caller has a real-time policy now, and the locks know it.
fn became_real_time() -> bool {
    let (fifo, priority) = (1, 1);
    // SAFETY: a valid place for the priority.
    let is_set = unsafe { sched_setscheduler(0, fifo, &raw const priority) == 0 };
    // A policy is remembered for ten milliseconds.
    thread::sleep(Duration::from_millis(20));
    is_set
}

/// It does not spin, and sleeps until the lock is released where another thread would wait for it to be abandoned.
#[test]
fn a_thread_with_a_real_time_policy_gets_a_mutex_that_was_kept_for_a_thread_of_the_parent() {
    let _alone = alone();
    static LOCK: RawMutex<Native> = RawMutex::INIT;
    if !super::fork::forks_can_be_told() {
        return;
    }
    // Before the waiter that was woken has a CPU.
    let release_and_take = || {
        // SAFETY: the caller holds it.
        unsafe { LOCK.unlock() };
        LOCK.lock();
        thread::sleep(Duration::from_millis(10));
    };
    LOCK.lock();
    let is_well = thread::scope(|scope| {
        scope.spawn(|| own_once(&LOCK));
        thread::sleep(Duration::from_millis(10));
        // When it wakes up for the second time, it has waited for so long that it keeps the lock.
        release_and_take();
        release_and_take();
        let is_well = in_child(How::Fork, || {
            // SAFETY: the thread of this process that came through the fork holds the lock.
            let free = || unsafe { LOCK.unlock() };
            if !became_real_time() {
                not_run("a real-time policy is not allowed");
                return true;
            }
            free();
            LOCK.lock();
            free();
            true
        });
        // SAFETY: taken above.
        unsafe { LOCK.unlock() };
        is_well
    });
    assert!(is_well);
}

#[test]
fn a_writer_in_a_child_sees_who_reads_in_a_slot() {
    let _alone = alone();
    static LOCK: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;
    if !comes_to_use_slots(&LOCK) {
        return;
    }
    for how in [How::Fork, How::Clone] {
        let is_well = in_child(how, || {
            let read = LOCK.lock_shared_in();
            let is_kept_out = !LOCK.try_lock();
            // SAFETY: taken above.
            unsafe { LOCK.unlock_shared_in(read) };
            read == ReadIn::Slot && is_kept_out && LOCK.try_lock()
        });
        assert!(is_well, "{how:?}");
    }
}

/// Another thread reads in its slot when the child is made, and does not exist there.
#[test]
fn only_a_handler_of_fork_forgets_what_another_thread_reads() {
    let _alone = alone();
    static LOCK: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;
    if !super::fork::forks_can_be_told() || !read_in_slot(&LOCK) {
        return;
    }
    // It is read by this thread. Another one makes the child.
    for (how, is_forgotten) in [(How::Fork, true), (How::Clone, false)] {
        let made =
            || in_child(how, || LOCK.lock_until(Native::now_ns() + 1_000_000) == is_forgotten);
        let is_well = thread::scope(|scope| scope.spawn(made).join().expect("no panic"));
        assert!(is_well, "{how:?}");
    }
    // SAFETY: taken above.
    unsafe { LOCK.unlock_shared_in(ReadIn::Slot) };
    assert!(LOCK.try_lock(), "a child has changed something here");
}

/// The standard library does this without copying the process: parent and child share memory until the program begins.
#[test]
fn a_child_has_what_was_done_and_can_do_what_no_thread_had_begun() {
    static DONE: Once = Once::new();
    static WANTED: Once = Once::new();
    static RUNNING: Once = Once::new();
    let _alone = alone();
    DONE.call_once(|| {});
    let (begun, has_begun) = std::sync::mpsc::channel();
    let (forked, has_forked) = std::sync::mpsc::channel();
    let runner = thread::spawn(move || {
        RUNNING.call_once(|| {
            begun.send(()).unwrap();
            has_forked.recv().unwrap();
        });
    });
    // Asleep by then, so that the word says that a thread sleeps which does not exist in the child.
    let waiter = thread::spawn(|| WANTED.wait());
    has_begun.recv().unwrap();
    thread::sleep(Duration::from_millis(20));
    for how in [How::Fork, How::Clone] {
        let body = || {
            DONE.call_once(|| unreachable!("it is done"));
            WANTED.call_once(|| {});
            WANTED.wait();
            RUNNING.state() == OnceState::InProgress
        };
        assert!(in_child(how, body), "{how:?}");
    }
    assert_eq!(WANTED.state(), OnceState::New, "a child does it for itself alone");
    WANTED.call_once(|| {});
    forked.send(()).unwrap();
    RUNNING.wait();
    runner.join().unwrap();
    waiter.join().unwrap();
}

#[test]
fn a_program_that_is_started_leaves_locks_and_nodes_alone() {
    let _alone = alone();
    static LOCK: RawRwLock<Native> = RawRwLock::INIT;
    let (epoch, node) = (Native::epoch(), Native::claim_node().expect("a node"));
    LOCK.lock();
    thread::scope(|scope| {
        scope.spawn(|| own_once(&LOCK));
        thread::sleep(Duration::from_millis(5));
        let status = Command::new("true").status().expect("every system has this program");
        assert!(status.success() && !LOCK.try_lock());
        assert!(Native::epoch() == epoch && !Native::has_forked() && !Native::is_orphaned(node));
        // SAFETY: taken above.
        unsafe { LOCK.unlock() };
    });
    // SAFETY: claimed above and shown to nobody.
    unsafe { Native::release_node(node) };
    assert!(LOCK.is_untouched());
}

/// In a child a word may say that a thread sleeps that does not exist there. Who takes the free lock removes that. To
/// look for the sleeper next to other readers would cost system calls each time, also where one exists.
#[test]
fn a_reader_beside_others_does_not_look_for_sleepers_in_a_child() {
    static LOCK: RawRwLock<Native> = RawRwLock::INIT;
    const SLEEPER: u32 = 2;
    let says = || word(&LOCK).load(Relaxed);
    let _alone = alone();
    LOCK.lock_shared();
    thread::scope(|scope| {
        scope.spawn(|| own_once(&LOCK));
        while says() & SLEEPER == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        for how in [How::Fork, How::Clone] {
            let is_well = in_child(how, || {
                LOCK.lock_shared();
                let is_left = says() & SLEEPER != 0;
                // SAFETY: taken above.
                unsafe { LOCK.unlock_shared() };
                // SAFETY: taken before the fork.
                unsafe { LOCK.unlock_shared() };
                is_left && LOCK.try_lock_shared() && says() & SLEEPER == 0
            });
            assert!(is_well, "{how:?}");
        }
        // SAFETY: taken above.
        unsafe { LOCK.unlock_shared() };
    });
}
