//! `TicketLock`: a thread takes a number and waits until it is called.
//!
//! It is the kernel's spinlock before the queued one, and strictly fair. Every waiter reads every release, so the lock
//! collapses on many CPUs.
//!
//! ```text
//!  31             16 15              0
//! +-----------------+-----------------+
//! |      next       |     serving     |
//! +-----------------+-----------------+
//! ```
//!
//! | state | means | moved by |
//! |---|---|---|
//! | (n, n) | free | any thread, to (n+1, n) |
//! | (n+k, n), k > 0 | held by ticket n, k-1 waiters | a newcomer, to (n+k+1, n); the owner, to (n+k, n+1) |
//!
//! Both halves wrap around. Fairness: first come, first served.
//!
//! *Limit.* A ticket has 16 bits. A thread that finds 32,768 others in front of it ends the process and says so, as an
//! overflow of `Arc` does: 65,536 threads would make the lock look free.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | T1 | `store_half0` in `unlock`, Release | `cond_load` in `lock`, Acquire; `compare_exchange` in `try_lock` and `fetch_add` in `lock`, Acquire | the owner's work |

use crate::platform::{
    Atomic, AtomicInt, Barriers, Cells, ConstCells, ConstZeroed, LockWordOps, Zeroed,
    barrier_before_look,
};
use crate::raw::{Order, RawLock};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const NEXT_SHIFT: u32 = 16;

/// The most threads that may hold one lock or wait for it. A ticket can count far more, because further threads may
/// take a ticket before the first one too many has ended the process.
const THREADS_MAX: u16 = 1 << 15;

/// The number that a thread adds to the word to take a ticket.
const ONE_MORE: u32 = 1 << NEXT_SHIFT;

/// A ticket lock.
#[repr(transparent)]
pub struct TicketLock<P: Cells> {
    word: P::Word,
}

const fn serving(word: u32) -> u16 {
    word as u16
}
const fn next(word: u32) -> u16 {
    (word >> NEXT_SHIFT) as u16
}

impl<P: ConstCells> TicketLock<P> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { word: ConstZeroed::ZEROED };
}

impl<P: Barriers> RawLock for TicketLock<P> {
    const ORDER: Order = Order::Fifo;

    fn new() -> Self {
        Self { word: Zeroed::zeroed() }
    }
    #[inline]
    fn lock(&self) {
        // (n+k, n) -> (n+k+1, n)
        // ordering: Acquire; T1, when the ticket is served at once.
        let word = self.word.fetch_add(ONE_MORE, Acquire);
        let ticket = next(word);
        if serving(word) != ticket {
            if ticket.wrapping_sub(serving(word)) >= THREADS_MAX {
                P::end("more than 32,768 threads hold or wait for one ticket lock");
            }
            // ordering: Acquire; T1.
            self.word.cond_load(Acquire, |word| serving(word) == ticket);
        }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let word = self.word.load(Relaxed);
        if serving(word) != next(word) {
            return false;
        }
        // (n, n) -> (n+1, n). The whole word is compared: in between, half of it could go once around.
        // ordering: Acquire; T1. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(word, word.wrapping_add(ONE_MORE), Acquire, Relaxed).is_ok()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // ordering: Relaxed; only the owner writes this half.
        let word = self.word.load(Relaxed);
        // (n+k, n) -> (n+k, n+1)
        // ordering: Release; T1.
        self.word.store_half0(serving(word).wrapping_add(1), Release);
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.word);
        // ordering: Relaxed; nothing is read through it.
        let word = self.word.load(Relaxed);
        serving(word) != next(word)
    }
}
