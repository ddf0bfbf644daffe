//! A worker for tests of the loops: counts what it is told, on the native platform, one thread.

use super::Worker;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::capabilities::{CondvarLock, LockCondvar, TimedLock};
use lockwright_core::native::Native;
use lockwright_core::raw::{Order, RawLock};
use std::sync::Mutex;

pub(super) type ScriptedPlatform = Native;

/// Does a given number of operations.
pub(super) struct Scripted<'a> {
    index: usize,
    left: u64,
    /// Operations of other threads that it lets happen.
    pub(super) steps: u64,
    /// Happens when it first computes.
    meanwhile: Option<Box<dyn FnOnce() + 'a>>,
    state: u64,
    pub(super) ops: u64,
    pub(super) held_ns: u64,
    pub(super) computed_ns: u64,
    /// The parts of software, of the first operation only.
    pub(super) parts: Vec<&'static str>,
}

impl<'a> Scripted<'a> {
    pub(super) fn new(ops: u64) -> Self {
        Self {
            index: 6,
            left: ops,
            steps: 0,
            meanwhile: None,
            state: 1,
            ops: 0,
            held_ns: 0,
            computed_ns: 0,
            parts: Vec::new(),
        }
    }
    /// The same, as the thread of that number.
    pub(super) fn numbered(self, index: usize) -> Self {
        Self { index, ..self }
    }
    /// The same, while something else happens when it first computes.
    pub(super) fn that_does(self, what: impl FnOnce() + 'a) -> Self {
        Self { meanwhile: Some(Box::new(what)), ..self }
    }
}

impl Worker for Scripted<'_> {
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
    fn step_done(&mut self) {
        self.steps += 1;
    }
    fn index(&self) -> usize {
        self.index
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
        if let Some(meanwhile) = self.meanwhile.take() {
            meanwhile();
        }
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
    /// Attempts with a deadline; `u64::MAX` if none fails.
    attempts: AtomicU64,
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
    /// From now on the first attempt with a deadline fails, the third, ...
    pub(super) fn fail_every_other_attempt(&self) {
        self.attempts.store(0, Relaxed);
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
        Self { held, pairs, shared_pairs, attempts: AtomicU64::new(u64::MAX) }
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

impl TimedLock for SpyLock {
    fn lock_until(&self, _deadline_ns: u64) -> bool {
        let attempts = self.attempts.load(Relaxed);
        if attempts == u64::MAX {
            return self.try_lock();
        }
        self.attempts.store(attempts + 1, Relaxed);
        attempts % 2 == 1 && self.try_lock()
    }
}

/// A condition variable on which one thread waits alone: it returns for no reason, notified and not in turn.
pub(super) struct SpyCondvar {
    waits: AtomicU64,
    /// What happens at the wait of that number.
    at: Mutex<Option<(u64, Meanwhile)>>,
}

type Meanwhile = Box<dyn FnOnce() + Send>;

impl SpyCondvar {
    /// Does something at the wait of that number, from 1.
    pub(super) fn at_wait(&self, number: u64, what: impl FnOnce() + Send + 'static) {
        *self.at.lock().expect("no panic") = Some((number, Box::new(what)));
    }
}

impl CondvarLock for SpyLock {
    type Condvar = SpyCondvar;
}

impl LockCondvar<SpyLock> for SpyCondvar {
    fn new() -> Self {
        Self { waits: AtomicU64::new(0), at: Mutex::new(None) }
    }
    unsafe fn wait(&self, lock: &SpyLock, _deadline_ns: Option<u64>) -> bool {
        assert!(lock.is_locked(), "the caller does not own the lock");
        let number = self.waits.fetch_add(1, Relaxed) + 1;
        let due = self.at.lock().expect("no panic").take_if(|(at, _)| *at <= number);
        due.into_iter().for_each(|(_, what)| what());
        number % 2 == 1
    }
    fn notify_one(&self) -> bool {
        true
    }
    fn notify_all(&self) {}
}
