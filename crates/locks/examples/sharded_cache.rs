//! A cache that many threads use at once. It has enough locks that two threads seldom want the same one.
//!
//! `cargo run --release --package lockwright --example sharded_cache`

use lockwright::RwLock;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::thread;

/// Parts of the cache, each with its own lock: several times as many as there are CPUs.
const SHARDS: usize = 64;

/// A map in parts. Threads that read share a part; threads that write different parts do not meet.
pub struct Cache<K, V> {
    shards: [RwLock<HashMap<K, V>>; SHARDS],
    hasher: RandomState,
}

impl<K: Hash + Eq, V: Clone> Cache<K, V> {
    /// An empty cache.
    pub fn new() -> Self {
        let shards = std::array::from_fn(|_| RwLock::new(HashMap::new()));
        Self { shards, hasher: RandomState::new() }
    }
    fn shard(&self, key: &K) -> &RwLock<HashMap<K, V>> {
        &self.shards[self.hasher.hash_one(key) as usize % SHARDS]
    }
    /// The value of `key`. If there is none, `make` makes it. No lock is held meanwhile, so two threads may make a
    /// value at the same time; the first one to store it wins.
    pub fn get_or_make(&self, key: K, make: impl FnOnce(&K) -> V) -> V {
        if let Some(value) = self.shard(&key).read().get(&key) {
            return value.clone();
        }
        let value = make(&key);
        self.shard(&key).write().entry(key).or_insert(value).clone()
    }
    /// Number of values.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().len()).sum()
    }
    /// True if there are no values.
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
