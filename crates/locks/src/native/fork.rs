//! Telling this process's life from its parents'.
//!
//! A forked child inherits lock words whose queues name threads that do not exist in it. It has to
//! know, at the slow path, that a fork happened; and it has to know it however the fork was made.
//! So a page of memory is asked to be wiped in children (`MADV_WIPEONFORK`, Linux 4.14): the first
//! slow path in a child finds the mark gone, counts one *epoch*, and sets it again. Where the
//! kernel has no such advice, the process number is compared instead, at the price of a system call
//! per slow path; that misses a child which has the number of its parent, as is possible in another
//! process number space.
//!
//! The mark holds the epoch plus one, so nobody ever waits for the thread that counts: whoever
//! finds a mark ahead of the epoch brings the epoch up to it.
//!
//! Not covered: emulators of user programs that accept the advice and ignore it; a child made with
//! `fork` from a signal handler that interrupted a lock operation of the same thread, which
//! POSIX.1-2024 does not allow; a `vfork` child that takes locks in its parent's memory.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | F1 | `compare_exchange` of `MARK` in `start`, Release half | `MARK` loads, Acquire | the page, and what it holds |
//! | F2 | `fetch_max` of `EPOCH` and `compare_exchange` of the mark in `catch_up` | their loads, Acquire | that the other one is not older |
//! | F3 | `compare_exchange` of `BY_PID`, Release half | its load, Acquire | nothing but itself |

use core::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// How often this process was forked since its first ancestor asked.
static EPOCH: AtomicU32 = AtomicU32::new(0);
/// The word that children lose; [`NO_PAGE`] where that cannot be had; null before the first
/// question.
static MARK: AtomicPtr<AtomicU32> = AtomicPtr::new(core::ptr::null_mut());
/// Its address says that there is no page.
static NO_PAGE: AtomicU32 = AtomicU32::new(0);
/// Without a page: the epoch in the upper half, the process number in the lower.
static BY_PID: AtomicU64 = AtomicU64::new(0);

const WIPED: u32 = 0;

/// How often this process was forked since its first ancestor asked.
#[inline]
pub(super) fn epoch() -> u32 {
    if cfg!(miri) {
        return 0;
    }
    // ordering: Acquire; F1.
    let mut mark = MARK.load(Acquire);
    if mark.is_null() {
        mark = start();
    }
    if core::ptr::eq(mark, &NO_PAGE) {
        return epoch_by_pid();
    }
    // SAFETY: points to a page that is never unmapped.
    let mark = unsafe { &*mark };
    // ordering: Acquire; F2.
    let epoch = EPOCH.load(Acquire);
    // ordering: Acquire; F2.
    match mark.load(Acquire) {
        set if set == epoch.wrapping_add(1) => epoch,
        _ => catch_up(mark),
    }
}

/// Counts the fork that wiped `mark`, or follows a thread that has. All threads of a child come to
/// the same epoch: one above the parent's, which none of them can have seen yet in the mark.
#[cold]
fn catch_up(mark: &AtomicU32) -> u32 {
    // ordering: Acquire; F2.
    let counted = EPOCH.load(Acquire).wrapping_add(2);
    // ordering: AcqRel; F2 both ways.
    let set = match mark.compare_exchange(WIPED, counted, AcqRel, Acquire) {
        Ok(_) => counted,
        Err(set) => set,
    };
    // ordering: AcqRel; F2 both ways.
    EPOCH.fetch_max(set - 1, AcqRel);
    set - 1
}

/// One word for both numbers, so that no thread sees a new process number with an old epoch.
#[cold]
fn epoch_by_pid() -> u32 {
    let pid = u64::from(rustix::process::getpid().as_raw_nonzero().get() as u32);
    // ordering: Acquire; F3.
    let mut seen = BY_PID.load(Acquire);
    loop {
        if seen & u64::from(u32::MAX) == pid {
            return (seen >> 32) as u32;
        }
        let epoch = if seen == 0 { 0 } else { (seen >> 32) + 1 };
        // ordering: AcqRel; F3 both ways.
        match BY_PID.compare_exchange(seen, epoch << 32 | pid, AcqRel, Acquire) {
            Ok(_) => return epoch as u32,
            Err(now) => seen = now,
        }
    }
}

/// Makes the mark. Threads that come first at the same time make one each and keep one.
#[cold]
fn start() -> *mut AtomicU32 {
    let mark = wiped_page().unwrap_or_else(|| {
        epoch_by_pid();
        (&raw const NO_PAGE).cast_mut()
    });
    // ordering: AcqRel; F1 both ways.
    match MARK.compare_exchange(core::ptr::null_mut(), mark, AcqRel, Acquire) {
        Ok(_) => mark,
        Err(first) => first,
    }
}

/// A page that is wiped in children, holding the mark; `None` where that cannot be had.
fn wiped_page() -> Option<*mut AtomicU32> {
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
    const LENGTH: usize = 4096;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new private mapping overlaps nothing.
    let page = unsafe {
        mmap_anonymous(core::ptr::null_mut(), LENGTH, protection, MapFlags::PRIVATE).ok()?
    };
    // SAFETY: the mapping just made, and nothing depends on its contents yet.
    if unsafe { madvise(page, LENGTH, Advice::LinuxWipeOnFork) }.is_err() {
        // SAFETY: the mapping just made, known to nobody else.
        let _ = unsafe { munmap(page, LENGTH) };
        return None;
    }
    let mark = page.cast::<AtomicU32>();
    // ordering: Release; published by F1. The load Relaxed; nobody counts before there is a mark.
    // SAFETY: mapped, writable and page-aligned.
    unsafe { &*mark }.store(EPOCH.load(Relaxed).wrapping_add(1), Release);
    Some(mark)
}
