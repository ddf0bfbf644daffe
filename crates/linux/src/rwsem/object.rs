//! What a semaphore is, and what the threads that wait for it are told.

use super::list::{List, WaitLock};
use super::policy::Policy;
use crate::osq::OsqLock;
use crate::platform::Cells;

/// Grant: sleeps, or is about to.
pub(super) const ASLEEP: u32 = 0;
/// Grant, a bit, of a writer: look again.
pub(super) const WOKEN: u32 = 1;
/// Grant, a bit: it reads, and is no longer in the list.
pub(super) const GRANTED: u32 = 2;
/// Grant, a bit: somebody has interrupted a wait, perhaps this one.
pub(super) const NUDGED: u32 = 4;

/// What a semaphore is, whatever its policy.
#[repr(C)]
pub(super) struct Sem<P: Cells> {
    pub(super) count: P::U64,
    pub(super) owner: P::U64,
    /// Those who spin.
    pub(super) spinners: OsqLock<P>,
    /// A release is about to wake somebody; or, under a policy where one reader spins for all, one does.
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
