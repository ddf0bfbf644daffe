//! System calls that have no typed form, or only one with side conditions.

use core::ffi::{c_int, c_long};
use core::sync::atomic::AtomicU32;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn __errno_location() -> *mut c_int;
}

/// The errno of the caller, which the function of the C library sets if a system call fails. That is not an error of
/// the program, and the program may look at errno only after it has released a lock.
struct Errno {
    place: *mut c_int,
    before: c_int,
}

impl Errno {
    fn now() -> Self {
        // SAFETY: only returns an address.
        let place = unsafe { __errno_location() };
        // SAFETY: the caller's own.
        Self { place, before: unsafe { place.read() } }
    }
    fn keep_if_failed(self, result: c_long) -> c_long {
        if result == -1 {
            // SAFETY: the caller's own, as above.
            unsafe { self.place.write(self.before) };
        }
        result
    }
}

/// Makes a system call, which leaves errno as it was.
macro_rules! call {
    ($($argument:expr),+ $(,)?) => {{
        let errno = Errno::now();
        errno.keep_if_failed(syscall($($argument),+))
    }};
}

#[cfg(target_arch = "x86_64")]
mod number {
    pub const FUTEX: core::ffi::c_long = 202;
    pub const SCHED_GETSCHEDULER: core::ffi::c_long = 145;
    pub const SCHED_YIELD: core::ffi::c_long = 24;
    pub const RT_SIGPROCMASK: core::ffi::c_long = 14;
    pub const SCHED_SETAFFINITY: core::ffi::c_long = 203;
    pub const SCHED_GETAFFINITY: core::ffi::c_long = 204;
}
/// The generic table, which aarch64, riscv64 and loongarch64 use.
#[cfg(not(target_arch = "x86_64"))]
mod number {
    pub const FUTEX: core::ffi::c_long = 98;
    pub const SCHED_GETSCHEDULER: core::ffi::c_long = 120;
    pub const SCHED_YIELD: core::ffi::c_long = 124;
    pub const RT_SIGPROCMASK: core::ffi::c_long = 135;
    pub const SCHED_SETAFFINITY: core::ffi::c_long = 122;
    pub const SCHED_GETAFFINITY: core::ffi::c_long = 123;
}

const FUTEX_PRIVATE: c_int = 128;
const FUTEX_CMP_REQUEUE: c_int = 4;
const FUTEX_WAKE_BITSET: c_int = 10;

/// Wakes up to `count` sleepers of these kinds on the word at `address`. The word may be gone, so no reference to it is
/// made: the kernel only takes its address. Returns how many sleepers were woken.
pub(super) fn futex_wake(kinds: u32, address: *const AtomicU32, count: u32) -> u32 {
    let (count, kinds) = (c_int::try_from(count).unwrap_or(c_int::MAX), kinds as c_int);
    let (operation, none) = (FUTEX_WAKE_BITSET | FUTEX_PRIVATE, core::ptr::null::<AtomicU32>());
    // SAFETY: FUTEX_WAKE_BITSET reads and writes no memory of ours.
    let woken = unsafe { call!(number::FUTEX, address, operation, count, none, none, kinds) };
    woken.try_into().unwrap_or(0)
}

/// Returns `true` if the word at `address` holds `value`; the word may be gone. Under Miri it always returns `true`,
/// because Miri does not know the call. A release then never has to wake a thread.
pub(super) fn futex_holds(address: *const AtomicU32, value: u32) -> bool {
    if cfg!(miri) {
        return true;
    }
    // It moves no sleeper, since the counts are 0. Before it looks, the kernel counts a user of the queue and passes
    // the full barrier that goes with that count.
    let operation = FUTEX_CMP_REQUEUE | FUTEX_PRIVATE;
    // SAFETY: FUTEX_CMP_REQUEUE reads the word, or fails if it cannot, and no other memory of ours.
    unsafe { call!(number::FUTEX, address, operation, 0, 0usize, address, value as c_int) == 0 }
}

/// Wakes up to `count` sleepers on the word at `from` and moves the others to the word at `to`, which may be gone, if
/// the word at `from` holds `expected`. Returns how many sleepers it woke or moved, or `None` if the word holds
/// something else.
pub(super) fn futex_requeue(
    count: u32,
    from: *const AtomicU32,
    expected: u32,
    to: *const AtomicU32,
) -> Option<u32> {
    if cfg!(miri) {
        return None;
    }
    let operation = FUTEX_CMP_REQUEUE | FUTEX_PRIVATE;
    let count = c_int::try_from(count).unwrap_or(c_int::MAX);
    let rest = c_int::MAX as usize;
    // SAFETY: FUTEX_CMP_REQUEUE reads the word at `from`, and no other memory of ours.
    let moved =
        unsafe { call!(number::FUTEX, from, operation, count, rest, to, expected as c_int) };
    moved.try_into().ok()
}

/// Returns the scheduling policy of the calling thread, with flags. It makes the system call itself, because one C
/// library's wrapper always fails.
pub(super) fn scheduling_policy() -> c_int {
    // SAFETY: only returns a number; 0 is the calling thread.
    unsafe { call!(number::SCHED_GETSCHEDULER, 0) as c_int }
}

/// A set of CPUs. It is as large as any kernel's set; the types of the C library end at 1,024.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CpuSet([u64; CpuSet::WORDS]);

impl CpuSet {
    const WORDS: usize = CPUS_MAX / 64;
    const ALL: Self = Self([u64::MAX; Self::WORDS]);

    /// Returns the set that has only this CPU.
    pub(super) fn of(cpu: usize) -> Self {
        Self(core::array::from_fn(|at| if at == cpu / 64 { 1 << (cpu % 64) } else { 0 }))
    }
    /// Returns the CPUs of both sets.
    pub(super) fn union(self, other: Self) -> Self {
        Self(core::array::from_fn(|at| self.0[at] | other.0[at]))
    }
    /// Returns the numbers of the CPUs.
    pub(super) fn cpus(&self) -> impl Iterator<Item = usize> + '_ {
        (0..CPUS_MAX).filter(|cpu| self.0[cpu / 64] >> (cpu % 64) & 1 != 0)
    }
}

/// More CPUs than any kernel for these architectures is built for.
const CPUS_MAX: usize = 8192;

/// Returns the CPUs that this thread of the process may use. 0 is the caller. Returns `None` if the kernel does not
/// say.
pub(super) fn affinity(thread: c_int) -> Option<CpuSet> {
    let mut set = CpuSet([0; CpuSet::WORDS]);
    // SAFETY: writes no more than the set.
    let length =
        unsafe { call!(number::SCHED_GETAFFINITY, thread, size_of::<CpuSet>(), &raw mut set.0) };
    (length > 0).then_some(set)
}

/// Lets the caller use only these CPUs. Returns `true` if it may.
pub(super) fn set_affinity(set: &CpuSet) -> bool {
    // SAFETY: reads the set.
    unsafe { call!(number::SCHED_SETAFFINITY, 0, size_of::<CpuSet>(), &raw const set.0) == 0 }
}

/// Runs the caller once on each CPU that the process may use. Returns `true` if it could. Every other thread that ran
/// when this began has lost its CPU once since, to the caller or because it moved: that is a full barrier in it.
#[cold]
pub(super) fn visit_all_cpus() -> bool {
    let Some(before) = affinity(0) else { return false };
    // The kernel leaves out CPUs that the thread may not use.
    let all = if set_affinity(&CpuSet::ALL) { affinity(0) } else { None };
    let is_done = all.is_some_and(|all| all.cpus().all(|cpu| set_affinity(&CpuSet::of(cpu))));
    set_affinity(&before) && is_done
}

/// Lets another thread run. A filter may refuse that, and then `rustix` panics in a debug build.
pub(super) fn yield_cpu() {
    if cfg!(miri) {
        return rustix::thread::sched_yield();
    }
    // SAFETY: takes no argument.
    unsafe { call!(number::SCHED_YIELD) };
}

/// The signals that a thread lets wait, as the kernel keeps them: 64 on all architectures here.
pub(super) struct Signals(u64);

const SIG_BLOCK: c_int = 0;
const SIG_SETMASK: c_int = 2;

/// The signals that a fault raises in the thread that made it, by their numbers on all architectures here: `SIGILL`,
/// `SIGTRAP`, `SIGBUS`, `SIGFPE`, `SIGSEGV`, `SIGSYS`. The kernel ends a process that blocks one of them when it comes.
const OF_FAULTS: [u32; 6] = [4, 5, 7, 8, 11, 31];

/// All signals except those of faults.
const WAITING: u64 = {
    let (mut set, mut at) = (u64::MAX, 0);
    while at < OF_FAULTS.len() {
        set &= !(1 << (OF_FAULTS[at] - 1));
        at += 1;
    }
    set
};

/// Makes all signals wait that can, except those of faults: a lock may lie in memory that the program protects, and
/// whose faults it handles. Returns the signals that waited before.
pub(super) fn block_signals() -> Signals {
    let mut before = Signals(0);
    set_signals(SIG_BLOCK, WAITING, &raw mut before.0);
    before
}

/// Undoes [`block_signals`].
pub(super) fn restore_signals(before: Signals) {
    set_signals(SIG_SETMASK, before.0, core::ptr::null_mut());
}

fn set_signals(how: c_int, signals: u64, before: *mut u64) {
    if cfg!(miri) {
        return;
    }
    let size = size_of::<u64>();
    // SAFETY: reads one set and writes one, or none if `before` is null.
    unsafe { call!(number::RT_SIGPROCMASK, how, &raw const signals, before, size) };
}
