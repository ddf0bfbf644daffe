//! Children of a process in which no thread has ever waited, so that none has asked for the number of forks; also where
//! another library has registered its handlers of `fork` first.
//!
//! Each of these tests starts this program once more, for itself alone.

use super::children::{How, await_child, in_child, start_child};
use super::fork::forks_can_be_told;
use super::process::in_a_process_of_its_own;
use super::{Over, not_run, word};
use lockwright::percpu_rwlock::{RawPercpuRwLock, ReadIn};
use lockwright::rwlock::RawRwLock;
use lockwright_core::native::Native;
use lockwright_core::platform::{Clock, Counters, ReaderSlots, SchedulerHints};
use lockwright_core::raw::RawLock;
use lockwright_core::tunables::Tunable;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::HashSet;
use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn setitimer(which: c_int, new: *const [c_long; 4], old: *mut [c_long; 4]) -> c_int;
}
const SIGALRM: c_int = 14;

/// Reads `lock` until the caller does so in its slot. Returns `false` if readers use no slots.
pub(super) fn read_in_slot(lock: &RawPercpuRwLock<Native>) -> bool {
    let is_in_slot = |_| {
        let read = lock.lock_shared_in();
        if read == ReadIn::Beneath {
            // SAFETY: taken above.
            unsafe { lock.unlock_shared_in(read) };
        }
        read == ReadIn::Slot
    };
    let is_read = (0..1 << 20).any(is_in_slot);
    if !is_read {
        not_run("readers use no slots without membarrier");
    }
    is_read
}

/// The same, and gives it back.
pub(super) fn comes_to_use_slots(lock: &RawPercpuRwLock<Native>) -> bool {
    let is_read = read_in_slot(lock);
    if is_read {
        // SAFETY: taken above.
        unsafe { lock.unlock_shared_in(ReadIn::Slot) };
    }
    is_read
}

/// Returns `true` if a writer takes the lock within a moment. Gives it back.
pub(super) fn can_write(lock: &RawPercpuRwLock<Native>) -> bool {
    let is_ours = lock.lock_until(Native::now_ns() + 20_000_000);
    if is_ours {
        // SAFETY: taken above.
        unsafe { lock.unlock() };
    }
    is_ours
}

/// Runs `body` while another thread reads `lock` in its slot, unless there are no slots.
pub(super) fn while_another_reads(lock: &'static RawPercpuRwLock<Native>, body: impl FnOnce()) {
    let (state, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let over = Over(&is_over);
        scope.spawn(|| {
            let reads = read_in_slot(lock);
            state.store(if reads { 1 } else { 2 }, Relaxed);
            while !is_over.load(Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            if reads {
                // SAFETY: read above.
                unsafe { lock.unlock_shared_in(ReadIn::Slot) };
            }
        });
        while state.load(Relaxed) == 0 {
            thread::yield_now();
        }
        if state.load(Relaxed) == 1 {
            body();
        }
        drop(over);
    });
}

#[test]
fn a_child_of_a_process_that_never_waited_forgets_what_another_thread_reads() {
    static LOCK: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;
    in_a_process_of_its_own(|| {
        if forks_can_be_told() {
            while_another_reads(&LOCK, || {
                assert!(
                    in_child(How::Fork, || can_write(&LOCK)),
                    "it waits for a thread of its parent"
                );
                assert!(in_child(How::Clone, || !can_write(&LOCK)), "it has no handler");
                let grandchild = || in_child(How::Fork, || can_write(&LOCK));
                assert!(in_child(How::Clone, grandchild), "a handler runs in the second fork");
            });
        }
    });
}

/// The lock that a thread reads which the handler of another library starts in a child.
static READ_IN_HANDLER: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;

/// Such a handler, which runs before that of the locks.
unsafe extern "C" fn read_in_another_thread() {
    let reads = || {
        let is_read = read_in_slot(&READ_IN_HANDLER);
        HAS_READ.store(if is_read { 1 } else { 2 }, Relaxed);
        thread::park();
    };
    drop(thread::spawn(reads));
    while HAS_READ.load(Relaxed) == 0 {
        thread::yield_now();
    }
}
static HAS_READ: AtomicU32 = AtomicU32::new(0);

#[test]
fn a_writer_in_a_child_sees_what_a_thread_of_an_earlier_handler_reads() {
    static OTHER: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;
    in_a_process_of_its_own(|| {
        if !forks_can_be_told() {
            return;
        }
        // SAFETY: the handler is a function of this program and stays.
        assert_eq!(unsafe { pthread_atfork(None, None, Some(read_in_another_thread)) }, 0);
        while_another_reads(&OTHER, || {
            let is_kept_out = in_child(How::Fork, || {
                let writes = [&READ_IN_HANDLER, &OTHER].map(can_write);
                HAS_READ.load(Relaxed) == 1 && writes == [false, true]
            });
            assert!(
                is_kept_out,
                "a writer does not see a reader, or waits for a thread of its parent"
            );
        });
    });
}

/// The slots of this thread and of `more` others that live at the same time.
fn slots_of_living_threads(more: usize) -> HashSet<usize> {
    let slot = || Native::reader_slot().expect("a slot").addr().get();
    let (mut slots, is_over) = (HashSet::from([slot()]), AtomicBool::new(false));
    thread::scope(|scope| {
        let over = Over(&is_over);
        for _ in 0..more {
            let (tell, told) = mpsc::channel();
            let is_over = &is_over;
            scope.spawn(move || {
                tell.send(slot()).expect("it is told");
                while !is_over.load(Relaxed) {
                    thread::sleep(Duration::from_millis(1));
                }
            });
            slots.insert(told.recv().expect("it tells"));
        }
        drop(over);
    });
    slots
}

/// Lets a thread use this CPU only, or the caller.
pub(super) fn stay_on(thread: Option<Pid>, cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(thread, &set).expect("the process may use it");
}

#[test]
fn threads_that_have_a_cpu_each_are_not_taken_for_a_process_with_one() {
    in_a_process_of_its_own(|| {
        let allowed = sched_getaffinity(None).expect("a set");
        let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let (Some(first), Some(second)) = (cpus.next(), cpus.next()) else {
            return not_run("there is one CPU");
        };
        // It counts the quotas of control groups, too.
        let has_more = thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
        stay_on(Some(rustix::process::getpid()), first);
        let usable_on = |cpu| {
            stay_on(None, cpu);
            Native::usable_cpus()
        };
        assert_eq!(thread::spawn(move || usable_on(first)).join().expect("no panic"), 1);
        let usable = thread::spawn(move || usable_on(second)).join().expect("no panic");
        assert!(usable == 2 || !has_more, "{usable} of 2 CPUs");
    });
}

/// Its number is no thread's. Enough others come that slots are looked for whose threads have ended.
#[test]
fn a_child_without_a_handler_leaves_its_first_thread_its_slot() {
    const MORE: usize = 40;
    let body = || {
        assert!(Native::reader_slot().is_some(), "there are no slots");
        let thread = rustix::thread::gettid();
        start_child(How::Clone, || {
            while rustix::process::test_kill_process(thread).is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
            c_int::from(slots_of_living_threads(MORE).len() != MORE + 1)
        })
    };
    in_a_process_of_its_own(|| {
        if forks_can_be_told() {
            let child = thread::spawn(body).join().expect("no panic");
            assert_eq!(await_child(child), Some(0), "two threads that live have one slot");
        }
    });
}

/// A writer spins for it, which is its reader, too.
static PENDING_IN: RawRwLock<Native> = RawRwLock::INIT;
/// In its word: a writer spins.
const PENDING: u32 = 1 << 3;
/// The status of a child that looked at the right moment, and found it well or not.
static FOUND: AtomicU32 = AtomicU32::new(MISSED);
const MISSED: u32 = 0;
const WELL: u32 = 1;
const KEPT_OUT: u32 = 2;

/// At some moment of the wait.
extern "C" fn fork_if_pending(_signal: c_int) {
    let word = word(&PENDING_IN);
    if word.load(Relaxed) & PENDING != 0 && FOUND.load(Relaxed) == MISSED {
        let reads_alone = || {
            // SAFETY: read by this thread, before it became a writer.
            unsafe { PENDING_IN.unlock_shared() };
            PENDING_IN.try_lock_shared()
        };
        FOUND.store(if in_child(How::Clone, reads_alone) { WELL } else { KEPT_OUT }, Relaxed);
    }
}

/// Waits as a writer for a lock that it reads, and is interrupted again and again. Returns what was found.
fn be_interrupted() -> c_int {
    // SAFETY: the handler uses locks only in a child.
    unsafe { signal(SIGALRM, fork_if_pending) };
    PENDING_IN.lock_shared();
    // What a thread that waits asks the kernel first. It does not ask for forks.
    let _ = (Native::tunable(Tunable::spin_pauses), Native::must_not_spin());
    // A writer is pending for ten microseconds. The first two numbers are the seconds and microseconds between two
    // signals, the others the time to the first one.
    let often = [0, 9, 0, 9];
    // SAFETY: four numbers, as the kernel reads them.
    assert_eq!(unsafe { setitimer(0, &raw const often, std::ptr::null_mut()) }, 0);
    assert!(!PENDING_IN.lock_until(Native::now_ns() + 2_000_000), "it is read");
    FOUND.load(Relaxed) as c_int
}

#[test]
fn an_attempt_in_a_child_passes_a_writer_that_was_pending_in_its_parent() {
    in_a_process_of_its_own(|| {
        if !forks_can_be_told() {
            return;
        }
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            // No thread of it has asked.
            let found = await_child(start_child(How::Clone, be_interrupted));
            if found != Some(MISSED as c_int) {
                assert_eq!(found, Some(WELL as c_int), "it waits for a thread of its parent");
                return;
            }
        }
        not_run("no signal came while a writer was pending");
    });
}
