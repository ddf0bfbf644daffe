//! A condition variable whose waiters are in two groups, which loses wake-ups.
//!
//! It is a model of the algorithm of glibc 2.25 to 2.40, written from descriptions of it, to show its bug (BZ 25847).
//! It has the steps in which threads can meet. It leaves out deadlines, cancellation, the end of a condition variable
//! in use, and condition variables that processes share. docs/findings.md says how it was compared with glibc 2.36.
//!
//! ```text
//!  63                                   1    0
//! +---------------------------------------+----+
//! |            position                   |slot|   next: of the next waiter, and where the newer group is
//! +---------------------------------------+----+
//! |            position                   |slot|   start: of the older group, and where the newer group is
//! +---------------------------------------+----+
//!  31                    1    0       31                    1    0
//! +----------------------+------+    +----------------------+-----+
//! |        signals       |closed|    |        waiters       |woken|   of each slot: signals, references
//! +----------------------+------+    +----------------------+-----+
//! ```
//!
//! | here | glibc's name | what it says | moved by |
//! |---|---|---|---|
//! | next | `__wseq` | twice the position of the next waiter, and the slot of the newer group | by 2: a waiter that comes. Bit 0: a notification that turns the groups over |
//! | start | `__g1_start` | twice the first position of the older group, and the slot of the newer one | a notification that turns the groups over |
//! | signals | `__g_signals` | twice the signals that the waiters of the group may take, and if it is closed | by 2: a notification. Less 2: a waiter that takes one. Closed, then 0: a turn |
//! | references | `__g_refs` | twice the number of waiters that sleep or are about to, and if a notification waits for them | such waiters; a turn waits until there are none |
//! | sizes | `__g_size` | the number of waiters of a group for which there was no notification | less 1: a notification. More: a turn, for the group that is now the older one |
//! | `first_size` | `__g1_orig_size` | the number of waiters that the older group had at first | a turn |
//! | waiters | `__wrefs` | the number of threads that wait | a waiter that comes or goes |
//!
//! A waiter joins the newer group. A notification adds a signal to the older group, for one of its waiters. If no
//! waiter is left there by its size, the notification turns the groups over first: it closes the older group, waits
//! until no thread holds a reference to its slot, and moves *start*. The slot is then that of a new, empty group. A
//! waiter takes a signal of the slot that its group had, and returns.
//!
//! # The bug
//!
//! A waiter refers to its slot only while it sleeps. So it can be late, and the groups are turned over meanwhile, until
//! its slot is that of another older group. A signal that a late waiter takes there was for a waiter of that group. So
//! a waiter that took a signal looks at *start*. If its position is before *start*, and its slot is that of the older
//! group, it cannot know from which group it took, and gives a signal back.
//!
//! If it took the signal from its own group, it gives back a signal that it never stole. A waiter of the present group
//! takes the extra signal and returns. That by itself is allowed: a wait may end for no reason. But *size* still counts
//! that waiter. A later notification goes to the older group, for a waiter that is gone. A thread in the newer group
//! sleeps on, although it was there before the notification.
//!
//! docs/findings.md has a schedule. [`Stealing`] chooses what a late waiter does: two of the three forms lose wake-ups.
//!
//! # Memory
//!
//! The bug needs no weak memory, and the model says nothing about orderings: its own words are accessed `Relaxed`, so a
//! checker of weak memory may find other faults in it. Sizes are plain fields under an internal lock. The mutex orders
//! what waiters and notifiers exchange.

use crate::capabilities::{CondvarLock, LockCondvar, ProgramMutex, TimedLock};
use crate::futex3::{Futex3, FutexPlatform};
use crate::platform::{Atomic, AtomicInt, Cells, Guarded, Zeroed};
use crate::raw::{Order, RawLock, Schedules};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;

/// In `next` and `start`: the slot of the newer group.
const NEWER: u64 = 1;
/// In `next` and `start`: one position.
const POSITION: u64 = 2;
/// In `signals`: the group is closed.
const CLOSED: u32 = 1;
/// In `signals`: one signal.
const SIGNAL: u32 = 2;
/// In `references`: a notification sleeps until there are none.
const AWAITED: u32 = 1;
/// In `references`: one of them.
const REFERENCE: u32 = 2;

/// The treatment of the signals of a group that is no longer there.
pub trait Stealing: Send + Sync + 'static {
    /// True if a waiter that may have taken a signal of a later group adds one there.
    const GIVES_BACK: bool;
    /// True if the signals of a group are counted from its first position on. So a late waiter sees that they are not
    /// its own and takes none. Groups need not be closed.
    const IS_EXCLUDED: bool;
}

/// A late waiter may take the signal of a later group, and gives one back if it may have: glibc 2.25 to 2.40.
pub struct GivesBack;
impl Stealing for GivesBack {
    const GIVES_BACK: bool = true;
    const IS_EXCLUDED: bool = false;
}

/// A late waiter may take the signal of a later group, and keeps it. This is the reason for giving back.
pub struct KeepsStolen;
impl Stealing for KeepsStolen {
    const GIVES_BACK: bool = false;
    const IS_EXCLUDED: bool = false;
}

/// A late waiter cannot take the signal of a later group: the idea of glibc 2.41.
pub struct NeverSteals;
impl Stealing for NeverSteals {
    const GIVES_BACK: bool = false;
    const IS_EXCLUDED: bool = true;
}

/// The words of a group that stay where they are when another group has their place.
struct Slot<P: Cells> {
    signals: P::U32,
    references: P::U32,
}

/// The condition variable; `R` says what becomes of stolen signals.
pub struct GroupedCondvar<P: Cells, R = GivesBack> {
    next: P::U64,
    start: P::U64,
    slots: [Slot<P>; 2],
    waiters: P::U32,
    internal: Futex3<P>,
    sizes: [Guarded<P, u32>; 2],
    first_size: Guarded<P, u32>,
    _stealing: PhantomData<fn() -> R>,
}

/// The offer that a waiter finds in its slot.
enum Offer {
    /// Its group is closed, or no longer there.
    Over,
    /// There is no signal.
    Nothing,
    /// There is a signal that it may try to take.
    Signal,
}

/// The position of a waiter in the order of arrival, and the slot that its group had when it came.
#[derive(Clone, Copy)]
struct Arrival {
    position: u64,
    slot: usize,
}

impl<P: FutexPlatform, R: Stealing> GroupedCondvar<P, R> {
    fn slot_of_newer(word: u64) -> usize {
        (word & NEWER) as usize
    }
    fn load_start(&self) -> u64 {
        // ordering: Relaxed; sequential memory, see above.
        self.start.load(Relaxed)
    }
    fn has_ended(me: Arrival, start: u64) -> bool {
        me.position < start / POSITION
    }

    /// Waits until there is a signal for the caller, or its group is over. Returns `true` if it took a signal.
    fn take_signal(&self, me: Arrival) -> bool {
        let signals = &self.slots[me.slot].signals;
        // ordering: Relaxed; as above.
        let mut seen = signals.load(Relaxed);
        loop {
            let is_asleep = match self.offer(me, seen) {
                Offer::Over => return false,
                Offer::Nothing => self.sleep(me, seen),
                Offer::Signal => {
                    // ordering: Relaxed; as above.
                    match signals.compare_exchange(seen, seen - SIGNAL, Relaxed, Relaxed) {
                        Ok(_) => return true,
                        Err(now) => seen = now,
                    }
                    continue;
                }
            };
            if !is_asleep {
                return false;
            }
            // ordering: Relaxed; as above.
            seen = signals.load(Relaxed);
        }
    }
    /// Returns the offer that the signals of its slot, which were `seen`, make to the caller.
    fn offer(&self, me: Arrival, seen: u32) -> Offer {
        if !R::IS_EXCLUDED {
            return match seen {
                0 => Offer::Nothing,
                _ if seen & CLOSED != 0 => Offer::Over,
                _ => Offer::Signal,
            };
        }
        let start = self.load_start();
        // Below 0 while the groups are being turned over.
        let count = seen.wrapping_sub(Self::counted_from(start)) as i32;
        if Self::has_ended(me, start) {
            Offer::Over
        } else if Self::slot_of_newer(start) == me.slot || count < SIGNAL as i32 {
            Offer::Nothing
        } else {
            Offer::Signal
        }
    }
    /// Returns the value that stands for no signal, if signals of a group are counted from its first position on.
    fn counted_from(start: u64) -> u32 {
        (start & !NEWER) as u32
    }

    /// Sleeps while the signals are `seen`. Returns `false` if the group of the caller is closed.
    fn sleep(&self, me: Arrival, seen: u32) -> bool {
        let Slot { signals, references } = &self.slots[me.slot];
        if R::IS_EXCLUDED {
            P::futex_wait(signals, seen, None);
            return true;
        }
        // ordering: Relaxed; as above.
        references.fetch_add(REFERENCE, Relaxed);
        // ordering: Relaxed; as above.
        let is_closed = signals.load(Relaxed) & CLOSED != 0;
        let is_over = is_closed || Self::has_ended(me, self.load_start());
        if !is_over {
            P::futex_wait(signals, seen, None);
        }
        // ordering: Relaxed; as above.
        if references.fetch_sub(REFERENCE, Relaxed) == REFERENCE | AWAITED {
            // ordering: Relaxed; as above.
            references.fetch_and(!AWAITED, Relaxed);
            P::futex_wake(references, u32::MAX);
        }
        !is_over
    }

    /// Gives a signal back after the caller took one, perhaps from a later group that has its slot now. If there is
    /// such a group, adds a signal there.
    fn give_back(&self, me: Arrival) {
        let start = self.load_start();
        if !Self::has_ended(me, start) || Self::slot_of_newer(start) == me.slot {
            return;
        }
        let signals = &self.slots[me.slot].signals;
        // ordering: Relaxed; as above.
        let mut seen = signals.load(Relaxed);
        // A later turn has waited for all waiters that sleep, so there is nothing to give back.
        while self.load_start() == start {
            // ordering: Relaxed; as above.
            let added = || signals.compare_exchange(seen, seen + SIGNAL, Relaxed, Relaxed);
            // If the group is being closed, all its waiters are about to go.
            let given = if seen & CLOSED != 0 { Ok(seen) } else { added() };
            match given {
                Ok(_) => {
                    P::futex_wake(signals, 1);
                    return;
                }
                Err(now) => seen = now,
            }
        }
    }

    /// Notifies at most `count` threads.
    fn notify(&self, count: u32) {
        // ordering: Relaxed; as above.
        if self.waiters.load(Relaxed) == 0 {
            return;
        }
        self.internal.lock();
        // ordering: Relaxed; as above.
        let next = self.next.load(Relaxed);
        let older = 1 - Self::slot_of_newer(next);
        let mut signalled = (self.size_of(older) != 0).then_some(older);
        if signalled.is_some() {
            self.signal(older, count);
        }
        if signalled.is_none() || count > 1 {
            // A turn waits for the waiters that sleep.
            self.wake(signalled, count);
            signalled = self.turn(next);
            if let Some(slot) = signalled {
                self.signal(slot, count);
            }
        }
        // SAFETY: taken above.
        unsafe { self.internal.unlock() };
        self.wake(signalled, count);
    }
    /// Adds a signal for each waiter that the group in that slot has by its size, but at most `count`. Only the owner
    /// of the internal lock calls this.
    fn signal(&self, slot: usize, count: u32) {
        let size = self.size_of(slot);
        let added = size.min(count);
        // ordering: Relaxed; as above.
        self.slots[slot].signals.fetch_add(added * SIGNAL, Relaxed);
        self.set_size(slot, size - added);
    }
    fn wake(&self, slot: Option<usize>, count: u32) {
        if let Some(slot) = slot {
            P::futex_wake(&raw const self.slots[slot].signals, count);
        }
    }
    /// Makes the newer group the older one. Returns its slot, or `None` if no waiter is there. Only the owner of the
    /// internal lock calls this.
    fn turn(&self, next: u64) -> Option<usize> {
        let (newer, older) = (Self::slot_of_newer(next), 1 - Self::slot_of_newer(next));
        let start = self.load_start();
        let end = start / POSITION + u64::from(self.first_size());
        if next / POSITION == end {
            return None;
        }
        if !R::IS_EXCLUDED {
            self.close(older);
        }
        // The slot that is now free is that of the next newer group.
        let new_start = end * POSITION + older as u64;
        // ordering: Relaxed; as above.
        self.start.store(new_start, Relaxed);
        if !R::IS_EXCLUDED {
            // ordering: Relaxed; as above.
            self.slots[older].signals.store(0, Relaxed);
        }
        let flip = if newer == 0 { 1 } else { u64::MAX };
        // ordering: Relaxed; as above.
        let last = self.next.fetch_add(flip, Relaxed) / POSITION;
        if R::IS_EXCLUDED {
            // ordering: Relaxed; as above.
            self.slots[newer].signals.store(Self::counted_from(new_start), Relaxed);
        }
        let size = (last - end) as u32;
        // SAFETY: the caller owns the internal lock.
        unsafe { self.first_size.set(size) };
        self.set_size(newer, self.size_of(newer) + size);
        Some(newer)
    }
    /// Lets no waiter of the group fall asleep, and waits until none sleeps.
    fn close(&self, slot: usize) {
        let Slot { signals, references } = &self.slots[slot];
        // ordering: Relaxed; as above.
        signals.fetch_or(CLOSED, Relaxed);
        // ordering: Relaxed; as above.
        let mut seen = references.fetch_or(0, Relaxed);
        while seen >= REFERENCE {
            // ordering: Relaxed; as above.
            seen = references.fetch_or(AWAITED, Relaxed) | AWAITED;
            if seen >= REFERENCE {
                P::futex_wait(references, seen, None);
            }
            // ordering: Relaxed; as above.
            seen = references.load(Relaxed);
        }
    }

    fn size_of(&self, slot: usize) -> u32 {
        // SAFETY: for owners of the internal lock.
        unsafe { self.sizes[slot].get() }
    }
    fn set_size(&self, slot: usize, size: u32) {
        // SAFETY: for owners of the internal lock.
        unsafe { self.sizes[slot].set(size) };
    }
    fn first_size(&self) -> u32 {
        // SAFETY: for owners of the internal lock.
        unsafe { self.first_size.get() }
    }
}

/// A [`Futex3`] with this condition variable.
#[repr(transparent)]
pub struct GroupedMutex<P: Cells, R = GivesBack> {
    mutex: Futex3<P>,
    _stealing: PhantomData<fn() -> R>,
}

impl<P: FutexPlatform, R: Stealing> LockCondvar<GroupedMutex<P, R>> for GroupedCondvar<P, R> {
    fn new() -> Self {
        let slot = || Slot { signals: Zeroed::zeroed(), references: Zeroed::zeroed() };
        Self {
            next: Zeroed::zeroed(),
            start: Zeroed::zeroed(),
            slots: [slot(), slot()],
            waiters: Zeroed::zeroed(),
            internal: RawLock::new(),
            sizes: [Guarded::new(0), Guarded::new(0)],
            first_size: Guarded::new(0),
            _stealing: PhantomData,
        }
    }
    /// There are no deadlines in the model: it waits as long as it takes.
    unsafe fn wait(&self, lock: &GroupedMutex<P, R>, _deadline_ns: Option<u64>) -> bool {
        // ordering: Relaxed; as above.
        let next = self.next.fetch_add(POSITION, Relaxed);
        let me = Arrival { position: next / POSITION, slot: Self::slot_of_newer(next) };
        // ordering: Relaxed; as above.
        self.waiters.fetch_add(1, Relaxed);
        // SAFETY: the caller owns it.
        unsafe { lock.unlock() };
        if self.take_signal(me) && R::GIVES_BACK {
            self.give_back(me);
        }
        // ordering: Relaxed; as above.
        self.waiters.fetch_sub(1, Relaxed);
        lock.lock();
        true
    }
    fn notify_one(&self) -> bool {
        self.notify(1);
        true
    }
    fn notify_all(&self) {
        self.notify(u32::MAX);
    }
}

impl<P: FutexPlatform, R: Stealing> CondvarLock for GroupedMutex<P, R> {
    type Condvar = GroupedCondvar<P, R>;
}

impl<P: FutexPlatform, R: Stealing> RawLock for GroupedMutex<P, R> {
    const ORDER: Order = <Futex3<P> as RawLock>::ORDER;
    const WAITERS_SLEEP: bool = true;
    const SCHEDULES: Schedules = Schedules::OfRows;

    fn new() -> Self {
        Self { mutex: RawLock::new(), _stealing: PhantomData }
    }
    fn lock(&self) {
        self.mutex.lock();
    }
    fn try_lock(&self) -> bool {
        self.mutex.try_lock()
    }
    unsafe fn unlock(&self) {
        // SAFETY: the caller owns it.
        unsafe { self.mutex.unlock() };
    }
    fn is_locked(&self) -> bool {
        self.mutex.is_locked()
    }
}

impl<P: FutexPlatform, R: Stealing> TimedLock for GroupedMutex<P, R> {
    fn lock_until(&self, deadline_ns: u64) -> bool {
        self.mutex.lock_until(deadline_ns)
    }
}

impl<P: FutexPlatform, R: Stealing> ProgramMutex for GroupedMutex<P, R> {
    fn calm(&self) {
        self.mutex.calm();
    }
    fn lock_asleep(&self) {
        self.mutex.lock_asleep();
    }
    fn shares_bucket_with(&self, other: &Self) -> bool {
        self.mutex.shares_bucket_with(&other.mutex)
    }
    unsafe fn unlock_fair(&self) {
        // SAFETY: the caller owns it.
        unsafe { self.mutex.unlock_fair() };
    }
}
