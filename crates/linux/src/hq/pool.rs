//! The pool of metadata, which a lock has outside of its word while it is in HQ mode.
//!
//! An entry has the name of the lock that owns it, a sequence number, and a queue for each NUMA node:
//!
//! ```text
//!          63                        16 15          0
//! entry   +---------------------------------------------+
//!         |       owner: name of the lock, or 0         |
//!         +---------------------------------------------+
//!         |   sequence: odd while a lock owns the entry |
//!         +----------------------------+----------------+
//!         |  first_queue               |    see `under_load`
//!         +----------------------------+
//! queue   +----------------------------+-------------+
//!         |      sequence number       |  tail code  |    tail
//!         +----------------------------+-------------+
//!         |  head: first waiter        |  next: queue behind it in the list  |  left_out: see `list`
//! ```
//!
//! The tail of a queue has the number of the use that its waiters belong to, and numbers grow. So a slow thread, which
//! comes when the lock or another one uses the entry again, does not join waiters of the newer use.

use super::HqPlatform;
use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Zeroed};
use crate::queue::{NodeId, TailCode};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The number of bits of a tail that are its code.
const CODE_BITS: u32 = 16;
/// The largest sequence number that a tail has room for.
const SEQUENCE_MAX: u64 = u64::MAX >> CODE_BITS;
/// Spreads names over entries (Knuth: 2^64 divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// An entry of the pool. Its queues lie elsewhere.
#[repr(C, align(64))]
pub struct Entry<P: Cells> {
    /// The name of the lock that uses it; 0 if none does.
    owner: P::U64,
    /// The number of the use, which is odd; even between two uses.
    sequence: P::U64,
    /// The number of the queue that was the one queue of the lock, counted from 1, if HQ mode began under load.
    first_queue: P::U32,
}

/// The queue of one NUMA node in an entry.
#[repr(C, align(64))]
pub struct NumaQueue<P: Cells> {
    /// The number of a use, and the newest waiter.
    tail: P::U64,
    /// A link to the first waiter. Belongs to the thread that appends the queue, then to the head of the lock.
    pub(super) head: P::U32,
    /// The queue behind it in the list, counted from 1; 0 if it is the last one.
    pub(super) next: P::U32,
    /// The number of remote handoffs in a row that have left out the head queue, up to the last one, to this queue.
    pub(super) left_out: P::U32,
}

/// The outcome of an attempt to take an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The caller has taken it for its lock.
    Now,
    /// The lock has it: another thread has just taken it, or is about to give it back.
    Before,
    /// Another lock has it.
    ByAnother,
}

/// The outcome of an attempt to join a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// The caller is behind this waiter.
    Behind(NodeId),
    /// The caller is the first one, and has to append the queue to the list.
    First,
    /// The use is over: the queue is one of a newer use.
    TooLate,
    /// There are still waiters of an older use, which are about to leave.
    Occupied,
}

impl<P: Cells> Entry<P> {
    /// Returns an entry that no lock has used.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { owner: Zeroed::zeroed(), sequence: Zeroed::zeroed(), first_queue: Zeroed::zeroed() }
    }
    /// Returns `true` if no lock uses it, and each use has ended once.
    pub fn is_free(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.owner.load(Relaxed) == 0 && self.number() % 2 == 0
    }

    /// Takes the entry for the lock called `name`, if no lock has it. A use of it begins.
    pub(super) fn take(&self, name: u64) -> Taken {
        // ordering: Acquire; H7. On failure Relaxed: only the name is used.
        match self.owner.compare_exchange(0, name, Acquire, Relaxed) {
            Ok(_) => {
                // ordering: Relaxed; acquired by H7.
                let sequence = self.sequence.load(Relaxed);
                // ordering: Release; H8.
                self.sequence.store(sequence.wrapping_add(1) & SEQUENCE_MAX, Release);
                Taken::Now
            }
            Err(owner) if owner == name => Taken::Before,
            Err(_) => Taken::ByAnother,
        }
    }
    /// Gives the entry back. The use of it is over.
    pub(super) fn give_back(&self) {
        let sequence = self.number();
        // ordering: Relaxed; published by H7.
        self.sequence.store(sequence.wrapping_add(1) & SEQUENCE_MAX, Relaxed);
        // ordering: Release; H7.
        self.owner.store(0, Release);
    }
    /// Returns the number of the use by the lock called `name`, if there is one. The use may be over when this returns.
    pub(super) fn use_by(&self, name: u64) -> Option<u64> {
        // ordering: Acquire; H8: the owner is not one of an older use.
        let sequence = self.sequence.load(Acquire);
        // ordering: Acquire; H7: if it is the owner of a newer use, the number below is a newer one, too.
        if sequence % 2 == 0 || self.owner.load(Acquire) != name {
            return None;
        }
        (self.number() == sequence).then_some(sequence)
    }
    /// Returns the number that the entry has now. A thread of the list knows that it does not change.
    pub(super) fn number(&self) -> u64 {
        // ordering: Relaxed; in `use_by` only compared, elsewhere acquired with the word, H5.
        self.sequence.load(Relaxed)
    }
    /// Stores, as the owner that turns the lock to HQ mode, that waiters of the one queue are in this queue from now
    /// on.
    pub(super) fn begins_with(&self, queue: u8) {
        // ordering: Relaxed; read by heads of the lock only, H3.
        self.first_queue.store(queue.into(), Relaxed);
    }
    /// Returns the queue of waiters that joined before HQ mode began under load.
    pub(super) fn first_queue(&self) -> u8 {
        // ordering: Relaxed; written by a head, H3.
        self.first_queue.load(Relaxed) as u8
    }
}

impl<P: ConstCells> Entry<P> {
    /// An entry that no lock has used, in a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const FRESH: Self = Self {
        owner: ConstZeroed::ZEROED,
        sequence: ConstZeroed::ZEROED,
        first_queue: ConstZeroed::ZEROED,
    };
}

/// Returns the code in a tail.
fn code_of(tail: u64) -> TailCode {
    TailCode::from_bits(tail as u16)
}

/// Returns a tail of the use with this number.
fn tail_of(sequence: u64, code: TailCode) -> u64 {
    sequence << CODE_BITS | u64::from(code.bits())
}

impl<P: Cells> NumaQueue<P> {
    /// Returns a queue that no lock has used.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self {
            tail: Zeroed::zeroed(),
            head: Zeroed::zeroed(),
            next: Zeroed::zeroed(),
            left_out: Zeroed::zeroed(),
        }
    }
    /// Returns `true` if no thread waits in it.
    pub fn is_empty(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        code_of(self.tail.load(Relaxed)) == TailCode::NONE
    }

    /// Makes `id` the newest waiter, in the use with this number.
    pub(super) fn join(&self, sequence: u64, id: NodeId) -> Joined {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut tail = self.tail.load(Relaxed);
        loop {
            let of = tail >> CODE_BITS;
            let is_empty = code_of(tail) == TailCode::NONE;
            if of > sequence {
                return Joined::TooLate;
            }
            if of < sequence && !is_empty {
                return Joined::Occupied;
            }
            // ordering: AcqRel; H1 both ways, H9. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.tail.compare_exchange(tail, tail_of(sequence, id.code()), AcqRel, Relaxed) {
                Ok(_) => return code_of(tail).node().map_or(Joined::First, Joined::Behind),
                Err(now) => tail = now,
            }
        }
    }
    /// Keeps threads out of an empty queue, before the use with this number has a list of queues. `id` stands for its
    /// waiters. Returns `false` if a late thread is or was in the queue.
    pub(super) fn reserve(&self, sequence: u64, id: NodeId) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let tail = self.tail.load(Relaxed);
        // No use has an even number.
        let reserved = tail_of(sequence - 1, id.code());
        // ordering: Acquire; H9. On failure Relaxed: the failure value is not used.
        tail >> CODE_BITS < sequence
            && code_of(tail).node().is_none()
            && self.tail.compare_exchange(tail, reserved, Acquire, Relaxed).is_ok()
    }
    /// Lets threads join a reserved queue, behind the waiter `newest`.
    pub(super) fn open(&self, sequence: u64, newest: TailCode) {
        // ordering: Release; H1.
        self.tail.store(tail_of(sequence, newest), Release);
    }
    /// Moves the waiters of the queue to the use with this number, if they belong to an older one.
    pub(super) fn belongs_to(&self, sequence: u64) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut tail = self.tail.load(Relaxed);
        while tail >> CODE_BITS != sequence {
            let now = tail_of(sequence, code_of(tail));
            // ordering: Relaxed; a read-modify-write: it continues H1.
            match self.tail.compare_exchange(tail, now, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => tail = now,
            }
        }
    }
    /// Returns `true` if no waiter is behind `id`, which is in the queue. Only a hint: a thread may come at any time.
    pub(super) fn ends_with(&self, id: NodeId) -> bool {
        // ordering: Relaxed; only a hint, re-checked in `leave` or where the next waiter links itself.
        code_of(self.tail.load(Relaxed)) == id.code()
    }
    /// Takes `id`, the first waiter, out of the queue if it is the last one, too. Returns `true` if it did.
    pub(super) fn leave_empty(&self, id: NodeId) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let tail = self.tail.load(Relaxed);
        let empty = tail_of(tail >> CODE_BITS, TailCode::NONE);
        // ordering: Release; H9. On failure Relaxed: the failure value is not used.
        code_of(tail) == id.code()
            && self.tail.compare_exchange(tail, empty, Release, Relaxed).is_ok()
    }
}

impl<P: ConstCells> NumaQueue<P> {
    /// A queue that no lock has used, in a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const FRESH: Self = Self {
        tail: ConstZeroed::ZEROED,
        head: ConstZeroed::ZEROED,
        next: ConstZeroed::ZEROED,
        left_out: ConstZeroed::ZEROED,
    };
}

/// The place of the metadata of one lock, which the lock may own or not.
pub(super) struct Metadata<'a, P: HqPlatform> {
    /// The name of the lock.
    pub(super) name: u64,
    at: usize,
    pub(super) entry: &'a Entry<P>,
}

impl<P: HqPlatform> Metadata<'_, P> {
    /// Returns the metadata of the lock with this word.
    pub(super) fn of(word: &P::Word) -> Self {
        let name = P::lock_name(core::ptr::from_ref(word).cast());
        // The middle bits of a product depend on all bits of the name (Fibonacci hashing).
        let at = (name.wrapping_mul(SPREAD) >> 32) as usize & (P::metadata_entries() - 1);
        // SAFETY: by the contract of `MetadataPool` it lives as long as locks are used; all fields are cells, so
        // sharing is sound.
        Self { name, at, entry: unsafe { P::metadata_entry(at).as_ref() } }
    }
    /// Returns the queue for threads on the caller's NUMA node, counted from 1.
    pub(super) fn own_queue(&self) -> u8 {
        let numa_node = P::numa_node_of(P::this_cpu()) as usize;
        // If there are more NUMA nodes than queues, some share one.
        (numa_node % P::metadata_queues() + 1) as u8
    }
    /// Returns a queue of the entry, counted from 1.
    pub(super) fn queue(&self, queue: u8) -> &NumaQueue<P> {
        let at = usize::from(queue).saturating_sub(1);
        // SAFETY: as in `of`.
        unsafe { P::metadata_queue(self.at, at).as_ref() }
    }
}
