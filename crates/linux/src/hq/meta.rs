//! The pool of metadata, which a lock has outside of its word while it is in HQ mode.
//!
//! ```text
//!          63                                          0
//! entry   +---------------------------------------------+
//!         |       owner: name of the lock, or 0         |
//!         +----------------------+-----------+----------+
//!         |  unused              |   number of the use  |
//!         +----------------------+-----------+----------+
//!         |  unused              |   last    |  first   |   the ends of the list of queues, one unit
//!         +----------------------+-----------+----------+
//! queue   +----------------------+----------------------+
//!         |  number of the use   |    tail (a code)     |   one unit
//!         +----------------------+----------------------+
//!         |  first waiter        |  next, before: its neighbours in the list  |  left
//! ```
//!
//! Queues are counted from 1, and 0 is none. A number is good for one use. It is 0 in a queue that is not in use. So a
//! slow thread, which comes when the lock or another one uses the entry again, does not join waiters of the newer use.

use super::HqPlatform;
use crate::platform::{
    Atomic, AtomicInt, Cells, ConstCells, ConstZeroed, Halves, LockWordOps, Zeroed,
};
use crate::queue::{NodeId, TailCode, link_to, named};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Spreads names over entries: the constant of the kernel's hash of 64 bits.
const GOLDEN_RATIO: u64 = 0x61c8_8646_80b5_83eb;
/// The width of the tail in the unit of a queue. The number is above it.
const TAIL_BITS: u32 = 32;

/// An entry of the pool. Its queues lie elsewhere. It has 24 bytes, so neighbours share lines.
#[repr(C)]
pub struct Entry<P: Cells> {
    /// The name of the lock that uses it; 0 if none does.
    owner: P::U64,
    /// The number of its use.
    number: P::U32,
    _unused: P::U32,
    /// The first queue of the list, and the last one in the upper half.
    ends: P::Word,
}

/// The queue of one NUMA node in an entry.
#[repr(C, align(64))]
pub struct NumaQueue<P: Cells> {
    /// The newest waiter, and the number of the use in the upper half.
    unit: P::U64,
    /// A link to the first waiter.
    first_waiter: P::U32,
    /// The queue behind it in the list.
    pub(super) next: P::U32,
    /// The queue in front of it in the list.
    pub(super) before: P::U32,
    /// The number of turns that were given past the first queue before this one.
    pub(super) left: P::U32,
}

/// The outcome of an attempt to take an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The caller has taken it for its lock, with this number.
    Now(u32),
    /// The lock has it: another thread has just taken it, or is about to give it back.
    Before,
    /// Another lock has it.
    ByAnother,
}

/// The unit of a queue in the use `number`, whose newest waiter is `tail`.
fn unit(number: u32, tail: TailCode) -> u64 {
    u64::from(number) << TAIL_BITS | u64::from(tail.bits())
}

/// Returns the newest waiter in a unit.
pub(super) fn tail_of(unit: u64) -> TailCode {
    TailCode::from_bits(unit as u16)
}

/// The first and the last queue of the list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) first: u16,
    pub(super) last: u16,
}

impl Ends {
    /// Those of the empty list.
    pub(super) const NONE: Self = Self { first: 0, last: 0 };

    /// Those of a list of this queue alone.
    pub(super) const fn only(queue: u16) -> Self {
        Self { first: queue, last: queue }
    }
    const fn bits(self) -> u32 {
        Halves::with_half1(self.first as u32, self.last)
    }
    const fn from_bits(bits: u32) -> Self {
        Self { first: bits as u16, last: (bits >> 16) as u16 }
    }
}

impl<P: Cells> Entry<P> {
    /// Returns an entry that no lock has used.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self {
            owner: Zeroed::zeroed(),
            number: Zeroed::zeroed(),
            _unused: Zeroed::zeroed(),
            ends: Zeroed::zeroed(),
        }
    }
    /// Returns `true` if no lock uses it.
    pub fn is_free(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.owner.load(Relaxed) == 0
    }

    /// Takes the entry for the lock called `name`, if no lock has it. A use of it begins.
    #[doc(alias = "grab_lock_meta")]
    fn take(&self, name: u64) -> Taken {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange, or by the caller that looks again.
        let seen = self.owner.load(Relaxed);
        let owner = match seen {
            // ordering: Acquire; H7. On failure Relaxed: only the name is used.
            0 => self.owner.compare_exchange(0, name, Acquire, Relaxed).err(),
            owner => Some(owner),
        };
        match owner {
            None => Taken::Now(self.next_number()),
            Some(owner) if owner == name => Taken::Before,
            Some(_) => Taken::ByAnother,
        }
    }
    /// Begins a new number. It is not 0.
    fn next_number(&self) -> u32 {
        loop {
            // ordering: Release; H8.
            let number = self.number.fetch_add(1, Release).wrapping_add(1);
            if number != 0 {
                return number;
            }
        }
    }
    /// Gives the entry back.
    pub(super) fn give_back(&self) {
        // ordering: Release; H7.
        self.owner.store(0, Release);
    }
    /// Returns the number of the use, which may be over at once.
    pub(super) fn number(&self) -> u32 {
        // ordering: Acquire; H8.
        self.number.load(Acquire)
    }

    /// Returns both ends of the list.
    pub(super) fn ends(&self) -> Ends {
        // ordering: Relaxed; what is read through them was written by an owner, H3 and H4, or by this thread.
        Ends::from_bits(self.ends.load(Relaxed))
    }
    /// Waits until the list has a first queue. Returns it.
    pub(super) fn wait_for_first(&self) -> u16 {
        // ordering: Relaxed; as in `ends`.
        Ends::from_bits(self.ends.cond_load(Relaxed, |bits| Ends::from_bits(bits).first != 0)).first
    }
    /// Makes `queue` the first one.
    pub(super) fn set_first(&self, queue: u16) {
        // ordering: Relaxed; read by owners, H3 and H4.
        self.ends.store_half0(queue, Relaxed);
    }
    /// Makes `queue` the last one. Returns the one that was.
    pub(super) fn exchange_last(&self, queue: u16) -> u16 {
        // ordering: AcqRel; H10 both ways.
        self.ends.swap_half1(queue, AcqRel)
    }
    /// Replaces the ends as the caller has `seen` them. Only an owner writes the first one of a list, so this is a
    /// compare-exchange of the last one.
    pub(super) fn exchange(&self, seen: Ends, ends: Ends) -> bool {
        // ordering: Release; H10. On failure Relaxed: the failure value is not used.
        self.ends.compare_exchange(seen.bits(), ends.bits(), Release, Relaxed).is_ok()
    }
}

impl<P: ConstCells> Entry<P> {
    /// An entry that no lock has used, in a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const FRESH: Self = Self {
        owner: ConstZeroed::ZEROED,
        number: ConstZeroed::ZEROED,
        _unused: ConstZeroed::ZEROED,
        ends: ConstZeroed::ZEROED,
    };
}

impl<P: Cells> NumaQueue<P> {
    /// Returns a queue that no lock has used.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self {
            unit: Zeroed::zeroed(),
            first_waiter: Zeroed::zeroed(),
            next: Zeroed::zeroed(),
            before: Zeroed::zeroed(),
            left: Zeroed::zeroed(),
        }
    }
    /// Returns `true` if no thread waits in it.
    pub fn is_empty(&self) -> bool {
        tail_of(self.seen()) == TailCode::NONE
    }
    /// Returns its unit.
    pub(super) fn seen(&self) -> u64 {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        self.unit.load(Relaxed)
    }

    /// Makes `code` the newest waiter, in the use `number`. Returns the one before, or `None` if that use is over.
    #[doc(alias = "try_update_tail_hqlock_mode")]
    pub(super) fn join(&self, number: u32, code: TailCode) -> Option<TailCode> {
        let mut seen = self.seen();
        while (seen >> TAIL_BITS) as u32 == number {
            // ordering: AcqRel; H1 both ways, H9. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.unit.compare_exchange(seen, unit(number, code), AcqRel, Relaxed) {
                Ok(_) => return Some(tail_of(seen)),
                Err(now) => seen = now,
            }
        }
        None
    }
    /// Removes the newest waiter, which is the only one, if the unit is as the caller has `seen` it. The number does
    /// not change while a waiter is there, so this is a compare-exchange of the tail.
    pub(super) fn clear_tail(&self, seen: u64) -> bool {
        let empty = seen & !u64::from(u32::MAX);
        // ordering: AcqRel; H9. On failure Relaxed: the failure value is not used.
        self.unit.compare_exchange(seen, empty, AcqRel, Relaxed).is_ok()
    }
    /// Begins the use with this number. No thread waits in the queue.
    fn begin(&self, number: u32) {
        // ordering: Relaxed; published by H5.
        self.unit.store(unit(number, TailCode::NONE), Relaxed);
    }
    /// Ends the use with this number, unless a thread waits in the queue.
    fn end(&self, number: u32) -> bool {
        let used = unit(number, TailCode::NONE);
        // ordering: Relaxed; the queue has been left, H9. On failure Relaxed: the failure value is not used.
        self.unit.compare_exchange(used, 0, Relaxed, Relaxed).is_ok()
    }
    /// Takes [`end`](Self::end) back, if the use has ended. The tail stays.
    fn resume(&self, number: u32) {
        // ordering: Relaxed; nothing is read through it.
        self.unit.fetch_or(unit(number, TailCode::NONE), Relaxed);
    }

    /// Stores the first waiter.
    pub(super) fn set_first_waiter(&self, id: NodeId) {
        // ordering: Relaxed; published by H6, or read by owners, H3 and H4.
        self.first_waiter.store(link_to(id), Relaxed);
    }
    /// Returns the first waiter of a queue that is in the list.
    pub(super) fn first_waiter(&self) -> NodeId {
        // ordering: Relaxed; acquired with the link to the queue, H6, or written by an owner, H3 and H4.
        named(self.first_waiter.load(Relaxed))
    }
    /// Takes the queue out of the list, or makes it ready for it.
    pub(super) fn unlink(&self) {
        // ordering: Relaxed; published by H6 and H10.
        self.before.store(0, Relaxed);
        // ordering: Relaxed; published by H6 and H10.
        self.next.store(0, Relaxed);
    }
}

impl<P: ConstCells> NumaQueue<P> {
    /// A queue that no lock has used, in a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const FRESH: Self = Self {
        unit: ConstZeroed::ZEROED,
        first_waiter: ConstZeroed::ZEROED,
        next: ConstZeroed::ZEROED,
        before: ConstZeroed::ZEROED,
        left: ConstZeroed::ZEROED,
    };
}

/// Returns the number of online NUMA nodes, which are those with queues.
pub(super) fn online<P: HqPlatform>() -> u16 {
    P::numa_nodes().min(P::metadata_queues() as u32) as u16
}

/// Returns the queue for threads on the caller's NUMA node. If there are more nodes than queues, some share one.
pub(super) fn own_queue<P: HqPlatform>() -> u16 {
    (P::numa_node_of(P::this_cpu()) % u32::from(online::<P>())) as u16 + 1
}

/// The place of the metadata of one lock, which the lock may own or not.
pub(super) struct Metadata<'a, P: HqPlatform> {
    name: u64,
    at: usize,
    pub(super) entry: &'a Entry<P>,
}

impl<P: HqPlatform> Metadata<'_, P> {
    /// Returns the metadata of the lock with this word.
    pub(super) fn of(word: &P::Word) -> Self {
        let name = P::lock_name(core::ptr::from_ref(word).cast());
        let bits = P::metadata_entries().trailing_zeros();
        // The upper bits of a product depend on all bits of the name.
        let hash = name.wrapping_mul(GOLDEN_RATIO).checked_shr(u64::BITS - bits);
        let at = hash.unwrap_or(0) as usize;
        // SAFETY: by the contract of `MetadataPool` it lives as long as locks are used; all fields are cells, so
        // sharing is sound.
        Self { name, at, entry: unsafe { P::metadata_entry(at).as_ref() } }
    }
    /// Returns a queue of the entry.
    pub(super) fn queue(&self, queue: u16) -> &NumaQueue<P> {
        let at = usize::from(queue.saturating_sub(1));
        // SAFETY: as in `of`.
        unsafe { P::metadata_queue(self.at, at).as_ref() }
    }
    /// Returns the queues of all online NUMA nodes, in order.
    fn queues(&self) -> impl Iterator<Item = &NumaQueue<P>> {
        (1..=online::<P>()).map(|queue| self.queue(queue))
    }
    /// Takes the entry, if no lock has it, and writes the number to the queues.
    pub(super) fn take(&self) -> Taken {
        let taken = self.entry.take(self.name);
        if let Taken::Now(number) = taken {
            self.queues().for_each(|queue| queue.begin(number));
        }
        taken
    }
    /// Returns `true` if no thread waits in any queue. Only a hint.
    pub(super) fn is_unused(&self) -> bool {
        self.queues().all(NumaQueue::is_empty)
    }
    /// Ends the use of the queues. Takes that back and returns `false` if a thread waits in one.
    pub(super) fn end_use(&self) -> bool {
        let number = self.entry.number();
        let ends = self.queues().all(|queue| queue.end(number));
        if !ends {
            self.queues().for_each(|queue| queue.resume(number));
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(feature = "std", target_os = "linux"))]
    #[test]
    fn an_entry_has_24_bytes_and_a_queue_has_a_line() {
        type Native = crate::native::Native;
        assert_eq!(size_of::<Entry<Native>>(), 24);
        assert_eq!(size_of::<NumaQueue<Native>>(), 64);
    }

    #[test]
    fn the_tail_is_the_lower_half_of_the_unit_of_a_queue() {
        let code = NodeId::new(9).code();
        assert_eq!(unit(3, code), 3 << 32 | 13);
        assert_eq!(tail_of(unit(u32::MAX, code)), code);
        assert_eq!(Ends { first: 2, last: 5 }.bits(), 5 << 16 | 2);
    }
}
