//! The slot of a thread. Only the thread writes it, and says there which locks it reads.
//!
//! ```text
//!  entry   63                             1     0
//!         +----------------------------+-----------+
//!         |     number of the lock     | confirmed |     0: none
//!         +----------------------------+-----------+
//! ```
//!
//! | entry | means | moved by its thread |
//! |---|---|---|
//! | 0 | nothing | a reader that is about to look at the mode, to unconfirmed |
//! | unconfirmed | the thread may read the lock, but does not know it yet | after its look at the mode, to confirmed or 0 |
//! | confirmed | the thread reads the lock | the last of its readers, to 0 |
//!
//! The number of a lock is never used again. So if a guard was forgotten, its entry says nothing about a lock that
//! later lies at the same address. A signal handler that interrupts its thread in between does not trust an unconfirmed
//! entry. Next to each entry is its *depth*: how often the thread reads the lock in addition to the first time.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | B1 | a reader's entry, then a light barrier; `mode` off, then a heavy barrier | `mode`, looked at by the reader after its barrier; the entry, looked at by the writer | nothing but itself: the litmus is in the documentation of `percpu_rwlock` |
//! | B2 | `entry.store` in `clear`, Release | the entry, looked at by the writer, Acquire | that the reader has finished reading |
//! | B3 | the store of B2, then a light barrier; `wanted`, then a heavy barrier | `wanted`, looked at by the reader after its barrier; the entry, looked at by the writer | nothing but itself: the litmus of B1 |
//! | B5 | `changes` one more in `tell_writers`, Release | `changes`, looked at by a writer before it looks at the entry, Acquire | that the entry is clear: a writer that sees the new count does not sleep for the old entry |

use crate::park::ParkPlatform;
use crate::platform::{
    Atomic, AtomicInt, Bound, Cells, ConstCells, ConstZeroed, ReaderSlots, Zeroed,
};
use crate::queue::SPIN_NS;
use core::sync::atomic::AtomicU32 as Private;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The operations that a lock asks for if its readers have slots.
pub trait ReaderPlatform: ParkPlatform + ReaderSlots<Slot = ReaderSlot<Self>> {}
impl<P: ParkPlatform + ReaderSlots<Slot = ReaderSlot<P>>> ReaderPlatform for P {}

/// The number of locks that a thread can read in its slot at the same time.
const ENTRIES: usize = 4;
/// A bit of an entry: the thread has looked at the mode since and reads.
const CONFIRMED: u64 = 1;

/// The locks that one thread reads. Its owner writes the entries, and all threads read them.
#[repr(C, align(128))]
pub struct ReaderSlot<P: Cells> {
    entries: [P::U64; ENTRIES],
    /// The depth of each entry. Only the owner uses it.
    depths: [Private; ENTRIES],
    /// The number of writers that sleep until an entry changes, in the lower half, and the fork epoch of their process
    /// in the upper half. 0: no writer sleeps.
    wanted: P::U64,
    /// The word on which these writers sleep. It counts the changes that a writer waited for.
    changes: P::U32,
}

impl<P: Cells> ReaderSlot<P> {
    /// Returns an empty slot.
    pub fn new() -> Self {
        Self {
            entries: core::array::from_fn(|_| Zeroed::zeroed()),
            depths: [const { Private::new(0) }; ENTRIES],
            wanted: Zeroed::zeroed(),
            changes: Zeroed::zeroed(),
        }
    }
    /// Forgets the locks that the last owner read, and the writers that waited for it: these threads do not exist in
    /// this process.
    pub(crate) fn clear_all(&self) {
        for (entry, depth) in self.entries.iter().zip(&self.depths) {
            // ordering: Relaxed; nothing is read through it.
            entry.store(0, Relaxed);
            // ordering: Relaxed; only the owner uses it.
            depth.store(0, Relaxed);
        }
        // ordering: Relaxed; nothing is read through it.
        self.wanted.store(0, Relaxed);
    }
    /// Returns `true` if the owner reads no lock in the slot, and no writer waits for it.
    pub fn is_empty(&self) -> bool {
        // ordering: Relaxed; only a hint.
        let is_clear = |entry: &P::U64| entry.load(Relaxed) == 0;
        // ordering: Relaxed; only a hint.
        self.entries.iter().all(is_clear) && self.wanted.load(Relaxed) == 0
    }
}

impl<P: Cells> Default for ReaderSlot<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: ConstCells> ReaderSlot<P> {
    /// An empty slot, as a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const EMPTY: Self = Self {
        entries: [ConstZeroed::ZEROED; ENTRIES],
        depths: [const { Private::new(0) }; ENTRIES],
        wanted: ConstZeroed::ZEROED,
        changes: ConstZeroed::ZEROED,
    };
}

/// Returns `true` if an entry says nothing about the lock `name`.
fn is_clear(said: u64, name: u64) -> bool {
    said & !CONFIRMED != name
}

impl<P: ReaderPlatform> ReaderSlot<P> {
    /// Begins to read `name` if `may_read` allows it after the entry is written. Returns `true` if the caller, the
    /// owner of the slot, reads now.
    #[inline(always)]
    pub fn read(&self, name: u64, may_read: impl FnOnce() -> bool) -> bool {
        // ordering: Relaxed; only its owner, the caller, writes it.
        match self.entries[0].load(Relaxed) {
            0 => self.read_in(&self.entries[0], name, may_read),
            _ => self.read_beside(name, may_read),
        }
    }
    #[inline(always)]
    fn read_in(&self, entry: &P::U64, name: u64, may_read: impl FnOnce() -> bool) -> bool {
        // ordering: Relaxed; ordered by the barriers of B1.
        entry.store(name, Relaxed);
        let may_read = may_read();
        if may_read {
            // ordering: Relaxed; it names the lock as before.
            entry.store(name | CONFIRMED, Relaxed);
        } else {
            self.clear(entry);
        }
        may_read
    }
    #[inline(never)]
    fn read_beside(&self, name: u64, may_read: impl FnOnce() -> bool) -> bool {
        if self.read_again(name) {
            return true;
        }
        // ordering: Relaxed; only its owner, the caller, writes it.
        let free = self.entries.iter().find(|entry| entry.load(Relaxed) == 0);
        free.is_some_and(|free| self.read_in(free, name, may_read))
    }

    /// Reads `name` once more, if the owner of the slot reads it already and can count it. Returns `true` if it does.
    pub fn read_again(&self, name: u64) -> bool {
        self.entry_of(name, |depth| depth < P::DEPTH_MAX).is_some_and(|at| {
            self.set_depth(at, self.depth(at) + 1);
            true
        })
    }

    /// Returns `true` if the owner of the slot reads `name` as many times as the slot can count.
    pub fn is_full(&self, name: u64) -> bool {
        self.entry_of(name, |depth| depth >= P::DEPTH_MAX).is_some()
    }

    /// Ends one read of `name` by the owner of the slot. Returns `true` if the owner read it in the slot.
    #[inline(always)]
    pub fn unread(&self, name: u64) -> bool {
        // ordering: Relaxed; only its owner, the caller, writes it.
        let is_first = self.entries[0].load(Relaxed) == name | CONFIRMED;
        if !is_first || self.depth(0) > 0 {
            return self.unread_beside(name);
        }
        self.clear(&self.entries[0]);
        true
    }
    #[inline(never)]
    fn unread_beside(&self, name: u64) -> bool {
        let Some(at) = self.entry_of(name, |_| true) else { return false };
        match self.depth(at) {
            0 => self.clear(&self.entries[at]),
            depth => self.set_depth(at, depth - 1),
        }
        true
    }

    /// Finds an entry that says that the owner reads `name`, and whose depth `pleases`.
    fn entry_of(&self, name: u64, pleases: impl Fn(u32) -> bool) -> Option<usize> {
        self.entries.iter().enumerate().position(|(at, entry)| {
            // ordering: Relaxed; only its owner, the caller, writes it.
            entry.load(Relaxed) == name | CONFIRMED && pleases(self.depth(at))
        })
    }
    #[inline(always)]
    fn depth(&self, at: usize) -> u32 {
        // ordering: Relaxed; only the owner uses it.
        self.depths[at].load(Relaxed)
    }
    fn set_depth(&self, at: usize, depth: u32) {
        // ordering: Relaxed; as above.
        self.depths[at].store(depth, Relaxed);
    }

    /// Clears an entry: the owner of the slot no longer reads that lock. The lock may not exist afterwards.
    #[inline(always)]
    fn clear(&self, entry: &P::U64) {
        // ordering: Release; B2.
        entry.store(0, Release);
        // ordering: light barrier; B3.
        P::light_barrier();
        // ordering: Relaxed; after the barrier, B3.
        if self.wanted.load(Relaxed) != 0 {
            self.tell_writers();
        }
    }

    #[cold]
    fn tell_writers(&self) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let wanted = self.wanted.load(Relaxed);
        if writers_in::<P>(wanted) == 0 {
            // (other epoch, n) -> 0
            // ordering: Relaxed; nothing is read through it: these writers do not exist here. On failure Relaxed: the
            // failure value is not used.
            if self.wanted.compare_exchange(wanted, 0, Relaxed, Relaxed).is_ok() {
                return;
            }
        }
        // ordering: Release; B5.
        self.changes.fetch_add(1, Release);
        P::futex_wake(&raw const self.changes, u32::MAX);
    }

    /// Returns `true` if no entry names `name`. Acquires what its readers released.
    pub fn is_clear_of(&self, name: u64) -> bool {
        // ordering: Acquire; B2.
        self.entries.iter().all(|entry| is_clear(entry.load(Acquire), name))
    }

    /// Waits until no entry names `name`. Returns `false` if the deadline passed before.
    pub fn await_clear(&self, name: u64, deadline_ns: Option<u64>) -> bool {
        self.entries.iter().all(|entry| self.await_entry(entry, name, deadline_ns))
    }

    fn await_entry(&self, entry: &P::U64, name: u64, deadline_ns: Option<u64>) -> bool {
        let is_clear = |said: u64| is_clear(said, name);
        let bound = Bound::nanoseconds(SPIN_NS);
        // ordering: Acquire; B2.
        if entry.cond_load_bounded(Acquire, bound, is_clear, || false).is_ok() {
            return true;
        }
        self.count_writers(|count| count + 1);
        // ordering: heavy barrier; B3.
        P::heavy_barrier();
        let is_gone = loop {
            // ordering: Acquire; B5. If the value is old, the sleep ends at once.
            let changes = self.changes.load(Acquire);
            // ordering: Acquire; B2.
            let said = entry.load(Acquire);
            if is_clear(said) {
                break true;
            }
            if deadline_ns.is_some_and(P::is_over) {
                break false;
            }
            P::futex_wait(&self.changes, changes, deadline_ns);
            // ordering: Acquire; B2.
            if is_clear(entry.load(Acquire)) {
                break true;
            }
        };
        self.count_writers(|count| count.saturating_sub(1));
        is_gone
    }

    /// Changes the count of writers that sleep. The writers of a parent of this process do not count.
    fn count_writers(&self, change: impl Fn(u32) -> u32) {
        let epoch = u64::from(P::epoch()) << 32;
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.wanted.load(Relaxed);
        loop {
            let count = change(writers_in::<P>(seen));
            let next = if count == 0 { 0 } else { epoch | u64::from(count) };
            // (e, n) -> (e, m) or 0
            // ordering: Relaxed; ordered by the barriers of B3. On failure Relaxed: only a hint, as above.
            match self.wanted.compare_exchange(seen, next, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}

/// Returns the number of writers of this process that `wanted` counts.
fn writers_in<P: ReaderPlatform>(wanted: u64) -> u32 {
    if wanted >> 32 == u64::from(P::epoch()) { wanted as u32 } else { 0 }
}
