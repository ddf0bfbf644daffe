//! What a process runs out of, or is refused.

use super::process::{again, each_ends_the_process, in_a_process_of_its_own};
use super::{alone, not_run};
use lockwright::condvar::RawCondvar;
use lockwright::mutex::RawMutex;
use lockwright::{Condvar, FairRwLock, Mutex, PercpuRwLock, QRwLock, RwLock};
use lockwright_core::native::{self, Native};
use lockwright_core::platform::{Barriers, SchedulerHints};
use lockwright_core::raw::RawLock as _;
use lockwright_linux::ticket::TicketLock;
use std::ffi::{c_int, c_ulong};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(20);

#[test]
fn a_wait_at_a_full_condition_variable_ends_by_itself() {
    let (mutex, changed) = (RawMutex::<Native>::INIT, RawCondvar::full());
    mutex.lock();
    // SAFETY: taken above.
    assert!(unsafe { changed.wait(&mutex, None) }, "it has no deadline");
    assert!(mutex.is_locked());
    assert_eq!(changed.notify_all(), 2 * 8191, "as many wait as before");
    assert_eq!(changed.notify_all(), 0);
}

#[test]
fn a_timed_wait_without_a_queue_node_times_out() {
    in_a_process_of_its_own(|| {
        static MUTEX: Mutex<()> = Mutex::new(());
        static CHANGED: Condvar = Condvar::new();
        native::limit_nodes(0);
        let mut guard = MUTEX.lock();
        let begin = Instant::now();
        assert!(CHANGED.wait_while_for(&mut guard, |()| true, SHORT).timed_out());
        assert!(begin.elapsed() >= SHORT);
        assert!(CHANGED.wait_until(&mut guard, begin).timed_out(), "that has passed");
    });
}

/// Does it in a thread, which may panic but must end.
fn ends<R: Send + 'static>(
    what: &str,
    does: impl FnOnce() -> R + Send + 'static,
) -> thread::Result<R> {
    let (done, is_done) = std::sync::mpsc::channel();
    let does = std::panic::AssertUnwindSafe(does);
    // It is not joined if it hangs.
    thread::spawn(move || done.send(std::panic::catch_unwind(does)));
    is_done.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("{what} hangs"))
}

/// A lock with as many readers as can be counted: its first word says so.
fn full<L>(lock: L) -> &'static L {
    const READERS_MAX: u32 = 1 << 31;
    let lock = Box::leak(Box::new(lock));
    super::word(lock).store(READERS_MAX, Relaxed);
    lock
}

#[test]
fn a_reader_that_cannot_be_counted_does_not_wait() {
    let _alone = alone();
    const LONG: Duration = Duration::from_secs(3600);
    macro_rules! refuse {
        ($name:literal, $lock:expr) => {
            let lock = full($lock);
            assert!(ends($name, || lock.try_read().is_none()).expect("no panic"));
            assert!(ends($name, || lock.try_read_for(LONG).is_none()).expect("no panic"));
            assert!(lock.is_locked() && lock.try_write().is_none());
        };
    }
    refuse!("RwLock", RwLock::new(()));
    refuse!("FairRwLock", FairRwLock::new(()));
    refuse!("PercpuRwLock", PercpuRwLock::new(()));
    let lock = full(RwLock::new(()));
    let attempt = ends("RwLock, upgradable", || lock.try_upgradable_read_for(LONG).is_none());
    assert!(attempt.expect("no panic"));
}

/// It does not unwind, from the midst of which the guard of another reader could be dropped.
#[test]
fn a_reader_that_cannot_be_counted_ends_the_process() {
    const SAID: &str = "readers hold the lock, and one more cannot be counted";
    let reads: [fn(); 5] = [
        || drop(full(RwLock::new(())).read()),
        || drop(full(RwLock::new(())).upgradable_read()),
        || drop(full(FairRwLock::new(())).read()),
        || drop(full(PercpuRwLock::new(())).read()),
        || drop(full(QRwLock::new(())).read()),
    ];
    each_ends_the_process(SAID, &reads);
}

/// A guard takes the lock again that was taken by another one meanwhile.
#[test]
fn a_guard_that_cannot_be_counted_again_ends_the_process() {
    each_ends_the_process(
        "one more cannot be counted",
        &[|| {
            let lock = full(RwLock::new(()));
            // SAFETY: as if one of the readers had left.
            unsafe { lock.force_unlock_read() };
            let mut guard = lock.read();
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let reads = || std::mem::forget(lock.read());
                lockwright::RwLockReadGuard::unlocked(&mut guard, reads);
            }));
        }],
    );
}

#[test]
fn an_upgrade_without_a_queue_node_leaves_a_free_lock_to_all() {
    /// A reader becomes the writer when another one has left, and before that gives up once.
    macro_rules! check {
        ($lock:ty, $guard:ty) => {{
            static LOCK: $lock = <$lock>::new(0);
            let upgradable = LOCK.upgradable_read();
            thread::scope(|scope| {
                let (tell, told) = std::sync::mpsc::channel();
                let (go_on, goes_on) = std::sync::mpsc::channel::<()>();
                scope.spawn(move || {
                    let guard = LOCK.read();
                    tell.send(()).expect("the test waits");
                    goes_on.recv().expect("the test goes on");
                    thread::sleep(SHORT);
                    drop(guard);
                });
                told.recv().expect("a reader");
                let upgradable = <$guard>::try_upgrade_for(upgradable, SHORT);
                let upgradable = upgradable.expect_err("another thread reads");
                assert!(LOCK.try_read().is_some(), "readers may come");
                go_on.send(()).expect("the reader waits");
                *<$guard>::upgrade(upgradable) += 1;
            });
            assert_eq!(LOCK.try_read().map(|value| *value), Some(1), "it is free");
            assert!(LOCK.try_write_for(SHORT).is_some(), "it is free");
        }};
    }
    in_a_process_of_its_own(|| {
        native::limit_nodes(0);
        check!(FairRwLock<u32>, lockwright::FairRwLockUpgradableReadGuard<'_, u32>);
        check!(RwLock<u32>, lockwright::RwLockUpgradableReadGuard<'_, u32>);
    });
}

unsafe extern "C" {
    fn sched_setaffinity(thread: c_int, size: usize, set: *const u64) -> c_int;
    fn sched_getaffinity(thread: c_int, size: usize, set: *mut u64) -> c_int;
    fn prctl(operation: c_int, ...) -> c_int;
}
/// CPUs that the functions above know here.
type CpuSet = [u64; 128];

#[test]
fn a_thread_with_one_cpu_that_comes_first_does_not_decide_for_the_process() {
    in_a_process_of_its_own(|| {
        let cpus = thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
        if cpus == 1 {
            return not_run("this process has one CPU");
        }
        let seen = thread::spawn(|| {
            let mut set: CpuSet = [0; 128];
            // SAFETY: writes no more than the set.
            assert_eq!(unsafe { sched_getaffinity(0, size_of::<CpuSet>(), set.as_mut_ptr()) }, 0);
            let word = set.iter().position(|&word| word != 0).expect("a CPU");
            let mut one: CpuSet = [0; 128];
            one[word] = set[word] & set[word].wrapping_neg();
            // SAFETY: reads the set.
            assert_eq!(unsafe { sched_setaffinity(0, size_of::<CpuSet>(), one.as_ptr()) }, 0);
            Native::usable_cpus()
        });
        assert_eq!(seen.join().expect("no panic"), cpus);
    });
}

#[repr(C)]
struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    value: u32,
}
#[repr(C)]
struct Filter {
    length: u16,
    instructions: *const Instruction,
}
const MEMBARRIER: u32 = if cfg!(target_arch = "x86_64") { 324 } else { 283 };
const SCHED_SETAFFINITY: u32 = if cfg!(target_arch = "x86_64") { 203 } else { 122 };

/// What a filter does with a system call: it runs, it fails with `EPERM`, or the thread gets `SIGSYS`.
pub(super) const ALLOW: u32 = 0x7fff_0000;
pub(super) const REFUSE: u32 = 0x0005_0000 | 1;
pub(super) const TRAP: u32 = 0x0003_0000;

/// Puts the calling thread, and those that it starts, behind a filter: what it does with some system calls, and with
/// all others. Returns `true` if that worked.
pub(super) fn filter(calls: &[(u32, u32)], others: u32) -> bool {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let one = |code, if_false, value| Instruction { code, if_true: 0, if_false, value };
    let each = |&(call, action)| [one(JUMP_IF_EQUAL, 1, call), one(RETURN, 0, action)];
    let mut program = vec![one(LOAD, 0, 0)];
    program.extend(calls.iter().flat_map(each));
    program.push(one(RETURN, 0, others));
    let filter = Filter { length: program.len() as u16, instructions: program.as_ptr() };
    const PR_SET_SECCOMP: c_int = 22;
    const PR_SET_NO_NEW_PRIVS: c_int = 38;
    const MODE_FILTER: c_ulong = 2;
    let (one, none): (c_ulong, c_ulong) = (1, 0);
    // SAFETY: the arguments that this operation takes.
    let is_alone = unsafe { prctl(PR_SET_NO_NEW_PRIVS, one, none, none, none) } == 0;
    // SAFETY: as above; the kernel copies the filter.
    is_alone && unsafe { prctl(PR_SET_SECCOMP, MODE_FILTER, &raw const filter) } == 0
}

/// Locks that relied on heavy barriers before these calls are refused are used by two threads.
fn use_locks_after_refusing(calls: [u32; 2]) {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    static READ: PercpuRwLock<u32> = PercpuRwLock::new(0);
    native::prepare();
    if !Native::has_heavy_barrier() {
        return not_run("this machine has no membarrier");
    }
    for _ in 0..1 << 15 {
        assert_eq!(*MUTEX.lock() + *READ.read(), 0);
    }
    if !filter(&calls.map(|call| (call, REFUSE)), ALLOW) {
        return not_run("this machine has no system call filters");
    }
    let guard = MUTEX.lock();
    thread::scope(|scope| {
        scope.spawn(|| *MUTEX.lock() += 1);
        thread::sleep(SHORT);
        drop(guard);
    });
    *READ.write() += 1;
    for _ in 0..1 << 15 {
        assert_eq!(*MUTEX.lock() + *READ.read(), 2);
    }
}

#[test]
fn locks_go_on_where_membarrier_is_refused_after_prepare() {
    in_a_process_of_its_own(|| use_locks_after_refusing([MEMBARRIER; 2]));
}

#[test]
fn where_nothing_can_take_its_place_the_process_says_so_and_aborts() {
    const MARK: &str = "LOCKWRIGHT_TEST_ABORTS";
    if std::env::var_os(MARK).is_some() {
        return use_locks_after_refusing([MEMBARRIER, SCHED_SETAFFINITY]);
    }
    let output = again(MARK, "1").output().expect("this test can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("not run: ") {
        return not_run("this machine has no membarrier or no system call filters");
    }
    assert!(said.contains("lockwright: a system call filter refuses membarrier"), "{said}");
    assert!(!output.status.success());
}

#[test]
fn a_thread_that_finds_more_tickets_than_a_ticket_lock_can_count_ends_the_process() {
    /// The next ticket is 2^16 - 1, and the one that is served 0: one more, and the lock looks free.
    static FULL: AtomicU32 = AtomicU32::new(0xffff << 16);
    each_ends_the_process(
        "threads hold or wait for one ticket lock",
        &[|| {
            let lock = (&raw const FULL).cast::<TicketLock<Native>>();
            // SAFETY: the lock is its word, whose cell is an atomic of this size.
            let lock = unsafe { &*lock };
            lock.lock();
        }],
    );
}
