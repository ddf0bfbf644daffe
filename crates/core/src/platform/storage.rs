//! The storage that a machine offers to sleepers, readers and owners. The locks define its content.

use super::{Cells, MarkStorage, NodeId, ReadList};
use core::ptr::NonNull;

/// The storage of the [`SleepTable`](crate::park::SleepTable), which defines its content.
///
/// # Safety
/// The functions that return pointers return different places for different numbers. These places are zero at first and
/// live as long as locks of this platform are used.
pub unsafe trait SleepStorage: MarkStorage {
    /// The type of a bucket: [`Bucket`](crate::park::Bucket).
    type Bucket;
    /// The type of a waiter: [`Waiter`](crate::park::Waiter).
    type Waiter;

    /// Returns a bucket; `at` is below [`sleep_buckets`](MarkStorage::sleep_buckets).
    fn sleep_bucket(at: usize) -> NonNull<Self::Bucket>;
    /// Returns the mark of bucket `at`, on which a thread without a queue node naps.
    fn sleep_mark(at: usize) -> NonNull<Self::U32>;
    /// Returns the waiter that belongs to a queue node. It is valid as long as the node is.
    fn waiter(id: NodeId) -> NonNull<Self::Waiter>;
    /// Returns the list of the locks that the calling thread reads, for one thread always the same list. Returns `None`
    /// if the machine has no lists: then any thread may already be a reader.
    fn read_list() -> Option<NonNull<ReadList>> {
        None
    }
    /// Runs `section`. No signal handler interrupts the thread meanwhile, except handlers of faults.
    fn uninterrupted<R>(section: impl FnOnce() -> R) -> R {
        section()
    }
}

/// The memory in which readers say what they read, without a write that other threads contend for.
///
/// This trait only has the storage, as [`SleepStorage`] does; [`readers`](crate::readers) defines its content.
///
/// # Safety
/// [`reader_slot`](Self::reader_slot) always returns one slot to a thread, and no other thread that exists has it.
/// Slots live as long as locks of this platform are used and are empty at first. After a heavy barrier
/// [`reader_slots`](Self::reader_slots) counts every slot whose owner had it when it passed the barrier.
/// [`lock_number`](Self::lock_number) returns no number twice, even if the lock that had it no longer exists.
pub unsafe trait ReaderSlots: Cells {
    /// The type of a slot: [`ReaderSlot`](crate::readers::ReaderSlot).
    type Slot;

    /// The maximum number of times that a thread reads one lock in its slot, in addition to the first time: as many as
    /// the lock beneath counts.
    const DEPTH_MAX: u32 = (1 << 23) - 1;

    /// Returns a number for a lock whose readers use slots. It is not 0 and below 2^63, and no other lock has it before
    /// or after.
    fn lock_number() -> u64;
    /// Returns the slot of the calling thread, or `None` if there is none left.
    fn reader_slot() -> Option<NonNull<Self::Slot>>;
    /// Returns a bound for the slots in use: their numbers are below it.
    fn reader_slots() -> usize;
    /// Returns a slot, or an empty one for a number that no thread has.
    fn reader_slot_at(at: usize) -> NonNull<Self::Slot>;
}

/// The memory in which threads say which locks they hold.
///
/// This trait only has the storage; [`held`](crate::held) defines its content.
///
/// # Safety
/// [`held_table`](Self::held_table) always returns one table to a thread, and no other thread that exists has it.
/// Tables live as long as locks of this platform are used and are empty at first.
pub unsafe trait HeldLocks: Cells {
    /// The type of a table: [`HeldTable`](crate::held::HeldTable).
    type Table;

    /// Returns the table of the calling thread, or `None` if there is none left.
    fn held_table() -> Option<NonNull<Self::Table>>;
    /// Returns a bound for the tables in use: their numbers are below it.
    fn held_tables() -> usize;
    /// Returns a table, or `None` for a number that no thread has.
    fn held_table_at(at: usize) -> Option<NonNull<Self::Table>>;
}
