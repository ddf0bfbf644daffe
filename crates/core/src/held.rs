//! The table of spinlocks that a thread holds: its thread writes it, and threads that wait look for deadlocks in it.
//!
//! A count and 31 entries. The topmost entry is the lock that the thread waits for or has taken last.
//!
//! ```text
//!  entry   63      62             48 47                0
//!         +-------+-----------------+-------------------+
//!         | waits |        0        | name of the lock  |     0: none
//!         +-------+-----------------+-------------------+
//! ```
//!
//! | entry | means | moved by its thread |
//! |---|---|---|
//! | at or above the count | nothing | `push` |
//! | 0, below the count | nothing: the thread is about to write it, or it was released out of order in a full table | `push`, `remove` |
//! | waits | the thread waits for the lock | `taken`, or `gave_up` |
//! | name | the thread holds the lock; where entries cover the lock (below), or it is about to take it or has just released it | `remove`, `waits_for_last`, `pop` |
//!
//! From the 32nd lock on only the count goes up. A thread that holds 32 takes no part in the search for deadlocks.
//!
//! *Signal handlers.* The count goes up before the entry is written, and down after it is cleared. So a handler that
//! interrupts either uses the entry above, and clears it again.
//!
//! *Other threads.* A reader that finds nothing, or too little, concludes nothing. As for too much, there are two kinds
//! of locks (`EntrySpan` of the resilient spinlock):
//!
//! - As in Linux 6.15, an entry is cleared before its lock is released. So the next owner of a lock does not find it in
//!   the table of the last one. A handler of the thread may miss the entry of a lock that the thread holds.
//! - In programs entries cover the lock: one is made before the lock is taken and removed after it is released. So a
//!   handler finds every lock that its thread holds, and perhaps one that the thread is about to take or has just
//!   released. And others take a thread for one that waits only if its topmost entry says so.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | H1 | `store` of an entry in `push` and in `waits_for_last`, Release | the topmost entry in `top`, Acquire | the entries below it, as they are while the thread waits |

use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Zeroed};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// How many locks the table has room for.
pub const HELD_MAX: usize = 31;
/// In an entry: its thread waits for the lock.
const WAITS: u64 = 1 << 63;

/// Which spinlocks one thread holds.
#[repr(C, align(128))]
pub struct HeldTable<P: Cells> {
    count: P::U64,
    entries: [P::U64; HELD_MAX],
}

impl<P: Cells> HeldTable<P> {
    /// That of a thread that holds none.
    pub fn new() -> Self {
        let entries = core::array::from_fn(|_| Zeroed::zeroed());
        Self { count: Zeroed::zeroed(), entries }
    }
    /// The thread begins to wait for the lock of this name.
    pub fn push_wait(&self, name: u64) {
        self.push(name | WAITS);
    }
    /// The thread has taken the lock of this name without a wait.
    #[inline]
    pub fn push_taken(&self, name: u64) {
        self.push(name);
    }
    /// The thread has not got the lock of this name, which it pushed last.
    #[inline]
    pub fn pop(&self, name: u64) {
        // ordering: Relaxed; only its thread writes it.
        if !self.clear_last(name) && self.count.load(Relaxed) > HELD_MAX as u64 {
            self.count_one_less();
        }
    }
    /// The thread has given up to wait for the lock of this name, which it pushed last. It may hold it: its name may be
    /// below, too, if there was no room.
    pub fn gave_up(&self, name: u64) {
        self.pop(name | WAITS);
    }
    /// The thread begins to wait for the lock of this name, which it pushed last.
    pub fn waits_for_last(&self, name: u64) {
        if let Some(place) = self.last_if(name) {
            // ordering: Release; H1.
            place.store(name | WAITS, Release);
        }
    }
    /// The topmost entry, for its thread, if it has the name `name`.
    #[inline]
    fn last_if(&self, name: u64) -> Option<&P::U64> {
        // ordering: Relaxed; only its thread, the caller, writes it.
        let count = self.count.load(Relaxed) as usize;
        // ordering: Relaxed; as above.
        self.entries.get(count.wrapping_sub(1)).filter(|place| place.load(Relaxed) == name)
    }
    #[inline]
    fn push(&self, entry: u64) {
        // ordering: Relaxed; only its thread writes it.
        let count = self.count.load(Relaxed);
        // ordering: Relaxed; nothing is read through it: what counts is the entry.
        self.count.store(count + 1, Relaxed);
        if let Some(place) = self.entries.get(count as usize) {
            // ordering: Release; H1.
            place.store(entry, Release);
        }
    }
    /// The thread has taken the lock of this name, for which it has waited.
    pub fn taken(&self, name: u64) {
        if let Some(place) = self.entry_of(name) {
            // ordering: Relaxed; it names the same lock.
            place.store(name, Relaxed);
        }
    }
    /// The thread is about to release the lock of this name or has just released it.
    #[inline]
    pub fn remove(&self, name: u64) {
        if !self.clear_last(name) {
            self.remove_below(name);
        }
    }
    /// Removes the topmost entry, for its thread, if it is this one.
    #[inline]
    fn clear_last(&self, entry: u64) -> bool {
        let Some(place) = self.last_if(entry) else { return false };
        // ordering: Relaxed; the release of the lock comes after it. Or its thread does not wait, and others conclude
        // nothing from what they find.
        place.store(0, Relaxed);
        self.count_one_less();
        true
    }
    fn count_one_less(&self) {
        // ordering: Relaxed; only its thread writes it, and it is a hint for others.
        self.count.store(self.count.load(Relaxed) - 1, Relaxed);
    }
    /// As `remove`, of a name that is not the topmost entry.
    #[cold]
    fn remove_below(&self, name: u64) {
        // ordering: Relaxed; only its thread writes it.
        let count = self.count.load(Relaxed);
        match self.entry_of(name).or_else(|| self.last_hole().filter(|_| count <= HELD_MAX as u64))
        {
            Some(place) => self.clear_entry(place, count),
            None if count <= HELD_MAX as u64 => return,
            None => {}
        }
        self.count_one_less();
    }
    /// The topmost entry without a name, for its thread. There is one if a lock counts that found no room, and another
    /// one was released first.
    fn last_hole(&self) -> Option<&P::U64> {
        // ordering: Relaxed; only its thread, the caller, writes them.
        self.counted().iter().rev().find(|place| place.load(Relaxed) == 0)
    }
    /// Clears an entry of `count`. If it is not the topmost one, that one takes its place.
    fn clear_entry(&self, place: &P::U64, count: u64) {
        let mut cleared = place;
        match self.entries.get((count as usize).wrapping_sub(1)) {
            Some(top) if !core::ptr::eq(top, place) => {
                // ordering: Relaxed; only its thread writes it. And nothing is read through what it stores: the thread
                // waits for no lock now.
                place.store(top.load(Relaxed), Relaxed);
                cleared = top;
            }
            _ => {}
        }
        // ordering: Relaxed; the release of the lock comes after it. Or its thread does not wait, and others conclude
        // nothing from what they find.
        cleared.store(0, Relaxed);
    }
    /// The thread has ended, and another one begins with the table.
    pub fn clear(&self) {
        // ordering: Relaxed; only a hint for others.
        self.count.store(0, Relaxed);
        for place in &self.entries {
            // ordering: Relaxed; only a hint for others.
            place.store(0, Relaxed);
        }
    }

    /// The topmost entry with the name `name`, for its thread.
    fn entry_of(&self, name: u64) -> Option<&P::U64> {
        // ordering: Relaxed; only its thread, the caller, writes them.
        let is_of = |place: &&P::U64| place.load(Relaxed) & !WAITS == name;
        self.counted().iter().rev().find(is_of)
    }
    /// The entries that count.
    fn counted(&self) -> &[P::U64] {
        // ordering: Relaxed; a reader that finds too few concludes nothing.
        let count = self.count.load(Relaxed) as usize;
        self.entries.get(..count.min(HELD_MAX)).unwrap_or_default()
    }
    /// Returns `true` if the lock of this name is below the topmost entry: the thread holds it, and waits for another
    /// one or has taken another one since.
    pub fn holds_below_top(&self, name: u64) -> bool {
        let below = self.counted().split_last().map_or(&[][..], |(_, below)| below);
        // ordering: Relaxed; ordered by H1.
        below.iter().any(|place| place.load(Relaxed) & !WAITS == name)
    }
    /// The name in the topmost entry, of a thread that holds 2 to 31 locks, with the one that it waits for. Nothing if
    /// the entry `has_to_wait` and does not.
    pub fn top(&self, has_to_wait: bool) -> Option<u64> {
        // ordering: Relaxed; a reader that finds too few concludes nothing.
        let count = self.count.load(Relaxed) as usize;
        let place = self.entries.get(count.wrapping_sub(1)).filter(|_| count >= 2)?;
        // ordering: Acquire; H1.
        let entry = place.load(Acquire);
        let top = entry & !WAITS;
        (top != 0 && (entry & WAITS != 0 || !has_to_wait)).then_some(top)
    }
    /// Returns `true` if the thread seems to hold the lock of this name. For messages.
    pub fn seems_to_hold(&self, name: u64) -> bool {
        // ordering: Relaxed; only a hint.
        self.counted().iter().any(|place| place.load(Relaxed) == name)
    }
    /// The name of the lock for which the thread seems to wait. For messages.
    pub fn seems_to_wait_for(&self) -> Option<u64> {
        // ordering: Relaxed; only a hint.
        let top = self.counted().last()?.load(Relaxed);
        (top & WAITS != 0).then_some(top & !WAITS)
    }
    /// How many locks the thread holds or waits for.
    pub fn count(&self) -> u64 {
        // ordering: Relaxed; only a hint for other threads.
        self.count.load(Relaxed)
    }
}

impl<P: Cells> Default for HeldTable<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: ConstCells> HeldTable<P> {
    /// That of a thread that holds none, in a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const EMPTY: Self =
        Self { count: ConstZeroed::ZEROED, entries: [ConstZeroed::ZEROED; HELD_MAX] };
}
