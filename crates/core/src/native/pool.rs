//! The queue nodes of the process. They are one static pool, and a thread claims a node for one slow path.
//!
//! A thread that claims a node looks first at the one that it used last. So a claim is usually one compare-exchange on
//! a cache line that the CPU already owns. Its very first look is at a part of the pool that belongs to its CPU. The
//! memory of that part is first touched there, so it is on that NUMA node. Nothing has to be done when a thread starts
//! or ends; a signal handler that interrupts a queued thread claims a second node. A forked child never reuses a node
//! that was in use at the fork: lock words of the parent's time may still name it.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | N1 | `claim.store` in `release_node`, Release | `compare_exchange` in `claim`, Acquire | all accesses to the node on behalf of its last user |

use super::per_process::table_per_process;
use super::per_thread::per_thread;
use super::{Native, cpu, fork};
use crate::platform::QueueNodes;
use crate::queue::{NODES_MAX, NodeId, QNode};
use core::ptr::NonNull;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

#[allow(clippy::declare_interior_mutable_const)]
// SAFETY: it is only for the storage of the platform.
const FRESH: QNode<Native> = unsafe { QNode::fresh() };

/// The number of nodes. A program that does not know of the locks gets fewer: it may have a limit for its address
/// space, or lock all of it in memory.
pub(super) const NODES: usize = if cfg!(lockwright_preload) { 6144 } else { NODES_MAX };

table_per_process! {
    const POOL at "nodes": [QNode<Native>; NODES] = FRESH
}
/// The maximum number of nodes that are in use. It is smaller than the pool only in tests.
static LIMIT: AtomicU32 = AtomicU32::new(NODES as u32);
/// A count that spreads the first looks of the threads of one CPU.
static THREADS: AtomicU32 = AtomicU32::new(0);

/// The number of nodes in a CPU's part: eight pages, or one.
const PART: u32 = if cfg!(lockwright_preload) { 64 } else { 512 };
const FREE: u32 = 0;

per_thread! {
    /// The node that the thread used last, plus one.
    HINT at "lockwright_node_hint": u32 = 0
}
per_thread! {
    /// The node that the thread left in a queue last, plus one.
    LEFT at "lockwright_node_left": u32 = 0
}

// SAFETY: nodes are elements of one static array, claimed by compare-exchange and released by a releasing store; fork
// epochs only grow, and all threads of a process see one epoch.
unsafe impl QueueNodes for Native {
    type Node = QNode<Self>;

    fn claim_node() -> Option<NodeId> {
        // ordering: Relaxed; nothing is read through it.
        let limit = LIMIT.load(Relaxed);
        let mark = mark_of_this_process();
        let first = match HINT.get() {
            0 => first_look(),
            hint => hint - 1,
        };
        (0..limit).map(|step| (first + step) % limit).find_map(|number| claim(number, mark))
    }
    #[inline]
    unsafe fn release_node(id: NodeId) {
        // ordering: Release; N1.
        slot(id.number().into()).claim.store(FREE, Release);
    }
    #[inline(always)]
    fn node(id: NodeId) -> NonNull<QNode<Self>> {
        NonNull::from(slot(id.number().into()))
    }
    #[inline]
    fn has_forked() -> bool {
        fork::epoch() > 0
    }
    fn is_orphaned(id: NodeId) -> bool {
        // ordering: Relaxed; once orphaned a node stays so, and nothing is read through it.
        let mark = slot(id.number().into()).claim.load(Relaxed);
        mark != FREE && mark != mark_of_this_process()
    }
    fn leave_node(id: NodeId) {
        LEFT.set(u32::from(id.number()) + 1);
    }
    fn left_node() -> Option<NodeId> {
        let number = LEFT.get().checked_sub(1)?;
        // ordering: Relaxed; only a hint.
        let is_in_use = slot(number).claim.load(Relaxed) == mark_of_this_process();
        if !is_in_use {
            LEFT.set(0);
        }
        is_in_use.then(|| NodeId::new(number as u16))
    }
}

/// Returns the place of the node with this number. Lock words name only nodes of the pool, but the program may have
/// overwritten a word.
#[inline(always)]
pub(super) fn place(number: usize) -> usize {
    if cfg!(lockwright_preload) { number % NODES } else { number }
}

/// Returns the node with this number, which is below `NODES`.
#[inline(always)]
fn slot(number: u32) -> &'static QNode<Native> {
    debug_assert!(number < NODES as u32);
    // SAFETY: a `NodeId`, the limit of a search, and a place among fewer nodes are below `NODES`, the pool's length.
    let node = unsafe { POOL.first.add(place(number as usize)) };
    // SAFETY: a node of a static.
    unsafe { &*node }
}

/// Returns the mark of claimed nodes. It is never `FREE`, and differs before and after a fork.
#[inline]
fn mark_of_this_process() -> u32 {
    fork::epoch().wrapping_add(1).max(1)
}

#[inline]
fn claim(number: u32, mark: u32) -> Option<NodeId> {
    let node = slot(number);
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange: Acquire; N1.
    if node.claim.load(Relaxed) != FREE
        || node.claim.compare_exchange(FREE, mark, Acquire, Relaxed).is_err()
    {
        return None;
    }
    // ordering: Relaxed; only a hint.
    node.cpu.store(cpu::this_cpu(), Relaxed);
    HINT.set(number + 1);
    Some(NodeId::new(number as u16))
}

#[cold]
fn first_look() -> u32 {
    // ordering: Relaxed; nothing is read through it.
    let within = THREADS.fetch_add(1, Relaxed) % PART;
    cpu::this_cpu().wrapping_mul(PART).wrapping_add(within) % NODES as u32
}

/// Lets the pool hand out no more than `count` nodes, or all if there are fewer, so that a test can see what happens
/// when it is exhausted. Nodes that are claimed already stay claimed.
pub fn limit_nodes(count: usize) {
    // ordering: Relaxed; nothing is read through it.
    LIMIT.store(count.min(NODES) as u32, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::UnsafeCell;
    use std::thread;

    /// A number that belongs to the thread that has the only node.
    struct Owned(UnsafeCell<u32>);
    // SAFETY: accessed by the owner of the node only.
    unsafe impl Sync for Owned {}

    /// Under Miri this is also a search for a node that is handed out before its last user is done with it.
    #[test]
    fn a_node_belongs_to_one_thread_at_a_time() {
        static OWNED: Owned = Owned(UnsafeCell::new(0));
        let rounds = if cfg!(miri) { 3 } else { 1_000 };
        let use_node = move || {
            for _ in 0..rounds {
                let id = loop {
                    match Native::claim_node() {
                        Some(id) => break id,
                        None => thread::yield_now(),
                    }
                };
                // SAFETY: the node is ours, and with it the number.
                unsafe { *OWNED.0.get() += 1 };
                // SAFETY: claimed above, and no other thread knows it.
                unsafe { Native::release_node(id) };
            }
        };
        limit_nodes(1);
        for thread in [(); 2].map(|()| thread::spawn(use_node)) {
            thread.join().expect("no panic");
        }
        limit_nodes(NODES_MAX);
        // SAFETY: both threads are done.
        assert_eq!(unsafe { *OWNED.0.get() }, 2 * rounds);
    }
}
