//! A thread's slot: what it reads, said where only it writes.
//!
//! ```text
//!  entry   63     48 47                          0
//!         +---------+----------------------------+
//!         |  depth  |      name of the lock      |     0: none
//!         +---------+----------------------------+
//! ```
//!
//! *Depth* is how often the thread reads the lock beside the first time.

use super::NAME_MASK;
use crate::patience::SPIN_NS;
use crate::platform::{Atomic, AtomicInt, Bound, Cells, ConstCells, ConstZeroed, Platform, Zeroed};
use crate::zoo::Bug;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// How many locks a thread reads in its slot at the same time.
const ENTRIES: usize = 4;
/// Once more, in an entry.
const AGAIN: u64 = NAME_MASK + 1;

/// What one thread reads. Its owner writes the entries, everybody reads them.
#[repr(C, align(128))]
pub struct ReaderSlot<P: Cells> {
    entries: [P::U64; ENTRIES],
    /// How many writers sleep until an entry changes.
    wanted: P::U32,
    /// What they sleep on: counts the changes that somebody waited for.
    changes: P::U32,
}

impl<P: Cells> ReaderSlot<P> {
    /// An empty one.
    pub fn new() -> Self {
        Self {
            entries: core::array::from_fn(|_| Zeroed::zeroed()),
            wanted: Zeroed::zeroed(),
            changes: Zeroed::zeroed(),
        }
    }
    /// Whether its owner reads nothing in it, and nobody waits for it.
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
    /// An empty one, in a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const EMPTY: Self = Self {
        entries: [ConstZeroed::ZEROED; ENTRIES],
        wanted: ConstZeroed::ZEROED,
        changes: ConstZeroed::ZEROED,
    };
}

/// What came of an owner's attempt to say that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It says so now. Whoever was about to write may not have seen it.
    Now,
    /// It said so before, and says so once more.
    Again,
    /// There is no entry left.
    Full,
}

impl<P: Platform> ReaderSlot<P> {
    /// Says that the owner of the slot reads `name`.
    #[inline(always)]
    pub(super) fn say(&self, name: u64) -> Said {
        // ordering: Relaxed; only its owner, the caller, writes it.
        match self.entries[0].load(Relaxed) {
            0 => {
                // ordering: Relaxed; ordered by the barriers of B1.
                self.entries[0].store(name, Relaxed);
                Said::Now
            }
            _ => self.say_beside(name),
        }
    }
    #[inline(never)]
    fn say_beside(&self, name: u64) -> Said {
        if self.say_again(name) {
            return Said::Again;
        }
        // ordering: Relaxed; only its owner, the caller, writes it.
        let Some(free) = self.entries.iter().find(|entry| entry.load(Relaxed) == 0) else {
            return Said::Full;
        };
        // ordering: Relaxed; ordered by the barriers of B1.
        free.store(name, Relaxed);
        Said::Now
    }

    /// Says so once more, if the owner of the slot says already that it reads `name`; whether it does.
    pub(super) fn say_again(&self, name: u64) -> bool {
        for entry in &self.entries {
            // ordering: Relaxed; only its owner, the caller, writes it.
            let said = entry.load(Relaxed);
            if said & NAME_MASK == name {
                // ordering: Relaxed; it names the lock as before.
                entry.store(said + AGAIN, Relaxed);
                return true;
            }
        }
        false
    }

    /// Takes back once that the owner of the slot reads `name`; whether it said so.
    #[inline(always)]
    pub(super) fn take_back(&self, name: u64) -> bool {
        // ordering: Relaxed; only its owner, the caller, writes it.
        if self.entries[0].load(Relaxed) != name {
            return self.take_back_beside(name);
        }
        self.clear(&self.entries[0]);
        true
    }
    #[inline(never)]
    fn take_back_beside(&self, name: u64) -> bool {
        for entry in &self.entries {
            // ordering: Relaxed; only its owner, the caller, writes it.
            let said = entry.load(Relaxed);
            if said & NAME_MASK != name {
                continue;
            }
            if said > NAME_MASK {
                // ordering: Relaxed; it names the lock as before.
                entry.store(said - AGAIN, Relaxed);
            } else {
                self.clear(entry);
            }
            return true;
        }
        false
    }

    /// The owner of the slot does not read any more what this entry says. The lock may not exist after it.
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
        // ordering: Relaxed; what the reader did is released by its entry, B2.
        self.changes.fetch_add(1, Relaxed);
        P::futex_wake(&raw const self.changes, u32::MAX);
    }

    /// Whether no entry names `name`. Acquires what its readers released.
    pub(super) fn is_clear_of(&self, name: u64) -> bool {
        // ordering: Acquire; B2.
        let is_clear = |entry: &P::U64| entry.load(Acquire) & NAME_MASK != name;
        self.entries.iter().all(is_clear)
    }

    /// Waits until no entry names `name`; `false` if the deadline passed before.
    pub(super) fn await_clear(&self, name: u64, deadline_ns: Option<u64>) -> bool {
        self.entries.iter().all(|entry| self.await_entry(entry, name, deadline_ns))
    }

    fn await_entry(&self, entry: &P::U64, name: u64, deadline_ns: Option<u64>) -> bool {
        let is_clear = |said: u64| said & NAME_MASK != name;
        let bound = Bound::nanoseconds(SPIN_NS);
        // ordering: Acquire; B2.
        if entry.cond_load_bounded(Acquire, bound, is_clear, || false).is_ok() {
            return true;
        }
        let looks_first = P::is_seeded(Bug::LookBeforeWanted);
        // ordering: Relaxed; WRONG ON PURPOSE.
        if looks_first && is_clear(entry.load(Relaxed)) {
            return true;
        }
        // ordering: Relaxed; ordered by the barriers of B3.
        self.wanted.fetch_add(1, Relaxed);
        if !looks_first {
            // ordering: heavy barrier; B3.
            P::heavy_barrier();
        }
        let is_gone = loop {
            // ordering: Relaxed; if it is an old one the sleep ends at once.
            let changes = self.changes.load(Relaxed);
            // ordering: Acquire; B2.
            if !looks_first && is_clear(entry.load(Acquire)) {
                break true;
            }
            if deadline_ns.is_some_and(|deadline_ns| P::now_ns() >= deadline_ns) {
                break false;
            }
            P::futex_wait(&self.changes, changes, deadline_ns);
            // ordering: Acquire; B2.
            if is_clear(entry.load(Acquire)) {
                break true;
            }
        };
        // ordering: Relaxed; nothing is read through it.
        self.wanted.fetch_sub(1, Relaxed);
        is_gone
    }
}
