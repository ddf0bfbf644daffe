//! The fork epoch, which tells this process's life from those of its parents.
//!
//! A forked child inherits lock words whose queues name threads that do not exist in it. At the slow path it has to
//! know that a fork happened, no matter how the fork was made. So the kernel is asked to wipe a page of memory in
//! children (`MADV_WIPEONFORK`, Linux 4.14). The first slow path in a child finds the mark gone, counts one *epoch*,
//! and sets the mark again. If the kernel has no such advice, the process number is compared instead, which costs a
//! system call per slow path. That does not notice a child which has the number of its parent, as is possible in
//! another process number space.
//!
//! The page has to be there at the fork. So a thread asks for the epoch before it writes anything that a child would
//! have to forget. README.md lists these values. If the first question comes in the child, the child looks like its
//! parent.
//!
//! The mark holds the epoch plus one, so no thread ever waits for the thread that counts: a thread that finds a mark
//! ahead of the epoch brings the epoch up to it.
//!
//! Three cases are not covered: emulators of user programs that accept the advice and ignore it; a child that a signal
//! handler makes with `fork` after it interrupted a lock operation of its thread, which POSIX.1-2024 does not allow;
//! and a `vfork` child that takes locks in its parent's memory.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | F1 | `compare_exchange` of `MARK` in `start`, Release | `MARK.load` in `epoch`, Acquire; the same `compare_exchange` if it fails, Acquire | the page, and the mark in it |
//!
//! Nothing else is ordered. `EPOCH` and `BY_PID` carry their own value only. In one process the mark changes at most
//! once, from wiped to set, by a compare-exchange. A thread that reads an old mark or an old epoch finds them different
//! and comes to that compare-exchange, which shows it the number that all threads use. That number is one above the
//! epoch that the fork copied, which is the oldest that any thread of the child can read. Between a parent and its
//! child no ordering means anything: the child has the memory as the fork copied it.

use super::per_process::{per_process, table_per_process};
use super::syscall::page_wiped_on_fork;
use core::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

per_process! {
    /// The number of times that this process was forked since its first ancestor asked.
    static EPOCH at "epoch": AtomicU32 = AtomicU32::new(0)
}
per_process! {
    /// The word that children lose. It is [`NO_PAGE`] if there is no such word, and null before the first question.
    static MARK at "fork_mark": AtomicPtr<AtomicU32> = AtomicPtr::new(core::ptr::null_mut())
}
table_per_process! {
    /// A word whose address says that there is no page.
    const NO_PAGE at "no_fork_mark": [AtomicU32; 1] = AtomicU32::new(0)
}
per_process! {
    /// The word that is used without a page: the epoch in the upper half, the process number in the lower half.
    static BY_PID at "epoch_of_process": AtomicU64 = AtomicU64::new(0)
}

const WIPED: u32 = 0;

/// Returns the number of times that this process was forked since its first ancestor asked.
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

/// Counts the fork that wiped `mark`, or follows a thread that has. All threads of a child come to one epoch. It is one
/// above the parent's, so no thread can have seen it in the mark before.
#[cold]
fn catch_up(mark: &AtomicU32) -> u32 {
    // ordering: Relaxed; only a hint: it is used while the mark is wiped, and no thread raises it before.
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

/// Returns the epoch by the process number. One word has both numbers, so that no thread sees a new process number with
/// an old epoch.
#[cold]
fn epoch_by_pid() -> u32 {
    let pid = u64::from(std::process::id());
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

/// Returns a page that is wiped in children and holds the mark, or `None` if there can be no such page.
fn wiped_page() -> Option<*mut AtomicU32> {
    let mark = page_wiped_on_fork()?.cast::<AtomicU32>();
    // ordering: Relaxed; published by F1. The load Relaxed; no thread counts before there is a mark.
    // SAFETY: mapped, writable and page-aligned.
    unsafe { &*mark }.store(EPOCH.load(Relaxed).wrapping_add(1), Relaxed);
    Some(mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Under Miri this is also a search for a page that is used before it is ready.
    #[test]
    fn threads_that_ask_first_at_the_same_time_see_no_fork() {
        let asked = [(); 2].map(|()| thread::spawn(epoch));
        assert_eq!(asked.map(|thread| thread.join().expect("no panic")), [0; 2]);
    }
}
