//! The locks that a thread reads, as far as they fit: its thread writes it, and asks.
//!
//! A thread that reads a lock may read it again while a writer waits, because the writer waits for it. All others that
//! want to read wait behind the writer. So the lock has to know which of the two the caller is.
//!
//! A lock is entered before the thread takes it, or begins to wait for it, and removed after it is released. So a
//! signal handler finds every lock that its thread reads, and perhaps one that the thread is about to read or has just
//! released.
//!
//! Up to [`LISTED_MAX`] locks are listed. A thread that has ever read more at a time says "perhaps" of each lock that it
//! does not find. The entry of a guard that is forgotten, or that another thread drops, stays for ever.
//!
//! Other threads neither read nor write the list, so no ordering says anything of it. A signal handler leaves it as it
//! has found it, so each step may be interrupted.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};

/// How many locks are listed. Programs seldom read more at a time.
pub const LISTED_MAX: usize = 8;

/// If a thread reads a lock already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// It does not.
    No,
    /// It may: once it read more locks than its list has room for.
    Perhaps,
    /// It does, or a guard of it was forgotten.
    Yes,
}

/// The locks that one thread reads.
#[derive(Debug)]
pub struct ReadList {
    /// Locks, and zeroes in between. The first place is for threads that read one lock at a time.
    places: [AtomicU64; LISTED_MAX],
    /// A lock has found no place.
    has_overflowed: AtomicBool,
}

impl ReadList {
    /// That of a thread that reads none.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const EMPTY: Self = Self {
        places: [const { AtomicU64::new(0) }; LISTED_MAX],
        has_overflowed: AtomicBool::new(false),
    };

    /// The thread is about to read `lock`.
    #[inline(always)]
    pub(crate) fn enter(&self, lock: u64) {
        // ordering: Relaxed, as all others here; only its thread uses it.
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

    /// The thread no longer reads `lock`, which it has entered.
    #[inline(always)]
    pub(crate) fn remove(&self, lock: u64) {
        if !self.exchange_first(lock, 0) {
            self.remove_further(lock);
        }
    }
    #[cold]
    #[inline(never)]
    fn remove_further(&self, lock: u64) {
        // It may have found no place.
        self.exchange(lock, 0);
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

    /// If the thread reads `lock`, which it has entered once more to wait for it.
    pub(crate) fn reads_already(&self, lock: u64) -> Reads {
        // ordering: Relaxed; as above.
        let entries = self.places.iter().filter(|place| place.load(Relaxed) == lock).count();
        // ordering: Relaxed; as above.
        match self.has_overflowed.load(Relaxed) {
            _ if entries > 1 => Reads::Yes,
            false => Reads::No,
            true => Reads::Perhaps,
        }
    }
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
        list.remove(8);
        assert_eq!(list.reads_already(4), Reads::Yes);
        list.remove(4);
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
        list.remove(4);
        locks().for_each(|lock| list.remove(lock));
        list.enter(4);
        assert_eq!(list.reads_already(4), Reads::Perhaps, "another thread may have removed one");
        list.enter(4);
        assert_eq!(list.reads_already(4), Reads::Yes);
    }

    #[test]
    fn a_lock_that_was_never_entered_changes_nothing() {
        let list = ReadList::EMPTY;
        list.enter(4);
        list.remove(8);
        list.enter(4);
        assert_eq!(list.reads_already(4), Reads::Yes);
    }
}
