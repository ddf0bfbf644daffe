//! The pool of metadata of hierarchical locks for a program on Linux: one per process.

use super::{Entry, MetadataPool, NumaQueue};
use crate::native::{Native, Table};
use core::ptr::NonNull;
use lockwright_core::table;

/// The number of entries, as posted.
const ENTRIES: usize = 4096;
/// The number of queues of an entry: more than computers have NUMA nodes. If there are more nodes, some share a queue.
const QUEUES: usize = 32;

const POOL: Table<Entry<Native>, ENTRIES> = table!([Entry<Native>; ENTRIES] = Entry::FRESH);
/// The queues of all entries. Those of one NUMA node are next to each other. They are eight mebibytes of zeroes, and
/// only the pages exist that were ever used.
const NUMA_QUEUES: Table<NumaQueue<Native>, { ENTRIES * QUEUES }> =
    table!([NumaQueue<Native>; ENTRIES * QUEUES] = NumaQueue::FRESH);

// SAFETY: elements of static arrays.
unsafe impl MetadataPool for Native {
    type Entry = Entry<Self>;
    type Queue = NumaQueue<Self>;

    fn metadata_entries() -> usize {
        ENTRIES
    }
    fn metadata_queues() -> usize {
        QUEUES
    }
    fn metadata_entry(at: usize) -> NonNull<Entry<Self>> {
        NonNull::from(POOL.at(at % ENTRIES))
    }
    fn metadata_queue(at: usize, queue: usize) -> NonNull<NumaQueue<Self>> {
        NonNull::from(NUMA_QUEUES.at(queue % QUEUES * ENTRIES + at % ENTRIES))
    }
}
