//! The span in which the table of a thread has a lock that the thread takes. It is a knob of
//! [`RawResilientSpinLock`](super::RawResilientSpinLock).

use core::sync::atomic::Ordering::Release;
use core::sync::atomic::compiler_fence;

/// The span in which a thread's table has the lock.
pub trait EntrySpan: Send + Sync + 'static {
    /// True if that is the whole time in which the thread holds the lock, and a moment more at both ends.
    const COVERS_LOCK: bool;
}

/// As in Linux 6.15: the entry of a lock that was free is made after the lock is taken, and every entry is cleared
/// before its lock is released. A signal handler that interrupts the thread in between does not learn that its thread
/// holds the lock, and waits until the time is over.
#[derive(Clone, Copy, Debug)]
pub enum Linux6_15 {}

impl EntrySpan for Linux6_15 {
    const COVERS_LOCK: bool = false;
}

/// As `ResilientSpinLock` has it: the entry is made before an attempt and removed after the release. It is believed
/// only together with a look at the lock, which finds it taken: the attempt itself, or the look at the word in the
/// search. A signal handler that interrupts the owner learns so at once.
#[derive(Clone, Copy, Debug)]
pub enum InPrograms {}

impl EntrySpan for InPrograms {
    const COVERS_LOCK: bool = true;
}

/// Keeps earlier writes of the caller before its later writes, for handlers that interrupt it.
#[inline(always)]
pub(super) fn keep_in_order() {
    // ordering: Release; E1.
    compiler_fence(Release);
}
