//! A client of what a condition variable promises: no wait ends without a reason.

use crate::client::{Client, has_rounds};
use crate::rwsem::SOON_NS;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::condvar::RawCondvar;
use lockwright::mutex::RawMutex;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::{Atomic, AtomicInt, Zeroed};
use lockwright_core::raw::RawLock;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Each thread but the first waits, without a loop, and every fourth one for a short time. While a wait has begun and
/// not ended, the first thread notifies, and then waits until one ends: one thread with the mutex, one without, all,
/// and so on. A wait that was notified has a notification of its own, which was not over when the wait began: there are
/// not more such waits than notifications. No notification is lost: there are not fewer, either, and no thread waits
/// for ever.
pub struct Promise<P: Platform> {
    mutex: RawMutex<P>,
    changed: RawCondvar<P>,
    /// How many waits have begun, ...
    begun: P::U32,
    /// ... and ended.
    ended: P::U32,
    /// No lock depends on it, so a checker need not know of it. No thread sleeps while it has it.
    ledger: Mutex<Ledger>,
    threads: usize,
    rounds: u32,
}

#[derive(Default)]
struct Ledger {
    /// How many waits each notification may end still, in the order in which they began.
    notifications: Vec<u32>,
    /// How many of them are over.
    over: usize,
    /// How many waits have begun and not ended.
    waiting: u32,
    /// How many were notified.
    notified: u32,
    /// How many waits the notifications ended by what they said.
    said: u32,
}

impl Ledger {
    /// A notification is over, and says that it notified this number of waits.
    fn end_notification(&mut self, said: u32) {
        self.over += 1;
        self.said += said;
    }
    /// A wait that began when `before` notifications were over was notified.
    fn match_wait(&mut self, before: usize) {
        self.notified += 1;
        // Later waits may have the later ones.
        let own = self.notifications[before..].iter_mut().find(|left| **left > 0);
        *own.expect("a wait ended without a notification of its own") -= 1;
    }
}

impl<P: Platform> Promise<P> {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn unlock(&self) {
        // SAFETY: called by the owner only.
        unsafe { self.mutex.unlock() };
    }
    fn notify_one(&self) {
        self.ledger().notifications.push(1);
        let has_notified = self.changed.notify_one();
        self.ledger().end_notification(has_notified.into());
    }
    fn notify_all(&self) {
        let waiting = self.ledger().waiting;
        self.ledger().notifications.push(waiting);
        let notified = self.changed.notify_all();
        self.ledger().end_notification(notified);
    }
    fn notify(&self) {
        let waits = (self.threads as u32 - 1) * self.rounds;
        for at in 0.. {
            let ended = self.ended.load(Relaxed);
            if ended == waits {
                return;
            }
            self.begun.cond_load(Relaxed, |begun| begun > ended);
            // What has begun is counted when the mutex is released.
            self.mutex.lock();
            match at % 3 {
                0 => self.notify_one(),
                1 => {}
                _ => self.notify_all(),
            }
            self.unlock();
            if at % 3 == 1 {
                self.notify_one();
            }
            self.ended.cond_load(Relaxed, |now| now > ended);
        }
    }
    fn wait(&self, thread: usize) {
        let is_timed = thread % 4 == 3;
        self.mutex.lock();
        let before = {
            let mut ledger = self.ledger();
            ledger.waiting += 1;
            ledger.over
        };
        self.begun.fetch_add(1, Relaxed);
        let deadline_ns = is_timed.then(|| P::now_ns() + SOON_NS);
        // SAFETY: taken above.
        let is_notified = unsafe { self.changed.wait(&self.mutex, deadline_ns) };
        assert!(is_notified || is_timed, "a wait without a deadline is said to have missed it");
        let mut ledger = self.ledger();
        ledger.waiting -= 1;
        if is_notified {
            ledger.match_wait(before);
        }
        drop(ledger);
        self.unlock();
        self.ended.fetch_add(1, Relaxed);
    }
}

impl<P: Platform> Client for Promise<P> {
    const NAME: &'static str = "condvar-promise";

    fn new(threads: usize) -> Self {
        Self {
            mutex: RawMutex::new(),
            changed: RawCondvar::new(),
            begun: Zeroed::zeroed(),
            ended: Zeroed::zeroed(),
            ledger: Mutex::default(),
            threads,
            rounds: 1,
        }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        self.mutex.calm();
        if thread == 0 {
            self.notify();
        } else {
            (0..self.rounds).for_each(|_| self.wait(thread));
        }
    }
    fn finish(&self) {
        assert!(self.mutex.try_lock(), "the mutex is held when nobody holds it");
        self.unlock();
        let ledger = self.ledger();
        assert_eq!(ledger.notified, ledger.said, "a notification ended no wait");
    }
}

/// How many mutexes there are.
const MUTEXES_MAX: usize = 4;

/// Each thread but the first waits once, with a mutex of its own. The first holds none of them, and has never held one:
/// it notifies all until it has notified as many threads as wait. No thread waits for ever.
pub struct Unheld<P: Platform> {
    mutexes: [RawMutex<P>; MUTEXES_MAX],
    changed: RawCondvar<P>,
    waits: usize,
}

impl<P: Platform> Client for Unheld<P> {
    const NAME: &'static str = "condvar-unheld";

    fn new(threads: usize) -> Self {
        let mutexes = core::array::from_fn(|_| RawMutex::new());
        Self { mutexes, changed: RawCondvar::new(), waits: threads - 1 }
    }
    fn body(&self, thread: usize) {
        if thread == 0 {
            let mut notified = 0;
            while notified < self.waits as u32 {
                notified += self.changed.notify_all();
                P::delay(1);
            }
            return;
        }
        let mutex = &self.mutexes[thread % MUTEXES_MAX];
        mutex.calm();
        mutex.lock();
        // SAFETY: taken above.
        let is_notified = unsafe { self.changed.wait(mutex, None) };
        assert!(is_notified, "a wait without a deadline is said to have missed it");
        // SAFETY: as above.
        unsafe { mutex.unlock() };
    }
    fn finish(&self) {
        for mutex in &self.mutexes {
            assert!(mutex.try_lock(), "the mutex is held when nobody holds it");
            // SAFETY: taken above.
            unsafe { mutex.unlock() };
        }
    }
}
