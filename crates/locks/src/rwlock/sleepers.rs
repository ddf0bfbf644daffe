//! Waiters of locks that readers share: those whose word says itself that the first waiter sleeps.
//!
//! A release of such a lock is a read-modify-write of its word and sees there whether it has to wake
//! anybody, so the marks of the table are not for it. The word is touched for a waiter only while that is in the
//! table and its bucket held: then the lock cannot go away.
//!
//! ```text
//!  the first, awake  --sleep_again: asleep, SLEEPER-->  the first, asleep
//!  (it competes)     <------release: -SLEEPER, woken--
//!        ^                                                   ^
//!        | the one in front leaves: woken, no call           | the one in front leaves: SLEEPER, or woken
//!  behind, awake  --after a moment: asleep-->  behind, asleep
//!  (fair locks)                                     | the first takes the lock to read, and so does this one:
//!                                                   v granted, READER (other locks)
//!                                                  out
//! ```
//!
//! All changes of SLEEPER are made under the bucket's lock, so it says of the first waiter whether it sleeps, or is
//! about to be true of it.

use super::wait::UNFAIR_NS;
use super::word::{KEPT, READER, RESERVED, SLEEPER, WRITER};
use crate::events::Event;
use crate::park::{
    self, ASLEEP, BEHIND, BucketGuard, GRANTED, LaterWakes, LockMode, ParkPlatform, SleepTable,
    WOKEN, WOKEN_LATE, waiter,
};
use crate::platform::{Atomic, AtomicInt};
use crate::queue::NodeId;
use core::sync::atomic::Ordering::{Relaxed, Release};

/// Those who hold the lock and wait in front of somebody whose turn is soon: this many have had theirs when it has spun
/// for as long as it does, if sections are short.
const SOON: u32 = 16;

/// A first waiter that has slept for so long waits for long sections. To wake it costs little next to these, so from
/// then on the line is served in its order: newcomers that overtake it would only keep readers and writers from coming
/// in groups.
const LATE_NS: u64 = 50_000;

/// A lock, as its waiters know it.
pub(crate) struct Shared<'a, P: ParkPlatform> {
    pub(crate) word: &'a P::U32,
    /// True if it is reserved for the first waiter as long as there is one.
    pub(crate) is_fair: bool,
}

impl<P: ParkPlatform> Clone for Shared<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: ParkPlatform> Copy for Shared<'_, P> {}

impl<P: ParkPlatform> Shared<'_, P> {
    /// The name of the lock.
    #[inline(always)]
    pub(crate) fn name(self) -> u64 {
        let kind = if self.is_fair { park::Awaited::FairRwLock } else { park::Awaited::RwLock };
        SleepTable::<P>::name(kind, self.word)
    }

    /// Appends `id`: as the first it is awake and competes. Otherwise, whether it is to look for its turn before it
    /// sleeps.
    pub(crate) fn enqueue(self, id: NodeId, kind: LockMode, since_ns: u64) -> bool {
        let me = waiter::<P>(id);
        let name = self.name();
        SleepTable::<P>::within(name, |_, section| {
            let is_first = kind == LockMode::Upgrader || section.first_of(name).is_none();
            let signal = match is_first {
                true => WOKEN,
                false if self.is_fair && self.is_soon(section) => BEHIND,
                false => ASLEEP,
            };
            // ordering: Relaxed; published by W1.
            me.signal.store(signal, Relaxed);
            // ordering: Relaxed; published by W1.
            me.wants.store(core::ptr::from_ref(self.word).cast_mut().cast(), Relaxed);
            match kind {
                // All others wait for it.
                LockMode::Upgrader => section.push_first(id, name),
                _ => section.push(id, name),
            }
            section.set_mode(id, kind);
            // SAFETY: the bucket is held.
            unsafe { me.since_ns.set(since_ns) };
            if is_first && self.is_fair {
                // (k,*,*) -> (1,*,*)
                // ordering: Relaxed; nothing is read through it.
                self.word.fetch_or(RESERVED, Relaxed);
            }
            signal == BEHIND
        })
    }

    /// Returns `true` if it is soon the turn of a waiter that comes now: few are in front of it, and they have CPUs.
    /// Who has just taken the lock may be in the list for a moment more and counts twice, so one more than fits next to
    /// it will do.
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

    /// The first waiter, awake, is about to sleep; `false` if it could take the lock. Its look and the mark of
    /// the word are one: a release comes before, and is seen, or after, and wakes.
    pub(crate) fn sleep_again(self, id: NodeId, kind: LockMode) -> bool {
        let name = self.name();
        SleepTable::<P>::within(name, |_, section| {
            let signal = &waiter::<P>(id).signal;
            // ordering: Relaxed; written under the lock, W1.
            signal.store(ASLEEP, Relaxed);
            // A thread that upgrades has come in front of it: the mark is that one's.
            if section.first_of(name) != Some(id) {
                return true;
            }
            if self.is_held_against(kind) {
                begin_first_sleep::<P>(id);
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

    /// Marks the word for a first waiter that sleeps. Returns `true` if a release will come that finds it.
    fn is_held_against(self, kind: LockMode) -> bool {
        // (*,0,*) -> (*,1,*)
        // ordering: Relaxed; nothing is read through it but the word itself.
        self.word.fetch_or(SLEEPER, Relaxed) & kind.held_against() != 0
    }

    /// The waiter `id` has waited for long while others may have held the lock without a gap. If it is the first, the
    /// lock is reserved for it from now on.
    #[cold]
    pub(crate) fn close_door(self, id: NodeId) {
        let name = self.name();
        SleepTable::<P>::within(name, |_, section| {
            if section.first_of(name) == Some(id) {
                self.keep_newcomers_out();
            }
        });
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

    /// Takes the lock by `take` for a reader that does not wait, unless a thread waits that it would keep waiting: a
    /// writer, or one that reads as it would, upgradable. Returns `true` if it did.
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

    /// If no thread waits in the table: removes from the word what speaks of waiters. They do not exist in a forked
    /// child, or had no node. Returns `true` if no thread waits.
    #[cold]
    pub(crate) fn forget_the_gone(self) -> bool {
        let name = self.name();
        SleepTable::<P>::within(name, |_, section| {
            let is_alone = section.first_of(name).is_none();
            if is_alone {
                // (k,s,*) -> (0,0,*)
                // ordering: Relaxed; nothing is read through it.
                self.word.fetch_and(!(KEPT | SLEEPER), Relaxed);
            }
            is_alone
        })
    }

    /// Takes `id` out, with the lock as `took` says or without it, and sees to the one that is the first then. The lock
    /// stays reserved for that one if `id` `keeps` it so. Returns `true` if `id` was granted the lock before.
    pub(crate) fn leave(self, id: NodeId, took: Option<LockMode>, keeps: bool) -> bool {
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
            (false, if was_first { self.make_first(section, next, keeps) } else { None })
        });
        wake::<P>(woken);
        later.wake();
        is_granted
    }

    /// The caller has become a reader. Grants the lock to all readers that wait.
    fn admit_readers(self, section: &BucketGuard<P>, later: &mut LaterWakes<P>) {
        let first = section.first_of(self.name());
        let next = |id| section.next_of(id, self.name());
        let reads = |id: &NodeId| section.mode(*id) == LockMode::Reader;
        let readers = core::iter::successors(first, |id| next(*id)).filter(reads);
        let count = readers.count() as u32;
        if count == 0 {
            return;
        }
        // (0,s,0,r) -> (0,s,0,r+n)
        // ordering: Relaxed; what they have to see the caller tells them, W4.
        self.word.fetch_add(count * READER, Relaxed);
        let mut at = first;
        while let Some(id) = at {
            at = next(id);
            if reads(&id) {
                section.remove(id);
                let signal = &waiter::<P>(id).signal;
                // ordering: Release; W4.
                signal.swap(GRANTED, Release);
                P::count(Event::rwlock_admit);
                later.add(signal);
            }
        }
    }
}

impl<P: ParkPlatform> Shared<'_, P> {
    /// The one that was the first is gone. If it `keeps` the lock reserved, it is for the next one now. Returns by what
    /// to wake that one.
    fn make_first(
        self,
        section: &BucketGuard<P>,
        next: Option<NodeId>,
        keeps: bool,
    ) -> Option<*const P::U32> {
        let is_awake = self.is_fair && next.is_some_and(promote::<P>);
        let stale = match next {
            Some(_) if is_awake => SLEEPER,
            Some(_) if self.is_fair || keeps => 0,
            Some(next) if has_waited_long::<P>(next) => {
                self.keep_newcomers_out();
                0
            }
            Some(_) => KEPT,
            None => KEPT | SLEEPER,
        };
        // ordering: Relaxed; for the first waiter only, under the lock, W1.
        if self.word.load(Relaxed) & stale != 0 {
            // (k,s,*) -> (0,s,*), or (0,0,*)
            // ordering: Relaxed; nothing is read through it.
            self.word.fetch_and(!stale, Relaxed);
        }
        let next = next.filter(|_| !is_awake)?;
        if self.is_held_against(section.mode(next)) {
            begin_first_sleep::<P>(next);
            return None;
        }
        Some(tell::<P>(next, self.word, WOKEN))
    }
}

/// Whom a release may wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wakes {
    /// The first waiter: the lock is free.
    Anybody,
    /// The first waiter if it can hold the lock together with readers: there still are some.
    Shared,
}

/// Wakes the first waiter for the lock `name` if it sleeps. The lock may no longer exist, and another one may be
/// where it was: the word that is touched is that of a waiter.
#[cold]
pub(crate) fn wake_first<P: ParkPlatform>(name: u64, wakes: Wakes) {
    let woken = SleepTable::<P>::within(name, |_, section| {
        let first = section.first_of(name)?;
        // ordering: Relaxed; written under the lock, W1.
        let is_asleep = waiter::<P>(first).signal.load(Relaxed) == ASLEEP;
        if !is_asleep || wakes == Wakes::Shared && !section.mode(first).is_shared() {
            return None;
        }
        // ordering: Relaxed; written under the lock, W1.
        let word = waiter::<P>(first).wants.load(Relaxed).cast_const().cast::<P::U32>();
        // SAFETY: the first waiter waits for a lock with this word, and cannot leave while its bucket is held.
        let word = unsafe { &*word };
        // SAFETY: the bucket is held.
        let slept_ns = P::now_ns().saturating_sub(unsafe { waiter::<P>(first).first_ns.get() });
        if slept_ns < LATE_NS {
            return Some(tell::<P>(first, word, WOKEN));
        }
        // (0,*,*,*) -> (1,*,*,*)
        // ordering: Relaxed; only keeps newcomers away, nothing is read through it.
        word.fetch_or(RESERVED, Relaxed);
        Some(tell::<P>(first, word, WOKEN_LATE))
    });
    wake::<P>(woken);
}

/// The first waiter, asleep, is to compete from now on; what to wake it by.
fn tell<P: ParkPlatform>(first: NodeId, word: &P::U32, how: u32) -> *const P::U32 {
    // (*,1,*) -> (*,0,*)
    // ordering: Relaxed; written under the lock, W1.
    word.fetch_and(!SLEEPER, Relaxed);
    let signal = &waiter::<P>(first).signal;
    // ordering: Relaxed; what it was woken for it acquires from the lock.
    signal.swap(how, Relaxed);
    signal
}

/// The waiter is the first, and sleeps from now on. For a thread that holds the bucket.
fn begin_first_sleep<P: ParkPlatform>(first: NodeId) {
    // SAFETY: the bucket is held.
    unsafe { waiter::<P>(first).first_ns.set(P::now_ns()) };
}

/// Tells `next`, which is the first now, to compete, if it does not sleep yet. Returns `true` if it did.
fn promote<P: ParkPlatform>(next: NodeId) -> bool {
    let signal = &waiter::<P>(next).signal;
    // ordering: Relaxed; what it was told it for it acquires from the lock. On failure Relaxed: the failure value
    // is not used.
    signal.compare_exchange(BEHIND, WOKEN, Relaxed, Relaxed).is_ok()
}

/// Newcomers have passed this waiter for as long as they may. For a thread that holds the bucket.
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
