//! The ways in which a thread queues in each mode, and the changes of the mode.

use super::pool::{Joined, Metadata, Taken};
use super::under_load::has_waiters;
use super::word::{Mode, Queues};
use super::{HqPlatform, HqPolicy, HqSpinlock, HqWord};
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::{NodeId, QNode, TailCode, link_to, named, node};
use crate::raw::RawLock;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The role that a waiter is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It is the head of the lock, after this many handoffs. In queued mode these are all handoffs, in HQ mode those
    /// within the NUMA node.
    Head(u32),
    /// It is the first waiter of a queue that is not in the list.
    Appender,
}

impl Role {
    const APPENDER: u32 = 1;
    const FIRST_HEAD: u32 = 2;

    fn bits(self) -> u32 {
        match self {
            Self::Head(handoffs) => handoffs.saturating_add(Self::FIRST_HEAD),
            Self::Appender => Self::APPENDER,
        }
    }
    fn from_bits(bits: u32) -> Self {
        match bits.checked_sub(Self::FIRST_HEAD) {
            Some(handoffs) => Self::Head(handoffs),
            None => Self::Appender,
        }
    }
    /// Tells the role to the waiter `to`.
    pub(super) fn tell<P: HqPlatform>(self, to: NodeId) {
        // ordering: Release; H3.
        node::<P>(to).locked.store(self.bits(), Release);
    }
    /// Waits until `me` was told a role. Returns it.
    pub(super) fn wait<P: HqPlatform>(me: &QNode<P>) -> Self {
        // ordering: Acquire; H3.
        Self::from_bits(me.locked.cond_load(Acquire, |granted| granted != 0))
    }
    /// Forgets the role that the waiter was told.
    fn forget<P: HqPlatform>(me: &QNode<P>) {
        // ordering: Relaxed; published by H1, or by H5 when the queue is appended.
        me.locked.store(0, Relaxed);
    }
}

/// Waits until the waiter behind `me`, which has joined, is linked. Returns it.
pub(super) fn wait_for_next<P: HqPlatform>(me: &QNode<P>) -> NodeId {
    // ordering: Acquire; H2.
    named(me.next.cond_load(Acquire, |link| link != 0))
}

impl<P: HqPlatform, F: HqPolicy> HqSpinlock<P, F> {
    /// Takes the lock by way of a queue.
    pub(super) fn lock_queue(&self) {
        P::count(Event::lock_slowpath);
        let Some(id) = P::claim_node() else { return self.lock_without_node() };
        // The lock may have become free.
        while !self.try_lock() {
            // ordering: Acquire; H5.
            let seen = HqWord::from_bits(self.word.load(Acquire));
            if self.queues_once(seen, id) {
                break;
            }
            // A word that does not change is that of a free lock: an owner and a queue do not stay.
            let may_go_on = |bits| bits != seen.bits() || HqWord::from_bits(bits).is_free();
            // ordering: Relaxed; only a hint, re-checked above.
            self.word.cond_load(Relaxed, may_go_on);
        }
        // SAFETY: claimed above. No thread reaches the node now: neither the word nor a tail names it, its predecessor
        // has granted, and its successor has been granted.
        unsafe { P::release_node(id) };
    }

    /// Queues with node `id` and takes the lock. Returns `false` if the mode is no longer the one that was seen, or the
    /// queue is occupied.
    fn queues_once(&self, seen: HqWord, id: NodeId) -> bool {
        prepare::<P>(id);
        match seen.mode() {
            Mode::Queued => self.queue_in_order(seen, id),
            Mode::Undecided => self.decide(seen, id),
            Mode::Hq => self.queue_by_node(id),
        }
    }

    /// Joins the one queue, unless the lock has left queued mode. Returns `true` if it has the lock.
    ///
    /// This takes a compare-exchange of the whole word: the mode is a part of it, and the meaning of the tail depends
    /// on the mode.
    fn queue_in_order(&self, seen: HqWord, id: NodeId) -> bool {
        let prev = self.join_in_order(seen, id);
        if let Some(prev) = prev {
            self.wait_in_order(prev, id);
        }
        prev.is_some()
    }
    /// Makes `id` the newest waiter of the one queue. Returns the one before, or `None` if the lock has left queued
    /// mode.
    pub(super) fn join_in_order(&self, seen: HqWord, id: NodeId) -> Option<TailCode> {
        let mut seen = seen;
        while seen.mode() == Mode::Queued {
            let joined = seen.queued(id.code());
            // (p,queued,*,*) -> (n,queued,*,*)
            // ordering: AcqRel; H1 both ways. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(seen.bits(), joined.bits(), AcqRel, Relaxed) {
                Ok(_) => return Some(seen.tail()),
                Err(now) => seen = HqWord::from_bits(now),
            }
        }
        None
    }

    /// Waits behind `prev` in the one queue, takes the lock and makes the next waiter the head.
    fn wait_in_order(&self, prev: TailCode, id: NodeId) {
        let handoffs = match prev.node() {
            Some(prev) => match wait_behind::<P>(prev, id) {
                Role::Head(handoffs) => handoffs,
                Role::Appender => unreachable_grant(),
            },
            None => 0,
        };
        self.lead_in_order(id, handoffs);
    }
    /// Takes the lock, as the head that has waited in the one queue, after `handoffs`. Makes the next waiter the head.
    pub(super) fn lead_in_order(&self, id: NodeId, handoffs: u32) {
        let is_due = F::TURN.is_due::<P>(handoffs);
        let waiters = if is_due { F::TURN.waiters::<P>() } else { None };
        let turns = waiters.is_some_and(|waiters| has_waiters::<P>(id, waiters));
        loop {
            let seen = self.wait_for_lock();
            if F::TURN.is_under_load() && seen.mode() == Mode::Hq {
                let metadata = Metadata::of(&self.word);
                let own = metadata.entry.first_queue();
                return self.wait_by_node(&metadata, own, id, handoffs);
            }
            if seen.tail() != id.code() {
                break;
            }
            let left = match is_due && !F::TURN.is_under_load() {
                true => seen.undecided(),
                false => seen.queued(TailCode::NONE),
            };
            // (n,queued,0,0) -> (0,queued,0,1) or (invalid,undecided,0,1)
            // ordering: Relaxed; the lock was acquired where it was seen free, H4, and nothing is read through an
            // empty or invalid tail.
            // On failure Relaxed: the failure value is not used.
            let leaves =
                self.word.compare_exchange(seen.bits(), left.held().bits(), Relaxed, Relaxed);
            if leaves.is_ok() {
                return;
            }
        }
        self.take_as_head();
        if turns && self.turn_under_load(id) {
            return;
        }
        // After a look the head counts anew.
        let handoffs = if waiters.is_some() { 0 } else { handoffs.saturating_add(1) };
        Role::Head(handoffs).tell::<P>(wait_for_next(node::<P>(id)));
    }

    /// Decides how threads queue from now on: by NUMA node, if the entry is free for this lock. Returns `true` if it
    /// has the lock.
    fn decide(&self, seen: HqWord, id: NodeId) -> bool {
        let metadata = Metadata::of(&self.word);
        match metadata.entry.take(metadata.name) {
            Taken::Now => {
                if self.set_mode(seen, HqWord::hq_begins).is_none() {
                    metadata.entry.give_back();
                    return false;
                }
                P::count(Event::hq_mode_on);
                // HQ mode ends with the last waiter of the list. If this thread does not become one, there may be none.
                let has_lock = self.queue_by_node(id);
                if !has_lock {
                    self.end_unused(&metadata);
                }
                has_lock
            }
            Taken::Before => false,
            Taken::ByAnother => {
                let joined = self.set_mode(seen, |seen| seen.queued(id.code())).is_some();
                if joined {
                    P::count(Event::hq_mode_refused);
                    self.wait_in_order(TailCode::NONE, id);
                }
                joined
            }
        }
    }
    /// Changes the word of a lock without a mode. Returns `None` if it has one.
    pub(super) fn set_mode(&self, seen: HqWord, change: impl Fn(HqWord) -> HqWord) -> Option<()> {
        let mut seen = seen;
        while seen.mode() == Mode::Undecided {
            // (invalid,undecided,*,*) -> (0 0,hq,*,*) or (n,queued,*,*)
            // ordering: Release; H5, H1. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(seen.bits(), change(seen).bits(), Release, Relaxed) {
                Ok(_) => return Some(()),
                Err(now) => seen = HqWord::from_bits(now),
            }
        }
        None
    }

    /// Ends HQ mode if no queue is in the list. The thread whose exchange ends it gives the metadata back.
    fn end_unused(&self, metadata: &Metadata<P>) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = HqWord::from_bits(self.word.load(Relaxed));
        while seen.is_unused_hq() {
            let ended = seen.undecided().bits();
            // (0 0,hq,*,*) -> (invalid,undecided,*,*)
            // ordering: Acquire; H5: another thread may have begun HQ mode since. On failure Relaxed: only a hint,
            // re-checked at the next attempt.
            match self.word.compare_exchange(seen.bits(), ended, Acquire, Relaxed) {
                Ok(_) => return metadata.entry.give_back(),
                Err(now) => seen = HqWord::from_bits(now),
            }
        }
    }

    /// Joins the queue of the own NUMA node, unless the lock has left HQ mode. Returns `true` if it has the lock.
    fn queue_by_node(&self, id: NodeId) -> bool {
        let metadata = Metadata::of(&self.word);
        let sequence = metadata.entry.use_by(metadata.name);
        sequence.is_some_and(|sequence| self.queue_in_use(&metadata, sequence, id))
    }
    /// As `queue_by_node`, but in the use with this number, which may be over.
    pub(super) fn queue_in_use(&self, metadata: &Metadata<P>, sequence: u64, id: NodeId) -> bool {
        let own = metadata.own_queue();
        let granted = match metadata.queue(own).join(sequence, id) {
            Joined::Behind(prev) => wait_behind::<P>(prev, id),
            Joined::First => Role::Appender,
            Joined::TooLate | Joined::Occupied => {
                P::count(Event::hq_late);
                return false;
            }
        };
        let handoffs = match granted {
            Role::Head(handoffs) => handoffs,
            Role::Appender => match self.append(metadata, own, id) {
                Some(handoffs) => handoffs,
                None => {
                    leave(metadata, own, id);
                    return false;
                }
            },
        };
        self.wait_by_node(metadata, own, id, handoffs);
        true
    }

    /// Appends queue `own` to the list, as its first waiter, and waits until this waiter is the head of the lock.
    /// Returns the handoffs, or `None` if the lock has left HQ mode.
    fn append(&self, metadata: &Metadata<P>, own: u8, id: NodeId) -> Option<u32> {
        if self.enter_list(metadata, own, id)? {
            return Some(0);
        }
        match Role::wait(node::<P>(id)) {
            Role::Head(handoffs) => Some(handoffs),
            Role::Appender => Some(unreachable_grant()),
        }
    }
    /// Appends queue `own`, whose first waiter is `id`. Returns `true` if it is the only queue: then `id` is the head
    /// of the lock. Returns `None` if the lock has left HQ mode.
    pub(super) fn enter_list(&self, metadata: &Metadata<P>, own: u8, id: NodeId) -> Option<bool> {
        let queue = metadata.queue(own);
        Role::forget(node::<P>(id));
        // ordering: Relaxed; published by H6.
        queue.head.store(link_to(id), Relaxed);
        // ordering: Relaxed; published by H5 and H6.
        queue.next.store(0, Relaxed);
        // ordering: Relaxed; published by H6.
        queue.left_out.store(0, Relaxed);
        let before = self.append_in_word(own)?;
        // The waiters may have joined in an older use. The queue can get the new number now: no use ends while it has a
        // queue.
        queue.belongs_to(metadata.entry.number());
        if before != 0 {
            // ordering: Release; H6.
            metadata.queue(before).next.store(own.into(), Release);
        }
        Some(before == 0)
    }
    /// Makes `own` the last queue of the list. Returns the one in front, or `None` if the lock has left HQ mode.
    fn append_in_word(&self, own: u8) -> Option<u8> {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = HqWord::from_bits(self.word.load(Relaxed));
        while seen.mode() == Mode::Hq {
            let Queues { tail, head } = seen.queues();
            let appended = seen.hq(Queues { tail: own, head: if head == 0 { own } else { head } });
            // (t h,hq,*,*) -> (q h,hq,*,*), (0 0,hq,*,*) -> (q q,hq,*,*)
            // ordering: AcqRel; H5 both ways. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(seen.bits(), appended.bits(), AcqRel, Relaxed) {
                Ok(_) => return Some(tail),
                Err(now) => seen = HqWord::from_bits(now),
            }
        }
        None
    }
}

/// Makes `id` the node of a waiter that no other thread knows yet.
pub(super) fn prepare<P: HqPlatform>(id: NodeId) {
    let me = node::<P>(id);
    // ordering: Relaxed; published by H1 and H2.
    me.next.store(TailCode::NONE.bits().into(), Relaxed);
    Role::forget(me);
}

/// Links `id` behind `prev` and waits until it is told a role.
fn wait_behind<P: HqPlatform>(prev: NodeId, id: NodeId) -> Role {
    link_behind::<P>(prev, id);
    Role::wait(node::<P>(id))
}
/// Links `id` behind `prev`.
pub(super) fn link_behind<P: HqPlatform>(prev: NodeId, id: NodeId) {
    // ordering: Release; H2.
    node::<P>(prev).next.store(link_to(id), Release);
}

/// Leaves a queue that is not in the list, as its first waiter. Then the next waiter is the first.
pub(super) fn leave<P: HqPlatform>(metadata: &Metadata<P>, own: u8, id: NodeId) {
    if !metadata.queue(own).leave_empty(id) {
        Role::Appender.tell::<P>(wait_for_next(node::<P>(id)));
    }
}

/// Stands in for the handoffs of a waiter that was told a role that no waiter in its place is told.
fn unreachable_grant() -> u32 {
    debug_assert!(false, "hq: a waiter in the list was told to append its queue");
    0
}
