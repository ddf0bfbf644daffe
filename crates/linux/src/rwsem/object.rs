//! The object of a semaphore, and the messages to the threads that wait for it.

use super::list::{List, WaitLock};
use super::policy::Policy;
use crate::osq::OsqLock;
use crate::platform::Cells;

/// Grant: the waiter sleeps, or is about to.
pub(super) const ASLEEP: u32 = 0;
/// Grant, a bit: a writer should look again.
pub(super) const WOKEN: u32 = 1;
/// Grant, a bit: the waiter has the lock as a reader, and is no longer in the list.
pub(super) const GRANTED: u32 = 2;
/// Grant, a bit: a thread has interrupted a wait, perhaps this one.
pub(super) const NUDGED: u32 = 4;

/// The fields of a semaphore, whatever its policy.
#[repr(C)]
pub(super) struct Sem<P: Cells> {
    pub(super) count: P::U64,
    pub(super) owner: P::U64,
    /// The queue of spinners.
    pub(super) spinners: OsqLock<P>,
    /// Not 0 if a release is about to wake a waiter. Under a policy where one reader spins for all: not 0 if one does.
    pub(super) flag: P::U32,
    pub(super) wait_lock: WaitLock<P>,
    pub(super) list: List<P>,
}

/// The parts of an operation that are compiled once for all policies.
pub(super) struct Slow<'a, P: Cells> {
    pub(super) sem: &'a Sem<P>,
    pub(super) policy: &'static Policy,
}

impl<P: Cells> Clone for Slow<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Cells> Copy for Slow<'_, P> {}
