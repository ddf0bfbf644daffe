//! The pool of metadata of hierarchical locks for a program on Linux: one per process.

use super::{Entry, MetadataPool, NumaQueue};
use crate::native::Native;
use core::ptr::NonNull;

/// The number of entries, as posted.
const ENTRIES: usize = 4096;
/// The number of queues of an entry: more than computers have NUMA nodes. If there are more nodes, some share a queue.
const QUEUES: usize = 32;

static POOL: [Entry<Native>; ENTRIES] = [const { Entry::FRESH }; ENTRIES];
/// The queues of all entries. Those of one NUMA node are next to each other. They are eight mebibytes of zeroes, and
/// only the pages exist that were ever used.
static NUMA_QUEUES: [NumaQueue<Native>; ENTRIES * QUEUES] =
    [const { NumaQueue::FRESH }; ENTRIES * QUEUES];

/// Returns an element. There is no reference to the whole table, because a checker of aliasing would then look at all
/// of it at each access.
fn element<T, const LENGTH: usize>(table: *const [T; LENGTH], at: usize) -> NonNull<T> {
    assert!(at < LENGTH, "beyond a table");
    // SAFETY: within the static.
    let element = unsafe { table.cast::<T>().add(at) };
    // SAFETY: not null, as no static is.
    unsafe { NonNull::new_unchecked(element.cast_mut()) }
}

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
        element(&raw const POOL, at % ENTRIES)
    }
    fn metadata_queue(at: usize, queue: usize) -> NonNull<NumaQueue<Self>> {
        element(&raw const NUMA_QUEUES, queue % QUEUES * ENTRIES + at % ENTRIES)
    }
}
