//! Clients of notifications that leave it to a release of the mutex to wake the thread.

use crate::Client;
use crate::mutex::{Counter, NotifiedMutex};
use crate::rwsem::SOON_NS;
use lockwright::mutex::RawMutex;
use lockwright_catalog::capabilities::LockCondvar;
use lockwright_catalog::registry::Platform;

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
