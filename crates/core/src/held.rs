//! The table of spinlocks that a thread holds. Its thread writes it, and threads that wait look for deadlocks in it.
//!
//! It has a count and 31 entries. The topmost entry is the lock that the thread waits for or has taken last.
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
//! | 0, below the count | nothing: the thread is about to write it, releases the lock, or has released it out of order in a full table | `push`, `count_one_less`, `remove` |
//! | waits | the thread waits for the lock | `taken`, or `pop` |
//! | name | the thread holds the lock, or waits for it without saying so; where entries cover the lock (see below), it may also be about to take it or have just released it | `remove`, `clear_last`, `waits_for_last`, `pop` |
//!
//! From the 32nd lock on only the count goes up. A thread that holds 32 takes no part in the search for deadlocks.
//!
//! *Signal handlers.* The count goes up before the entry is written, and down after it is cleared. So a handler that
//! interrupts one of these steps uses the entry above, and clears it again.
//!
//! *Other threads.* A reader that finds nothing, or too little, concludes nothing. It might also find an entry for a
//! lock that the thread does not hold. Here there are three kinds of locks (`Form` of the resilient spinlock):
//!
//! - As in Linux 6.15, an entry is cleared before its lock is released. So the next owner of a lock does not find it in
//!   the table of the last owner. A handler of the thread may miss the entry of a lock that the thread holds.
//! - As in Linux 6.19, entries cover the lock: one is made before the lock is taken and removed after it is released.
//!   So a handler finds every lock that its thread holds, and perhaps one that the thread is about to take or has just
//!   released. The next owner may find its lock in the table of the last owner, too.
//! - In programs entries cover the lock, and other threads believe that a thread waits only if its topmost entry says
//!   so.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | H1 | `store` of an entry in `push` and in `waits_for_last`, Release | the topmost entry in `top`, Acquire | the entries below it, as they are while the thread waits |

use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Zeroed};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The number of locks that the table has room for.
pub(crate) const HELD_MAX: usize = 31;
/// A bit of an entry: its thread waits for the lock.
const WAITS: u64 = 1 << 63;

/// The spinlocks that one thread holds.
#[repr(C, align(128))]
pub struct HeldTable<P: Cells> {
    count: P::U64,
    entries: [P::U64; HELD_MAX],
}

impl<P: Cells> HeldTable<P> {
    /// Returns the table of a thread that holds no lock.
    pub fn new() -> Self {
        let entries = core::array::from_fn(|_| Zeroed::zeroed());
        Self { count: Zeroed::zeroed(), entries }
    }
    /// Notes that the thread has not got the lock of this name, which it pushed last. It may hold that lock: if the
    /// table had no room, the name may be in an entry below, too.
    #[inline]
    pub fn pop(&self, name: u64) {
        // ordering: Relaxed; only its thread writes it.
        if self.clear_last(name) || self.count.load(Relaxed) > HELD_MAX as u64 {
            self.count_one_less();
        }
    }
    /// Notes that the thread begins to wait for the lock of this name, which it pushed last.
    pub fn waits_for_last(&self, name: u64) {
        if let Some(place) = self.last_if(name) {
            // ordering: Release; H1.
            place.store(name | WAITS, Release);
        }
    }
    /// Returns the topmost entry if it has this name. Only the table's own thread may call it.
    #[inline]
    fn last_if(&self, name: u64) -> Option<&P::U64> {
        // ordering: Relaxed; only its thread, the caller, writes it.
        let count = self.count.load(Relaxed) as usize;
        // ordering: Relaxed; as above.
        self.entries.get(count.wrapping_sub(1)).filter(|place| place.load(Relaxed) & !WAITS == name)
    }
    /// Notes that the thread is about to take the lock of this name, waits for it or has taken it.
    #[inline]
    pub fn push(&self, name: u64) {
        // ordering: Relaxed; only its thread writes it.
        let count = self.count.load(Relaxed);
        // ordering: Relaxed; nothing is read through it: readers rely on the entry.
        self.count.store(count + 1, Relaxed);
        if let Some(place) = self.entries.get(count as usize) {
            // ordering: Release; H1.
            place.store(name, Release);
        }
    }
    /// Notes that the thread has taken the lock of this name, for which it has waited.
    pub fn taken(&self, name: u64) {
        if let Some(place) = self.entry_of(name) {
            // ordering: Relaxed; it names the same lock.
            place.store(name, Relaxed);
        }
    }
    /// Notes that the thread is about to release the lock of this name or has just released it.
    #[inline]
    pub fn remove(&self, name: u64) {
        if self.clear_last(name) {
            self.count_one_less();
        } else {
            self.remove_below(name);
        }
    }
    /// Clears the topmost entry if it has this name. Returns `true` if it did; then the caller counts one less.
    #[inline]
    pub fn clear_last(&self, name: u64) -> bool {
        let Some(place) = self.last_if(name) else { return false };
        // ordering: Relaxed; the release of the lock comes after it. Or its thread does not wait, and other threads
        // conclude nothing from what they find, or under Linux 6.19 too much.
        place.store(0, Relaxed);
        true
    }
    /// Takes the topmost entry, which is cleared, from the table.
    #[inline]
    pub fn count_one_less(&self) {
        // ordering: Relaxed; only its thread writes it, and it is a hint for other threads.
        self.count.store(self.count.load(Relaxed) - 1, Relaxed);
    }
    /// As `remove`, but for a name that is not the topmost entry.
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
    /// Returns the topmost entry without a name. There is one if the count includes a lock that found no room, and
    /// another lock was released first. Only the table's own thread may call it.
    fn last_hole(&self) -> Option<&P::U64> {
        // ordering: Relaxed; only its thread, the caller, writes them.
        self.counted().iter().rev().find(|place| place.load(Relaxed) == 0)
    }
    /// Clears one of `count` entries. If it is not the topmost one, the topmost one moves to its place.
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
        // ordering: Relaxed; the release of the lock comes after it. Or its thread does not wait, and other threads
        // conclude nothing from what they find.
        cleared.store(0, Relaxed);
    }
    /// Clears the table: its thread has ended, and another one takes the table over.
    pub fn clear(&self) {
        // ordering: Relaxed; only a hint for other threads.
        self.count.store(0, Relaxed);
        for place in &self.entries {
            // ordering: Relaxed; only a hint for other threads.
            place.store(0, Relaxed);
        }
    }

    /// Returns the topmost entry with the name `name`. Only the table's own thread may call it.
    fn entry_of(&self, name: u64) -> Option<&P::U64> {
        // ordering: Relaxed; only its thread, the caller, writes them.
        let is_of = |place: &&P::U64| place.load(Relaxed) & !WAITS == name;
        self.counted().iter().rev().find(is_of)
    }
    /// Returns the entries below the count.
    fn counted(&self) -> &[P::U64] {
        // ordering: Relaxed; a reader that finds too few concludes nothing.
        let count = self.count.load(Relaxed) as usize;
        self.entries.get(..count.min(HELD_MAX)).unwrap_or_default()
    }
    /// Returns `true` if the lock of this name is below the topmost entry. Then the thread holds it, and waits for
    /// another lock or has taken another one since.
    pub fn holds_below_top(&self, name: u64) -> bool {
        let below = self.counted().split_last().map_or(&[][..], |(_, below)| below);
        // ordering: Relaxed; ordered by H1.
        below.iter().any(|place| place.load(Relaxed) & !WAITS == name)
    }
    /// Returns the name in the topmost entry if the table has 2 to 31 entries; the lock that the thread waits for is
    /// one of them. Returns `None` if `has_to_wait` is set and the entry does not say that its thread waits.
    pub fn top(&self, has_to_wait: bool) -> Option<u64> {
        // ordering: Relaxed; a reader that finds too few concludes nothing.
        let count = self.count.load(Relaxed) as usize;
        let place = self.entries.get(count.wrapping_sub(1)).filter(|_| count >= 2)?;
        // ordering: Acquire; H1.
        let entry = place.load(Acquire);
        let top = entry & !WAITS;
        (top != 0 && (entry & WAITS != 0 || !has_to_wait)).then_some(top)
    }
    /// Returns `true` if the thread seems to hold the lock of this name. Only for messages.
    pub fn seems_to_hold(&self, name: u64) -> bool {
        // ordering: Relaxed; only a hint.
        self.counted().iter().any(|place| place.load(Relaxed) == name)
    }
    /// Returns the name of the lock for which the thread seems to wait. Only for messages.
    pub fn seems_to_wait_for(&self) -> Option<u64> {
        // ordering: Relaxed; only a hint.
        let top = self.counted().last()?.load(Relaxed);
        (top & WAITS != 0).then_some(top & !WAITS)
    }
    /// Returns the number of locks that the thread holds or waits for.
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
    /// The table of a thread that holds no lock, as a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const EMPTY: Self =
        Self { count: ConstZeroed::ZEROED, entries: [ConstZeroed::ZEROED; HELD_MAX] };
}
