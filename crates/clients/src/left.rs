//! Clients of notifications that leave it to a release of the mutex to wake the thread.

use crate::Client;
use crate::mutex::{Counter, NotifiedMutex};
use crate::rwsem::SOON_NS;
use lockwright::mutex::RawMutex;
use lockwright_catalog::capabilities::LockCondvar;
use lockwright_catalog::registry::Platform;

/// What [`Left`] is selected by.
pub const LEFT: &str = "condvar-left";
/// What [`LeftToWaiter`] is selected by.
pub const TO_WAITER: &str = "condvar-left-to-waiter";

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
    fn take(&self) {
        self.tokens.mutex.lock();
        wait_for_token(&self.tokens, &self.changed);
        self.tokens.unlock();
    }
}

impl<P: Platform, M: NotifiedMutex, const HANDS_OVER: bool> Client
    for TokenGiver<P, M, HANDS_OVER>
{
    const NAME: &'static str = if HANDS_OVER { TO_WAITER } else { LEFT };

    fn new(threads: usize) -> Self {
        let takers = if threads > 2 { threads - 2 } else { 1 };
        Self { tokens: Counter::new(), changed: LockCondvar::new(), takers }
    }
    fn set_rounds(&mut self, _rounds: u32) {}
    fn body(&self, thread: usize) {
        self.tokens.mutex.calm();
        match thread {
            1 => self.give(),
            2 => self.own_for_a_moment(),
            _ => self.take(),
        }
    }
    fn finish(&self) {
        finish(&self.tokens);
    }
}

fn finish<P: Platform, M: NotifiedMutex>(tokens: &Counter<P, M>) {
    assert!(tokens.mutex.try_lock(), "the mutex is held when nobody holds it");
    assert_eq!(tokens.change(0), 0, "a token was made or lost");
    tokens.unlock();
}

/// Takes a token, after waiting for one. For the owner of the mutex.
fn wait_for_token<P: Platform, M: NotifiedMutex>(tokens: &Counter<P, M>, changed: &M::Condvar) {
    while tokens.change(0) == 0 {
        // SAFETY: the caller owns it.
        unsafe { changed.wait(&tokens.mutex, None) };
    }
    tokens.change(-1);
}

/// What [`AnotherMutex`] is selected by.
pub const ANOTHER: &str = "condvar-another-mutex";

/// The second thread waits for a short time, with a mutex of its own, and passes on a notification that it gets. The
/// third one waits at the same condition variable for a token, with another mutex. The first thread makes the token and
/// notifies one: the third thread does not wait for ever, even if the mutex of the second is no longer used.
pub struct AnotherMutex<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    tokens: Counter<P, M>,
    first: M,
    changed: M::Condvar,
}

impl<P: Platform, M: NotifiedMutex> Client for AnotherMutex<P, M> {
    const NAME: &'static str = ANOTHER;

    fn new(_threads: usize) -> Self {
        Self { tokens: Counter::new(), first: M::new(), changed: LockCondvar::new() }
    }
    fn set_rounds(&mut self, _rounds: u32) {}
    fn body(&self, thread: usize) {
        let Self { tokens, first, changed } = self;
        match thread {
            0 => {
                tokens.mutex.lock();
                tokens.change(1);
                tokens.unlock();
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
            2 => {
                tokens.mutex.lock();
                wait_for_token(tokens, changed);
                tokens.unlock();
            }
            _ => {}
        }
    }
    fn finish(&self) {
        finish(&self.tokens);
    }
}
