//! Operations that make no system call: the kernel ends a child that makes one.

use super::children::{How, await_child, in_child, start_child};
use super::fork::forks_can_be_told;
use super::fresh::{read_in_slot, while_another_reads};
use super::process::in_a_process_of_its_own;
use super::{not_run, own_once, read_once};
use lockwright::percpu_rwlock::{RawPercpuRwLock, ReadIn};
use lockwright::rwlock::RawRwLock;
use lockwright_core::native::Native;
use lockwright_core::platform::ReaderSlots;
use lockwright_core::raw::RawLock;
use std::ffi::{c_int, c_long, c_ulong};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

unsafe extern "C" {
    fn prctl(operation: c_int, ...) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn _exit(status: c_int) -> !;
}
/// The end of one thread, which is one of the calls that are still allowed.
const EXIT: c_long = if cfg!(target_arch = "x86_64") { 60 } else { 93 };
/// The status of a child that the kernel does not watch.
const UNWATCHED: c_int = 77;

/// Runs `before` in a child, and then `body`. Returns `true` if `body` made no system call, or if the kernel does not
/// watch.
fn makes_no_system_call(how: How, before: impl FnOnce(), body: impl Fn()) -> bool {
    let watched = || {
        before();
        let (set_seccomp, strict): (c_int, c_ulong) = (22, 1);
        // SAFETY: from here on this process only runs `body` and ends.
        if unsafe { prctl(set_seccomp, strict) } != 0 {
            // SAFETY: leaves without running the parent's destructors.
            unsafe { _exit(UNWATCHED) };
        }
        body();
        // SAFETY: ends the only thread.
        unsafe { syscall(EXIT, 0) };
        unreachable!("the thread has ended");
    };
    let status = await_child(start_child(how, watched));
    if status == Some(UNWATCHED) {
        not_run("the kernel has no strict mode of seccomp");
    }
    matches!(status, Some(0 | UNWATCHED))
}

/// Takes each kind of hold of a free lock and gives it back.
fn use_each_way<L: RawLock>(lock: &L) {
    for _ in 0..100 {
        read_once(lock);
        own_once(lock);
        assert!(lock.try_lock_shared(), "it is free");
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
    }
}

#[test]
fn a_child_forgets_that_a_writer_of_its_parent_slept() {
    static LOCKS: [RawRwLock<Native>; 3] = [const { RawRwLock::INIT }; 3];
    /// The first use of a lock that says that a writer sleeps.
    const FIRST: [fn(&RawRwLock<Native>); 3] = [own_once, read_once, |lock| {
        assert!(lock.try_lock_shared(), "it is free");
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
    }];
    in_a_process_of_its_own(|| {
        if !forks_can_be_told() {
            return;
        }
        LOCKS.iter().for_each(RawLock::lock);
        let well = thread::scope(|scope| {
            for lock in &LOCKS {
                scope.spawn(|| own_once(lock));
            }
            thread::sleep(Duration::from_millis(50));
            let well = [How::Fork, How::Clone].map(|how| {
                [0, 1, 2].map(|at| {
                    let before = || {
                        // SAFETY: the thread of this process that came through the fork holds the lock.
                        unsafe { LOCKS[at].unlock() };
                        FIRST[at](&LOCKS[at]);
                    };
                    makes_no_system_call(how, before, || use_each_way(&LOCKS[at]))
                })
            });
            for lock in &LOCKS {
                // SAFETY: taken above.
                unsafe { lock.unlock() };
            }
            well
        });
        assert_eq!(
            well, [[true; 3]; 2],
            "by fork and by clone; after lock, lock_shared, try_lock_shared"
        );
    });
}

/// The slot of the thread that forks says that a writer sleeps until it has read.
#[test]
fn a_child_forgets_a_writer_of_its_parent_that_slept_for_a_reader_in_a_slot() {
    static LOCK: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;
    static OTHER: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;
    in_a_process_of_its_own(|| {
        if !forks_can_be_told() || !read_in_slot(&OTHER) || !read_in_slot(&LOCK) {
            return;
        }
        let leave = |lock: &RawPercpuRwLock<Native>| {
            // SAFETY: read above, in the slot.
            unsafe { lock.unlock_shared_in(ReadIn::Slot) };
        };
        leave(&OTHER);
        let read = || {
            for _ in 0..100 {
                assert!(OTHER.lock_shared_in() == ReadIn::Slot, "nobody has written");
                leave(&OTHER);
            }
        };
        let well = thread::scope(|scope| {
            scope.spawn(|| own_once(&LOCK));
            thread::sleep(Duration::from_millis(50));
            let well =
                [How::Fork, How::Clone].map(|how| makes_no_system_call(how, || leave(&LOCK), read));
            leave(&LOCK);
            well
        });
        assert_eq!(well, [true; 2], "by fork and by clone");
    });
}

/// Runs `body` while as many threads have slots as there are.
fn while_all_slots_are_taken(body: impl FnOnce()) {
    // Another thread has one already.
    const SLOTS: usize = 4095;
    let (taken, gate) = (AtomicUsize::new(0), Mutex::new(()));
    thread::scope(|scope| {
        let shut = gate.lock();
        let take = || {
            assert!(Native::reader_slot().is_some(), "there are {SLOTS}");
            taken.fetch_add(1, Relaxed);
            drop(gate.lock());
        };
        let spawn = |_| thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, take);
        let spawned = (0..SLOTS).map_while(|at| spawn(at).ok()).count();
        while taken.load(Relaxed) < spawned {
            thread::sleep(Duration::from_millis(1));
        }
        match spawned {
            SLOTS => body(),
            _ => not_run("the system does not allow 4,097 threads"),
        }
        drop(shut);
    });
}

#[test]
fn a_thread_without_a_slot_reads_without_a_system_call_and_its_child_has_a_slot() {
    static LOCK: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;
    let read = || read_once(&LOCK);
    in_a_process_of_its_own(|| {
        let body = || {
            read();
            assert!(Native::reader_slot().is_none(), "this thread has none");
            let reads = || (0..100).for_each(|_| read());
            assert!(makes_no_system_call(How::Clone, read, reads), "each read asks");
            assert!(in_child(How::Fork, || Native::reader_slot().is_some()), "others have ended");
        };
        if forks_can_be_told() {
            while_another_reads(&LOCK, || while_all_slots_are_taken(body));
        }
    });
}
