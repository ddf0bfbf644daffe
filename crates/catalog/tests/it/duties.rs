//! What an operation of a lock leaves as it was, whatever it does inside: errno, the signals that are blocked, the
//! rounding and the exceptions of floating-point numbers, open descriptors. None is a cancellation point. Walks a table
//! of operations, each on a lock that no other thread uses and on one for which threads compete.
//!
//! `crates/c/tests/duties.c` does the same with the functions for C, and with those of pthread.

use super::limits::{ALLOW, REFUSE, TRAP, filter};
use super::process::{in_a_process_of_its_own, in_an_environment};
use super::{alone, not_run};
use lockwright::linux::RawCnaMutex;
use lockwright::mutex::{RawFairMutex, RawMutex};
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::rwlock::{Fair, RawRwLock};
use lockwright::semaphore::RawSemaphore;
use lockwright::{Barrier, Condvar, Mutex, Once};
use lockwright_core::native::{self, Native};
use lockwright_core::platform::Clock;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::QSpinlock;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

#[link(name = "m")]
unsafe extern "C" {
    fn fegetenv(environment: *mut [u64; 8]) -> c_int;
    fn fesetenv(environment: *const c_void) -> c_int;
}
unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
    fn pthread_sigmask(how: c_int, set: *const [u64; 16], before: *mut [u64; 16]) -> c_int;
    fn pthread_self() -> usize;
    fn pthread_cancel(thread: usize) -> c_int;
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}
const SIG_BLOCK: c_int = 0;
const SIGUSR2: u32 = 12;
const SIGSEGV: u32 = 11;

/// What has to be as before, but for errno.
#[derive(PartialEq, Eq, Debug)]
struct State {
    blocked: [u64; 16],
    floating_point: [u64; 8],
    descriptors: usize,
}

impl State {
    fn now() -> Self {
        let (mut blocked, mut floating_point) = ([0; 16], [0; 8]);
        // SAFETY: writes the set.
        unsafe { pthread_sigmask(SIG_BLOCK, null(), &raw mut blocked) };
        // SAFETY: writes no more than that.
        unsafe { fegetenv(&raw mut floating_point) };
        let descriptors = std::fs::read_dir("/proc/self/fd").expect("a folder").count();
        Self { blocked, floating_point, descriptors }
    }
}

fn errno() -> &'static mut c_int {
    // SAFETY: only returns an address.
    let place = unsafe { __errno_location() };
    // SAFETY: the caller's own errno, to which nothing else in the thread refers.
    unsafe { &mut *place }
}

/// Lets the caller be cancelled, or not.
fn may_be_cancelled(may: bool) {
    // SAFETY: only sets a flag of the thread.
    unsafe { pthread_setcancelstate(c_int::from(!may), null_mut()) };
}

/// One line of the table.
struct Operation {
    /// Which lock, and what is done.
    name: String,
    /// What another thread does at the same time. It begins before the operation.
    other: Option<fn()>,
    /// What the thread does before it.
    before: fn(),
    run: fn(),
    after: fn(),
}

/// What other threads hold is held for so long.
const HELD: Duration = Duration::from_millis(8);

impl Operation {
    fn perform(&self, is_cancelled: bool) {
        may_be_cancelled(false);
        let mut set = [0; 16];
        set[0] = 1 << (SIGUSR2 - 1) | 1 << (SIGSEGV - 1);
        // SAFETY: reads the set.
        unsafe { pthread_sigmask(SIG_BLOCK, &raw const set, null_mut()) };
        let other = self.begin(|| ());
        // SAFETY: no address: the usual state, in which no exception has happened.
        unsafe { fesetenv(usize::MAX as *const c_void) };
        let before = State::now();
        if is_cancelled {
            may_be_cancelled(true);
            // SAFETY: only returns a number.
            let this = unsafe { pthread_self() };
            // SAFETY: the caller. It ends at its next cancellation point.
            unsafe { pthread_cancel(this) };
        }
        *errno() = 77;
        (self.run)();
        let errno = *errno();
        may_be_cancelled(false);
        assert_eq!(State::now(), before, "{}", self.name);
        assert_eq!(errno, 77, "{}: errno", self.name);
        self.end(other);
    }

    /// What comes before it, in two threads.
    fn begin(&self, first: fn()) -> Option<thread::JoinHandle<()>> {
        let start = |other: fn()| thread::spawn(move || (first(), other()).1);
        (self.before)();
        let other = self.other.map(start);
        if other.is_some() {
            thread::sleep(HELD / 4);
        }
        other
    }

    fn end(&self, other: Option<thread::JoinHandle<()>>) {
        (self.after)();
        if let Some(other) = other {
            other.join().expect("no panic");
        }
    }
}

fn nothing() {}
fn soon() -> u64 {
    Native::now_ns() + 1_000_000
}
fn late() -> u64 {
    Native::now_ns() + 20_000_000_000
}

/// The operations of a lock, or of one way to take it: how to take and give it back, how another thread does that so
/// that they cannot hold it both.
macro_rules! lock {
    ($table:ident, $name:literal, $lock:path: $take:ident $attempt:ident $until:ident $release:ident,
     $other_take:ident $other_release:ident) => {
        // SAFETY: where it is called, the caller holds the lock.
        let release: fn() = || unsafe { $lock.$release() };
        let holds: fn() = || {
            $lock.$other_take();
            thread::sleep(HELD);
            // SAFETY: taken above.
            unsafe { $lock.$other_release() };
        };
        let wants: fn() = || {
            $lock.$other_take();
            // SAFETY: taken above.
            unsafe { $lock.$other_release() };
        };
        let take: fn() = || _ = $lock.$take();
        let mut add = |what: &str, other: Option<fn()>, before: fn(), run: fn(), after: fn()| {
            let name = format!("{}, {what}", $name);
            $table.push(Operation { name, other, before, run, after });
        };
        add("lock", None, nothing, take, release);
        add("attempt", None, nothing, || assert!($lock.$attempt()), release);
        add("lock with a deadline", None, nothing, || assert!($lock.$until(soon())), release);
        add("unlock", None, take, release, nothing);
        add("lock that is held", Some(holds), nothing, take, release);
        // If the other thread has had no CPU, the attempt takes it.
        let attempt: fn() = || {
            if $lock.$attempt() {
                // SAFETY: taken above.
                unsafe { $lock.$release() };
            }
        };
        add("attempt on one that is held", Some(holds), nothing, attempt, nothing);
        add(
            "lock that is held, with a deadline",
            Some(holds),
            nothing,
            || assert!($lock.$until(late())),
            release,
        );
        add("unlock while a thread waits", Some(wants), take, release, nothing);
    };
}

fn locks() -> Vec<Operation> {
    static MUTEX: RawMutex<Native> = RawMutex::INIT;
    static FAIR: RawFairMutex<Native> = RawFairMutex::INIT;
    static CNA: RawCnaMutex<Native> = RawCnaMutex::INIT;
    static SPINLOCK: QSpinlock<Native> = QSpinlock::INIT;
    static RWLOCK: RawRwLock<Native> = RawRwLock::INIT;
    static IN_ORDER: RawRwLock<Native, Fair> = RawRwLock::INIT;
    static PERCPU: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;
    let mut table = Vec::new();
    lock!(table, "Mutex", MUTEX: lock try_lock lock_until unlock, lock unlock);
    lock!(table, "Mutex, fair", MUTEX: lock try_lock lock_until unlock_fair, lock unlock);
    lock!(table, "FairMutex", FAIR: lock try_lock lock_until unlock, lock unlock);
    lock!(table, "CnaMutex", CNA: lock try_lock lock_until unlock, lock unlock);
    lock!(table, "SpinLock", SPINLOCK: lock try_lock lock_until unlock, lock unlock);
    lock!(table, "RwLock, writer", RWLOCK:
        lock try_lock lock_until unlock, lock_shared unlock_shared);
    lock!(table, "RwLock, reader", RWLOCK:
        lock_shared try_lock_shared lock_shared_until unlock_shared, lock unlock);
    lock!(table, "RwLock, fair", RWLOCK:
        lock try_lock lock_until unlock_fair, lock_shared unlock_shared_fair);
    lock!(table, "RwLock, upgradable", RWLOCK:
        lock_upgradable try_lock_upgradable lock_upgradable_until unlock_upgradable, lock unlock);
    lock!(table, "FairRwLock, writer", IN_ORDER:
        lock try_lock lock_until unlock, lock_shared unlock_shared);
    lock!(table, "FairRwLock, reader", IN_ORDER:
        lock_shared try_lock_shared lock_shared_until unlock_shared, lock unlock);
    lock!(table, "PercpuRwLock, writer", PERCPU:
        lock try_lock lock_until unlock, lock_shared unlock_shared);
    lock!(table, "PercpuRwLock, reader", PERCPU:
        lock_shared try_lock_shared lock_shared_until unlock_shared, lock unlock);
    static PERMITS: RawSemaphore<Native, 1> = RawSemaphore::INIT;
    let mut add = |name: &str, other: Option<fn()>, before: fn(), run: fn(), after: fn()| {
        table.push(Operation { name: name.to_owned(), other, before, run, after });
    };
    let acquire: fn() = || PERMITS.acquire(1);
    let release: fn() = || assert!(PERMITS.release(1));
    let holds: fn() = || {
        PERMITS.acquire(1);
        thread::sleep(HELD);
        assert!(PERMITS.release(1));
    };
    let wants: fn() = || {
        PERMITS.acquire(1);
        assert!(PERMITS.release(1));
    };
    add("Semaphore, acquire", None, nothing, acquire, release);
    add("Semaphore, release", None, acquire, release, nothing);
    add("Semaphore, acquire while there is none", Some(holds), nothing, acquire, release);
    add("Semaphore, release while a thread waits", Some(wants), acquire, release, nothing);
    let times_out: fn() = || assert!(!PERMITS.acquire_until(1, soon()));
    add("Semaphore, deadline", None, acquire, times_out, release);
    table
}

fn others() -> Vec<Operation> {
    static GUARD: Mutex<()> = Mutex::new(());
    static CHANGED: Condvar = Condvar::new();
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    static ONCE: [Once; 2] = [const { Once::new() }; 2];
    static MEETING: Barrier = Barrier::new(2);
    let mut table = Vec::new();
    let mut add = |name: &str, other: Option<fn()>, run: fn()| {
        table.push(Operation {
            name: name.to_owned(),
            other,
            before: nothing,
            run,
            after: nothing,
        });
    };
    let waits: fn() = || {
        let mut guard = GUARD.lock();
        _ = CHANGED.wait_for(&mut guard, HELD);
    };
    let notifies: fn() = || {
        thread::sleep(HELD);
        IS_OVER.store(true, Relaxed);
        while IS_OVER.load(Relaxed) {
            CHANGED.notify_all();
            thread::sleep(HELD);
        }
    };
    add("Condvar, notify_one", None, || _ = CHANGED.notify_one());
    add("Condvar, notify_all", None, || _ = CHANGED.notify_all());
    add("Condvar, notify_one while a thread waits", Some(waits), || _ = CHANGED.notify_one());
    add("Condvar, notify_all while a thread waits", Some(waits), || _ = CHANGED.notify_all());
    add("Condvar, notify_all with the mutex", Some(waits), || {
        let _guard = GUARD.lock();
        CHANGED.notify_all();
    });
    add("Condvar, wait", Some(notifies), || {
        CHANGED.wait(&mut GUARD.lock());
        IS_OVER.store(false, Relaxed);
    });
    add("Condvar, deadline", None, waits);
    add("Once, done by this thread", None, || ONCE[0].call_once(|| {}));
    add("Once, done by another one", Some(|| ONCE[1].call_once(|| thread::sleep(HELD))), || {
        ONCE[1].call_once(|| {});
    });
    add("Barrier", Some(|| _ = MEETING.wait()), || _ = MEETING.wait());
    table
}

/// In a process of its own: what it does first, it does for the first time.
#[test]
fn an_operation_leaves_the_state_of_its_thread_as_it_was() {
    let _alone = alone();
    in_a_process_of_its_own(|| {
        for is_cancelled in [false, true] {
            for operation in locks().into_iter().chain(others()) {
                let name = operation.name.clone();
                let performed = thread::spawn(move || operation.perform(is_cancelled));
                assert!(performed.join().is_ok(), "{name}");
            }
        }
    });
}

unsafe extern "C" {
    fn sigaction(signal: c_int, action: *const Action, before: *mut Action) -> c_int;
    fn write(descriptor: c_int, text: *const u8, length: usize) -> isize;
    fn _exit(status: c_int) -> !;
}
/// As the C library has it on the processors of [`CALLS`].
#[repr(C)]
struct Action {
    handler: extern "C" fn(c_int, *const [u32; 32], *const c_void),
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

/// System calls that a document may name: their numbers on x86-64 and on the other processors.
const CALLS: [(&str, [u32; 2]); 10] = [
    ("futex", [202, 98]),
    ("rt_sigprocmask", [14, 135]),
    ("getcpu", [309, 168]),
    ("clock_gettime", [228, 113]),
    ("membarrier", [324, 283]),
    ("sched_getaffinity", [204, 123]),
    ("sched_setaffinity", [203, 122]),
    ("gettid", [186, 178]),
    ("kill", [62, 129]),
    ("sched_yield", [24, 124]),
];
/// The one that may fail.
const MAY_FAIL: (&str, [u32; 2]) = ("sched_getscheduler", [145, 120]);
/// What the threads of this test call themselves, to pause and to end: `nanosleep`, `clock_nanosleep`, `exit`,
/// `exit_group`, `madvise`, `munmap`, `sigaltstack`, `write`, `rt_sigreturn`.
const OWN: [[u32; 2]; 9] = [
    [35, 101],
    [230, 115],
    [60, 93],
    [231, 94],
    [28, 233],
    [11, 215],
    [131, 132],
    [1, 64],
    [15, 139],
];

fn number(of: [u32; 2]) -> u32 {
    of[usize::from(!cfg!(target_arch = "x86_64"))]
}

/// What the documentation of `prepare` says of filters.
fn listed() -> &'static str {
    const SOURCE: &str = include_str!("../../../core/src/native/mod.rs");
    let part = SOURCE.split_once("/// A filter has to allow").expect("a list").1;
    part.split_once("/// Where a filter refuses").expect("its end").0
}

/// Puts the calling thread behind a filter of what is listed. `LOCKWRIGHT_TEST_FILTER` names calls that are not
/// allowed all the same, and, behind a colon, calls that fail.
fn watch() {
    let choice = std::env::var("LOCKWRIGHT_TEST_FILTER").expect("a choice");
    let (without, refused) = choice.split_once(':').expect("two lists");
    let has = |text: &str, name: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
    };
    let mut calls: Vec<_> = OWN.map(|own| (number(own), ALLOW)).into();
    for (name, of) in CALLS.into_iter().chain([MAY_FAIL]) {
        if has(listed(), name) && !has(without, name) {
            calls.push((number(of), if has(refused, name) { REFUSE } else { ALLOW }));
        }
    }
    assert!(filter(&calls, TRAP), "the parent has looked if there are filters");
}

/// Says which system call was stopped.
extern "C" fn say_call(_: c_int, of: *const [u32; 32], _: *const c_void) {
    // SAFETY: what the kernel says of a signal has 128 bytes.
    let call = unsafe { (*of)[6] };
    let text = format!("system call {call} is not listed\n");
    // SAFETY: a text and its length.
    unsafe { write(2, text.as_ptr(), text.len()) };
    // SAFETY: ends the process at once.
    unsafe { _exit(1) };
}

/// Each operation is done for the first time behind a filter.
#[test]
fn no_operation_makes_a_system_call_that_the_documentation_of_prepare_does_not_list() {
    let _alone = alone();
    let actions = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail");
    if !actions.is_ok_and(|actions| actions.contains("trap")) {
        return not_run("the kernel has no filters of system calls");
    }
    for (membarrier, choice) in [
        ("off", "membarrier sched_getaffinity sched_setaffinity:"),
        ("on", "sched_getaffinity sched_setaffinity:sched_getscheduler sched_yield"),
        ("on", ":membarrier"),
    ] {
        let variables = [("LOCKWRIGHT_MEMBARRIER", membarrier), ("LOCKWRIGHT_TEST_FILTER", choice)];
        in_an_environment(&variables, || {
            const SIGSYS: c_int = 31;
            const SA_SIGINFO: c_int = 4;
            let action =
                Action { handler: say_call, mask: [0; 16], flags: SA_SIGINFO, restorer: 0 };
            // SAFETY: a handler of that form.
            assert_eq!(unsafe { sigaction(SIGSYS, &raw const action, null_mut()) }, 0);
            native::prepare();
            for operation in locks().into_iter().chain(others()) {
                eprintln!("{}", operation.name);
                let performed = thread::spawn(move || {
                    let other = operation.begin(watch);
                    watch();
                    (operation.run)();
                    operation.end(other);
                    // Until a waiter tells it by membarrier that it is there, if it may.
                    let is_lock = operation.name.ends_with(", lock");
                    for _ in 0..if is_lock { 1 << 10 } else { 0 } {
                        (operation.before)();
                        (operation.run)();
                        (operation.after)();
                    }
                });
                performed.join().expect("no panic");
            }
        });
    }
}
