//! A hash map behind one lock: each operation looks up a random key, and some of them change its value.
//!
//! The table has open addressing and is plain memory. An entry has its value twice, so that a reader sees if an owner
//! was not alone.

use super::facts::{
    Facts, Finding, Heap, Load, OwnLine, Setting, Tally, Worker, locked, locked_shared,
};
use super::params::{Domain, params};
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_core::raw::RawLock;

/// How many keys there are.
pub const MAP_KEYS: u64 = 10_000;
/// How many places the table has for them: a power of two.
pub const MAP_PLACES: usize = 16_384;

params! {
    /// a hash map of 10,000 entries behind one lock: look-ups, and changes of a value
    "map": MapParams {
        /// Percentage of the operations that change a value
        write_percent: u32 = 10, Domain::Percent;
        /// The lock is one that readers share
        shared: bool = false, Domain::Truth;
    }
}

impl Facts for MapParams {
    fn reads(&self) -> u32 {
        if self.shared { 100 - self.write_percent } else { 0 }
    }
}

impl<W: Heap, L: RawLock> Load<W, L> for MapParams {
    type State = (W::One<MapState<L>>, W::Many<MapEntry<W::P>>);
    type Tally = MapTally;

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        let (state, table) = (heap.one(Zeroed::zeroed()), heap.zeroed(MAP_PLACES));
        fill(&table);
        (state, table)
    }
    fn run<K: Worker<P = W::P>>(&self, (state, table): &Self::State, worker: &mut K) -> MapTally {
        run(worker, &**state, table, self.write_percent)
    }
    fn found(&self, (_, table): &Self::State, all: &MapTally, _ops: u64) -> Finding {
        Finding::fail(all.written.abs_diff(written(table)) + all.torn)
    }
}

/// A place of the table. Key 0 is none.
pub struct MapEntry<P: Cells> {
    key: P::U64,
    value: P::U64,
    twin: P::U64,
}

impl<P: Cells> Zeroed for MapEntry<P> {
    fn zeroed() -> Self {
        Self { key: Zeroed::zeroed(), value: Zeroed::zeroed(), twin: Zeroed::zeroed() }
    }
}

/// What the threads share, in addition to the table.
pub struct MapState<L> {
    lock: OwnLine<L>,
}

impl<L: RawLock> Zeroed for MapState<L> {
    fn zeroed() -> Self {
        Self { lock: OwnLine::new(L::new()) }
    }
}

/// What one thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapTally {
    /// Values that it changed.
    pub written: u64,
    /// Entries that it found half changed.
    pub torn: u64,
}

impl Tally for MapTally {
    fn merge(&mut self, other: Self) {
        self.written += other.written;
        self.torn += other.torn;
    }
}

/// Where a key is, or the place that is free for it.
#[inline(always)]
fn place<P: Cells>(table: &[MapEntry<P>], key: u64) -> usize {
    let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50) as usize % table.len();
    loop {
        // ordering: Relaxed; keys are written before the threads start.
        let found = table[at].key.load(Relaxed);
        if found == key || found == 0 {
            return at;
        }
        at = (at + 1) % table.len();
    }
}

/// Puts every key into an empty table of [`MAP_PLACES`] places.
pub fn fill<P: Cells>(table: &[MapEntry<P>]) {
    for key in 1..=MAP_KEYS {
        // ordering: Relaxed; the threads start later.
        table[place(table, key)].key.store(key, Relaxed);
    }
}

/// The values that were changed, unless the lock is broken. Only when all threads are done.
pub fn written<P: Cells>(table: &[MapEntry<P>]) -> u64 {
    // ordering: Relaxed; the caller waited for the threads, and so is ordered after them.
    table.iter().map(|entry| entry.value.load(Relaxed)).sum()
}

/// What one thread does; of 100 operations, `write_percent` change a value.
#[inline]
pub fn run<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &MapState<L>,
    table: &[MapEntry<W::P>],
    write_percent: u32,
) -> MapTally {
    let mut tally = MapTally::default();
    while worker.keep_going() {
        let random = worker.random();
        let key = 1 + (random >> 32) % MAP_KEYS;
        let look = || {
            let entry = &table[place(table, key)];
            // ordering: Relaxed, here and below; the lock orders the accesses to the values.
            let (value, twin) = (entry.value.load(Relaxed), entry.twin.load(Relaxed));
            (entry, value, value == twin)
        };
        let is_whole = if random as u32 % 100 < write_percent {
            tally.written += 1;
            locked(&*state.lock, || {
                let (entry, value, is_whole) = look();
                // ordering: Relaxed; see above.
                entry.value.store(value + 1, Relaxed);
                // ordering: Relaxed; see above.
                entry.twin.store(value + 1, Relaxed);
                is_whole
            })
        } else {
            locked_shared(&*state.lock, || look().2)
        };
        tally.torn += u64::from(!is_whole);
        worker.op_done();
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};

    fn table() -> Vec<MapEntry<ScriptedPlatform>> {
        let table: Vec<_> = (0..MAP_PLACES).map(|_| Zeroed::zeroed()).collect();
        fill(&table);
        table
    }

    #[test]
    fn every_key_has_a_place_of_its_own() {
        let table = table();
        let used = table.iter().filter(|entry| entry.key.load(Relaxed) != 0).count();
        assert_eq!(used as u64, MAP_KEYS);
        for key in 1..=MAP_KEYS {
            assert_eq!(table[place(&table, key)].key.load(Relaxed), key);
        }
    }

    #[test]
    fn so_many_percent_write_and_the_values_are_as_many_as_the_writes() {
        for (percent, range) in [(0, 0..=0), (10, 900..=1_100), (100, 10_000..=10_000)] {
            let (table, state) = (table(), MapState::<SpyLock>::zeroed());
            let mut worker = Scripted::new(10_000);
            let tally = run(&mut worker, &state, &table, percent);
            assert!(range.contains(&tally.written) && tally.torn == 0, "{tally:?}");
            assert_eq!((written(&table), state.lock.pairs()), (tally.written, tally.written));
            assert_eq!(state.lock.shared_pairs(), 10_000 - tally.written);
        }
    }

    #[test]
    fn an_entry_that_is_half_changed_is_noticed() {
        let (table, state) = (table(), MapState::<SpyLock>::zeroed());
        table.iter().for_each(|entry| entry.twin.store(1, Relaxed));
        assert_eq!(run(&mut Scripted::new(7), &state, &table, 0).torn, 7);
    }
}
