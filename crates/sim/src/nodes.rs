//! The queue nodes of a simulated machine.

use crate::config::NodesMode;
use crate::memory::NOBODY;
use crate::platform::Sim;
use core::ptr::NonNull;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, Cells};
use lockwright_core::queue::{NODES_MAX, NODES_PER_CPU, NodeId, QNode};

/// The cells of the lock hash, which lie in the arena behind the program's objects.
pub struct LockHashTable(NonNull<[<Sim as Cells>::U64]>);

impl LockHashTable {
    /// How many cells a machine with `cpus` CPUs has: four for each, and at least a page.
    pub fn count(cpus: u32) -> usize {
        (cpus as usize * 4).max(512).next_power_of_two()
    }
    /// A table of `cells`, which stay where they are for as long as it is used.
    pub fn new(cells: &[<Sim as Cells>::U64]) -> Self {
        Self(NonNull::from(cells))
    }
    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Returns true if no lock has an entry. Threads of the run must not call it.
    pub fn is_empty(&self) -> bool {
        (0..self.len()).all(|at| {
            // SAFETY: the cells live as long as the table is used.
            let cell = unsafe { self.slot(at).as_ref() };
            cell.load(Relaxed) == 0
        })
    }
    /// The cell with this number.
    pub fn slot(&self, at: usize) -> NonNull<<Sim as Cells>::U64> {
        assert!(at < self.len(), "the lock hash has no cell {at}");
        // SAFETY: within the slice, which outlives the table.
        unsafe { self.0.cast::<<Sim as Cells>::U64>().add(at) }
    }
}

/// Which thread uses which queue node. The nodes themselves lie in the arena, as its first object.
pub struct NodeTable {
    mode: NodesMode,
    first: NonNull<QNode<Sim>>,
    /// Thread that has claimed each node.
    claimants: Vec<u16>,
    /// In pool mode: where each thread looks first, because it used that node last.
    hints: Vec<usize>,
    /// After a fork: which nodes were claimed by threads that no longer exist.
    orphans: Vec<bool>,
}

impl NodeTable {
    /// How many nodes a machine with `cpus` CPUs has in `mode`.
    pub fn count(mode: NodesMode, cpus: u32) -> usize {
        let count = match mode {
            NodesMode::PerCpu => cpus as usize * usize::from(NODES_PER_CPU),
            NodesMode::Pool(count) => usize::from(count),
        };
        assert!(count <= NODES_MAX, "{count} queue nodes are more than a lock word can name");
        count
    }
    /// A table for `nodes`, which stay where they are for as long as the table is used.
    pub fn new(mode: NodesMode, nodes: &[QNode<Sim>], threads: usize) -> Self {
        Self {
            mode,
            first: NonNull::from(nodes).cast(),
            claimants: vec![NOBODY; nodes.len()],
            hints: (0..threads).map(|thread| thread % nodes.len().max(1)).collect(),
            orphans: Vec::new(),
        }
    }
    /// Takes a free node for `thread` on `cpu`.
    pub fn claim(&mut self, thread: usize, cpu: u32) -> Option<NodeId> {
        let number = match self.mode {
            NodesMode::PerCpu => {
                let first = cpu as usize * usize::from(NODES_PER_CPU);
                (first..first + usize::from(NODES_PER_CPU)).find(|&at| self.is_free(at))
            }
            NodesMode::Pool(_) => {
                let (len, hint) = (self.claimants.len(), self.hints[thread]);
                (hint..len).chain(0..hint).find(|&at| self.is_free(at))
            }
        }?;
        self.hints[thread] = number;
        self.claimants[number] = thread as u16;
        Some(NodeId::new(number as u16))
    }
    fn is_free(&self, number: usize) -> bool {
        self.claimants[number] == NOBODY
    }
    /// Gives a node back.
    ///
    /// # Panics
    /// If no thread has claimed it.
    pub fn release(&mut self, id: NodeId) {
        let claimant = &mut self.claimants[usize::from(id.number())];
        assert!(*claimant != NOBODY, "queue node {} is released but not claimed", id.number());
        *claimant = NOBODY;
    }
    /// The threads but one are gone, and what they have claimed stays claimed.
    pub fn orphan_all_but(&mut self, survivor: usize) {
        let is_gone = |&claimant: &u16| claimant != NOBODY && usize::from(claimant) != survivor;
        self.orphans = self.claimants.iter().map(is_gone).collect();
    }
    /// Returns true if the thread that has claimed the node is gone.
    pub fn is_orphan(&self, id: NodeId) -> bool {
        self.orphans.get(usize::from(id.number())).is_some_and(|is_orphan| *is_orphan)
    }
    /// The storage of a node.
    pub fn node(&self, id: NodeId) -> NonNull<QNode<Sim>> {
        let number = usize::from(id.number());
        assert!(number < self.claimants.len(), "there is no queue node {number}");
        // SAFETY: `first` points to as many nodes as there are claimants, in a row.
        unsafe { self.first.add(number) }
    }
    /// How deep its CPU is nested with this node: 0 is the first.
    pub fn nesting(&self, id: NodeId) -> u32 {
        match self.mode {
            NodesMode::PerCpu => u32::from(id.number() % NODES_PER_CPU),
            NodesMode::Pool(_) => 0,
        }
    }
    /// The thread that uses the node `id`.
    pub fn claimant(&self, id: NodeId) -> Option<usize> {
        let claimant = self.claimants[usize::from(id.number())];
        (claimant != NOBODY).then_some(usize::from(claimant))
    }
}
