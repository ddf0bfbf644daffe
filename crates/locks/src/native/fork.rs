//! Telling this process's life from its parents'.
//!
//! A forked child inherits lock words whose queues name threads that do not exist in it. It has to
//! know, at the slow path, that a fork happened; and it has to know it however the fork was made.
//! So a page of memory is asked to be wiped in children (`MADV_WIPEONFORK`, Linux 4.14): the first
//! slow path in a child finds the mark gone, counts one *epoch*, and sets it again. Where the
//! kernel has no such advice, the process number is compared instead, at the price of a system call
//! per slow path.
//!
//! Not covered: emulators of user programs that accept the advice and ignore it; and a child made with `fork` from a signal handler that interrupted a lock operation of
//! the same thread, which POSIX.1-2024 does not allow.

use core::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

static EPOCH: AtomicU32 = AtomicU32::new(0);
/// The page that children lose; or `BY_PID`; null before the first question.
static MARK: AtomicPtr<AtomicU32> = AtomicPtr::new(core::ptr::null_mut());
/// What `MARK` points to when there is no such page: holds the process number.
static BY_PID: AtomicU32 = AtomicU32::new(0);

const WIPED: u32 = 0;
const SET: u32 = 1;
const COUNTING: u32 = 2;

/// How often this process was forked since its first ancestor asked.
#[inline]
pub(super) fn epoch() -> u32 {
    if cfg!(miri) {
        return 0;
    }
    let mark = MARK.load(Acquire);
    if mark.is_null() {
        return start();
    }
    // SAFETY: points to a page that is never unmapped, or to a static.
    let mark = unsafe { &*mark };
    if core::ptr::eq(mark, &BY_PID) {
        return epoch_by_pid();
    }
    if mark.load(Acquire) != SET {
        count_fork(mark);
    }
    EPOCH.load(Relaxed)
}

/// Counts the fork that wiped `mark`; all threads of the child agree on one count.
#[cold]
fn count_fork(mark: &AtomicU32) {
    if mark.compare_exchange(WIPED, COUNTING, AcqRel, Acquire).is_ok() {
        EPOCH.fetch_add(1, Relaxed);
        mark.store(SET, Release);
    }
    while mark.load(Acquire) == COUNTING {
        core::hint::spin_loop();
    }
}

#[cold]
fn epoch_by_pid() -> u32 {
    let pid = rustix::process::getpid().as_raw_nonzero().get() as u32;
    let seen = BY_PID.load(Acquire);
    if seen != pid && BY_PID.compare_exchange(seen, pid, AcqRel, Acquire).is_ok() {
        EPOCH.fetch_add(1, Relaxed);
    }
    EPOCH.load(Relaxed)
}

/// Makes the mark. Threads that come first at the same time make one each and keep one.
#[cold]
fn start() -> u32 {
    let mark = wiped_page().unwrap_or_else(|| {
        let pid = rustix::process::getpid().as_raw_nonzero().get() as u32;
        let _ = BY_PID.compare_exchange(0, pid, AcqRel, Acquire);
        (&raw const BY_PID).cast_mut()
    });
    let _ = MARK.compare_exchange(core::ptr::null_mut(), mark, AcqRel, Acquire);
    EPOCH.load(Relaxed)
}

/// A page that is wiped in children, holding the mark; `None` where that cannot be had.
fn wiped_page() -> Option<*mut AtomicU32> {
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
    const LENGTH: usize = 4096;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new private mapping overlaps nothing.
    let page = unsafe {
        mmap_anonymous(core::ptr::null_mut(), LENGTH, protection, MapFlags::PRIVATE).ok()?
    };
    // SAFETY: the mapping just made, and nothing depends on its contents yet.
    unsafe { madvise(page, LENGTH, Advice::LinuxWipeOnFork).ok()? };
    let mark = page.cast::<AtomicU32>();
    // SAFETY: mapped, writable and page-aligned.
    unsafe { &*mark }.store(SET, Release);
    Some(mark)
}
