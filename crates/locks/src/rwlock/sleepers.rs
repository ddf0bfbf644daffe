//! The waiters of reader-writer locks. The word of such a lock says itself that the first waiter sleeps.
//!
//! A release of such a lock is a read-modify-write of its word. The release sees there if it has to wake a thread, so
//! these locks do not use the marks of the table. The word is touched for a waiter only while that waiter is in the
//! table and its bucket is held: then the lock cannot go away.
//!
//! ```text
//!  the first, awake  --sleep_again: asleep, SLEEPER-->  the first, asleep  --release, long sections: granted-->  out
//!  (it competes)     <------release: -SLEEPER, woken--
//!        ^                                                   ^
//!        | the one in front leaves: woken, no call           | the one in front leaves: SLEEPER, or woken
//!  behind, awake  --after a moment: asleep-->  behind, asleep
//!  (fair locks)                                     | the first takes the lock to read, or is granted it, and so does
//!                                                   v this one: granted, READER (other locks)
//!                                                  out
//! ```
//!
//! SLEEPER changes only under the bucket's lock. If it is set, the first waiter sleeps, or is about to sleep.

use super::word::{GUARD, HELD, InWord, READER, READERS, RESERVED, SLEEPER, UPGRADABLE, WRITER};
use crate::events::Event;
use crate::park::{
    self, ASLEEP, BEHIND, BucketGuard, GRANTED, HoldMode, LaterWakes, LockMode, ParkPlatform,
    SleepTable, WOKEN, waiter,
};
use crate::platform::{Atomic, AtomicInt};
use crate::queue::NodeId;
use crate::tunables::Tunable;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The number of threads that may hold the lock or wait in front of a waiter whose turn comes soon. If sections are
/// short, that many threads have had their turn by the time that the waiter stops spinning.
const SOON: u32 = 16;

/// The time for which newcomers may pass a waiter.
pub(super) const UNFAIR_NS: u64 = 4_000_000;

/// The answer to a thread that has queued.
pub(crate) struct Queued {
    /// True if the thread looks for a moment to see if its turn has come.
    pub(crate) looks: bool,
    /// The time at which the thread closes the door, if that comes before it has waited for long.
    pub(crate) closes_ns: Option<u64>,
}

/// A lock, as its waiters see it.
pub(crate) struct Shared<'a, P: ParkPlatform> {
    pub(crate) word: &'a P::U32,
    /// True if the lock is reserved for the first waiter as long as there is one.
    pub(crate) is_fair: bool,
}

impl<P: ParkPlatform> Clone for Shared<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: ParkPlatform> Copy for Shared<'_, P> {}

impl<P: ParkPlatform> Shared<'_, P> {
    /// Returns the name of the lock in the table.
    #[inline(always)]
    pub(crate) fn name(self) -> u64 {
        let kind = if self.is_fair { park::Awaited::FairRwLock } else { park::Awaited::RwLock };
        SleepTable::<P>::name(kind, self.word)
    }

    /// Appends `id`. As the first waiter it is awake and competes, unless it `sleeps_at_once`.
    pub(crate) fn enqueue(
        self,
        id: NodeId,
        kind: LockMode,
        since_ns: u64,
        sleeps_at_once: bool,
    ) -> Queued {
        let me = waiter::<P>(id);
        let name = self.name();
        SleepTable::<P>::within(name, |_, section| {
            let is_first = kind == LockMode::Upgrader || section.first_of(name).is_none();
            let sleeps = is_first && sleeps_at_once && self.is_held_against(kind);
            if is_first && sleeps_at_once && !sleeps {
                // (*,1,*) -> (*,0,*)
                // ordering: Relaxed; written under the lock, W1.
                self.word.fetch_and(!SLEEPER, Relaxed);
            }
            let signal = match is_first {
                true if sleeps => ASLEEP,
                true => WOKEN,
                false if self.is_fair && self.is_soon(section) => BEHIND,
                false => ASLEEP,
            };
            // ordering: Relaxed; published by W1.
            me.signal.store(signal, Relaxed);
            // ordering: Relaxed; published by W1.
            me.wants.store(core::ptr::from_ref(self.word).cast_mut().cast(), Relaxed);
            match kind {
                // All other waiters wait for it.
                LockMode::Upgrader => section.push_first(id, name),
                _ => section.push(id, name),
            }
            section.set_mode(id, kind);
            // SAFETY: the bucket is held.
            unsafe { me.since_ns.set(since_ns) };
            if is_first && self.is_fair || kind == LockMode::Upgrader {
                // (k,*,*) -> (1,*,*)
                // ordering: Relaxed; nothing is read through it.
                self.word.fetch_or(RESERVED, Relaxed);
            }
            let closes_ns = self.closes_at(section, kind);
            if closes_ns.is_some_and(|at_ns| at_ns <= since_ns) {
                self.keep_newcomers_out();
            }
            Queued { looks: signal == BEHIND, closes_ns }
        })
    }

    /// Returns the time at which a writer that comes now closes the door, if that comes before it has waited for long.
    /// It does so at once if more threads wait than read. If readers hold the lock for long, it does so when their
    /// phase is over.
    fn closes_at(self, section: &BucketGuard<P>, kind: LockMode) -> Option<u64> {
        if kind != LockMode::Writer || self.is_fair {
            return None;
        }
        let name = self.name();
        // ordering: Relaxed; only a hint.
        let readers = self.word.load(Relaxed) / READER;
        if readers == 0 {
            return None;
        }
        let is_long = SleepTable::<P>::are_long(name, HoldMode::Reader);
        let next = |id: &NodeId| section.next_of(*id, name);
        let waiters = core::iter::successors(section.first_of(name), next);
        let are_few = waiters.take(readers as usize + 1).count() <= readers as usize;
        if are_few { is_long.then(|| section.phase().until_ns(name)) } else { Some(0) }
    }

    /// Returns `true` if it is soon the turn of a waiter that comes now: few threads are in front of it, and they have
    /// CPUs. A thread that has just taken the lock may be in the list for a moment more, and counts twice. So the limit
    /// is one thread more than have a CPU next to the waiter.
    fn is_soon(self, section: &BucketGuard<P>) -> bool {
        // ordering: Relaxed; only a hint.
        let word = self.word.load(Relaxed);
        let holders = if word & WRITER != 0 { 1 } else { word / READER };
        let others_max = P::usable_cpus().min(SOON);
        let mut at = section.first_of(self.name());
        let mut others = holders;
        while let Some(id) = at.filter(|_| others < others_max) {
            others += 1;
            at = section.next_of(id, self.name());
        }
        at.is_none() && others <= others_max
    }

    /// Prepares the first waiter, which is awake, for sleep. Returns `false` if it could take the lock. One exchange
    /// both looks at the word and marks it. So a release comes before it and is seen, or comes after it and wakes the
    /// waiter.
    pub(crate) fn sleep_again(self, id: NodeId, kind: LockMode) -> bool {
        let name = self.name();
        SleepTable::<P>::within(name, |_, section| {
            let signal = &waiter::<P>(id).signal;
            // ordering: Relaxed; written under the lock, W1.
            signal.store(ASLEEP, Relaxed);
            // If it is not the first, a thread that upgrades has come in front of it, and the mark belongs to that
            // thread.
            if section.first_of(name) != Some(id) || self.is_held_against(kind) {
                return true;
            }
            // (*,1,*) -> (*,0,*)
            // ordering: Relaxed; written under the lock, W1.
            self.word.fetch_and(!SLEEPER, Relaxed);
            // ordering: Relaxed; written under the lock, W1.
            signal.store(WOKEN, Relaxed);
            false
        })
    }

    /// Marks the word for a first waiter that sleeps. Returns `true` if a release will come that finds the mark.
    fn is_held_against(self, kind: LockMode) -> bool {
        // (*,0,*) -> (*,1,*)
        // ordering: Relaxed; nothing is read through it but the word itself.
        self.word.fetch_or(SLEEPER, Relaxed) & kind.held_against() != 0
    }

    /// Reserves the lock from now on if the waiter `id` still waits. It has waited for long, while other threads may
    /// have held the lock without a gap.
    #[cold]
    pub(crate) fn close_door(self, id: NodeId) {
        let name = self.name();
        SleepTable::<P>::within(name, |_, _| {
            // ordering: Relaxed; written under the lock, W1.
            if waiter::<P>(id).signal.load(Relaxed) == ASLEEP {
                self.keep_newcomers_out();
            }
        });
    }

    /// Returns `true` if readers hold the lock, perhaps without a gap, and `next` has waited for long. Then no release
    /// may come that wakes it.
    fn is_read_without_end(self, next: NodeId) -> bool {
        // ordering: Relaxed; only a hint. The caller is one of these readers, or has not taken the lock.
        let is_read = self.word.load(Relaxed) & READERS != 0;
        is_read && has_waited_long::<P>(next)
    }

    /// Reserves the lock for the first waiter, which has waited for long.
    fn keep_newcomers_out(self) {
        P::count(Event::rwlock_keep);
        // (0,*,*,*) -> (1,*,*,*)
        // ordering: Relaxed; only keeps newcomers away, nothing is read through it.
        self.word.fetch_or(RESERVED, Relaxed);
    }

    /// Reserves the lock, which the caller holds, for the first waiter if there is one.
    #[cold]
    pub(crate) fn reserve(self) {
        let name = self.name();
        SleepTable::<P>::within(name, |_, section| {
            if section.first_of(name).is_some() {
                // (0,*,*,*) -> (1,*,*,*)
                // ordering: Relaxed; only keeps newcomers away, nothing is read through it.
                self.word.fetch_or(RESERVED, Relaxed);
            }
        });
    }

    /// Calls `take` for a reader that does not wait, unless a thread waits that the reader would keep waiting. That is
    /// a writer, or an upgradable reader if the caller wants to be one, too. Returns `true` if the lock is taken.
    #[cold]
    pub(crate) fn join_readers(self, kind: LockMode, take: impl FnOnce() -> bool) -> bool {
        let name = self.name();
        SleepTable::<P>::within(name, |_, section| {
            let next = |id: &NodeId| section.next_of(*id, name);
            let mut waiters = core::iter::successors(section.first_of(name), next);
            waiters.all(|id| match section.mode(id) {
                LockMode::Reader => true,
                LockMode::Upgradable => kind == LockMode::Reader,
                LockMode::Upgrader | LockMode::Writer => false,
            }) && take()
        })
    }

    /// Removes the marks of waiters from the word if no thread waits in the table. In a forked child these waiters do
    /// not exist; otherwise they had no node. Returns `true` if no thread waits.
    #[cold]
    pub(crate) fn forget_the_gone(self) -> bool {
        let name = self.name();
        SleepTable::<P>::within(name, |_, section| {
            let is_alone = section.first_of(name).is_none();
            if is_alone {
                // (k,s,*) -> (0,0,*)
                // ordering: Relaxed; nothing is read through it.
                self.word.fetch_and(!(RESERVED | SLEEPER), Relaxed);
            }
            is_alone
        })
    }

    /// Takes `id` out of the table, with the lock as `took` says or without it. Then serves the waiter that is the
    /// first now. Returns `true` if `id` was granted the lock before.
    pub(crate) fn leave(self, id: NodeId, took: Option<LockMode>) -> bool {
        let name = self.name();
        let mut later = LaterWakes::<P>::new();
        let (is_granted, woken) = SleepTable::<P>::within(name, |_, section| {
            // ordering: Relaxed; written under the lock, W1, which carries what it was granted, too.
            if waiter::<P>(id).signal.load(Relaxed) == GRANTED {
                return (true, None);
            }
            let was_first = section.first_of(name) == Some(id);
            section.remove(id);
            if was_first && took.is_some_and(LockMode::is_shared) && !self.is_fair {
                self.admit_readers(section, &mut later);
            }
            let next = section.first_of(name);
            (false, if was_first { self.make_first(section, next) } else { None })
        });
        wake::<P>(woken);
        later.wake();
        is_granted
    }

    /// Grants the lock to all readers that wait. The caller has become a reader.
    fn admit_readers(self, section: &BucketGuard<P>, later: &mut LaterWakes<P>) {
        let line = Line { section, name: self.name(), word: self.word };
        let reads = |id| section.mode(id) == LockMode::Reader;
        let count = line.waiters().filter(|&id| reads(id)).count() as u32;
        if count > 0 {
            // (0,s,0,r) -> (0,s,0,r+n)
            // ordering: Relaxed; the caller tells them what they have to see, W4.
            self.word.fetch_add(count * READER, Relaxed);
            line.tell_granted(reads, later);
        }
    }
}

impl<P: ParkPlatform> Shared<'_, P> {
    /// Makes `next` the first waiter, because the former first one is gone. Returns the word by which to wake it, if it
    /// has to be woken.
    fn make_first(self, section: &BucketGuard<P>, next: Option<NodeId>) -> Option<*const P::U32> {
        let is_awake = self.is_fair && next.is_some_and(promote::<P>);
        let stale = match next {
            Some(_) if is_awake => SLEEPER,
            Some(_) if self.is_fair => 0,
            Some(next) if self.is_read_without_end(next) => {
                self.keep_newcomers_out();
                0
            }
            Some(_) => RESERVED,
            None => RESERVED | SLEEPER,
        };
        // ordering: Relaxed; for the first waiter only, under the lock, W1.
        if self.word.load(Relaxed) & stale != 0 {
            // (k,s,*) -> (0,s,*), or (0,0,*)
            // ordering: Relaxed; nothing is read through it.
            self.word.fetch_and(!stale, Relaxed);
        }
        let next = next.filter(|_| !is_awake)?;
        if self.is_held_against(section.mode(next)) {
            return None;
        }
        Some(tell::<P>(next, self.word))
    }
}

/// A way in which a lock came free, or lets readers join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Released {
    /// The writer gave it back. Has the length of its section, if that is known.
    Writer(Option<u64>),
    /// The last reader gave it back. Has the length of its section, if that is known.
    Readers(Option<u64>),
    /// Readers hold it, and others may join them.
    Share,
}

/// Serves the waiters of the lock `name`, of which the first sleeps. The lock may no longer exist, and another lock may
/// be at its address. So this touches the word for which a waiter waits.
#[cold]
pub(crate) fn serve<P: ParkPlatform>(name: u64, is_fair: bool, released: Released) {
    let mut later = LaterWakes::<P>::new();
    let woken = SleepTable::<P>::within(name, |_, section| {
        let first = section.first_of(name)?;
        // ordering: Relaxed; written under the lock, W1.
        if waiter::<P>(first).signal.load(Relaxed) != ASLEEP {
            return None;
        }
        // ordering: Relaxed; written under the lock, W1.
        let word = waiter::<P>(first).wants.load(Relaxed).cast_const().cast::<P::U32>();
        // SAFETY: the first waiter waits for a lock with this word, and cannot leave while its bucket is held.
        let line = Line { section, name, word: unsafe { &*word } };
        if released == Released::Share && !section.mode(first).is_shared() {
            if !is_fair && has_waited_long::<P>(first) {
                // (0,*,*,r) -> (1,*,*,r)
                // ordering: Relaxed; only keeps newcomers away, nothing is read through it.
                line.word.fetch_or(RESERVED, Relaxed);
            }
            return None;
        }
        if !is_fair && line.is_long(released) {
            line.grant(released, &mut later);
            return None;
        }
        Some(tell::<P>(first, line.word))
    });
    wake::<P>(woken);
    later.wake();
}

/// The waiters for one lock, with their bucket held.
struct Line<'a, P: ParkPlatform> {
    section: &'a BucketGuard<'a, P>,
    name: u64,
    word: &'a P::U32,
}

impl<P: ParkPlatform> Line<'_, P> {
    /// Notes how long the section took that has ended. Returns `true` if the lock is to be granted, because sections
    /// are long.
    fn is_long(&self, released: Released) -> bool {
        let note = |held, took_ns| {
            let long_ns = P::tunable(Tunable::rwlock_long_ns);
            self.section.sections().note(self.name, held, took_ns, long_ns);
        };
        match released {
            Released::Writer(Some(took_ns)) => {
                note(HoldMode::Writer, took_ns.min(self.waited_ns()))
            }
            Released::Readers(Some(took_ns)) => note(HoldMode::Reader, took_ns),
            _ => {}
        }
        let are_long = |held| SleepTable::<P>::are_long(self.name, held);
        released != Released::Share && (are_long(HoldMode::Reader) || are_long(HoldMode::Writer))
    }

    /// Returns the time for which the first waiter has waited. It limits the section of a writer, because what that
    /// writer has noted may be of an earlier section.
    fn waited_ns(&self) -> u64 {
        let first = self.section.first_of(self.name);
        // SAFETY: the bucket is held.
        let since_ns = first.map_or(u64::MAX, |first| unsafe { waiter::<P>(first).since_ns.get() });
        P::now_ns().saturating_sub(since_ns)
    }

    /// Gives the lock to the next writer, or to all readers that wait.
    fn grant(&self, released: Released, later: &mut LaterWakes<P>) {
        // ordering: Relaxed; only a hint.
        let is_free = self.word.load(Relaxed) & HELD == 0;
        let was_read = matches!(released, Released::Readers(_));
        if is_free && was_read && self.section.phase().is_of_readers(self.name) {
            self.put_writers_first();
        }
        let Some(first) = self.section.first_of(self.name) else { return };
        match self.section.mode(first).is_shared() {
            true => self.grant_readers(later),
            false => self.grant_writer(first, later),
        }
    }

    fn waiters(&self) -> impl Iterator<Item = NodeId> {
        let next = |id: &NodeId| self.section.next_of(*id, self.name);
        core::iter::successors(self.section.first_of(self.name), next)
    }

    /// Moves the waiters that write in front of those that read, because the phase of readers is over.
    fn put_writers_first(&self) {
        let section = self.section;
        let mut reader = None;
        let mut at = section.first_of(self.name);
        while let Some(id) = at {
            at = section.next_of(id, self.name);
            match reader {
                _ if section.mode(id).is_shared() => reader = reader.or(Some(id)),
                Some(reader) => section.move_before(id, reader),
                None => {}
            }
        }
    }

    fn grant_writer(&self, first: NodeId, later: &mut LaterWakes<P>) {
        let mode = self.section.mode(first);
        let next = self.section.next_of(first, self.name);
        let left = if next.is_some() { RESERVED | SLEEPER } else { 0 };
        let taken = |seen: u32| mode.taken(seen) & !(RESERVED | SLEEPER) | left;
        if !self.change(mode.held_against(), taken) {
            return;
        }
        self.section.set_phase(self.section.phase().with_writer(self.name));
        P::count(Event::rwlock_wake);
        self.tell_one(first, later);
    }

    fn grant_readers(&self, later: &mut LaterWakes<P>) {
        let section = self.section;
        let upgradable = self.waiters().find(|&id| section.mode(id) == LockMode::Upgradable);
        let is_granted = |id| section.mode(id) == LockMode::Reader || Some(id) == upgradable;
        let readers = self.waiters().filter(|&id| is_granted(id)).count() as u32;
        let is_all = self.waiters().all(is_granted);
        let upgrades = if upgradable.is_some() { UPGRADABLE } else { 0 };
        // Each of these writers closes the door by its own clock only once, so this does it for them.
        let is_due = |id| section.mode(id) == LockMode::Writer && has_waited_long::<P>(id);
        let left = match self.waiters().any(is_due) {
            true => SLEEPER | RESERVED,
            false if is_all => 0,
            false => SLEEPER,
        };
        let taken = |seen: u32| (seen & !(RESERVED | SLEEPER) | left) + readers * READER + upgrades;
        if !self.change(WRITER | UPGRADABLE | GUARD, taken) {
            return;
        }
        section.set_phase(section.phase().with_readers(self.name, readers, P::now_ns()));
        self.tell_granted(is_granted, later);
    }

    /// Gives the lock, which came free, to waiters. If a newcomer was faster, the lock is reserved for the waiters, and
    /// the newcomer serves them when it releases the lock. Returns `false` then.
    fn change(&self, against: u32, taken: impl Fn(u32) -> u32) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.word.load(Relaxed);
        loop {
            let is_free = seen & against == 0;
            let next = if is_free { taken(seen) } else { seen | RESERVED | SLEEPER };
            // (*,1,0,0) -> (1,1,1,0), (0,0,1,0), (1,1,0,r), (0,1,0,r) or (0,0,0,r); (*,1,*,r) -> (1,1,*,r)
            // ordering: Acquire; A1, A2, which the grant carries on, W4. On failure Relaxed: only a hint, as above.
            match self.word.compare_exchange(seen, next, Acquire, Relaxed) {
                Ok(_) => return is_free,
                Err(now) => seen = now,
            }
        }
    }

    /// Tells these waiters that the lock was granted to them.
    fn tell_granted(&self, is_granted: impl Fn(NodeId) -> bool, later: &mut LaterWakes<P>) {
        let section = self.section;
        let mut at = section.first_of(self.name);
        while let Some(id) = at {
            at = section.next_of(id, self.name);
            if is_granted(id) {
                if section.mode(id).is_shared() {
                    P::count(Event::rwlock_admit);
                }
                self.tell_one(id, later);
            }
        }
    }
    fn tell_one(&self, id: NodeId, later: &mut LaterWakes<P>) {
        self.section.remove(id);
        let signal = &waiter::<P>(id).signal;
        // ordering: Release; W4.
        signal.swap(GRANTED, Release);
        later.add(signal);
    }
}

/// Tells the first waiter, which sleeps, to compete from now on. Returns the word by which to wake it.
fn tell<P: ParkPlatform>(first: NodeId, word: &P::U32) -> *const P::U32 {
    // (*,1,*) -> (*,0,*)
    // ordering: Relaxed; written under the lock, W1.
    word.fetch_and(!SLEEPER, Relaxed);
    let signal = &waiter::<P>(first).signal;
    // ordering: Relaxed; the waiter acquires from the lock what it was woken for.
    signal.swap(WOKEN, Relaxed);
    signal
}

/// Tells `next`, which is the first now, to compete, if it does not sleep yet. Returns `true` if it did.
fn promote<P: ParkPlatform>(next: NodeId) -> bool {
    let signal = &waiter::<P>(next).signal;
    // ordering: Relaxed; the waiter acquires from the lock what it was told for. On failure Relaxed: the failure value
    // is not used.
    signal.compare_exchange(BEHIND, WOKEN, Relaxed, Relaxed).is_ok()
}

/// Returns `true` if newcomers have passed this waiter for as long as they may. The caller holds the bucket.
fn has_waited_long<P: ParkPlatform>(id: NodeId) -> bool {
    // SAFETY: the bucket is held.
    P::now_ns().saturating_sub(unsafe { waiter::<P>(id).since_ns.get() }) >= UNFAIR_NS
}

fn wake<P: ParkPlatform>(woken: Option<*const P::U32>) {
    if let Some(signal) = woken {
        P::count(Event::rwlock_wake);
        P::futex_wake(signal, 1);
    }
}
