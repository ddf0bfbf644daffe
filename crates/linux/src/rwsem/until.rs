//! The end of a wait: never, at a time, or when another thread interrupts it.

use super::object::NUDGED;
use crate::park::{ParkPlatform, waiter};
use crate::platform::{Atomic, AtomicInt, Cells, ConstCells, ConstZeroed, Zeroed};
use crate::queue::{NodeId, TailCode};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The state after an interrupt. No tail code is 1.
const INTERRUPTED: u32 = 1;

/// With it one thread ends the wait of another, as a signal ends the wait of a task.
///
/// One thread at a time waits with it. It stays interrupted until [`reset`](Self::reset).
pub struct Interrupt<P: Cells> {
    /// 0, the tail code of the waiter, or [`INTERRUPTED`].
    state: P::U32,
}

impl<P: Cells> Zeroed for Interrupt<P> {
    fn zeroed() -> Self {
        Self { state: Zeroed::zeroed() }
    }
}

impl<P: Cells> Default for Interrupt<P> {
    fn default() -> Self {
        Self::zeroed()
    }
}

impl<P: ParkPlatform> core::fmt::Debug for Interrupt<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Interrupt").field("is_interrupted", &self.is_interrupted()).finish()
    }
}

impl<P: ConstCells> Interrupt<P> {
    /// An interrupt that has not happened, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { state: ConstZeroed::ZEROED };
}

impl<P: ParkPlatform> Interrupt<P> {
    /// Ends the wait that uses this interrupt, and the waits that will use it. Releases what the caller did to a thread
    /// that finds its wait interrupted.
    pub fn interrupt(&self) {
        // ordering: AcqRel; R7 both ways.
        let before = self.state.swap(INTERRUPTED, AcqRel);
        if let Some(id) = TailCode::from_bits(before as u16).node() {
            let grant = &waiter::<P>(id).grant;
            // Another thread may have the node now: a waiter that wakes up for no reason sleeps again.
            // ordering: Release; R4.
            grant.fetch_or(NUDGED, Release);
            P::futex_wake(grant, 1);
        }
    }
    /// Returns `true` if the interrupt has happened. Acquires what the interrupting thread did before.
    pub fn is_interrupted(&self) -> bool {
        // ordering: Acquire; R7.
        self.state.load(Acquire) == INTERRUPTED
    }
    /// Makes it an interrupt that has not happened. Must not be called while a thread waits with it.
    pub fn reset(&self) {
        // ordering: Relaxed; nothing is read through it.
        self.state.store(0, Relaxed);
    }
    fn change(&self, from: u32, to: u32) {
        // ordering: Release; R7, for the node that it names. On failure Relaxed: the failure value is
        // not used.
        let _ = self.state.compare_exchange(from, to, Release, Relaxed);
    }
}

/// The end of a wait.
pub struct Until<'a, P: Cells> {
    pub(super) deadline_ns: Option<u64>,
    pub(super) interrupt: Option<&'a Interrupt<P>>,
}

impl<P: Cells> Clone for Until<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Cells> Copy for Until<'_, P> {}

impl<'a, P: Cells> Until<'a, P> {
    /// No end: the wait lasts until the thread has the lock.
    pub const FOREVER: Self = Self { deadline_ns: None, interrupt: None };
    /// Ends at this time of the platform's clock.
    pub const fn deadline(deadline_ns: u64) -> Self {
        Self { deadline_ns: Some(deadline_ns), interrupt: None }
    }
    /// Ends when `interrupt` happens.
    pub const fn interrupted(interrupt: &'a Interrupt<P>) -> Self {
        Self { deadline_ns: None, interrupt: Some(interrupt) }
    }
    /// As `self`, but ends at the latest at this time of the platform's clock.
    #[must_use]
    pub const fn or_deadline(self, deadline_ns: u64) -> Self {
        let deadline_ns = match self.deadline_ns {
            Some(earlier) if earlier < deadline_ns => earlier,
            _ => deadline_ns,
        };
        Self { deadline_ns: Some(deadline_ns), ..self }
    }
    /// As `self`, but ends at the latest when `interrupt` happens.
    #[must_use]
    pub const fn or_interrupted(self, interrupt: &'a Interrupt<P>) -> Self {
        Self { interrupt: Some(interrupt), ..self }
    }
}

impl<P: Cells> core::fmt::Debug for Until<'_, P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { deadline_ns, interrupt } = self;
        let mut shown = f.debug_struct("Until");
        shown.field("deadline_ns", deadline_ns);
        shown.field("has_interrupt", &interrupt.is_some()).finish()
    }
}

impl<P: ParkPlatform> Until<'_, P> {
    /// Begins the wait: an interrupt wakes `id` from now on.
    pub(super) fn begin(self, id: NodeId) {
        if let Some(interrupt) = self.interrupt {
            interrupt.change(0, id.code().bits().into());
        }
    }
    /// Ends the wait: an interrupt no longer wakes `id`.
    pub(super) fn end(self, id: NodeId) {
        if let Some(interrupt) = self.interrupt {
            interrupt.change(id.code().bits().into(), 0);
        }
    }
    /// Returns `true` if the wait is over.
    pub(super) fn is_over(self) -> bool {
        self.interrupt.is_some_and(Interrupt::is_interrupted)
            || self.deadline_ns.is_some_and(P::is_over)
    }
}

#[cfg(all(feature = "std", target_os = "linux"))]
impl<P: ParkPlatform> Until<'_, P> {
    /// Ends when `timeout` has passed; never, if that is more than 292 years.
    pub fn after(timeout: core::time::Duration) -> Self {
        Self::deadline(lockwright_core::glue::deadline_after::<P>(timeout))
    }
    /// Ends at `instant`. If that has passed, one attempt is made.
    pub fn at(instant: std::time::Instant) -> Self {
        Self::deadline(lockwright_core::glue::deadline_at::<P>(instant))
    }
}
