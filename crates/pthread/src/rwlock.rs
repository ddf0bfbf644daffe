//! Reader-writer locks: the 56 bytes of a `pthread_rwlock_t`.

use crate::choices::{Used, count};
use crate::glibc::{
    lw_glibc_rwlock_clockrdlock, lw_glibc_rwlock_clockwrlock, lw_glibc_rwlock_rdlock,
    lw_glibc_rwlock_tryrdlock, lw_glibc_rwlock_trywrlock, lw_glibc_rwlock_unlock,
    lw_glibc_rwlock_wrlock,
};
use crate::thread::{keep_errno, tid};
use crate::time::{deadline_ns, is_clock, is_time};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use libc::{EAGAIN, EBUSY, EDEADLK, EINVAL, ETIMEDOUT, clockid_t, timespec};
use lockwright::rwlock::{Fair, RawRwLock, Unlisted};
use lockwright_core::native::Native;
use lockwright_core::platform::SchedulerHints;
use lockwright_core::raw::RawLock;

/// A reader-writer lock of ours, or one of glibc's if it is shared between processes.
#[repr(C)]
pub struct RwLockObject {
    raw: RawRwLock<Native, Unlisted>,
    /// Not 0 if it was counted.
    seen: AtomicU32,
    _unused: [AtomicU32; 4],
    /// The number of the thread that writes, or 0.
    writer: AtomicU32,
    /// Not 0 if it is shared between processes.
    shared: AtomicU32,
    _also_unused: [AtomicU32; 4],
    /// 2 if readers wait for writers, even if they read already.
    flags: AtomicU32,
}

const _: () = assert!(core::mem::offset_of!(RwLockObject, writer) == 24);
const _: () = assert!(core::mem::offset_of!(RwLockObject, shared) == 28);
const _: () = assert!(core::mem::offset_of!(RwLockObject, flags) == 48);

/// The flag of a lock whose readers do not read again, so that they may wait for writers that wait.
const WRITERS_FIRST: u32 = 2;

impl RwLockObject {
    #[inline(always)]
    fn is_shared(&self) -> bool {
        self.shared.load(Relaxed) != 0
    }
    #[inline(always)]
    fn is_writer(&self, tid: u32) -> bool {
        self.writer.load(Relaxed) == tid
    }
    /// The lock if its readers wait for writers that wait: its line is served in order then. A lock keeps its kind,
    /// so no two threads take it in different ways.
    #[inline(always)]
    fn in_order(&self) -> Option<&RawRwLock<Native, Fair>> {
        let address = (&raw const self.raw).cast::<RawRwLock<Native, Fair>>();
        // SAFETY: the same word.
        (self.flags.load(Relaxed) == WRITERS_FIRST).then(|| unsafe { &*address })
    }
    /// The first step of a reader, which waits then. Returns `true` if it reads now. A thread that reads already must
    /// get in if readers hold the lock, even if a writer waits. No thread knows here which one that is, so every thread
    /// does.
    #[inline(always)]
    fn begin_read(&self) -> bool {
        match self.in_order() {
            Some(lock) => lock.take_shared_unreserved(),
            None => self.raw.take_shared_unreserved() || self.read_again(),
        }
    }
    #[cold]
    fn read_again(&self) -> bool {
        self.raw.is_locked() && self.raw.try_lock_shared_again()
    }
    /// An attempt to read, by a thread that does not wait or whose deadline has passed: it fails only if a writer holds
    /// the lock, or waits for one that prefers writers.
    fn try_read(&self) -> bool {
        match self.in_order() {
            Some(lock) => lock.try_lock_shared(),
            None => self.raw.try_lock_shared_again(),
        }
    }
    /// What a reader is told that has not got the lock, usually `error`.
    #[cold]
    fn why_not(&self, error: c_int) -> c_int {
        if self.raw.is_full() { EAGAIN } else { error }
    }
    /// The first step of a writer, which waits then. Returns `true` if it writes now.
    fn begin_write(&self) -> bool {
        self.in_order().map_or_else(|| self.raw.take_unreserved(), RawRwLock::take_unreserved)
    }
    /// An attempt to write, by a thread that does not wait or whose deadline has passed: it fails only if a thread
    /// holds the lock.
    fn try_write(&self) -> bool {
        // In whatever order the others wait: it does not look at them.
        self.raw.try_lock_past_waiters()
    }
}

/// Lets other threads run that want this CPU, and waits for a lock then by `lock`. In a program that has far more
/// threads than CPUs, or that yields in its sections, the owner often has no CPU, and to spin first takes time from it.
fn wait<R>(lock: impl FnOnce() -> R) -> R {
    keep_errno(|| {
        Native::yield_cpu();
        lock()
    })
}

/// Calls glibc's function, after `first`, if the lock is one of glibc's.
macro_rules! or_glibc {
    ($of:ident, $function:ident($($argument:expr),+) $(, $first:expr)?) => {
        if $of.is_shared() {
            $($first;)?
            // SAFETY: the caller's lock and time.
            return unsafe { $function($($argument),+) };
        }
    };
}

/// `pthread_rwlock_rdlock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_rdlock(lock: *mut RwLockObject) -> c_int {
    // SAFETY: the caller's lock.
    let of = unsafe { &*lock };
    or_glibc!(of, lw_glibc_rwlock_rdlock(lock.cast()), count(Used::OfGlibc, None));
    if of.is_writer(tid()) {
        return EDEADLK;
    }
    let lock_shared = || match of.in_order() {
        Some(lock) => lock.lock_shared_unless_full(),
        None => of.raw.lock_shared_unless_full(),
    };
    if !of.begin_read() && !wait(lock_shared) {
        return EAGAIN;
    }
    count(Used::RwLock, Some(&of.seen));
    0
}

/// `pthread_rwlock_tryrdlock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_tryrdlock(lock: *mut RwLockObject) -> c_int {
    // SAFETY: the caller's lock.
    let of = unsafe { &*lock };
    or_glibc!(of, lw_glibc_rwlock_tryrdlock(lock.cast()));
    if of.begin_read() || keep_errno(|| of.try_read()) { 0 } else { of.why_not(EBUSY) }
}

/// `pthread_rwlock_clockrdlock`, and `pthread_rwlock_timedrdlock` with the clock that tells the date.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_timedrdlock(
    lock: *mut RwLockObject,
    clock: clockid_t,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: the caller's lock.
    let of = unsafe { &*lock };
    or_glibc!(of, lw_glibc_rwlock_clockrdlock(lock.cast(), clock, deadline));
    // SAFETY: the caller's time.
    if !is_clock(clock) || unsafe { !is_time(deadline) } {
        return EINVAL;
    }
    if of.is_writer(tid()) {
        return EDEADLK;
    }
    // SAFETY: the caller's time.
    let deadline_ns = unsafe { deadline_ns(clock, deadline) };
    let is_read = of.begin_read()
        || wait(|| match of.in_order() {
            Some(lock) => lock.lock_shared_until(deadline_ns),
            None => of.raw.lock_shared_until(deadline_ns) || of.try_read(),
        });
    if is_read { 0 } else { of.why_not(ETIMEDOUT) }
}

/// `pthread_rwlock_wrlock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_wrlock(lock: *mut RwLockObject) -> c_int {
    // SAFETY: the caller's lock.
    let of = unsafe { &*lock };
    or_glibc!(of, lw_glibc_rwlock_wrlock(lock.cast()), count(Used::OfGlibc, None));
    let tid = tid();
    if of.is_writer(tid) {
        return EDEADLK;
    }
    if !of.begin_write() {
        wait(|| of.in_order().map_or_else(|| of.raw.lock(), RawLock::lock));
    }
    count(Used::RwLock, Some(&of.seen));
    of.writer.store(tid, Relaxed);
    0
}

/// `pthread_rwlock_trywrlock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_trywrlock(lock: *mut RwLockObject) -> c_int {
    // SAFETY: the caller's lock.
    let of = unsafe { &*lock };
    or_glibc!(of, lw_glibc_rwlock_trywrlock(lock.cast()));
    if !of.try_write() {
        return EBUSY;
    }
    of.writer.store(tid(), Relaxed);
    0
}

/// `pthread_rwlock_clockwrlock`, and `pthread_rwlock_timedwrlock` with the clock that tells the date.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_timedwrlock(
    lock: *mut RwLockObject,
    clock: clockid_t,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: the caller's lock.
    let of = unsafe { &*lock };
    or_glibc!(of, lw_glibc_rwlock_clockwrlock(lock.cast(), clock, deadline));
    // SAFETY: the caller's time.
    if !is_clock(clock) || unsafe { !is_time(deadline) } {
        return EINVAL;
    }
    let tid = tid();
    if of.is_writer(tid) {
        return EDEADLK;
    }
    // SAFETY: the caller's time.
    let deadline_ns = unsafe { deadline_ns(clock, deadline) };
    let is_ours = of.begin_write()
        || wait(|| match of.in_order() {
            Some(lock) => lock.lock_until(deadline_ns) || of.try_write(),
            None => of.raw.lock_until(deadline_ns),
        });
    if !is_ours {
        return ETIMEDOUT;
    }
    of.writer.store(tid, Relaxed);
    0
}

/// `pthread_rwlock_unlock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_unlock(lock: *mut RwLockObject) -> c_int {
    // SAFETY: the caller's lock.
    let of = unsafe { &*lock };
    or_glibc!(of, lw_glibc_rwlock_unlock(lock.cast()));
    let is_writer = of.raw.is_owned();
    if is_writer {
        of.writer.store(0, Relaxed);
    }
    // While a thread writes none reads, so the caller is the writer. In a child that was forked meanwhile it has
    // another number.
    match (of.in_order(), is_writer) {
        // SAFETY: the caller is the writer.
        (None, true) => unsafe { of.raw.unlock() },
        // SAFETY: the caller is a reader, or is wrong in a way that glibc does not notice either.
        (None, false) => unsafe { of.raw.unlock_shared() },
        // SAFETY: as above.
        (Some(lock), true) => unsafe { lock.unlock() },
        // SAFETY: as above.
        (Some(lock), false) => unsafe { lock.unlock_shared() },
    }
    0
}
