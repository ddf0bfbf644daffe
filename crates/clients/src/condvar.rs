//! Clients of the condition variable: notifications that leave it to a release of the mutex to wake the thread, those
//! in which no later one makes up for one that is lost, and a last user that frees the object.

use crate::client::{Client, has_rounds};
use crate::mutex::{Counter, NotifiedMutex};
use crate::rwsem::SOON_NS;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::mutex::RawMutex;
use lockwright_catalog::capabilities::LockCondvar;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::{Atomic, AtomicInt, Guarded, Zeroed};

/// The first thread and those behind the third wait for a token each. The second one makes the tokens, and notifies one
/// for each without the mutex. The third thread may own the mutex meanwhile. No thread waits for ever.
pub type Left<P, M = RawMutex<P>> = TokenGiver<P, M, false>;
/// As [`Left`], but the second thread hands the mutex over before it notifies, and the third one waits for the mutex
/// for a short time. If it gives up when the mutex was handed to it, it wakes a thread that is left to it.
pub type LeftToWaiter<P, M = RawMutex<P>> = TokenGiver<P, M, true>;

/// [`Left`], or [`LeftToWaiter`].
pub struct TokenGiver<P: Platform, M: NotifiedMutex, const HANDS_OVER: bool> {
    tokens: Counter<P, M>,
    changed: M::Condvar,
    /// How many threads take one.
    takers: usize,
}

impl<P: Platform, M: NotifiedMutex, const HANDS_OVER: bool> TokenGiver<P, M, HANDS_OVER> {
    fn give(&self) {
        let Self { tokens, changed, takers } = self;
        tokens.mutex.lock();
        tokens.change(*takers as i64);
        if HANDS_OVER {
            // SAFETY: taken above.
            unsafe { tokens.mutex.unlock_fair() };
        } else {
            tokens.unlock();
        }
        (0..*takers).for_each(|_| {
            changed.notify_one();
        });
    }
    fn own_for_a_moment(&self) {
        let mutex = &self.tokens.mutex;
        let is_taken = match HANDS_OVER {
            true => mutex.lock_until(P::now_ns() + SOON_NS),
            false => mutex.try_lock(),
        };
        if is_taken {
            self.tokens.change(0);
            self.tokens.unlock();
        }
    }
}

impl<P: Platform, M: NotifiedMutex, const HANDS_OVER: bool> Client
    for TokenGiver<P, M, HANDS_OVER>
{
    const NAME: &'static str = if HANDS_OVER { "condvar-left-to-waiter" } else { "condvar-left" };

    fn new(threads: usize) -> Self {
        let takers = if threads > 2 { threads - 2 } else { 1 };
        Self { tokens: Counter::new(), changed: LockCondvar::new(), takers }
    }
    fn body(&self, thread: usize) {
        self.tokens.mutex.calm();
        match thread {
            1 => self.give(),
            2 => self.own_for_a_moment(),
            _ => self.tokens.lock_and_take_one(&self.changed),
        }
    }
    fn finish(&self) {
        self.tokens.finish(0, "a token was made or lost");
    }
}

/// The second thread waits for a short time, with a mutex of its own, and passes on a notification that it gets. The
/// third one waits at the same condition variable for a token, with another mutex. The first thread makes the token and
/// notifies one: the third thread does not wait for ever, even if the mutex of the second is no longer used.
pub struct AnotherMutex<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    tokens: Counter<P, M>,
    first: M,
    changed: M::Condvar,
}

impl<P: Platform, M: NotifiedMutex> Client for AnotherMutex<P, M> {
    const NAME: &'static str = "condvar-another-mutex";

    fn new(_threads: usize) -> Self {
        Self { tokens: Counter::new(), first: M::new(), changed: LockCondvar::new() }
    }
    fn body(&self, thread: usize) {
        let Self { tokens, first, changed } = self;
        match thread {
            0 => {
                tokens.lock_and_change(1);
                changed.notify_one();
            }
            1 => {
                first.lock();
                // SAFETY: taken above.
                let is_notified = unsafe { changed.wait(first, Some(P::now_ns() + SOON_NS)) };
                // SAFETY: the wait has taken it again.
                unsafe { first.unlock() };
                if is_notified {
                    changed.notify_one();
                }
            }
            2 => tokens.lock_and_take_one(changed),
            _ => {}
        }
    }
    fn finish(&self) {
        self.tokens.finish(0, "a token was made or lost");
    }
}

/// The first thread makes items, the others take them, and there is a place for one. The first thread waits until the
/// last item was taken, makes the next one and notifies one thread. The last thread takes three items, the others
/// between take one each. No item stays while a thread waits for one.
pub struct OnePlace<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    items: Counter<P, M>,
    is_there: M::Condvar,
    taken: P::U32,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, M: NotifiedMutex> OnePlace<P, M> {
    /// How many items that thread takes.
    fn share_of(&self, thread: usize) -> u32 {
        let share = if thread + 1 == self.threads { 3 } else { 1 };
        share * self.rounds
    }
    fn make(&self) {
        let wanted: u32 = (1..self.threads).map(|thread| self.share_of(thread)).sum();
        for item in 0..wanted {
            self.taken.cond_load(Relaxed, |taken| taken == item);
            self.items.lock_and_change(1);
            self.is_there.notify_one();
        }
    }
    fn take(&self) {
        self.items.lock_and_take_one(&self.is_there);
        self.taken.fetch_add(1, Relaxed);
    }
}

impl<P: Platform, M: NotifiedMutex> Client for OnePlace<P, M> {
    const NAME: &'static str = "condvar-one-place";

    fn new(threads: usize) -> Self {
        let (items, is_there) = (Counter::new(), LockCondvar::new());
        Self { items, is_there, taken: Zeroed::zeroed(), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        self.items.mutex.calm();
        if thread == 0 {
            self.make();
        } else {
            (0..self.share_of(thread)).for_each(|_| self.take());
        }
    }
    fn finish(&self) {
        self.items.finish(0, "an item was made or lost");
    }
}

/// Free-on-acquire: the last user of an object frees it, lock and all. Each thread takes leave of the object under its
/// mutex; the last one frees it, while the one before may
/// still be about to return from its unlock. The second thread waits on the object's condition variable
/// first if it comes before the first one, which notifies it after it has taken leave.
///
/// For machines that see accesses to what was freed.
pub struct LastUser<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    object: Object<P, M>,
    freed: AtomicBool,
}

struct Object<P: Platform, M: NotifiedMutex> {
    mutex: M,
    notified: M::Condvar,
    users: Guarded<P, usize>,
    waits: Guarded<P, bool>,
    first_has_left: Guarded<P, bool>,
}

impl<P: Platform, M: NotifiedMutex> Object<P, M> {
    /// Takes leave, as the owner of the mutex. Returns true for the last thread that does so.
    fn take_leave(&self) -> bool {
        // SAFETY: called by the owner of the mutex.
        let users = unsafe { self.users.get() } - 1;
        // SAFETY: as above.
        unsafe { self.users.set(users) };
        users == 0
    }
    /// What the first thread does. Returns true if it is the last user.
    fn leave_and_notify(&self) -> bool {
        // SAFETY: the caller holds the mutex.
        unsafe { self.first_has_left.set(true) };
        // SAFETY: as above.
        let waits = unsafe { self.waits.get() };
        let is_last = self.take_leave();
        // SAFETY: as above.
        unsafe { self.mutex.unlock() };
        if waits {
            // The waiter is a user until it has been notified.
            assert!(self.notified.notify_one(), "the waiter was not there");
        }
        is_last
    }
    /// What the second thread does before it takes leave.
    fn wait(&self) {
        // SAFETY: the caller holds the mutex.
        if unsafe { self.first_has_left.get() } {
            return;
        }
        // SAFETY: as above.
        unsafe { self.waits.set(true) };
        // SAFETY: as above.
        unsafe { self.notified.wait(&self.mutex, None) };
    }
}

impl<P: Platform, M: NotifiedMutex> Client for LastUser<P, M> {
    const NAME: &'static str = "last-user";

    fn new(threads: usize) -> Self {
        let object = Object {
            mutex: M::new(),
            notified: LockCondvar::new(),
            users: Guarded::new(threads),
            waits: Guarded::new(false),
            first_has_left: Guarded::new(false),
        };
        Self { object, freed: AtomicBool::new(false) }
    }
    fn body(&self, thread: usize) {
        let object = &self.object;
        object.mutex.calm();
        object.mutex.lock();
        let is_last = if thread == 0 {
            object.leave_and_notify()
        } else {
            if thread == 1 {
                object.wait();
            }
            let is_last = object.take_leave();
            // SAFETY: taken above.
            unsafe { object.mutex.unlock() };
            is_last
        };
        if is_last {
            P::freed(object);
            self.freed.store(true, Relaxed);
        }
    }
    fn finish(&self) {
        assert!(self.freed.load(Relaxed), "nobody was the last user");
    }
}
