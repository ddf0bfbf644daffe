//! A bounded queue made of a lock and two condition variables: threads that put messages in, and threads that take
//! them out.
//!
//! An operation is a message that was taken. A thread notifies after it has given the lock back, as most programs do.
//! With a time for each message ([`QueueParams::job_ns`]) the threads that take messages out are those of a thread
//! pool. The first thread that is told to stop closes the queue and wakes all others.

use super::facts::{Facts, Finding, Heap, Load, Needs, OwnLine, Setting, Tally, Worker};
use super::params::{COUNT, Domain, TIME, choice, params};
use crate::record::CondvarWaits;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::capabilities::{CondvarLock, LockCondvar};
use lockwright_core::platform::{Atomic, Cells, Clock, Zeroed};

choice! {
    /// Which threads are told of a change.
    QueueNotify {
        /// One that waits for it.
        One = "one",
        /// All that wait for it.
        All = "all",
    }
}

params! {
    /// a bounded queue made of a lock and two condition variables: threads that put messages in, and threads that take
    /// them out
    "queue": QueueParams {
        /// How many threads put messages in; the others take them out
        producers: u32 = 1, COUNT;
        /// The most messages in the queue
        capacity: u32 = 10, Domain::Whole(1, 1_000_000);
        /// Which threads are told of a change: one that waits for it, or all
        notify: QueueNotify = QueueNotify::One, Domain::Choice(QueueNotify::NAMES);
        /// The longest that a thread waits before it looks again; 0 is as long as it takes
        timeout_ns: u64 = 0, TIME;
        /// What a thread computes for each message that it took
        job_ns: u64 = 0, TIME;
    }
}

impl Facts for QueueParams {
    fn needs(&self) -> Option<Needs> {
        Some(Needs::Condvar)
    }
    fn threads(&self) -> Option<(usize, usize, &'static str)> {
        let why =
            "`queue` needs its --producers, and a thread that takes messages out: give more to";
        Some((self.producers as usize + 1, usize::MAX, why))
    }
    fn usual_threads(&self, _cpus: usize) -> Option<usize> {
        Some(self.producers as usize * 2)
    }
}

impl<W: Heap, L: CondvarLock> Load<W, L> for QueueParams {
    type State = (W::One<BoundedQueueState<W::P, L>>, W::Many<QueueSlot<W::P>>);
    type Tally = QueueTally;

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        (heap.one(Zeroed::zeroed()), heap.zeroed(self.capacity as usize))
    }
    fn run<K: Worker<P = W::P>>(&self, (state, slots): &Self::State, worker: &mut K) -> QueueTally {
        run(worker, &**state, slots, *self)
    }
    fn found(&self, (state, slots): &Self::State, all: &QueueTally, ops: u64) -> Finding {
        Finding {
            fail: ops.abs_diff(all.taken) + state.errors(slots, all),
            condvar_waits: Some(CondvarWaits::of(all.waits, all.futile, all.taken)),
            ..Finding::default()
        }
    }
}

/// A place for a message.
pub type QueueSlot<P> = <P as Cells>::U64;

/// What the threads share, in addition to [`QueueParams::capacity`] slots.
pub struct BoundedQueueState<P: Cells, L: CondvarLock> {
    lock: OwnLine<L>,
    has_room: OwnLine<L::Condvar>,
    has_message: OwnLine<L::Condvar>,
    ring: OwnLine<Ring<P>>,
}

/// Counts, which change under the lock.
struct Ring<P: Cells> {
    added: P::U64,
    taken: P::U64,
    is_closed: P::U32,
    /// How often more messages were in the queue than fit.
    overfull: P::U32,
}

impl<P: Cells, L: CondvarLock> Zeroed for BoundedQueueState<P, L> {
    fn zeroed() -> Self {
        let ring = Ring {
            added: Zeroed::zeroed(),
            taken: Zeroed::zeroed(),
            is_closed: Zeroed::zeroed(),
            overfull: Zeroed::zeroed(),
        };
        Self {
            lock: OwnLine::new(L::new()),
            has_room: OwnLine::new(L::Condvar::new()),
            has_message: OwnLine::new(L::Condvar::new()),
            ring: OwnLine::new(ring),
        }
    }
}

/// What one thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueTally {
    /// Messages that it put in.
    pub added: u64,
    /// Messages that it took out.
    pub taken: u64,
    /// The sum of the first less the sum of the others.
    pub balance: u64,
    /// How often it waited on a condition variable.
    pub waits: u64,
    /// How often it was notified and found nothing to do.
    pub futile: u64,
}

impl Tally for QueueTally {
    fn merge(&mut self, other: Self) {
        self.added += other.added;
        self.taken += other.taken;
        self.balance = self.balance.wrapping_add(other.balance);
        self.waits += other.waits;
        self.futile += other.futile;
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Room,
    Message,
}

impl<P: Cells + Clock, L: CondvarLock> BoundedQueueState<P, L> {
    /// How many messages were lost, came twice, or came too many at a time, after the threads did `all` together. Only
    /// when they are done.
    pub fn errors(&self, slots: &[QueueSlot<P>], all: &QueueTally) -> u64 {
        // ordering: Relaxed, here and below; the caller waited for the threads, and so is ordered after them.
        let (added, taken) = (self.ring.added.load(Relaxed), self.ring.taken.load(Relaxed));
        // ordering: Relaxed; see above.
        let left = (taken..added).map(|at| slots[at as usize % slots.len()].load(Relaxed));
        let left = left.fold(0_u64, |sum, message| sum.wrapping_add(message));
        let counts = all.added.abs_diff(added) + all.taken.abs_diff(taken);
        // ordering: Relaxed; see above.
        let overfull = self.ring.overfull.load(Relaxed);
        counts + u64::from(left != all.balance) + u64::from(overfull)
    }
    /// How many messages are in the queue. The caller owns the lock.
    #[inline(always)]
    fn messages(&self) -> u64 {
        // ordering: Relaxed, here and in all other accesses to the ring; the lock orders them.
        self.ring.added.load(Relaxed) - self.ring.taken.load(Relaxed)
    }
    #[inline(always)]
    fn is_closed(&self) -> bool {
        // ordering: Relaxed; see `messages`.
        self.ring.is_closed.load(Relaxed) != 0
    }
    fn has(&self, wanted: Wanted, knobs: QueueParams) -> bool {
        match wanted {
            Wanted::Room => self.messages() < u64::from(knobs.capacity),
            Wanted::Message => self.messages() > 0,
        }
    }
    fn condvar(&self, wanted: Wanted) -> &L::Condvar {
        match wanted {
            Wanted::Room => &self.has_room,
            Wanted::Message => &self.has_message,
        }
    }
    fn unlock(&self) {
        // SAFETY: called by the owner only.
        unsafe { self.lock.unlock() }
    }
    /// Takes the lock when there is what is `wanted`. Returns false, without the lock, if the queue is closed.
    fn lock_when(&self, wanted: Wanted, knobs: QueueParams, tally: &mut QueueTally) -> bool {
        self.lock.lock();
        let mut is_notified = false;
        loop {
            if self.is_closed() {
                self.unlock();
                return false;
            }
            if self.has(wanted, knobs) {
                return true;
            }
            tally.futile += u64::from(is_notified);
            tally.waits += 1;
            let deadline_ns = (knobs.timeout_ns > 0).then(|| P::now_ns() + knobs.timeout_ns);
            // SAFETY: this thread owns the lock, the only one that is used with the condition variables.
            is_notified = unsafe { self.condvar(wanted).wait(&self.lock, deadline_ns) };
        }
    }
    fn notify(&self, wanted: Wanted, knobs: QueueParams) {
        match knobs.notify {
            QueueNotify::One => {
                self.condvar(wanted).notify_one();
            }
            QueueNotify::All => self.condvar(wanted).notify_all(),
        }
    }
    fn put(&self, slots: &[QueueSlot<P>], message: u64) {
        // ordering: Relaxed, here and below; see `messages`.
        let added = self.ring.added.load(Relaxed);
        // ordering: Relaxed; see above.
        slots[added as usize % slots.len()].store(message, Relaxed);
        // ordering: Relaxed; see above.
        self.ring.added.store(added + 1, Relaxed);
        if self.messages() > slots.len() as u64 {
            // ordering: Relaxed; see above.
            self.ring.overfull.store(1, Relaxed);
        }
    }
    fn take(&self, slots: &[QueueSlot<P>]) -> u64 {
        // ordering: Relaxed, here and below; see `messages`.
        let taken = self.ring.taken.load(Relaxed);
        // ordering: Relaxed; see above.
        self.ring.taken.store(taken + 1, Relaxed);
        // ordering: Relaxed; see above.
        slots[taken as usize % slots.len()].load(Relaxed)
    }
    fn close(&self) {
        self.lock.lock();
        // ordering: Relaxed; see `messages`.
        self.ring.is_closed.store(1, Relaxed);
        self.unlock();
        self.has_room.notify_all();
        self.has_message.notify_all();
    }
}

/// What one thread does. `slots` are [`QueueParams::capacity`] ones.
pub fn run<W: Worker, L: CondvarLock>(
    worker: &mut W,
    state: &BoundedQueueState<W::P, L>,
    slots: &[QueueSlot<W::P>],
    knobs: QueueParams,
) -> QueueTally {
    let mut tally = QueueTally::default();
    let is_producer = worker.index() < knobs.producers as usize;
    while worker.keep_going() {
        let goes_on = match is_producer {
            true => produce(worker, state, slots, knobs, &mut tally),
            false => consume(worker, state, slots, knobs, &mut tally),
        };
        if !goes_on {
            return tally;
        }
    }
    state.close();
    tally
}

/// Puts a message in. Returns false if the queue is closed.
fn produce<W: Worker, L: CondvarLock>(
    worker: &mut W,
    state: &BoundedQueueState<W::P, L>,
    slots: &[QueueSlot<W::P>],
    knobs: QueueParams,
    tally: &mut QueueTally,
) -> bool {
    // No two messages are equal.
    let message = (worker.index() as u64 + 1) << 40 | tally.added;
    let is_open = state.lock_when(Wanted::Room, knobs, tally);
    if is_open {
        state.put(slots, message);
        state.unlock();
        state.notify(Wanted::Message, knobs);
        tally.added += 1;
        tally.balance = tally.balance.wrapping_add(message);
        worker.step_done();
    }
    is_open
}

/// Takes a message out. Returns false if the queue is closed.
fn consume<W: Worker, L: CondvarLock>(
    worker: &mut W,
    state: &BoundedQueueState<W::P, L>,
    slots: &[QueueSlot<W::P>],
    knobs: QueueParams,
    tally: &mut QueueTally,
) -> bool {
    let is_open = state.lock_when(Wanted::Message, knobs, tally);
    if is_open {
        let message = state.take(slots);
        state.unlock();
        state.notify(Wanted::Room, knobs);
        tally.taken += 1;
        tally.balance = tally.balance.wrapping_sub(message);
        if knobs.job_ns > 0 {
            worker.user_ns(knobs.job_ns);
        }
        worker.op_done();
    }
    is_open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};
    use lockwright::mutex::RawMutex;
    use std::sync::Arc;

    type Shared<L> = BoundedQueueState<ScriptedPlatform, L>;

    const KNOBS: QueueParams = QueueParams {
        producers: 2,
        capacity: 3,
        notify: QueueNotify::One,
        timeout_ns: 0,
        job_ns: 0,
    };

    fn slots(knobs: QueueParams) -> Vec<QueueSlot<ScriptedPlatform>> {
        (0..knobs.capacity).map(|_| Zeroed::zeroed()).collect()
    }

    /// Four threads, each with `ops` operations if the queue is not closed before.
    fn run_threads(
        knobs: QueueParams,
        ops: u64,
    ) -> (Shared<RawMutex<ScriptedPlatform>>, QueueTally) {
        let (state, slots) = (Zeroed::zeroed(), slots(knobs));
        let mut all = QueueTally::default();
        std::thread::scope(|scope| {
            let (state, slots) = (&state, &slots);
            let one = |index| run(&mut Scripted::new(ops).numbered(index), state, slots, knobs);
            let threads: Vec<_> = (0..4).map(|index| scope.spawn(move || one(index))).collect();
            threads.into_iter().for_each(|thread| all.merge(thread.join().expect("no panic")));
        });
        assert_eq!(Shared::errors(&state, &slots, &all), 0, "{knobs:?}: {all:?}");
        (state, all)
    }

    #[test]
    fn every_message_arrives_once_with_either_notification_and_with_time_outs() {
        for notify in [QueueNotify::One, QueueNotify::All] {
            for (capacity, timeout_ns) in [(1, 0), (3, 0), (1, 1_000), (100, 1_000_000)] {
                let knobs = QueueParams { capacity, notify, timeout_ns, ..KNOBS };
                let (state, all) = run_threads(knobs, 5_000);
                assert!(all.added >= 5_000 || all.taken >= 5_000, "{all:?}");
                assert!(all.added - all.taken <= u64::from(capacity), "{all:?}");
                assert_eq!(all.added - all.taken, state.messages());
            }
        }
    }

    #[test]
    fn one_thread_fills_the_queue_waits_when_it_is_full_and_counts_what_found_nothing() {
        let (state, slots) = (Arc::new(Shared::<SpyLock>::zeroed()), slots(KNOBS));
        let mut worker = Scripted::new(3).numbered(0);
        let mut all = run(&mut worker, &state, &slots, KNOBS);
        assert_eq!((all.added, all.waits, worker.steps, worker.ops), (3, 0, 3, 0));
        assert_eq!(state.errors(&slots, &all), 0);
        // Nothing is put into a closed queue.
        assert_eq!(run(&mut worker, &state, &slots, KNOBS), QueueTally::default());
        // The third wait of the scripted condition variable finds it closed, the second is a time-out.
        state.ring.is_closed.store(0, Relaxed);
        let closes = Arc::clone(&state);
        state.has_room.at_wait(3, move || closes.ring.is_closed.store(1, Relaxed));
        let more = run(&mut Scripted::new(1).numbered(0), &state, &slots, KNOBS);
        assert_eq!((more.added, more.waits, more.futile), (0, 3, 1));
        all.merge(more);
        assert_eq!(state.errors(&slots, &all), 0);
    }

    #[test]
    fn a_message_that_was_lost_doubled_or_changed_is_noticed() {
        let (state, slots) = (Shared::<SpyLock>::zeroed(), slots(KNOBS));
        let all = run(&mut Scripted::new(2).numbered(0), &state, &slots, KNOBS);
        let lost = QueueTally { added: all.added + 1, ..all };
        let doubled = QueueTally { taken: 1, ..all };
        let changed = QueueTally { balance: all.balance + 1, ..all };
        assert!([lost, doubled, changed].iter().all(|all| state.errors(&slots, all) > 0));
        state.ring.added.store(9, Relaxed);
        state.put(&slots, 1);
        assert_eq!(state.ring.overfull.load(Relaxed), 1);
    }

    #[test]
    fn a_thread_of_a_pool_computes_for_each_message_that_it_took() {
        let knobs = QueueParams { job_ns: 700, ..KNOBS };
        let (state, slots) = (Shared::<SpyLock>::zeroed(), slots(knobs));
        run(&mut Scripted::new(3).numbered(0), &state, &slots, knobs);
        state.ring.is_closed.store(0, Relaxed);
        let mut worker = Scripted::new(2).numbered(6);
        let taken = run(&mut worker, &state, &slots, knobs);
        assert_eq!((taken.taken, worker.ops, worker.computed_ns), (2, 2, 1_400));
    }
}
