//! The queue node that all queued locks share, and its name in a lock word.
//!
//! A node is 64 bytes long and zero when fresh. Policies are stateless types over this one layout, so that a lock has
//! four bytes with every policy:
//!
//! ```text
//! byte  0        4        8        12       16               24      28      32       36
//!      +--------+--------+--------+--------+----------------+-------+-------+--------+---------+
//!      | next   | locked | numa   | intra  | since_ns       | claim | cpu   | random | state   |
//!      +--------+--------+--------+--------+----------------+-------+-------+--------+---------+
//!       MCS link and grant   CNA: who, how often, how long    platform        private  waiting
//! byte  40       44      48      52       56 .. 63
//!      +--------+-------+-------+--------+----------------+
//!      | kicked | kick  | prev  | unused | thread         |
//!      +--------+-------+-------+--------+----------------+
//!       waiting          spinners' queue  sleepers' list
//! ```
//!
//! `next` and `locked` are the MCS part: they name the waiter behind this one, and say if this one is the head. `numa`,
//! `intra` and `since_ns` belong to CNA and to succession in two levels, which also uses `prev`. `claim` and `cpu`
//! belong to the platform that hands nodes out, `random` to the thread that uses the node. `state`, `kick` and `kicked`
//! belong to the waiting policies that sleep, `prev` belongs to the queue of optimistic spinners, which a waiter may
//! leave, and `thread` to the list of sleepers of `kernel_mutex`. The lists of the reference locks whose waiters sleep
//! use `next`, `prev` and `kick`, too.

use crate::platform::{Cells, ConstCells, ConstZeroed, NodeId, QueueNodes, Zeroed};
use core::sync::atomic::AtomicU32 as Private;

/// The number of nodes per CPU in the kernel's encoding: task, softirq, hardirq, NMI.
pub const NODES_PER_CPU: u16 = 4;

impl NodeId {
    /// Returns the name of the node in the upper half of a lock word. It is never below 4, so 0 can mean that there is
    /// no waiter.
    pub const fn code(self) -> TailCode {
        TailCode(self.number() + NODES_PER_CPU)
    }
}

/// The upper half of a lock word: it names a node, or none.
///
/// `(cpu + 1) << 2 | index`, which is the number of the node plus four. 0 names none; 1 to 3 name nothing and are never
/// written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailCode(u16);

impl TailCode {
    /// The code that names no node.
    pub const NONE: Self = Self(0);

    /// Returns the code of a node, or of none.
    pub const fn of(node: Option<NodeId>) -> Self {
        match node {
            Some(id) => id.code(),
            None => Self::NONE,
        }
    }

    /// Returns the code with these bits.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }
    /// Returns the bits of this code.
    pub const fn bits(self) -> u16 {
        self.0
    }
    /// Returns the node that the code names, or node 0 if it names none. It never panics.
    pub const fn node_or_first(self) -> NodeId {
        NodeId::new(self.0.saturating_sub(NODES_PER_CPU))
    }
    /// Returns the node that the code names, if any.
    pub const fn node(self) -> Option<NodeId> {
        match self.0.checked_sub(NODES_PER_CPU) {
            Some(number) => Some(NodeId::new(number)),
            None => None,
        }
    }
}

/// A waiter in the queue of a lock.
#[repr(C, align(64))]
pub struct QNode<P: Cells> {
    /// The link to the waiter behind this one: its tail code, and bit 16 if it may leave. 0 until it has linked itself.
    pub next: P::U32,
    /// 0: not head of the queue yet. 1: head. A multiple of 65,536: head, and the value is the tail code, in
    /// the upper half, of the secondary queue that comes with it. 2: the queue dissolves (`qspinlock::resilient`).
    /// 3: its waiter has left (`qspinlock::timed`).
    pub locked: P::U32,
    /// NUMA nodes: the low half is the node that the waiter stands for now, the high half is the node on which it
    /// really is.
    pub numa: P::U32,
    /// The number of handoffs within the NUMA node since the secondary queue was last empty.
    pub intra_count: P::U32,
    /// The time at which the secondary queue was last empty, in nanoseconds; 0 when it is empty. In two levels, for the
    /// first waiter of a list: the link to the first one of the list behind, or 0.
    pub since_ns: P::U64,
    /// It is for the platform's `claim_node`; locks do not touch it.
    pub claim: Private,
    /// The CPU on which its thread was last seen. It is for the platform; locks do not touch it.
    pub cpu: Private,
    /// The state of a random number generator, for the thread that has claimed the node.
    pub random: Private,
    /// The state of the waiter, for the owner and for the waiter behind it: see `qspinlock::pv`.
    pub state: P::U32,
    /// The lower half of the time at which it was kicked, in nanoseconds. It is only used for counting.
    pub kicked: Private,
    /// The word on which it sleeps: 1 once it was kicked. Other values belong to the one lock whose waiter it is, and
    /// the waiter puts 0 back: see `qspinlock::pv`.
    pub kick: P::U32,
    /// The tail code of the waiter in front; 0 for the head. See `osq`. In two levels, for the first waiter of a list:
    /// the link to its last one. In CNA, for rules that hand a number over: that number.
    pub prev: P::U32,
    /// The number of its thread, for a release that hands the lock to it. See `kernel_mutex`.
    pub thread: P::U64,
}

impl<P: Cells> QNode<P> {
    /// Returns a fresh node.
    ///
    /// # Safety
    /// It is for the storage of a platform that hands out nodes: a thread that has a reference to a node may act as its
    /// waiter.
    pub unsafe fn new() -> Self {
        Self {
            next: Zeroed::zeroed(),
            locked: Zeroed::zeroed(),
            numa: Zeroed::zeroed(),
            intra_count: Zeroed::zeroed(),
            since_ns: Zeroed::zeroed(),
            claim: Private::new(0),
            cpu: Private::new(0),
            random: Private::new(0),
            state: Zeroed::zeroed(),
            kicked: Private::new(0),
            kick: Zeroed::zeroed(),
            prev: Zeroed::zeroed(),
            thread: Zeroed::zeroed(),
        }
    }
}

impl<P: ConstCells> QNode<P> {
    /// Returns a fresh node, in a constant.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    pub const unsafe fn fresh() -> Self {
        Self {
            next: ConstZeroed::ZEROED,
            locked: ConstZeroed::ZEROED,
            numa: ConstZeroed::ZEROED,
            intra_count: ConstZeroed::ZEROED,
            since_ns: ConstZeroed::ZEROED,
            claim: Private::new(0),
            cpu: Private::new(0),
            random: Private::new(0),
            state: ConstZeroed::ZEROED,
            kicked: Private::new(0),
            kick: ConstZeroed::ZEROED,
            prev: ConstZeroed::ZEROED,
            thread: ConstZeroed::ZEROED,
        }
    }
}

/// Returns the node `id`, for as long as a lock operation lasts.
#[inline]
pub fn node<'a, P: QueueNodes<Node = QNode<P>>>(id: NodeId) -> &'a QNode<P> {
    // SAFETY: by the contract of `QueueNodes::node` the storage of a node that was ever claimed
    // lives as long as the machine; ids only come from `claim_node`, directly or through a lock
    // word, a link or a grant. All fields are cells, so sharing is sound.
    unsafe { P::node(id).as_ref() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::NODES_MAX;

    #[test]
    fn tail_codes_are_the_kernels_encoding() {
        for (cpu, index) in [(0, 0), (0, 3), (1, 0), (142, 2), (16_382, 3)] {
            let id = NodeId::new(cpu * NODES_PER_CPU + index);
            assert_eq!(id.code().bits(), (cpu + 1) << 2 | index);
            assert_eq!(id.code().node(), Some(id));
        }
        assert_eq!(TailCode::NONE.node(), None);
        assert_eq!(NodeId::new(NODES_MAX as u16 - 1).code().bits(), u16::MAX);
    }
}
