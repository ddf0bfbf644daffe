//! The storage of a simulated machine's table of sleepers, of its readers' slots and of its tables of held locks.

use crate::platform::Sim;
use core::ptr::NonNull;
use lockwright::percpu_rwlock::ReaderSlot;
use lockwright_core::held::HeldTable;
use lockwright_core::park::{Bucket, Waiter};
use lockwright_core::platform::{Cells, ReadList};

type Mark = <Sim as Cells>::U32;
type CountingMark = <Sim as Cells>::U64;

/// How many buckets there are: few, so that short runs begin fast.
pub const BUCKETS: usize = 64;

/// Where the buckets, the marks and the waiters are, which lie in the arena behind the program's objects.
#[derive(Clone, Copy)]
pub struct SleepMemory<'a> {
    pub buckets: &'a [Bucket<Sim>],
    pub marks: &'a [Mark],
    /// One for each queue node.
    pub waiters: &'a [Waiter<Sim>],
    /// One for each thread, and an empty one.
    pub reader_slots: &'a [ReaderSlot<Sim>],
    pub counting_marks: &'a [CountingMark],
    /// One for each thread.
    pub held: &'a [HeldTable<Sim>],
    /// One for each thread.
    pub reads: &'a [ReadList],
}

impl SleepMemory<'_> {
    pub const NONE: Self = Self {
        buckets: &[],
        marks: &[],
        waiters: &[],
        reader_slots: &[],
        counting_marks: &[],
        held: &[],
        reads: &[],
    };
}

/// The same, for as long as a run lasts.
pub struct SleepSlots {
    buckets: NonNull<[Bucket<Sim>]>,
    marks: NonNull<[Mark]>,
    waiters: NonNull<[Waiter<Sim>]>,
    reader_slots: NonNull<[ReaderSlot<Sim>]>,
    counting_marks: NonNull<[CountingMark]>,
    held: NonNull<[HeldTable<Sim>]>,
    reads: NonNull<[ReadList]>,
}

impl SleepSlots {
    /// The slots in `memory`, which stay where they are for as long as they are used.
    pub fn new(memory: SleepMemory) -> Self {
        Self {
            buckets: NonNull::from(memory.buckets),
            marks: NonNull::from(memory.marks),
            waiters: NonNull::from(memory.waiters),
            reader_slots: NonNull::from(memory.reader_slots),
            counting_marks: NonNull::from(memory.counting_marks),
            held: NonNull::from(memory.held),
            reads: NonNull::from(memory.reads),
        }
    }
    pub fn bucket(&self, at: usize) -> NonNull<Bucket<Sim>> {
        element(self.buckets, at)
    }
    pub fn mark(&self, at: usize) -> NonNull<Mark> {
        element(self.marks, at)
    }
    pub fn counting_mark(&self, at: usize) -> NonNull<CountingMark> {
        element(self.counting_marks, at)
    }
    pub fn waiter(&self, at: usize) -> NonNull<Waiter<Sim>> {
        element(self.waiters, at)
    }
    pub fn reader_slot(&self, at: usize) -> NonNull<ReaderSlot<Sim>> {
        element(self.reader_slots, at)
    }
    pub fn held(&self, at: usize) -> NonNull<HeldTable<Sim>> {
        element(self.held, at)
    }
    pub fn reads(&self, at: usize) -> NonNull<ReadList> {
        element(self.reads, at)
    }
    pub fn reader_slots(&self) -> usize {
        self.reader_slots.len() - 1
    }
    /// A slot that belongs to no thread.
    pub fn nobodys_slot(&self) -> NonNull<ReaderSlot<Sim>> {
        element(self.reader_slots, self.reader_slots())
    }
    /// Returns true if no thread is in the table. Threads of the run must not call it.
    pub fn is_empty(&self) -> bool {
        (0..self.buckets.len()).all(|at| {
            // SAFETY: the buckets live as long as they are used.
            let bucket = unsafe { self.bucket(at).as_ref() };
            // SAFETY: no thread of the run uses them now.
            unsafe { bucket.is_empty() }
        })
    }
}

fn element<T>(slice: NonNull<[T]>, at: usize) -> NonNull<T> {
    assert!(at < slice.len(), "the table of sleepers has no place {at}");
    // SAFETY: within the slice, which outlives the table.
    unsafe { slice.cast::<T>().add(at) }
}
