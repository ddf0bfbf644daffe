//! The NUMA node of a waiter, and the switch of CNA.

use crate::platform::Atomic;
use crate::queue::{NodeId, QNode, QueuePlatform, named};
use crate::raw::FairnessThreshold;
use crate::tunables::{NumaSpinlock, Tunable};
use core::sync::atomic::Ordering::Relaxed;

/// Stands in for the NUMA node of a waiter that must not be set aside: it is prioritized.
const URGENT: u16 = u16::MAX;

/// The NUMA node of a waiter, and the one that it stands for: the two halves of the `numa` word of its queue node.
#[derive(Clone, Copy)]
pub(super) struct Numa {
    /// The NUMA node as whose waiter it is treated, or [`URGENT`].
    stands_for: u16,
    /// The NUMA node it was on when it queued.
    real: u16,
}

impl Numa {
    const fn from_bits(bits: u32) -> Self {
        Self { stands_for: bits as u16, real: (bits >> 16) as u16 }
    }
    const fn bits(self) -> u32 {
        (self.real as u32) << 16 | self.stands_for as u32
    }
    pub(super) fn of<P: QueuePlatform>(waiter: &QNode<P>) -> Self {
        // ordering: Relaxed; written before the waiter linked itself, Q2, or by a head before it
        // granted, Q3.
        Self::from_bits(waiter.numa.load(Relaxed))
    }
    /// Writes down where the caller is, in its own node.
    pub(super) fn enter<P: QueuePlatform>(me: &QNode<P>) {
        let real = P::numa_node_of(P::this_cpu()) as u16;
        let stands_for = if P::is_urgent() { URGENT } else { real };
        // ordering: Relaxed; published by Q2.
        me.numa.store(Self { stands_for, real }.bits(), Relaxed);
    }
    /// Makes the waiter stand for this NUMA node.
    pub(super) fn inherit<P: QueuePlatform>(waiter: &QNode<P>, stands_for: u16) {
        let numa = Self::of(waiter);
        if numa.stands_for != stands_for {
            // ordering: Relaxed; published by the grant, Q3.
            waiter.numa.store(Self { stands_for, ..numa }.bits(), Relaxed);
        }
    }
    /// Returns the NUMA node that it prefers as the head.
    pub(super) fn preferred(self) -> u16 {
        if self.is_prioritized() { self.real } else { self.stands_for }
    }
    /// Returns the NUMA node it was on when it queued.
    pub(super) fn real(self) -> u16 {
        self.real
    }
    pub(super) fn is_prioritized(self) -> bool {
        self.stands_for == URGENT
    }
    /// Returns `true` if it may follow a head that prefers this NUMA node.
    pub(super) fn may_follow(self, prefers: u16) -> bool {
        self.stands_for == prefers || self.is_prioritized()
    }
    /// Returns `true` if it is of this NUMA node, or stands for it.
    pub(super) fn is_of(self, prefers: u16) -> bool {
        self.stands_for == prefers || self.real == prefers
    }
}

/// Returns the waiter linked behind the head.
pub(super) fn behind<P: QueuePlatform>(me: &QNode<P>) -> NodeId {
    // ordering: Relaxed; acquired when the link was first seen, Q2, or written by this head.
    named(me.next.load(Relaxed))
}

/// Returns `true` if waiters are served by NUMA node.
pub(super) fn is_switched_on<P: QueuePlatform>() -> bool {
    let setting = P::tunable(Tunable::numa_spinlock);
    NumaSpinlock::of(setting, P::is_guest, P::numa_nodes).is_on()
}

/// Returns no threshold if CNA is switched off on a machine with `numa_nodes`, and otherwise what `threshold` returns.
pub(super) fn none_if_off(
    numa_nodes: u32,
    set: &dyn Fn(Tunable) -> Option<u64>,
    threshold: impl FnOnce(FairnessThreshold) -> FairnessThreshold,
) -> FairnessThreshold {
    let none = FairnessThreshold::default();
    // The caller counts the nodes of a guest as one.
    let is_on = NumaSpinlock::of(set(Tunable::numa_spinlock), || false, || numa_nodes).is_on();
    if is_on { threshold(none) } else { none }
}
