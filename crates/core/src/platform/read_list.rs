//! The list of the locks that a thread reads, as far as they fit. Only its thread writes it and asks it.
//!
//! A thread that reads a lock may read it again while a writer waits, because the writer waits for it. All other
//! threads that want to read wait behind the writer. So the lock has to know which of the two the caller is.
//!
//! A lock is entered before the thread takes it, or begins to wait for it, and removed after it is released. So a
//! signal handler finds every lock that its thread reads, and perhaps one that the thread is about to read or has just
//! released.
//!
//! Up to [`LISTED_MAX`] locks are listed. A thread that has ever read more at a time says "perhaps" of each lock that
//! it does not find. If a guard is forgotten, its entry stays for ever. In the library for programs in C, another
//! thread may give back a lock that a thread reads, and another copy of the library has a list of its own. So there the
//! list says "perhaps" instead of "no".
//!
//! The list also says how long the thread held a lock for which it had waited. Such a thread had a CPU when the section
//! began. So it is rare that a section looks long because its thread lost its CPU, and such a section is not taken for
//! the usual case.
//!
//! Other threads neither read nor write the list, so its orderings do not matter. A signal handler leaves the list as
//! it has found it, so each step may be interrupted.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};

/// The number of locks that are listed. Programs seldom read more at a time.
pub const LISTED_MAX: usize = 8;

/// The answer to the question if a thread reads a lock already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// It does not.
    No,
    /// It may: it once read more locks than its list has room for.
    Perhaps,
    /// It does, or a guard of it was forgotten.
    Yes,
}

/// A bit of an entry: its section is timed.
const TIMED: u64 = 1;

/// The locks that one thread reads.
#[derive(Debug)]
pub struct ReadList {
    /// The locks, and zeroes in between. The first place is for threads that read one lock at a time.
    places: [AtomicU64; LISTED_MAX],
    /// True if a lock has ever found no place.
    has_overflowed: AtomicBool,
    /// The time at which the timed section of a reader began.
    reads_since_ns: AtomicU64,
    /// The lock whose timed section has ended last, and the length of that section.
    last_read: [AtomicU64; 2],
    /// The lock that the thread, a writer, had to wait for last, and the time at which it got it.
    writes_since_ns: [AtomicU64; 2],
}

impl ReadList {
    /// The list of a thread that reads no lock.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const EMPTY: Self = Self {
        places: [const { AtomicU64::new(0) }; LISTED_MAX],
        has_overflowed: AtomicBool::new(false),
        reads_since_ns: AtomicU64::new(0),
        last_read: [const { AtomicU64::new(0) }; 2],
        writes_since_ns: [const { AtomicU64::new(0) }; 2],
    };

    /// Notes that the thread is about to read `lock`.
    #[inline(always)]
    pub fn enter(&self, lock: u64) {
        // ordering: Relaxed, as all other accesses here; only its thread uses it.
        if !self.exchange_first(0, lock) {
            self.enter_further(lock);
        }
    }
    #[cold]
    #[inline(never)]
    fn enter_further(&self, lock: u64) {
        if !self.exchange(0, lock) {
            // ordering: Relaxed; as above.
            self.has_overflowed.store(true, Relaxed);
        }
    }

    /// Notes that the thread no longer reads `lock`, which it has entered. `now_ns` tells the time.
    #[inline(always)]
    pub fn remove(&self, lock: u64, now_ns: impl FnOnce() -> u64) {
        if !self.exchange_first(lock, 0) {
            self.remove_further(lock, now_ns);
        }
    }
    #[cold]
    #[inline(never)]
    fn remove_further(&self, lock: u64, now_ns: impl FnOnce() -> u64) {
        // If the lock is not there, it found no place.
        if !self.exchange(lock, 0) && self.exchange(lock | TIMED, 0) {
            // ordering: Relaxed; as above.
            let took_ns = now_ns().saturating_sub(self.reads_since_ns.load(Relaxed));
            store_both(&self.last_read, lock, took_ns);
        }
    }

    /// Notes that the thread, which has entered `lock` and has waited for it, reads it from now on.
    pub fn time_read(&self, lock: u64, now_ns: u64) {
        if self.exchange(lock, lock | TIMED) {
            // ordering: Relaxed; as above.
            self.reads_since_ns.store(now_ns, Relaxed);
        }
    }
    /// Notes that the thread has waited for `lock` and owns it from now on.
    pub fn time_write(&self, lock: u64, now_ns: u64) {
        store_both(&self.writes_since_ns, lock, now_ns);
    }
    /// Returns how long the thread read `lock` in its last timed section. It returns this only once.
    pub fn take_last_read_ns(&self, lock: u64) -> Option<u64> {
        let took_ns = value_of(&self.last_read, lock)?;
        store_both(&self.last_read, 0, 0);
        Some(took_ns)
    }
    /// Notes that the thread no longer owns `lock`. Returns how long it owned the lock, if it had waited for it.
    pub fn end_write(&self, lock: u64, now_ns: u64) -> Option<u64> {
        let since_ns = value_of(&self.writes_since_ns, lock)?;
        store_both(&self.writes_since_ns, 0, 0);
        Some(now_ns.saturating_sub(since_ns))
    }

    #[inline(always)]
    fn exchange_first(&self, from: u64, to: u64) -> bool {
        Self::exchange_at(&self.places[0], from, to)
    }
    fn exchange(&self, from: u64, to: u64) -> bool {
        self.places.iter().any(|place| Self::exchange_at(place, from, to))
    }
    #[inline(always)]
    fn exchange_at(place: &AtomicU64, from: u64, to: u64) -> bool {
        // ordering: Relaxed; as above.
        let is_there = place.load(Relaxed) == from;
        if is_there {
            // ordering: Relaxed; as above.
            place.store(to, Relaxed);
        }
        is_there
    }

    /// Says if the thread reads `lock` already. It has entered the lock once more to wait for it.
    pub fn reads_already(&self, lock: u64) -> Reads {
        // ordering: Relaxed; as above.
        let entries =
            self.places.iter().filter(|place| place.load(Relaxed) & !TIMED == lock).count();
        // ordering: Relaxed; as above.
        match self.has_overflowed.load(Relaxed) {
            _ if entries > 1 => Reads::Yes,
            false if !cfg!(lockwright_c) => Reads::No,
            _ => Reads::Perhaps,
        }
    }
}

/// Stores a lock and its time. A signal handler that comes in between leaves a time for another lock, or none.
fn store_both([lock, ns]: &[AtomicU64; 2], of: u64, value: u64) {
    // ordering: Relaxed; only the thread uses them.
    lock.store(of, Relaxed);
    // ordering: Relaxed; as above.
    ns.store(value, Relaxed);
}
fn value_of([lock, ns]: &[AtomicU64; 2], of: u64) -> Option<u64> {
    // ordering: Relaxed; only the thread uses them.
    (lock.load(Relaxed) == of).then(|| ns.load(Relaxed))
}

impl Default for ReadList {
    fn default() -> Self {
        Self::EMPTY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_entered_twice_is_read_already_until_one_entry_is_removed() {
        let list = ReadList::EMPTY;
        list.enter(4);
        list.enter(8);
        assert_eq!(list.reads_already(4), Reads::No);
        list.enter(4);
        assert_eq!((list.reads_already(4), list.reads_already(8)), (Reads::Yes, Reads::No));
        list.remove(8, || 0);
        assert_eq!(list.reads_already(4), Reads::Yes);
        list.remove(4, || 0);
        assert_eq!(list.reads_already(4), Reads::No);
    }

    #[test]
    fn a_thread_that_has_read_more_than_there_is_room_for_says_perhaps() {
        let list = ReadList::EMPTY;
        let locks = || (1..=LISTED_MAX as u64 + 1).map(|lock| lock * 4);
        locks().for_each(|lock| list.enter(lock));
        assert_eq!(list.reads_already(400), Reads::Perhaps);
        list.enter(4);
        assert_eq!(list.reads_already(4), Reads::Perhaps, "its own entry had no room");
        list.remove(4, || 0);
        locks().for_each(|lock| list.remove(lock, || 0));
        list.enter(4);
        assert_eq!(list.reads_already(4), Reads::Perhaps, "another thread may have removed one");
        list.enter(4);
        assert_eq!(list.reads_already(4), Reads::Yes);
    }

    #[test]
    fn a_section_after_a_wait_is_timed() {
        let list = ReadList::EMPTY;
        list.enter(8);
        list.enter(4);
        list.time_read(4, 10);
        list.enter(4);
        assert_eq!(list.reads_already(4), Reads::Yes);
        list.remove(4, || unreachable!("that entry is not timed"));
        list.remove(4, || 25);
        assert_eq!((list.take_last_read_ns(8), list.take_last_read_ns(4)), (None, Some(15)));
        assert_eq!(list.take_last_read_ns(4), None);
        list.time_write(8, 100);
        assert_eq!(list.end_write(4, 130), None);
        assert_eq!((list.end_write(8, 130), list.end_write(8, 140)), (Some(30), None));
    }

    #[test]
    fn a_lock_that_was_never_entered_changes_nothing() {
        let list = ReadList::EMPTY;
        list.enter(4);
        list.remove(8, || 0);
        list.enter(4);
        assert_eq!(list.reads_already(4), Reads::Yes);
    }
}
