//! Memory that is used again: the next owner of a lock frees it, and another lock comes to lie at its address.

use crate::place::{TenantKind, TenantLock, TenantPlace};
use crate::round::{hear, say};
use crate::{Client, ClientVisitor};
use core::sync::atomic::Ordering::Release;
use lockwright::mutex::RawMutex;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::{AtomicInt, Guarded, Zeroed};
use lockwright_core::raw::RawLock;

macro_rules! names {
    ($($second:literal),+) => {
        /// What the clients are selected by whose first object is a lock, in the order of the second.
        pub(crate) const OF_LOCK: [&str; TenantKind::ALL.len()] = [$(concat!("reused-by-", $second)),+];
        /// The same, whose first object is a condition variable.
        pub(crate) const OF_CONDVAR: [&str; TenantKind::ALL.len()] =
            [$(concat!("condvar-reused-by-", $second)),+];
    };
}
names!(
    "mutex",
    "condvar",
    "semaphore",
    "rwlock",
    "rwlock-fair",
    "percpu-rwlock",
    "spinlock",
    "qrwlock"
);

/// Calls `visitor` with the client of that name whose first object is of kind `first`; `None` if there is none.
pub(crate) fn visit<P: Platform, V: ClientVisitor>(
    first: TenantKind,
    client: &str,
    visitor: V,
) -> Option<V::Output> {
    let names = if first == TenantKind::Condvar { &OF_CONDVAR } else { &OF_LOCK };
    let second = names.iter().position(|name| *name == client)?;
    macro_rules! visit {
        ($($first:literal),+; $seconds:tt) => {
            match first as usize {
                $($first => visit!(@ $first $seconds),)+
                _ => None,
            }
        };
        (@ $first:literal [$($second:literal),+]) => {
            match second {
                $($second => Some(visitor.visit::<Reused<P, $first, $second>>()),)+
                _ => None,
            }
        };
    }
    visit!(0, 1, 2, 3, 4, 5, 6, 7; [0, 1, 2, 3, 4, 5, 6, 7])
}

/// The first thread takes the object at the address and gives it back. The second one takes it next, frees it and makes
/// another one there, while the first may still be about to return from its call. It owns the new one until the first
/// has returned. The other threads wait for the new one. No thread gets what was not given back, and each gets what it
/// waits for. In every other round what the first two hold they hold as readers if that can be.
///
/// A condition variable is "given back" by a notification: of the second thread first, of those who wait then.
pub struct Reused<P: Platform, const FIRST: usize, const SECOND: usize>(Scene<P>);

/// The same, compiled once.
struct Scene<P: Platform> {
    first: TenantKind,
    second: TenantKind,
    place: TenantPlace<P>,
    /// What waiters on a condition variable wait with.
    mutex: RawMutex<P>,
    /// The last round in which this has happened: the first object is there, ...
    begun: P::U32,
    /// ... it is held or waited for, ...
    held: P::U32,
    /// ... the second one is there, ...
    made: P::U32,
    /// ... the first thread has returned from its call.
    left: P::U32,
    /// How many threads have had what they waited for.
    back: P::U32,
    /// The last round in which the second object was given back. Written by its holder.
    given: Guarded<P, u32>,
    /// How many have had the second object.
    served: Guarded<P, u32>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform> Scene<P> {
    /// What the first thread does.
    fn leave(&self, round: u32) {
        hear::<P>(&self.begun, round);
        if self.first == TenantKind::Condvar {
            hear::<P>(&self.held, round);
            // The second thread waits when it has released this.
            self.mutex.lock();
            // SAFETY: taken above.
            unsafe { self.mutex.unlock() };
            assert!(self.place.condvar().notify_one(), "the waiter was not there");
        } else {
            let reads = round.is_multiple_of(2);
            let lock = self.place.lock_of(self.first);
            lock.take(reads);
            say::<P>(&self.held, round);
            // SAFETY: taken above.
            unsafe { lock.give_back(reads) };
        }
        say::<P>(&self.left, round);
    }

    /// What the second thread does.
    fn replace(&self, round: u32) {
        let reads = round.is_multiple_of(2);
        if round > 1 {
            self.place.make(self.first);
        }
        say::<P>(&self.begun, round);
        self.await_first(round);
        self.place.make(self.second);
        if self.second != TenantKind::Condvar {
            self.place.lock_of(self.second).take(reads);
        }
        say::<P>(&self.made, round);
        hear::<P>(&self.left, round);
        self.give_second(round, reads);
        hear::<P>(&self.back, round * (self.threads as u32 - 2));
    }
    /// Takes the first object, as the last one to use it.
    fn await_first(&self, round: u32) {
        if self.first == TenantKind::Condvar {
            self.mutex.lock();
            say::<P>(&self.held, round);
            // SAFETY: taken above.
            unsafe { self.place.condvar().wait(&self.mutex, None) };
            // SAFETY: a wait returns with the mutex.
            unsafe { self.mutex.unlock() };
        } else {
            hear::<P>(&self.held, round);
            let lock = self.place.lock_of(self.first);
            lock.take(false);
            // SAFETY: taken above.
            unsafe { lock.give_back(false) };
        }
    }
    /// Lets those go on who wait for the second object.
    fn give_second(&self, round: u32, reads: bool) {
        if self.second == TenantKind::Condvar {
            self.mutex.lock();
            // SAFETY: taken above.
            unsafe { self.given.set(round) };
            self.place.condvar().notify_all();
            // SAFETY: taken above.
            unsafe { self.mutex.unlock() };
        } else {
            // SAFETY: taken when it was made; those who wait for it write.
            unsafe { self.given.set(round) };
            // SAFETY: as above.
            unsafe { self.place.lock_of(self.second).give_back(reads) };
        }
    }

    /// Waits for the second object.
    fn wait_for_second(&self, round: u32) {
        let at_condvar = self.second == TenantKind::Condvar;
        let lock: &dyn TenantLock =
            if at_condvar { &self.mutex } else { self.place.lock_of(self.second) };
        lock.take(false);
        // SAFETY: taken above, and written by a holder.
        if at_condvar && unsafe { self.given.get() } < round {
            // A wake-up by a late release does not end the wait.
            // SAFETY: taken above.
            unsafe { self.place.condvar().wait(&self.mutex, None) };
        }
        // SAFETY: as above.
        assert_eq!(unsafe { self.given.get() }, round, "somebody got what was not given back");
        // SAFETY: as above.
        let served = unsafe { self.served.get() };
        // SAFETY: as above.
        unsafe { self.served.set(served + 1) };
        // SAFETY: taken above.
        unsafe { lock.give_back(false) };
    }

    fn new(first: TenantKind, second: TenantKind, threads: usize) -> Self {
        Self {
            first,
            second,
            place: TenantPlace::new(first),
            mutex: RawMutex::new(),
            begun: Zeroed::zeroed(),
            held: Zeroed::zeroed(),
            made: Zeroed::zeroed(),
            left: Zeroed::zeroed(),
            back: Zeroed::zeroed(),
            given: Guarded::new(0),
            served: Guarded::new(0),
            threads,
            rounds: 1,
        }
    }
    fn body(&self, thread: usize) {
        if self.threads < 2 {
            return;
        }
        for round in 1..=self.rounds {
            match thread {
                0 => self.leave(round),
                1 => self.replace(round),
                _ => {
                    hear::<P>(&self.made, round);
                    self.wait_for_second(round);
                    self.back.fetch_add(1, Release);
                }
            }
        }
    }
    fn finish(&self) {
        if self.second != TenantKind::Condvar {
            let is_free = self.place.lock_of(self.second).is_free();
            assert!(is_free, "held when nobody holds it");
        }
        let sleepers = self.threads.saturating_sub(2) as u32;
        // SAFETY: the threads are done.
        let served = unsafe { self.served.get() };
        assert_eq!(served, sleepers * self.rounds, "somebody got it twice, or not at all");
    }
}

impl<P: Platform, const FIRST: usize, const SECOND: usize> Client for Reused<P, FIRST, SECOND> {
    const NAME: &'static str = match TenantKind::ALL[FIRST] {
        TenantKind::Condvar => OF_CONDVAR[SECOND],
        _ => OF_LOCK[SECOND],
    };

    fn new(threads: usize) -> Self {
        Self(Scene::new(TenantKind::ALL[FIRST], TenantKind::ALL[SECOND], threads))
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.0.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        self.0.body(thread);
    }
    fn finish(&self) {
        self.0.finish();
    }
}
