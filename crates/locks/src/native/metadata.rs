//! The pool of metadata of hierarchical locks: one per process.

use super::Native;
use super::table::{Table, table};
use crate::hq::{Entry, NumaQueue};
use crate::platform::MetadataPool;
use core::ptr::NonNull;

/// As many as were posted.
const ENTRIES: usize = 4096;
/// Queues of an entry: more than computers have NUMA nodes. If there are more nodes, some share a queue.
const QUEUES: usize = 32;

const TABLE: Table<Entry<Native>, ENTRIES> = table!([Entry<Native>; ENTRIES] = Entry::FRESH);
/// Those of one NUMA node are next to each other. Eight mebibytes of zeroes, of which only the pages exist that were
/// ever used.
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
        NonNull::from(TABLE.at(at % ENTRIES))
    }
    fn metadata_queue(at: usize, queue: usize) -> NonNull<NumaQueue<Self>> {
        NonNull::from(NUMA_QUEUES.at(queue % QUEUES * ENTRIES + at % ENTRIES))
    }
}
