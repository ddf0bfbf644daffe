//! The table of sleepers: one per process.

use super::table::{Table, table};
use super::{Native, fork, syscall};
use crate::hardware::{HardwareU32, HardwareU64};
use crate::park::{Bucket, Waiter};
use crate::platform::{ConstZeroed, SleepStorage};
use crate::queue::{NODES_MAX, NodeId};
use core::ptr::NonNull;

/// Locks that share a bucket share the cost of each other's sleepers. 128 KiB of zeroes.
const BUCKETS: usize = 1024;

const TABLE: Table<Bucket<Native>, BUCKETS> = table!([Bucket<Native>; BUCKETS] = Bucket::EMPTY);
/// Apart from the buckets, so that the look of every release is at few lines.
const MARKS: Table<HardwareU32<Native>, BUCKETS> =
    table!([HardwareU32<Native>; BUCKETS] = ConstZeroed::ZEROED);
const COUNTING_MARKS: Table<HardwareU64<Native>, BUCKETS> =
    table!([HardwareU64<Native>; BUCKETS] = ConstZeroed::ZEROED);
/// Four mebibytes of zeroes, of which only the pages exist that were ever used.
const WAITERS: Table<Waiter<Native>, NODES_MAX> =
    table!([Waiter<Native>; NODES_MAX] = Waiter::FRESH);

// SAFETY: elements of static arrays; fork epochs are the same for all threads of a process.
unsafe impl SleepStorage for Native {
    type Bucket = Bucket<Self>;
    type Waiter = Waiter<Self>;

    #[inline(always)]
    fn sleep_buckets() -> usize {
        BUCKETS
    }
    fn sleep_bucket(at: usize) -> NonNull<Bucket<Self>> {
        NonNull::from(TABLE.at(at % BUCKETS))
    }
    #[inline(always)]
    fn sleep_mark(at: usize) -> NonNull<HardwareU32<Self>> {
        // A power of two: the bound costs an instruction and no branch.
        NonNull::from(MARKS.at(at % BUCKETS))
    }
    #[inline(always)]
    fn counting_mark(at: usize) -> NonNull<HardwareU64<Self>> {
        NonNull::from(COUNTING_MARKS.at(at % BUCKETS))
    }
    fn waiter(id: NodeId) -> NonNull<Waiter<Self>> {
        NonNull::from(WAITERS.at(usize::from(id.number())))
    }
    fn epoch() -> u32 {
        fork::epoch() & (u32::MAX >> 1)
    }
    fn uninterrupted<R>(section: impl FnOnce() -> R) -> R {
        let before = syscall::block_signals();
        let result = section();
        syscall::restore_signals(before);
        result
    }
}
