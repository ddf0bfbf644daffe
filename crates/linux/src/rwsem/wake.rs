//! Waking waiters: they are marked with `wait_lock` held, and woken after it is given back.

use super::count::{ACTIVE, GUARD, HANDOFF, READER, READERS_MASK, WAITERS, WRITER};
use super::list::{Site, WaitListGuard};
use super::object::{GRANTED, Slow, WOKEN};
use super::owner::RD;
use super::policy::{BATCH, Format, Handoff, ReaderBatch, UnlockWake, WakesIssued};
use crate::events::Event;
use crate::park::{HoldMode, ParkPlatform, waiter};
use crate::platform::{Atomic, AtomicInt};
use crate::queue::{NodeId, TailCode};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The waiters to wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The first waiter: a writer to try, a reader and others with it to go on.
    Any,
    /// Readers, if the first waiter is one.
    Readers,
    /// As [`Readers`](Self::Readers), but by a thread that holds the lock as a reader.
    ReadOwned,
}

/// Threads to wake. They may have gone on by the time they are woken, so only their numbers are kept.
pub struct WakeQueue<P> {
    codes: [TailCode; BATCH],
    len: usize,
    _platform: PhantomData<fn() -> P>,
}

impl<P: ParkPlatform> WakeQueue<P> {
    pub fn new() -> Self {
        Self { codes: [TailCode::NONE; BATCH], len: 0, _platform: PhantomData }
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    fn add(&mut self, id: NodeId) {
        if self.len == BATCH {
            self.flush();
        }
        // There is room: `flush` has made it. A check that could panic would be in every kernel module.
        if let Some(code) = self.codes.get_mut(self.len) {
            *code = id.code();
            self.len += 1;
        }
    }
    /// Wakes them all, in the order in which they were marked.
    pub fn flush(&mut self) {
        for code in self.codes.iter().take(self.len) {
            P::futex_wake(&raw const waiter::<P>(code.node_or_first()).grant, 1);
        }
        self.len = 0;
    }
}

impl<P: ParkPlatform> Slow<'_, P> {
    /// Marks the waiters that `wake` says, with `wait_lock` held. `is_release` is true if this is on behalf of a
    /// release.
    #[doc(alias = "rwsem_mark_wake")]
    pub fn mark(
        self,
        list: &WaitListGuard<'_, P>,
        wake: Wake,
        is_release: bool,
        queue: &mut WakeQueue<P>,
    ) {
        let Some(head) = list.first() else { return };
        if self.policy.unlock_wake == UnlockWake::FlaggedAsPosted {
            self.set_flag(1);
        }
        let passes_writer = wake == Wake::ReadOwned && self.policy.grants_past_writer;
        if list.kind(head) == HoldMode::Writer && !passes_writer {
            self.mark_writer(head, wake, is_release, queue);
            return;
        }
        self.lower_flag(is_release);
        let Some(is_granted) = self.grant_head(list, head, wake) else { return };
        self.grant_readers(list, head, is_granted, queue);
    }

    fn mark_writer(self, head: NodeId, wake: Wake, is_release: bool, queue: &mut WakeQueue<P>) {
        if self.policy.unlock_wake != UnlockWake::FlaggedAsPosted {
            self.lower_flag(is_release);
        }
        if wake == Wake::Any {
            P::count(Event::rwsem_wake_writer);
            // ordering: Release; R4.
            let before = waiter::<P>(head).grant.fetch_or(WOKEN, Release);
            // If it was woken before and has not looked since, the thread that marked it wakes it.
            if before & WOKEN == 0 {
                queue.add(head);
                self.flush_if_inside(queue);
            }
        }
        if self.policy.unlock_wake == UnlockWake::FlaggedAsPosted {
            self.lower_flag(is_release);
        }
    }

    fn flush_if_inside(self, queue: &mut WakeQueue<P>) {
        if self.policy.wakes == WakesIssued::Inside {
            queue.flush();
        }
    }

    /// Counts the first waiter, a reader, among the holders, unless the caller is one: then no writer can come in
    /// between. Returns `true` if the waiter is counted, and `None` if a writer has the lock or no more readers can be
    /// counted.
    fn grant_head(self, list: &WaitListGuard<'_, P>, head: NodeId, wake: Wake) -> Option<bool> {
        let count = &self.sem.count;
        if self.policy.format == Format::Bits {
            let most = (BATCH as u64).wrapping_mul(READER);
            // ordering: Relaxed; only a thread with `wait_lock` grants, and others stay away.
            let is_full = count.load(Relaxed).wrapping_add(most) & GUARD != 0;
            if is_full {
                return None;
            }
        }
        if wake == Wake::ReadOwned {
            return Some(false);
        }
        let is_granted = match self.policy.format {
            Format::Bits => self.grant_head_in_bits(list, head),
            format @ Format::Biased(_) => self.grant_head_in_bias(format),
        };
        is_granted.then(|| {
            let found_rd = list.found_rd(head);
            self.name_reader(|| list.thread(head), if found_rd { RD } else { 0 });
            if found_rd {
                P::count(Event::rwsem_opt_norspin);
            }
            true
        })
    }

    fn grant_head_in_bits(self, list: &WaitListGuard<'_, P>, head: NodeId) -> bool {
        let (count, reader) = (&self.sem.count, Format::Bits.reader());
        loop {
            // (*,r) -> (*,r+1)
            // ordering: Acquire; R1.
            let seen = count.fetch_add(reader, Acquire);
            if seen & WRITER == 0 {
                return true;
            }
            let mut back = 0_u64.wrapping_sub(reader);
            let keeps = self.policy.handoff != Handoff::Never;
            if keeps && list.is_due(head) {
                // The waiter may inherit the bit from one that gave up: then the bit becomes its own.
                list.set_handoff(head);
                if seen & HANDOFF == 0 {
                    P::count(Event::rwsem_rlock_handoff);
                    back = back.wrapping_add(HANDOFF);
                }
            }
            // (*,r+1) -> (*,r), and maybe with the handoff bit
            // ordering: Relaxed; nothing is read through it.
            let left = count.fetch_add(back, Relaxed).wrapping_add(back);
            if !self.policy.rechecks_after_handoff() || Format::Bits.is_held(left) {
                return false;
            }
        }
    }

    fn grant_head_in_bias(self, format: Format) -> bool {
        let count = &self.sem.count;
        loop {
            // ordering: Relaxed; only a hint: the writer that holds the lock wakes when it releases.
            if self.policy.looks_before_grant && format.is_below_waiting(count.load(Relaxed)) {
                return false;
            }
            // n -> n+1
            // ordering: Acquire; R1.
            let seen = count.fetch_add(ACTIVE, Acquire);
            let is_free_to_read = !format.is_below_waiting(seen);
            let is_full = is_free_to_read && format.active_in(seen) >= format.readers_limit() - 1;
            if is_free_to_read && !is_full {
                return true;
            }
            // n+1 -> n
            // ordering: Relaxed; nothing is read through it.
            let left = count.fetch_sub(ACTIVE, Relaxed).wrapping_sub(ACTIVE);
            let is_left_to_others = match self.policy.grants_beside_attempts {
                true => format.is_below_waiting(left),
                false => format.is_held(left),
            };
            if is_left_to_others || is_full {
                return false;
            }
        }
    }

    /// Takes readers out of the list, counts them among the holders, and tells them.
    fn grant_readers(
        self,
        list: &WaitListGuard<'_, P>,
        head: NodeId,
        is_head_counted: bool,
        queue: &mut WakeQueue<P>,
    ) {
        let is_first_reader = list.kind(head) == HoldMode::Reader;
        let (first, granted) = self.take_readers(list, head);
        if granted == 0 {
            return;
        }
        P::count(Event::rwsem_wake_reader);
        self.count_granted(list, granted - u64::from(is_head_counted), is_first_reader);
        let mut at = first;
        for _ in 0..granted {
            let Some(id) = at else { break };
            at = list.next(id);
            let grant = &waiter::<P>(id).grant;
            // ordering: Release; R3.
            grant.store(GRANTED, Release);
            queue.add(id);
            self.flush_if_inside(queue);
        }
    }

    /// Takes the readers that are to be granted out of the list and chains them. Returns the first of them and their
    /// number.
    fn take_readers(self, list: &WaitListGuard<'_, P>, head: NodeId) -> (Option<NodeId>, u64) {
        let (mut first, mut last, mut taken) = (None, None, 0);
        let mut at = Some(head);
        while let Some(id) = at {
            at = list.next(id);
            match (list.kind(id), self.policy.reader_batch) {
                (HoldMode::Writer, ReaderBatch::AtHead) => break,
                (HoldMode::Writer, ReaderBatch::All) => continue,
                (HoldMode::Reader, _) => {}
            }
            list.remove(id);
            list.chain(last, id);
            first = first.or(Some(id));
            last = Some(id);
            taken += 1;
            if self.policy.reader_batch == ReaderBatch::All && taken == BATCH as u64 {
                break;
            }
        }
        (first, taken)
    }

    /// Adds readers that were granted to the count, and takes from the count what is no longer true.
    fn count_granted(self, list: &WaitListGuard<'_, P>, more: u64, is_first_reader: bool) {
        let count = &self.sem.count;
        let is_empty = list.is_empty();
        let change = match self.policy.format {
            format @ Format::Biased(_) => {
                let waiters = if is_empty { format.waiters() } else { 0 };
                more.wrapping_sub(waiters)
            }
            Format::Bits => {
                // ordering: Relaxed; the handoff bit is set and cleared under `wait_lock`.
                let has_handoff =
                    count.load(Relaxed) & HANDOFF != 0 && (is_empty || is_first_reader);
                let handoff = if has_handoff { HANDOFF } else { 0 };
                let waiters = if is_empty { WAITERS } else { 0 };
                more.wrapping_mul(Format::Bits.reader()).wrapping_sub(handoff | waiters)
            }
        };
        if change != 0 {
            // (w,h,r) -> (w',0,r+n)
            // ordering: Relaxed; the granted readers acquire by R3 what they acquire.
            count.fetch_add(change, Relaxed);
        }
    }

    /// Wakes waiters after a release that left the lock free and waiters behind, or may have. `count` is what the
    /// release saw.
    #[cold]
    pub fn wake_after_release(self, count: u64) {
        let list = match self.policy.unlock_wake {
            UnlockWake::Always => self.lock_wait_list(Site::Wake),
            UnlockWake::UnlessWoken => {
                // ordering: full barrier; R8.
                P::full_barrier(&self.sem.count);
                if self.is_first_woken() {
                    return;
                }
                self.lock_wait_list(Site::Wake)
            }
            UnlockWake::UnlessSpinner => {
                let has_handoff = self.policy.format == Format::Bits && count & HANDOFF != 0;
                match !has_handoff && self.has_spinner() {
                    true => match self.try_lock_wait_list() {
                        Some(list) => list,
                        None => return,
                    },
                    false => self.lock_wait_list(Site::Wake),
                }
            }
            UnlockWake::FlaggedAsPosted | UnlockWake::Flagged => {
                if self.is_another_waking() {
                    return;
                }
                self.set_flag(1);
                self.lock_wait_list(Site::Wake)
            }
        };
        self.wake_in(list, Wake::Any, true);
    }

    /// Wakes the waiters that `wake` says, and gives `wait_lock` back.
    pub fn wake_in(self, list: WaitListGuard<'_, P>, wake: Wake, is_release: bool) {
        let mut queue = WakeQueue::new();
        if list.is_empty() {
            if is_release {
                self.lower_flag(is_release);
            }
        } else {
            self.mark(&list, wake, is_release, &mut queue);
        }
        drop(list);
        queue.flush();
    }

    /// Takes the waiting readers along, for a thread that holds the lock as a reader.
    #[cold]
    pub fn wake_readers(self) {
        self.wake_in(self.lock_wait_list(Site::Wake), Wake::ReadOwned, false);
    }

    /// Returns `true` if the first waiter is a writer that was woken and has not looked yet. A writer that was first
    /// only a moment ago has the lock, or has woken the next waiter.
    pub fn is_first_woken(self) -> bool {
        // ordering: Relaxed; after the barrier, R8, or only a hint.
        self.first().is_some_and(|id| waiter::<P>(id).grant.load(Relaxed) & WOKEN != 0)
    }

    /// Returns `true` if a spinner may be about to take the lock that the caller has released.
    fn has_spinner(self) -> bool {
        // ordering: full barrier; R6.
        P::full_barrier(&self.sem.count);
        self.sem.spinners.is_locked()
    }

    /// Returns `true` if another release is about to wake.
    fn is_another_waking(self) -> bool {
        // ordering: full barrier; R5.
        P::full_barrier(&self.sem.flag);
        // ordering: Relaxed; after the barrier, R5.
        self.sem.flag.load(Relaxed) != 0
    }
    fn set_flag(self, value: u32) {
        // ordering: Relaxed; ordered by the barriers of R5.
        self.sem.flag.store(value, Relaxed);
    }
    /// Lowers the flag before waiters are woken or granted, because later releases have to wake again.
    fn lower_flag(self, is_release: bool) {
        match self.policy.unlock_wake {
            UnlockWake::FlaggedAsPosted => self.set_flag(0),
            UnlockWake::Flagged if is_release => {
                self.set_flag(0);
                // ordering: full barrier; R5.
                P::full_barrier(&self.sem.flag);
            }
            _ => {}
        }
    }

    /// Returns `true` if `count` says that readers hold the lock, or try to, and no writer does.
    pub fn is_readers(self, count: u64) -> bool {
        match self.policy.format {
            Format::Bits => count & WRITER == 0 && count & READERS_MASK != 0,
            format @ Format::Biased(_) => format.is_above_waiting(count),
        }
    }
}
