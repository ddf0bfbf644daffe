//! The system calls of the locks. They leave errno as it was, and a thread cannot be cancelled in them: most go past
//! the functions of the C library for that reason. The declarations are written here, because a package with all of
//! them takes longer to compile than the locks.

use core::ffi::{CStr, c_int, c_long, c_short, c_void};
use core::sync::atomic::AtomicU32;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn __errno_location() -> *mut c_int;
    /// It reads the clock without a system call if it can.
    fn clock_gettime(clock: c_int, now: *mut Timespec) -> c_int;
    /// It returns the CPU without a system call if it can.
    fn sched_getcpu() -> c_int;
    fn mmap(
        at: *mut c_void,
        length: usize,
        may: c_int,
        kind: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
    fn munmap(at: *mut c_void, length: usize) -> c_int;
    #[cfg(miri)]
    fn gettid() -> c_int;
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
    fn keep_if_failed<T: Copy + Into<c_long>>(self, result: T) -> T {
        if result.into() == -1 {
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

/// A time as the kernel takes it, on architectures of 64 bits.
#[repr(C)]
struct Timespec {
    s: i64,
    ns: i64,
}

const NS_PER_S: u64 = 1_000_000_000;

impl Timespec {
    fn of_ns(ns: u64) -> Self {
        Self { s: (ns / NS_PER_S) as i64, ns: (ns % NS_PER_S) as i64 }
    }
}

#[cfg(target_arch = "x86_64")]
mod number {
    use core::ffi::c_long;
    pub const READ: c_long = 0;
    pub const WRITE: c_long = 1;
    pub const CLOSE: c_long = 3;
    pub const RT_SIGPROCMASK: c_long = 14;
    pub const SCHED_YIELD: c_long = 24;
    pub const MADVISE: c_long = 28;
    pub const KILL: c_long = 62;
    pub const SCHED_GETSCHEDULER: c_long = 145;
    pub const GETTID: c_long = 186;
    pub const FUTEX: c_long = 202;
    pub const SCHED_SETAFFINITY: c_long = 203;
    pub const SCHED_GETAFFINITY: c_long = 204;
    pub const OPENAT: c_long = 257;
    pub const PPOLL: c_long = 271;
    pub const MEMBARRIER: c_long = 324;
}
/// The generic table, which aarch64, riscv64 and loongarch64 use.
#[cfg(not(target_arch = "x86_64"))]
mod number {
    use core::ffi::c_long;
    pub const OPENAT: c_long = 56;
    pub const CLOSE: c_long = 57;
    pub const READ: c_long = 63;
    pub const WRITE: c_long = 64;
    pub const PPOLL: c_long = 73;
    pub const FUTEX: c_long = 98;
    pub const SCHED_GETSCHEDULER: c_long = 120;
    pub const SCHED_SETAFFINITY: c_long = 122;
    pub const SCHED_GETAFFINITY: c_long = 123;
    pub const SCHED_YIELD: c_long = 124;
    pub const KILL: c_long = 129;
    pub const RT_SIGPROCMASK: c_long = 135;
    pub const GETTID: c_long = 178;
    pub const MADVISE: c_long = 233;
    pub const MEMBARRIER: c_long = 283;
}

const FUTEX_PRIVATE: c_int = 128;
const FUTEX_CLOCK_REALTIME: c_int = 256;
const FUTEX_CMP_REQUEUE: c_int = 4;
const FUTEX_WAIT_BITSET: c_int = 9;
const FUTEX_WAKE_BITSET: c_int = 10;

/// Sleeps as one of these kinds while `word` holds `expected`, until a wake-up or the deadline, which is absolute, in
/// nanoseconds, of the clock that tells the date or of the monotonic clock. Returns `true` after a wake-up, and `false`
/// if the word holds something else, if the deadline has passed, or if a signal has come.
pub(super) fn futex_wait(
    kinds: u32,
    word: &AtomicU32,
    expected: u32,
    is_date: bool,
    deadline_ns: Option<u64>,
) -> bool {
    let clock = if is_date { FUTEX_CLOCK_REALTIME } else { 0 };
    let (operation, none) =
        (FUTEX_WAIT_BITSET | FUTEX_PRIVATE | clock, core::ptr::null::<AtomicU32>());
    let deadline = deadline_ns.map(Timespec::of_ns);
    let deadline = deadline.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    let word = core::ptr::from_ref(word);
    // SAFETY: FUTEX_WAIT_BITSET reads the word and the deadline, or none if it is null.
    let result = unsafe {
        call!(number::FUTEX, word, operation, expected as c_int, deadline, none, kinds as c_int)
    };
    result == 0
}

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

/// Lets another thread run. A filter may refuse that.
pub(super) fn yield_cpu() {
    if cfg!(miri) {
        return std::thread::yield_now();
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

/// The clocks of the kernel that are read here, by their numbers.
#[derive(Clone, Copy)]
#[repr(i32)]
pub(super) enum ClockId {
    Realtime = 0,
    Monotonic = 1,
    /// It is set forward with the ticks of the kernel.
    MonotonicCoarse = 6,
}

/// Returns the time of a clock in nanoseconds; 0 if the kernel does not know the clock.
pub(super) fn time_ns(clock: ClockId) -> u64 {
    let (mut now, errno) = (Timespec { s: 0, ns: 0 }, Errno::now());
    // SAFETY: writes the time.
    errno.keep_if_failed(unsafe { clock_gettime(clock as c_int, &raw mut now) });
    now.s as u64 * NS_PER_S + now.ns as u64
}

/// Returns the CPU on which the caller runs.
pub(super) fn getcpu() -> u32 {
    let errno = Errno::now();
    // SAFETY: takes no argument.
    errno.keep_if_failed(unsafe { sched_getcpu() }) as u32
}

/// Returns the number of the calling thread, as the kernel counts threads.
pub(super) fn thread_id() -> u32 {
    #[cfg(miri)]
    // SAFETY: takes no argument.
    return unsafe { gettid() } as u32;
    #[cfg(not(miri))]
    // SAFETY: takes no argument.
    return unsafe { call!(number::GETTID) } as u32;
}

/// Returns `true` if no thread of this machine that the caller may know has this number. It returns `false` if the
/// kernel does not say.
pub(super) fn is_gone(thread: u32) -> bool {
    const ESRCH: c_int = 3;
    if cfg!(miri) || thread == 0 {
        return false;
    }
    let errno = Errno::now();
    // SAFETY: signal 0 is none; it only asks.
    let result = unsafe { syscall(number::KILL, thread as c_int, 0) };
    // SAFETY: the caller's own.
    let is_gone = result == -1 && unsafe { errno.place.read() } == ESRCH;
    errno.keep_if_failed(result);
    is_gone
}

pub(super) const MEMBARRIER_PRIVATE_EXPEDITED: c_int = 1 << 3;
pub(super) const MEMBARRIER_REGISTER_PRIVATE_EXPEDITED: c_int = 1 << 4;

/// Executes a command of `membarrier`. Returns `true` if the kernel did.
pub(super) fn membarrier(command: c_int) -> bool {
    // SAFETY: touches no memory of ours. Registering changes no more than what the other command does.
    unsafe { call!(number::MEMBARRIER, command, 0, 0) == 0 }
}

/// The length of a page that is mapped here, in bytes.
const PAGE: usize = 4096;

/// Maps a page of zeroes that is wiped in forked children. Returns `None` if there can be no such page.
pub(super) fn page_wiped_on_fork() -> Option<*mut c_void> {
    const READ_WRITE: c_int = 1 | 2;
    const PRIVATE_ANONYMOUS: c_int = 0x02 | 0x20;
    const MADV_WIPEONFORK: c_int = 18;
    let errno = Errno::now();
    // SAFETY: a new private mapping overlaps nothing.
    let page = unsafe { mmap(core::ptr::null_mut(), PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0) };
    if page.addr() == usize::MAX {
        errno.keep_if_failed(-1);
        return None;
    }
    // SAFETY: the mapping just made, and nothing depends on its contents yet.
    let advise = || unsafe { call!(number::MADVISE, page, PAGE, MADV_WIPEONFORK) } == 0;
    // Miri has neither the advice nor forks.
    if !cfg!(miri) && !advise() {
        // SAFETY: the mapping just made, which no other thread knows.
        unsafe { munmap(page, PAGE) };
        return None;
    }
    Some(page)
}

/// A file that is open for reading.
pub(super) struct File(c_int);

impl File {
    /// Opens a file. Returns `None` if that does not work.
    pub(super) fn open(path: &CStr) -> Option<Self> {
        const AT_FDCWD: c_int = -100;
        const O_CLOEXEC: c_int = 0o2_000_000;
        if cfg!(miri) {
            return None;
        }
        // SAFETY: reads the path.
        let file = unsafe { call!(number::OPENAT, AT_FDCWD, path.as_ptr(), O_CLOEXEC, 0) };
        (file >= 0).then_some(Self(file as c_int))
    }
    /// Reads into `buffer`. Returns how many bytes it read, 0 at the end of the file.
    pub(super) fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        // SAFETY: writes no more than the buffer.
        let length = unsafe { call!(number::READ, self.0, buffer.as_mut_ptr(), buffer.len()) };
        length.try_into().ok()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the file is ours, and it is no longer used.
        unsafe { call!(number::CLOSE, self.0) };
    }
}

const STDERR: c_int = 2;

/// Returns `true` if a message to standard error would be read or kept. Without a reader it would end the process by a
/// signal.
pub(super) fn stderr_has_reader() -> bool {
    #[repr(C)]
    struct PollFd {
        file: c_int,
        events: c_short,
        found: c_short,
    }
    let (mut look, mut at_once) =
        (PollFd { file: STDERR, events: 0, found: 0 }, Timespec { s: 0, ns: 0 });
    let no_signals = core::ptr::null::<u64>();
    // SAFETY: reads and writes `look` and the time.
    let found = unsafe {
        call!(number::PPOLL, &raw mut look, 1, &raw mut at_once, no_signals, size_of::<u64>())
    };
    found == 0
}

/// Writes a message to standard error. Nothing can be done about one that is not written.
pub(super) fn write_stderr(message: &[u8]) {
    // SAFETY: reads the message. A process that has closed the file has no reader to tell.
    unsafe { call!(number::WRITE, STDERR, message.as_ptr(), message.len()) };
}
