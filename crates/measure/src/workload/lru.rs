//! A cache that forgets what was used least recently, behind one lock: an operation looks up a random key and makes it
//! the newest one. If the cache does not have it, it takes the place of the oldest one.
//!
//! All parts are plain memory: an index of the keys, and a list through the entries from the newest to the oldest.

use super::facts::{Facts, Finding, Heap, Load, OwnLine, Setting, Worker, locked};
use super::params::params;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_core::raw::RawLock;

/// How many keys there are.
pub const LRU_KEYS: usize = 4_096;
/// How many of them the cache has.
pub const LRU_ENTRIES: usize = 1_024;

params! {
    /// a cache of 1,024 entries behind one lock, which forgets what was used least recently
    "lru": LruParams {}
}

impl Facts for LruParams {}

impl<W: Heap, L: RawLock> Load<W, L> for LruParams {
    type State = (W::One<LruState<W::P, L>>, W::Many<LruEntry<W::P>>, W::Many<LruIndex<W::P>>);
    type Tally = ();

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        let state: W::One<LruState<W::P, L>> = heap.one(Zeroed::zeroed());
        let (entries, index) = (heap.zeroed(LRU_ENTRIES), heap.zeroed(LRU_KEYS));
        state.fill(&entries, &index);
        (state, entries, index)
    }
    fn run<K: Worker<P = W::P>>(&self, (state, entries, index): &Self::State, worker: &mut K) {
        run(worker, &**state, entries, index);
    }
    fn found(&self, (state, entries, index): &Self::State, (): &(), ops: u64) -> Finding {
        Finding::fail(state.errors(entries, index, ops))
    }
}

/// An entry of the cache; its neighbours in the list by number.
pub struct LruEntry<P: Cells> {
    key: P::U32,
    newer: P::U32,
    older: P::U32,
}

impl<P: Cells> Zeroed for LruEntry<P> {
    fn zeroed() -> Self {
        Self { key: Zeroed::zeroed(), newer: Zeroed::zeroed(), older: Zeroed::zeroed() }
    }
}

/// Where a key is: the number of its entry from 1, or 0.
pub type LruIndex<P> = <P as Cells>::U32;

/// What the threads share, in addition to entries and index.
pub struct LruState<P: Cells, L> {
    lock: OwnLine<L>,
    ends: OwnLine<Ends<P>>,
}

struct Ends<P: Cells> {
    newest: P::U32,
    oldest: P::U32,
    operations: P::U64,
}

impl<P: Cells, L: RawLock> Zeroed for LruState<P, L> {
    fn zeroed() -> Self {
        let ends = Ends {
            newest: Zeroed::zeroed(),
            oldest: Zeroed::zeroed(),
            operations: Zeroed::zeroed(),
        };
        Self { lock: OwnLine::new(L::new()), ends: OwnLine::new(ends) }
    }
}

/// A cache as its owner sees it.
struct Cache<'a, P: Cells> {
    ends: &'a Ends<P>,
    entries: &'a [LruEntry<P>],
    index: &'a [LruIndex<P>],
}

/// Of a cell. The lock orders all accesses.
#[inline(always)]
fn get(cell: &impl Atomic<u32>) -> u32 {
    // ordering: Relaxed; see above.
    cell.load(Relaxed)
}

#[inline(always)]
fn set(cell: &impl Atomic<u32>, value: u32) {
    // ordering: Relaxed; see `get`.
    cell.store(value, Relaxed);
}

impl<P: Cells> Cache<'_, P> {
    /// Makes the entry the newest one.
    fn renew(&self, at: u32) {
        let newest = get(&self.ends.newest);
        if newest == at {
            return;
        }
        let entry = &self.entries[at as usize];
        let (newer, older) = (get(&entry.newer), get(&entry.older));
        set(&self.entries[newer as usize].older, older);
        match get(&self.ends.oldest) == at {
            true => set(&self.ends.oldest, newer),
            false => set(&self.entries[older as usize].newer, newer),
        }
        set(&entry.older, newest);
        set(&self.entries[newest as usize].newer, at);
        set(&self.ends.newest, at);
    }
    /// Looks up a key.
    fn use_key(&self, key: u32) {
        let at = match get(&self.index[key as usize]).checked_sub(1) {
            Some(at) => at,
            None => {
                let oldest = get(&self.ends.oldest);
                let entry = &self.entries[oldest as usize];
                set(&self.index[get(&entry.key) as usize], 0);
                set(&entry.key, key);
                set(&self.index[key as usize], oldest + 1);
                oldest
            }
        };
        self.renew(at);
        // ordering: Relaxed; see `get`.
        self.ends.operations.store(self.ends.operations.load(Relaxed) + 1, Relaxed);
    }
    /// Fills it with the first keys, the first of them the newest.
    fn fill(&self) {
        let last = self.entries.len() as u32 - 1;
        for (at, entry) in (0_u32..).zip(self.entries) {
            set(&entry.key, at);
            set(&entry.newer, at.saturating_sub(1));
            set(&entry.older, (at + 1).min(last));
            set(&self.index[at as usize], at + 1);
        }
        set(&self.ends.oldest, last);
    }
    /// How many entries are not where they should be.
    fn misplaced(&self) -> u64 {
        let (mut at, mut wrong) = (get(&self.ends.newest), 0);
        let mut seen = 0;
        for _ in 0..self.entries.len() {
            let entry = &self.entries[at as usize];
            wrong += u64::from(get(&self.index[get(&entry.key) as usize]) != at + 1);
            seen += 1;
            if at == get(&self.ends.oldest) {
                break;
            }
            at = get(&entry.older);
        }
        let indexed = self.index.iter().filter(|cell| get(*cell) != 0).count();
        wrong + (self.entries.len() - seen) as u64 + indexed.abs_diff(self.entries.len()) as u64
    }
}

impl<P: Cells, L: RawLock> LruState<P, L> {
    fn cache<'a>(&'a self, entries: &'a [LruEntry<P>], index: &'a [LruIndex<P>]) -> Cache<'a, P> {
        Cache { ends: &self.ends, entries, index }
    }
    /// Fills the cache, of [`LRU_ENTRIES`] entries and an index of [`LRU_KEYS`] keys, all zero.
    pub fn fill(&self, entries: &[LruEntry<P>], index: &[LruIndex<P>]) {
        self.cache(entries, index).fill();
    }
    /// How many entries are not where they should be, or operations were lost of `ops`. Only when all threads are done.
    pub fn errors(&self, entries: &[LruEntry<P>], index: &[LruIndex<P>], ops: u64) -> u64 {
        // ordering: Relaxed; the caller waited for the threads, and so is ordered after them.
        let operations = self.ends.operations.load(Relaxed);
        operations.abs_diff(ops) + self.cache(entries, index).misplaced()
    }
}

/// What one thread does.
#[inline]
pub fn run<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &LruState<W::P, L>,
    entries: &[LruEntry<W::P>],
    index: &[LruIndex<W::P>],
) {
    let cache = state.cache(entries, index);
    while worker.keep_going() {
        let random = worker.random();
        // The less of two: low keys are used more often.
        let [a, b] = [random, random >> 32].map(|half| half as u32 % LRU_KEYS as u32);
        locked(&*state.lock, || cache.use_key(a.min(b)));
        worker.op_done();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};

    type Shared = LruState<ScriptedPlatform, SpyLock>;
    type Parts = (Shared, Vec<LruEntry<ScriptedPlatform>>, Vec<LruIndex<ScriptedPlatform>>);

    fn cache(entries: usize, keys: usize) -> Parts {
        let entries: Vec<_> = (0..entries).map(|_| Zeroed::zeroed()).collect();
        let index: Vec<_> = (0..keys).map(|_| Zeroed::zeroed()).collect();
        let state = Shared::zeroed();
        state.fill(&entries, &index);
        (state, entries, index)
    }

    #[test]
    fn the_key_that_was_used_least_recently_is_forgotten() {
        let (state, entries, index) = cache(3, 9);
        let cache = state.cache(&entries, &index);
        let keys = || (0..9).filter(|&key| get(&index[key as usize]) > 0).collect::<Vec<u32>>();
        assert_eq!(keys(), [0, 1, 2]);
        for key in [2, 0, 7] {
            cache.use_key(key);
        }
        assert_eq!(keys(), [0, 2, 7]);
        for key in [2, 2, 8, 5] {
            cache.use_key(key);
        }
        assert_eq!(keys(), [2, 5, 8]);
        assert_eq!(state.errors(&entries, &index, 7), 0);
    }

    #[test]
    fn a_run_leaves_every_entry_in_its_place_and_counts_its_operations() {
        let (state, entries, index) = cache(LRU_ENTRIES, LRU_KEYS);
        let mut worker = Scripted::new(20_000);
        run(&mut worker, &state, &entries, &index);
        assert_eq!((worker.ops, state.lock.pairs()), (20_000, 20_000));
        assert_eq!([20_000, 20_001].map(|ops| state.errors(&entries, &index, ops)), [0, 1]);
    }

    #[test]
    fn an_entry_that_the_list_or_the_index_lost_is_noticed() {
        let (state, entries, index) = cache(4, 9);
        set(&entries[1].older, 3);
        assert!(state.errors(&entries, &index, 0) > 0, "the list is shorter");
        let (state, entries, index) = cache(4, 9);
        set(&index[8], 2);
        assert!(state.errors(&entries, &index, 0) > 0, "two keys have one entry");
    }
}
