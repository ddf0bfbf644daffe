//! The locks of the registry behind a pointer, so that a test is compiled once and not once for each lock.

use crate::{Checks, Sim, Simulation};
use lockwright_catalog::registry::{self, LockRow, LockVisitor, visit};
use lockwright_core::raw::{FairnessThreshold, Order, RawLock};
use std::any::TypeId;

/// A lock in the arena of a run.
pub trait DynLock {
    /// Takes it.
    fn lock(&self);
    /// Gives it back.
    ///
    /// # Safety
    /// The caller holds the lock.
    unsafe fn unlock(&self);
    /// Returns true if a thread holds it.
    fn is_locked(&self) -> bool;
}

impl<L: RawLock> DynLock for L {
    fn lock(&self) {
        RawLock::lock(self);
    }
    unsafe fn unlock(&self) {
        // SAFETY: the caller's.
        unsafe { RawLock::unlock(self) };
    }
    fn is_locked(&self) -> bool {
        RawLock::is_locked(self)
    }
}

/// A lock of the registry.
pub struct AnyLock {
    /// Its waiters are served first come, first served.
    pub is_fifo: bool,
    /// Its waiters give up their CPU.
    pub waiters_sleep: bool,
    /// Its type.
    pub type_id: TypeId,
    /// How long it lets waiters be overtaken on a machine of two NUMA nodes.
    pub threshold: FairnessThreshold,
    /// Returns true for the words that it may have.
    pub word_is_legal: fn(u32) -> bool,
    /// Makes one in the arena of a run.
    pub alloc: for<'a> fn(&mut Simulation<'a>) -> &'a dyn DynLock,
}

impl AnyLock {
    /// The lock of that name.
    ///
    /// # Panics
    /// If there is none.
    pub fn named(name: &str) -> Self {
        Self::find(name).expect("a lock of the registry")
    }
    /// The lock of that name, if there is one.
    pub fn find(name: &str) -> Option<Self> {
        visit(registry::find(name)?, Facts)
    }
    /// Watches the lock's words, and its order if it is fair.
    ///
    /// A place in the order is taken with the last change of the word before the first wait, so an attempt at the
    /// pending bit that fails does not count.
    pub fn checks(&self) -> Checks {
        Checks { fifo: self.is_fifo, word_is_legal: Some(self.word_is_legal), overtaking_max: None }
    }
}

struct Facts;

impl LockVisitor<Sim> for Facts {
    type Output = AnyLock;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> AnyLock {
        fn alloc<'a, L: RawLock>(simulation: &mut Simulation<'a>) -> &'a dyn DynLock {
            simulation.alloc(L::new())
        }
        AnyLock {
            is_fifo: matches!(L::ORDER, Order::Fifo | Order::FifoAfterPending),
            waiters_sleep: L::WAITERS_SLEEP,
            type_id: TypeId::of::<L>(),
            threshold: L::fairness_threshold(2, &|_| None),
            word_is_legal: L::word_is_legal,
            alloc: alloc::<L>,
        }
    }
}
