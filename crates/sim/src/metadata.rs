//! The storage of a simulated machine's pool of metadata.

use crate::platform::Sim;
use core::ptr::NonNull;
use lockwright_linux::hq::{Entry, NumaQueue};

/// How many entries there are: few, so that short runs begin fast.
pub const ENTRIES: usize = 64;

/// Where the entries and their queues are, which lie in the arena behind the program's objects.
#[derive(Clone, Default)]
pub struct MetadataMemory<'a> {
    pub entries: &'a [Entry<Sim>],
    /// For each socket a queue of every entry, in the memory of that socket.
    pub queues: Vec<&'a [NumaQueue<Sim>]>,
}

/// The same, for as long as a run lasts.
pub struct MetadataTable {
    entries: NonNull<[Entry<Sim>]>,
    queues: Vec<NonNull<[NumaQueue<Sim>]>>,
}

impl MetadataTable {
    /// The table in `memory`, which stays where it is for as long as it is used.
    pub fn new(memory: &MetadataMemory) -> Self {
        let queues = memory.queues.iter().map(|&queues| NonNull::from(queues)).collect();
        Self { entries: NonNull::from(memory.entries), queues }
    }
    /// How many queues an entry has.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }
    pub fn entry(&self, at: usize) -> NonNull<Entry<Sim>> {
        assert!(at < self.entries.len(), "the pool of metadata has no entry {at}");
        // SAFETY: within the slice, which outlives the table.
        unsafe { self.entries.cast::<Entry<Sim>>().add(at) }
    }
    pub fn queue(&self, at: usize, queue: usize) -> NonNull<NumaQueue<Sim>> {
        let queues = self.queues[queue];
        assert!(at < queues.len(), "the pool of metadata has no entry {at}");
        // SAFETY: within the slice, which outlives the table.
        unsafe { queues.cast::<NumaQueue<Sim>>().add(at) }
    }
    /// Returns true if the cell at this address is part of an entry. Its words are not those of locks.
    pub fn has(&self, address: usize) -> bool {
        let begin = self.entries.addr().get();
        (begin..begin + self.entries.len() * size_of::<Entry<Sim>>()).contains(&address)
    }
    /// Returns true if no lock has metadata. Threads of the run must not call it.
    pub fn is_free(&self) -> bool {
        (0..self.entries.len()).all(|at| {
            // SAFETY: the entries live as long as they are used.
            unsafe { self.entry(at).as_ref() }.is_free()
        })
    }
}
