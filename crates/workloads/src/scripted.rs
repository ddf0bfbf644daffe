//! A worker for tests of the loops: counts what it is told, on the native platform, one thread.

use super::Worker;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::native::Native;
use lockwright::raw::{Order, RawLock};

pub(super) type ScriptedPlatform = Native;

/// Does a given number of operations.
pub(super) struct Scripted {
    left: u64,
    state: u64,
    pub(super) ops: u64,
    pub(super) held_ns: u64,
    pub(super) computed_ns: u64,
    /// The parts of software, of the first operation only.
    pub(super) parts: Vec<&'static str>,
}

impl Scripted {
    pub(super) fn new(ops: u64) -> Self {
        Self { left: ops, state: 1, ops: 0, held_ns: 0, computed_ns: 0, parts: Vec::new() }
    }
}

impl Worker for Scripted {
    type P = ScriptedPlatform;

    fn keep_going(&mut self) -> bool {
        self.left = self.left.wrapping_sub(1);
        self.left != u64::MAX
    }
    fn op_done(&mut self) {
        self.ops += 1;
    }
    fn random(&mut self) -> u64 {
        // SplitMix64 (Steele, Lea and Flood, 2014).
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn index(&self) -> usize {
        6
    }
    fn software(&mut self, part: &'static str) {
        if self.ops == 0 {
            self.parts.push(part);
        }
    }
    fn hold_ns(&mut self, ns: u64) {
        self.held_ns += ns;
    }
    fn compute_ns(&mut self, ns: u64) {
        self.computed_ns += ns;
    }
    fn overlap(&mut self, words: &[*const ()]) {
        assert!(words.iter().all(|word| !word.is_null()));
    }
}

/// A lock for one thread that counts how often it is given back, by owners and by readers.
pub(super) struct SpyLock {
    held: AtomicU64,
    pairs: AtomicU64,
    shared_pairs: AtomicU64,
}

const OWNED: u64 = 1;
const READ: u64 = 2;

impl SpyLock {
    pub(super) fn pairs(&self) -> u64 {
        self.pairs.load(Relaxed)
    }
    pub(super) fn shared_pairs(&self) -> u64 {
        self.shared_pairs.load(Relaxed)
    }
    fn change(&self, from: u64, to: u64) {
        assert_eq!(self.held.swap(to, Relaxed), from, "held as something else");
    }
}

impl RawLock for SpyLock {
    const ORDER: Order = Order::None;
    const READERS_SHARE: bool = true;
    fn new() -> Self {
        let [held, pairs, shared_pairs] = [0; 3].map(AtomicU64::new);
        Self { held, pairs, shared_pairs }
    }
    fn lock(&self) {
        self.change(0, OWNED);
    }
    fn try_lock(&self) -> bool {
        self.held.compare_exchange(0, OWNED, Relaxed, Relaxed).is_ok()
    }
    unsafe fn unlock(&self) {
        self.change(OWNED, 0);
        self.pairs.fetch_add(1, Relaxed);
    }
    fn lock_shared(&self) {
        self.change(0, READ);
    }
    fn try_lock_shared(&self) -> bool {
        self.held.compare_exchange(0, READ, Relaxed, Relaxed).is_ok()
    }
    unsafe fn unlock_shared(&self) {
        self.change(READ, 0);
        self.shared_pairs.fetch_add(1, Relaxed);
    }
    unsafe fn downgrade(&self) {
        self.change(OWNED, READ);
    }
    fn is_locked(&self) -> bool {
        self.held.load(Relaxed) != 0
    }
}
