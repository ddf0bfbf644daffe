//! The table of sleepers. There is one per process.

use super::per_process::table_per_process;
use super::per_thread::per_thread;
use super::{Native, fork, pool, pool::NODES, syscall};
use crate::hardware::{HardwareU32, HardwareU64};
use crate::park::{Bucket, MarkState, Waiter};
use crate::platform::{ConstZeroed, MarkStorage, ReadList, SleepStorage};
use crate::queue::NodeId;
use core::ptr::NonNull;

/// The number of buckets. Locks that share a bucket share the cost of each other's sleepers. The buckets are 128 KiB of
/// zeroes.
const BUCKETS: usize = 1024;

table_per_process! {
    const TABLE at "buckets": [Bucket<Native>; BUCKETS] = Bucket::EMPTY
}
table_per_process! {
    /// The words on which threads without a queue node nap.
    const MARKS at "marks": [HardwareU32<Native>; BUCKETS] = ConstZeroed::ZEROED
}
table_per_process! {
    const COUNTING_MARKS at "counting_marks": [HardwareU64<Native>; BUCKETS] = ConstZeroed::ZEROED
}
table_per_process! {
    /// The waiters are eight mebibytes of zeroes for 65,532 nodes. Only the pages exist that were ever used.
    const WAITERS at "waiters": [Waiter<Native>; NODES] = Waiter::FRESH
}

per_thread! {
    /// The locks that the thread reads.
    READS at "lockwright_reads": ReadList = ReadList::EMPTY
}

// SAFETY: elements of static arrays; fork epochs are the same for all threads of a process.
unsafe impl MarkStorage for Native {
    type MarkState = MarkState<Self>;

    #[inline(always)]
    fn sleep_buckets() -> usize {
        BUCKETS
    }
    #[inline(always)]
    fn counting_mark(at: usize) -> NonNull<HardwareU64<Self>> {
        NonNull::from(COUNTING_MARKS.at(at % BUCKETS))
    }
    #[inline(always)]
    fn mark_state(at: usize) -> NonNull<MarkState<Self>> {
        NonNull::from(&TABLE.at(at % BUCKETS).mark)
    }
    fn epoch() -> u32 {
        fork::epoch() & (u32::MAX >> 1)
    }
}

// SAFETY: elements of static arrays.
unsafe impl SleepStorage for Native {
    type Bucket = Bucket<Self>;
    type Waiter = Waiter<Self>;

    #[inline(always)]
    fn sleep_bucket(at: usize) -> NonNull<Bucket<Self>> {
        NonNull::from(TABLE.at(at % BUCKETS))
    }
    #[inline(always)]
    fn sleep_mark(at: usize) -> NonNull<HardwareU32<Self>> {
        // A power of two: the bound costs an instruction and no branch.
        NonNull::from(MARKS.at(at % BUCKETS))
    }
    fn waiter(id: NodeId) -> NonNull<Waiter<Self>> {
        NonNull::from(WAITERS.at(pool::place(id.number().into())))
    }
    #[inline(always)]
    fn read_list() -> Option<NonNull<ReadList>> {
        READS.with(|list| NonNull::new(list.as_ptr()))
    }
    fn uninterrupted<R>(section: impl FnOnce() -> R) -> R {
        let before = syscall::block_signals();
        let result = section();
        syscall::restore_signals(before);
        result
    }
}
