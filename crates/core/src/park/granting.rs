//! Waiters that do not compete for what they need but are granted it, in the order in which they came. The waiters of a
//! semaphore are of this kind.
//!
//! No thread wakes the first of them so that it has a look. So they are not counted as wanted and need no mark. A
//! thread that has something for them sees in the word itself that a thread waits, and comes here.

use super::{ASLEEP, BucketGuard, GRANTED, ParkPlatform, SleepTable, waiter};
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::NodeId;
use core::sync::atomic::Ordering::{Relaxed, Release};

/// The number of waiters that are woken after the list is given back.
const LATER: usize = 16;

/// The waiters for one word, with their list locked.
pub struct Waiters<'a, P: ParkPlatform> {
    section: &'a BucketGuard<'a, P>,
    name: u64,
}

/// The waiters that can be granted what they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The number of these waiters, from the first on.
    pub waiters: u32,
    /// The amount that is left then.
    pub left: u32,
    /// True if no thread waits then.
    pub is_all: bool,
}

impl Served {
    /// Says that no waiter is granted anything: all that is available is left.
    pub const fn nobody(left: u32, is_all: bool) -> Self {
        Self { waiters: 0, left, is_all }
    }
}

impl<P: ParkPlatform> Waiters<'_, P> {
    /// Returns `true` if there are no waiters.
    pub fn is_empty(&self) -> bool {
        self.section.first_of(self.name).is_none()
    }
    /// Appends `id`, which needs `needs`.
    pub fn join(&self, id: NodeId, needs: u32) {
        let me = waiter::<P>(id);
        // ordering: Relaxed; published by W1.
        me.signal.store(ASLEEP, Relaxed);
        // SAFETY: it is in no list yet, so no other thread looks at it.
        unsafe { me.needs.set(needs) };
        self.section.push(id, self.name);
    }
    /// Takes `id` out of the list unless it was granted what it needs. Returns `true` if it took it out.
    pub fn leave(&self, id: NodeId) -> bool {
        // ordering: Relaxed; written under the lock, W1, which carries the grant, too.
        let waits = waiter::<P>(id).signal.load(Relaxed) == ASLEEP;
        if waits {
            self.section.remove(id);
        }
        waits
    }
    /// Returns the waiters that `available` is enough for. They are served in the order in which they came: no waiter
    /// is served before the one in front of it.
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
    /// Tells that number of waiters, from the first on, that they have what they need. Calls `wake` with the address at
    /// which to wake each; a waiter may be gone then. The list is searched once for all of them, because waiters for
    /// other words may be in it, too.
    fn grant(&self, waiters: u32, mut wake: impl FnMut(*const P::U32)) {
        let Some(more) = waiters.checked_sub(1) else { return };
        let mut at = self.section.first_of(self.name);
        for left in (0..=more).rev() {
            let Some(id) = at else { return };
            // Its links are no longer ours once the waiter has been told.
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
    /// Runs `body` with the waiters for the word `name` locked. Then it grants what they need to the number of waiters
    /// that `body` returns, from the first on. The word may be gone as soon as the last of them knows, so it does
    /// nothing more with the word.
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

/// Waiters to wake, in the order in which they came. The last of them are woken after the list is given back, so that
/// other threads that need the bucket do not wait for the system calls.
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
    /// Returns an empty list.
    pub fn new() -> Self {
        Self { signals: [None; LATER], added: 0 }
    }
    /// Adds a waiter that was told something and has to be woken. It may be gone by the time of the wake-up.
    pub fn add(&mut self, signal: *const P::U32) {
        let before = self.signals[self.added % LATER].replace(signal);
        self.added += 1;
        if let Some(signal) = before {
            P::futex_wake(signal, 1);
        }
    }
    /// Wakes the waiters that are left.
    pub fn wake(self) {
        for signal in self.signals.into_iter().flatten() {
            P::futex_wake(signal, 1);
        }
    }
}
