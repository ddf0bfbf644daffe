//! A cache that many threads use at once: as many locks as it takes for them not to meet.
//!
//! `cargo run --release --package lockwright --example sharded_cache`

use lockwright::RwLock;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::thread;

/// So many parts, each with a lock of its own: some times as many as there are CPUs.
const SHARDS: usize = 64;

/// A map in parts. Readers of one part share it; writers of different parts do not meet.
pub struct Cache<K, V> {
    shards: [RwLock<HashMap<K, V>>; SHARDS],
    hasher: RandomState,
}

impl<K: Hash + Eq, V: Clone> Cache<K, V> {
    /// An empty one.
    pub fn new() -> Self {
        let shards = std::array::from_fn(|_| RwLock::new(HashMap::new()));
        Self { shards, hasher: RandomState::new() }
    }
    fn shard(&self, key: &K) -> &RwLock<HashMap<K, V>> {
        &self.shards[self.hasher.hash_one(key) as usize % SHARDS]
    }
    /// The value of `key`, made by `make` if it is not there yet. Nobody waits for `make`, so two threads may do it at the same
    /// time; the first one's value counts.
    pub fn get_or_make(&self, key: K, make: impl FnOnce(&K) -> V) -> V {
        if let Some(value) = self.shard(&key).read().get(&key) {
            return value.clone();
        }
        let value = make(&key);
        self.shard(&key).write().entry(key).or_insert(value).clone()
    }
    /// How many values it has.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().len()).sum()
    }
    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: Hash + Eq, V: Clone> Default for Cache<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

fn main() {
    let cache = Cache::new();
    thread::scope(|scope| {
        for first in 0..4_u64 {
            let cache = &cache;
            scope.spawn(move || {
                for key in (0..10_000).map(|n| (n * 7 + first) % 1_000) {
                    assert_eq!(cache.get_or_make(key, |key| key * key), key * key);
                }
            });
        }
    });
    println!("{} squares in {SHARDS} parts", cache.len());
}
