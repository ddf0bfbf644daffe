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

/// A lock that takes nothing and counts how often it is given back.
pub(super) struct SpyLock {
    held: AtomicU64,
    pairs: AtomicU64,
}

impl SpyLock {
    pub(super) fn pairs(&self) -> u64 {
        self.pairs.load(Relaxed)
    }
}

impl RawLock for SpyLock {
    const ORDER: Order = Order::None;
    fn new() -> Self {
        Self { held: AtomicU64::new(0), pairs: AtomicU64::new(0) }
    }
    fn lock(&self) {
        assert_eq!(self.held.swap(1, Relaxed), 0, "taken twice");
    }
    fn try_lock(&self) -> bool {
        self.held.swap(1, Relaxed) == 0
    }
    unsafe fn unlock(&self) {
        assert_eq!(self.held.swap(0, Relaxed), 1, "given back twice");
        self.pairs.fetch_add(1, Relaxed);
    }
    fn is_locked(&self) -> bool {
        self.held.load(Relaxed) != 0
    }
}
