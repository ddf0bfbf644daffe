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
//! The page has to be there at the fork. So a thread asks for the epoch before it writes anything that a child would
//! have to forget: README.md says what that is. If the first question comes in the child, it cannot be told from its
//! parent.
//!
//! The mark holds the epoch plus one, so nobody ever waits for the thread that counts: a thread that
//! finds a mark ahead of the epoch brings the epoch up to it.
//!
//! Not covered: emulators of user programs that accept the advice and ignore it; a child made with
//! `fork` from a signal handler that interrupted a lock operation of the same thread, which
//! POSIX.1-2024 does not allow; a `vfork` child that takes locks in its parent's memory.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | F1 | `compare_exchange` of `MARK` in `start`, Release | `MARK.load` in `epoch`, Acquire; the same `compare_exchange` if it fails, Acquire | the page, and the mark in it |
//!
//! Nothing else is ordered. `EPOCH` and `BY_PID` carry their own value only. In one process the mark
//! changes at most once, from wiped to set, by a compare-exchange: a thread that reads an old mark or
//! an old epoch finds them different and comes to that compare-exchange, which shows it the number
//! that everybody uses. That number is one above the epoch that the fork copied, which is the oldest
//! that any thread of the child can read. Between a parent and its child no ordering means anything:
//! the child has the memory as the fork copied it.

use super::per_process::{per_process, table_per_process};
use core::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

per_process! {
    /// How often this process was forked since its first ancestor asked.
    static EPOCH at "epoch": AtomicU32 = AtomicU32::new(0)
}
per_process! {
    /// The word that children lose; [`NO_PAGE`] where that cannot be had; null before the first
    /// question.
    static MARK at "fork_mark": AtomicPtr<AtomicU32> = AtomicPtr::new(core::ptr::null_mut())
}
table_per_process! {
    /// Its address says that there is no page.
    const NO_PAGE at "no_fork_mark": [AtomicU32; 1] = AtomicU32::new(0)
}
per_process! {
    /// Without a page: the epoch in the upper half, the process number in the lower.
    static BY_PID at "epoch_of_process": AtomicU64 = AtomicU64::new(0)
}

const WIPED: u32 = 0;

/// How often this process was forked since its first ancestor asked.
#[inline]
pub(super) fn epoch() -> u32 {
    // ordering: Acquire; F1.
    let mut mark = MARK.load(Acquire);
    if mark.is_null() {
        mark = start();
    }
    if core::ptr::eq(mark, NO_PAGE.at(0)) {
        return epoch_by_pid();
    }
    // SAFETY: points to a page that is never unmapped.
    let mark = unsafe { &*mark };
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange in `catch_up`.
    let epoch = EPOCH.load(Relaxed);
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange in `catch_up`.
    match mark.load(Relaxed) {
        set if set == epoch.wrapping_add(1) => epoch,
        _ => catch_up(mark),
    }
}

/// Counts the fork that wiped `mark`, or follows a thread that has. All threads of a child come to
/// the same epoch: one above the parent's, which none of them can have seen yet in the mark.
#[cold]
fn catch_up(mark: &AtomicU32) -> u32 {
    // ordering: Relaxed; only a hint: it is used while the mark is wiped, and nobody raises it before.
    let counted = EPOCH.load(Relaxed).wrapping_add(2);
    // ordering: Relaxed; nothing is read through it.
    let set = match mark.compare_exchange(WIPED, counted, Relaxed, Relaxed) {
        Ok(_) => counted,
        Err(set) => set,
    };
    // ordering: Relaxed; nothing is read through it.
    EPOCH.fetch_max(set - 1, Relaxed);
    set - 1
}

/// One word for both numbers, so that no thread sees a new process number with an old epoch.
#[cold]
fn epoch_by_pid() -> u32 {
    let pid = u64::from(rustix::process::getpid().as_raw_nonzero().get() as u32);
    // ordering: Relaxed; nothing is read through it: a word with our number holds our epoch, and any
    // other is re-checked at the compare-exchange.
    let mut seen = BY_PID.load(Relaxed);
    loop {
        if seen & u64::from(u32::MAX) == pid {
            return (seen >> 32) as u32;
        }
        let epoch = if seen == 0 { 0 } else { (seen >> 32) + 1 };
        // ordering: Relaxed; nothing is read through it.
        match BY_PID.compare_exchange(seen, epoch << 32 | pid, Relaxed, Relaxed) {
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
        core::ptr::from_ref(NO_PAGE.at(0)).cast_mut()
    });
    // ordering: Release; F1. On failure Acquire; F1, the page is another thread's.
    match MARK.compare_exchange(core::ptr::null_mut(), mark, Release, Acquire) {
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
    let advise = || unsafe { madvise(page, LENGTH, Advice::LinuxWipeOnFork) };
    // Miri has neither the advice nor forks.
    if !cfg!(miri) && advise().is_err() {
        // SAFETY: the mapping just made, known to nobody else.
        let _ = unsafe { munmap(page, LENGTH) };
        return None;
    }
    let mark = page.cast::<AtomicU32>();
    // ordering: Relaxed; published by F1. The load Relaxed; nobody counts before there is a mark.
    // SAFETY: mapped, writable and page-aligned.
    unsafe { &*mark }.store(EPOCH.load(Relaxed).wrapping_add(1), Relaxed);
    Some(mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Under Miri also a search for a page that is used before it is ready.
    #[test]
    fn threads_that_ask_first_at_the_same_time_see_no_fork() {
        let asked = [(); 2].map(|()| thread::spawn(epoch));
        assert_eq!(asked.map(|thread| thread.join().expect("no panic")), [0; 2]);
    }
}
