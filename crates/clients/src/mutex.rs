//! Clients of the mutex and the condition variable for programs: deadlines, handing over, notifications.
//!
//! All of them begin with a quiet bucket, so that the first sleeper needs its heavy barrier.

use crate::Client;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::condvar::RawCondvar;
use lockwright::mutex::RawMutex;
use lockwright::platform::Guarded;
use lockwright::raw::RawLock;
use lockwright::registry::Platform;

/// A mutex and a number under it.
pub(crate) struct Counter<P: Platform> {
    pub(crate) mutex: RawMutex<P>,
    number: Guarded<P, u64>,
}

impl<P: Platform> Counter<P> {
    pub(crate) fn new() -> Self {
        Self { mutex: RawMutex::new(), number: Guarded::new(0) }
    }
    /// Changes the number. For the owner.
    pub(crate) fn change(&self, by: i64) -> u64 {
        // SAFETY: called by the owner only.
        let number = unsafe { self.number.get() }.wrapping_add_signed(by);
        // SAFETY: as above.
        unsafe { self.number.set(number) };
        number
    }
    pub(crate) fn unlock(&self) {
        // SAFETY: called by the owner only.
        unsafe { self.mutex.unlock() };
    }
}

/// What [`MutexTimeOuts`] is selected by.
pub const TIMED: &str = "mutex-timed";

/// Threads with an odd number give up soon; the first begins as the owner and hands it over. A thread that gets the
/// mutex counts. No thread sleeps for ever behind one that has given up.
pub struct MutexTimeOuts<P: Platform> {
    counter: Counter<P>,
    taken: AtomicU64,
    rounds: u32,
}

impl<P: Platform> Client for MutexTimeOuts<P> {
    const NAME: &'static str = TIMED;

    fn new(_threads: usize) -> Self {
        let client = Self { counter: Counter::new(), taken: AtomicU64::new(0), rounds: 1 };
        client.counter.mutex.lock();
        client
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        let mutex = &self.counter.mutex;
        mutex.calm();
        for round in 0..self.rounds {
            if thread == 0 && round == 0 {
                // Taken when the client was made.
            } else if thread.is_multiple_of(2) {
                mutex.lock();
            } else if !mutex.lock_until(P::now_ns() + 1) {
                continue;
            }
            self.counter.change(1);
            self.taken.fetch_add(1, Relaxed);
            if thread == 0 {
                // SAFETY: taken above, or when the client was made.
                unsafe { mutex.unlock_fair() };
            } else {
                self.counter.unlock();
            }
        }
    }
    fn finish(&self) {
        assert!(self.counter.mutex.try_lock(), "the mutex is held when nobody holds it");
        assert_eq!(self.counter.change(0), self.taken.load(Relaxed), "increments were lost");
        self.counter.unlock();
    }
}

/// What [`HandsOver`] is selected by.
pub const FAIR: &str = "mutex-fair";

/// Threads with an even number hand the mutex over.
pub struct HandsOver<P: Platform> {
    counter: Counter<P>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform> Client for HandsOver<P> {
    const NAME: &'static str = FAIR;

    fn new(threads: usize) -> Self {
        Self { counter: Counter::new(), threads, rounds: 1 }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        self.counter.mutex.calm();
        for _ in 0..self.rounds {
            self.counter.mutex.lock();
            self.counter.change(1);
            if thread.is_multiple_of(2) {
                // SAFETY: taken above.
                unsafe { self.counter.mutex.unlock_fair() };
            } else {
                self.counter.unlock();
            }
        }
    }
    fn finish(&self) {
        assert!(self.counter.mutex.try_lock(), "the mutex is held when nobody holds it");
        let expected = self.threads as u64 * u64::from(self.rounds);
        assert_eq!(self.counter.change(0), expected, "increments were lost under the mutex");
        self.counter.unlock();
    }
}

/// What [`Notify`] is selected by.
pub const NOTIFY: &str = "condvar";

/// The first thread makes tokens, one for each of the others, and notifies for each; half of the time with the mutex
/// held. The others wait for a token each. No thread waits for ever, and no thread that did not give up returns from a
/// wait with nothing to find more often than another thread took its token.
pub struct Notify<P: Platform> {
    tokens: Counter<P>,
    changed: RawCondvar<P>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform> Notify<P> {
    fn give(&self) {
        for token in 1..self.threads {
            self.tokens.mutex.lock();
            self.tokens.change(1);
            if token % 2 == 0 {
                self.changed.notify_one();
            }
            self.tokens.unlock();
            if token % 2 == 1 {
                self.changed.notify_one();
            }
        }
    }
    fn take(&self) {
        self.tokens.mutex.lock();
        while self.tokens.change(0) == 0 {
            // SAFETY: taken above.
            unsafe { self.changed.wait(&self.tokens.mutex, None) };
        }
        self.tokens.change(-1);
        self.tokens.unlock();
    }
}

impl<P: Platform> Client for Notify<P> {
    const NAME: &'static str = NOTIFY;

    fn new(threads: usize) -> Self {
        Self { tokens: Counter::new(), changed: RawCondvar::new(), threads, rounds: 1 }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        self.tokens.mutex.calm();
        for _ in 0..self.rounds {
            if thread == 0 { self.give() } else { self.take() }
        }
    }
    fn finish(&self) {
        assert!(self.tokens.mutex.try_lock(), "the mutex is held when nobody holds it");
        assert_eq!(self.tokens.change(0), 0, "a token was made or lost");
        self.tokens.unlock();
        assert!(!self.changed.notify_one(), "somebody still counts as a waiter");
    }
}

/// What [`GiveUp`] is selected by.
pub const GIVE_UP: &str = "condvar-timed";

/// The second thread waits once, for a short time, and takes a token if there is one. The third waits for its
/// token as long as it takes. The first makes two and notifies twice: a notification does not
/// go to a waiter that has given up.
pub struct GiveUp<P: Platform> {
    tokens: Counter<P>,
    changed: RawCondvar<P>,
}

impl<P: Platform> Client for GiveUp<P> {
    const NAME: &'static str = GIVE_UP;

    fn new(_threads: usize) -> Self {
        Self { tokens: Counter::new(), changed: RawCondvar::new() }
    }
    fn set_rounds(&mut self, _rounds: u32) {}
    fn body(&self, thread: usize) {
        let Self { tokens, changed } = self;
        tokens.mutex.calm();
        tokens.mutex.lock();
        match thread {
            0 => {
                tokens.change(2);
                changed.notify_one();
                tokens.unlock();
                changed.notify_one();
                return;
            }
            1 => {
                let soon = Some(P::now_ns() + 1);
                // SAFETY: taken above.
                let is_notified =
                    tokens.change(0) > 0 || unsafe { changed.wait(&tokens.mutex, soon) };
                if is_notified && tokens.change(0) > 0 {
                    tokens.change(-1);
                }
            }
            2 => {
                while tokens.change(0) == 0 {
                    // SAFETY: taken above.
                    unsafe { changed.wait(&tokens.mutex, None) };
                }
                tokens.change(-1);
            }
            _ => {}
        }
        tokens.unlock();
    }
    fn finish(&self) {
        assert!(self.tokens.mutex.try_lock(), "the mutex is held when nobody holds it");
        self.tokens.unlock();
        assert!(!self.changed.notify_one(), "somebody still counts as a waiter");
    }
}

/// What [`Exact`] is selected by.
pub const EXACT: &str = "condvar-exact";

/// Waiters draw numbers before they wait. A notification is for the lowest number that has had none; no thread returns
/// for another reason, and each has had one in the end. The second thread waits with a deadline and draws no number.
/// The first thread notifies with the mutex held.
pub struct Exact<P: Platform> {
    /// Its number is how many have been drawn.
    drawn: Counter<P>,
    notified: Guarded<P, u64>,
    /// Notifications for the thread with a deadline.
    in_time: Guarded<P, u64>,
    is_over: Guarded<P, bool>,
    changed: RawCondvar<P>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform> Exact<P> {
    fn notify(&self) {
        let waits = (self.threads - 1) as u64 * u64::from(self.rounds);
        for last in (0..=waits).rev().map(|left| left == 0) {
            self.drawn.mutex.lock();
            let served = match last {
                true => self.changed.notify_all(),
                false => u32::from(self.changed.notify_one()),
            };
            // SAFETY: taken above.
            let before = unsafe { self.notified.get() };
            // SAFETY: as above.
            unsafe { self.notified.set(before + u64::from(served)) };
            // SAFETY: as above.
            unsafe { self.is_over.set(last) };
            self.drawn.unlock();
        }
    }
    /// For the owner.
    fn wait(&self, thread: usize) {
        if thread == 1 {
            let soon = Some(P::now_ns() + 1);
            // SAFETY: called by the owner.
            let is_notified = unsafe { self.changed.wait(&self.drawn.mutex, soon) };
            // SAFETY: as above.
            let before = unsafe { self.in_time.get() };
            // SAFETY: as above.
            unsafe { self.in_time.set(before + u64::from(is_notified)) };
            return;
        }
        let number = self.drawn.change(1) - 1;
        // SAFETY: called by the owner.
        unsafe { self.changed.wait(&self.drawn.mutex, None) };
        // SAFETY: as above.
        let notified = unsafe { self.notified.get() };
        assert!(number < notified, "notification {notified} was for somebody before {number}");
    }
}

impl<P: Platform> Client for Exact<P> {
    const NAME: &'static str = EXACT;

    fn new(threads: usize) -> Self {
        Self {
            drawn: Counter::new(),
            notified: Guarded::new(0),
            in_time: Guarded::new(0),
            is_over: Guarded::new(false),
            changed: RawCondvar::new(),
            threads,
            rounds: 1,
        }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        self.drawn.mutex.calm();
        if thread == 0 {
            return self.notify();
        }
        for _ in 0..self.rounds {
            self.drawn.mutex.lock();
            // SAFETY: taken above.
            if !unsafe { self.is_over.get() } {
                self.wait(thread);
            }
            self.drawn.unlock();
        }
    }
    fn finish(&self) {
        assert!(self.drawn.mutex.try_lock(), "the mutex is held when nobody holds it");
        // SAFETY: taken above.
        let in_time = unsafe { self.in_time.get() };
        // SAFETY: as above.
        let notified = unsafe { self.notified.get() };
        assert_eq!(notified, self.drawn.change(0) + in_time, "each waiter was notified once");
        self.drawn.unlock();
    }
}
