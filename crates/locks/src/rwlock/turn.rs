//! What a waiter in the line of the lock does when it is its turn.

use super::word::{HEAD_READS, HEAD_WRITES, READERS, RESERVED};
use super::{Fairness, RawRwLock};
use crate::events::Event;
use crate::line;
use crate::park::{HoldMode, ParkPlatform};
use crate::queue::Patience;
use core::cell::Cell;

/// How long newcomers overtake a waiter.
pub(super) const UNFAIR_NS: u64 = 4_000_000;
/// How long a reader waits for a writer for which the lock is reserved, while readers hold it: it may be one of them.
const RECURSION_NS: u64 = 10_000_000;
/// How long a writer that has become the head of the line looks away first, in pauses: others get through many sections
/// meanwhile.
const HEADS_FIRST_PAUSE: u32 = 256;

/// A thread that waits for a lock.
pub(super) struct Turn<'a, P: ParkPlatform, F: Fairness> {
    lock: &'a RawRwLock<P, F>,
    kind: HoldMode,
    /// When the lock is reserved for it, if it is the head of the line.
    due_ns: u64,
    /// When a reader no longer waits for a writer for which the lock is reserved.
    passes_ns: Cell<Option<u64>>,
}

impl<'a, P: ParkPlatform, F: Fairness> Turn<'a, P, F> {
    pub(super) fn new(lock: &'a RawRwLock<P, F>, kind: HoldMode) -> Self {
        let now_ns = if F::IS_FAIR { 0 } else { P::now_ns() };
        let may_be_reader = kind == HoldMode::Reader && !F::IS_FAIR;
        let passes_ns = Cell::new(may_be_reader.then_some(now_ns.saturating_add(RECURSION_NS)));
        Self { lock, kind, due_ns: now_ns.saturating_add(UNFAIR_NS), passes_ns }
    }
    /// What it sleeps as when it is the head.
    pub(super) fn head_kind(&self) -> u32 {
        match self.kind {
            HoldMode::Reader => HEAD_READS,
            HoldMode::Writer => HEAD_WRITES,
        }
    }
}

impl<P: ParkPlatform, F: Fairness> line::Turn for Turn<'_, P, F> {
    const IS_OVERTAKEN: bool = !F::IS_FAIR;
    const OF_HEAD: u32 = if F::IS_FAIR { 0 } else { RESERVED };

    fn taken(&self, seen: u32) -> Option<u32> {
        (seen & self.kind.held_against() == 0).then(|| self.kind.taken(seen))
    }
    /// A writer sleeps on while readers hold the lock: if it competed it would keep readers away for as long.
    fn competes_at_once(&self, seen: u32) -> bool {
        F::IS_FAIR || self.kind == HoldMode::Reader || seen & READERS == 0
    }
    fn compete(&self, take: &dyn Fn(u32) -> bool) -> bool {
        let patience = match self.kind {
            HoldMode::Writer if !F::IS_FAIR => Patience::long_from(HEADS_FIRST_PAUSE),
            _ => Patience::long(),
        };
        self.lock.spin(self.kind, self.kind.held_against(), patience, take)
    }
    fn says_at(&self, now_ns: u64) -> u32 {
        let is_due = !F::IS_FAIR && now_ns >= self.due_ns;
        if is_due {
            P::count(Event::rwlock_keep);
        }
        if is_due { RESERVED } else { 0 }
    }
    fn looks_again_ns(&self, is_head: bool, now_ns: u64) -> Option<u64> {
        let due_ns = (!F::IS_FAIR && is_head && now_ns < self.due_ns).then_some(self.due_ns);
        // A head that reads needs no permission to pass.
        let passes_ns = self.passes_ns.get().filter(|_| !is_head);
        [due_ns, passes_ns].into_iter().flatten().min()
    }
    /// A reader that has waited for so long that it may be one already: then readers hold the lock.
    fn passes(&self, now_ns: u64) -> bool {
        if self.passes_ns.get().is_none_or(|passes_ns| now_ns < passes_ns) {
            return false;
        }
        self.passes_ns.set(None);
        let passed = self.lock.try_lock_shared_again();
        if passed {
            P::count(Event::rwlock_pass);
        }
        passed
    }
}
