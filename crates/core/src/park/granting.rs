//! Waiters that do not compete for what they want but are granted it, in the order they came: those of a
//! [`semaphore`](crate::semaphore).
//!
//! Nobody wakes the first of them to have a look, so they are not counted as wanted and need no mark: who has
//! something for them is told by the word itself that somebody waits, and comes here.

use super::{ASLEEP, BucketGuard, GRANTED, ParkPlatform, SleepTable, waiter};
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::NodeId;
use core::sync::atomic::Ordering::{Relaxed, Release};

/// How many are woken after the list is given back.
const LATER: usize = 16;

/// The waiters for one word, with their list locked.
pub struct Waiters<'a, P: ParkPlatform> {
    section: &'a BucketGuard<'a, P>,
    name: u64,
}

/// Who can be granted what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// How many, from the first on.
    pub waiters: u32,
    /// What is left then.
    pub left: u32,
    /// Nobody waits any more then.
    pub is_all: bool,
}

impl Served {
    /// Nobody is granted anything: what is there stays there.
    pub const fn nobody(left: u32, is_all: bool) -> Self {
        Self { waiters: 0, left, is_all }
    }
}

impl<P: ParkPlatform> Waiters<'_, P> {
    /// Returns `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.section.first_of(self.name).is_none()
    }
    /// Appends `id`, which needs so much.
    pub fn join(&self, id: NodeId, needs: u32) {
        let me = waiter::<P>(id);
        // ordering: Relaxed; published by W1.
        me.signal.store(ASLEEP, Relaxed);
        // SAFETY: in no list yet, so nobody else looks at it.
        unsafe { me.needs.set(needs) };
        self.section.push(id, self.name);
    }
    /// Takes `id` out unless it was granted what it needs. Returns `true` if it did.
    pub fn leave(&self, id: NodeId) -> bool {
        // ordering: Relaxed; written under the lock, W1, which carries what it was granted, too.
        let waits = waiter::<P>(id).signal.load(Relaxed) == ASLEEP;
        if waits {
            self.section.remove(id);
        }
        waits
    }
    /// Whom `available` is enough for, first come, first served: nobody is served before the one in front.
    pub fn served_by(&self, available: u32) -> Served {
        let mut served = Served::nobody(available, false);
        let mut first = self.section.first_of(self.name);
        while let Some(id) = first {
            // SAFETY: the list is locked.
            let needs = unsafe { waiter::<P>(id).needs.get() };
            let Some(left) = served.left.checked_sub(needs) else { return served };
            served = Served { waiters: served.waiters + 1, left, ..served };
            first = self.section.next_of(id, self.name);
        }
        Served { is_all: true, ..served }
    }
    /// Tells as many waiters as that, from the first on, that they have what they need, and says where to wake each. It
    /// may be gone then. The list is searched once for all of them: others may wait in it, too.
    fn grant(&self, waiters: u32, mut wake: impl FnMut(*const P::U32)) {
        let Some(more) = waiters.checked_sub(1) else { return };
        let mut at = self.section.first_of(self.name);
        for left in (0..=more).rev() {
            let Some(id) = at else { return };
            // Its links are no longer ours when it has been told.
            at = if left == 0 { None } else { self.section.next_of(id, self.name) };
            self.section.remove(id);
            let signal = &waiter::<P>(id).signal;
            let address = &raw const *signal;
            // ordering: Release; W4.
            signal.swap(GRANTED, Release);
            P::count(Event::semaphore_handoff);
            wake(address);
        }
    }
}

impl<P: ParkPlatform> SleepTable<P> {
    /// Runs `body` with the waiters for the word `name` locked, and then grants as many of them what they need as it
    /// says, from the first on. The word may be gone as soon as the last of them knows, so that is all.
    pub fn with_waiters<R>(name: u64, body: impl FnOnce(&Waiters<'_, P>) -> (R, u32)) -> R {
        let mut later = LaterWakes::<P>::new();
        let result = Self::within(name, |_, section| {
            let waiters = Waiters { section, name };
            let (result, granted) = body(&waiters);
            waiters.grant(granted, |signal| later.add(signal));
            result
        });
        later.wake();
        result
    }
}

/// Waiters to wake, in the order they came. The last of them are woken after the list is given back, so that others of
/// the bucket need not wait for the system calls.
pub struct LaterWakes<P: ParkPlatform> {
    signals: [Option<*const P::U32>; LATER],
    added: usize,
}

impl<P: ParkPlatform> Default for LaterWakes<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: ParkPlatform> LaterWakes<P> {
    /// An empty list.
    pub fn new() -> Self {
        Self { signals: [None; LATER], added: 0 }
    }
    /// A waiter was told something, and has to be woken. It may be gone then.
    pub fn add(&mut self, signal: *const P::U32) {
        let before = self.signals[self.added % LATER].replace(signal);
        self.added += 1;
        if let Some(signal) = before {
            P::futex_wake(signal, 1);
        }
    }
    /// Wakes those that are left.
    pub fn wake(self) {
        for signal in self.signals.into_iter().flatten() {
            P::futex_wake(signal, 1);
        }
    }
}
