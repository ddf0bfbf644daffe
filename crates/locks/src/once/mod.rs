#![doc = include_str!("README.md")]

pub mod testing;

use crate::events::Event;
use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, SchedulerHints, Sleeping, Zeroed};
use crate::queue::{Patience, QueuePlatform, UNTIL_OVER};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// No closure has run.
const NEW: u32 = 0;
/// The last closure that ran has panicked.
const POISONED: u32 = 1;
/// A closure runs.
const RUNNING: u32 = 2;
/// A closure has run to its end.
const DONE: u32 = 3;
/// The bits of the state.
const STATE: u32 = 3;
/// A thread may sleep.
const SLEEPER: u32 = 1 << 2;

/// The platform of locks whose waiters spin for a moment, then sleep, and are all woken at once.
pub trait EventPlatform: QueuePlatform + SchedulerHints + Sleeping {}
impl<P: QueuePlatform + SchedulerHints + Sleeping> EventPlatform for P {}

/// Something that is done once, without the closure that does it.
#[repr(transparent)]
pub struct RawOnce<P: Cells> {
    word: P::U32,
}

/// The progress of a [`RawOnce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceProgress {
    /// No thread has begun.
    New,
    /// The last thread that began has given up.
    Poisoned,
    /// A thread has begun and not ended.
    Running,
    /// It is done.
    Done,
}

/// The answer to a thread that wants to begin.
pub enum Begun<'a, P: EventPlatform> {
    /// The thread has begun.
    Ours(Running<'a, P>),
    /// It is done.
    Done,
    /// The last thread that began has given up. The caller does not begin.
    Poisoned,
}

impl<P: ConstCells> RawOnce<P> {
    /// A new once, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { word: ConstZeroed::ZEROED };
}

const fn progress_of(word: u32) -> OnceProgress {
    match word & STATE {
        NEW => OnceProgress::New,
        POISONED => OnceProgress::Poisoned,
        RUNNING => OnceProgress::Running,
        _ => OnceProgress::Done,
    }
}

impl<P: Cells> RawOnce<P> {
    /// Returns a new once, on any platform.
    pub fn new() -> Self {
        Self { word: Zeroed::zeroed() }
    }
    /// Returns how far it is. Acquires what the thread did that made it so.
    pub fn progress(&self) -> OnceProgress {
        progress_of(self.look())
    }
    /// Returns `true` if it is done. Then it acquires what was done.
    #[inline(always)]
    pub fn is_done(&self) -> bool {
        self.look() == DONE
    }
    #[inline(always)]
    fn look(&self) -> u32 {
        // ordering: Acquire; O1.
        self.word.load(Acquire)
    }
}

impl<P: Cells> Default for RawOnce<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: EventPlatform> RawOnce<P> {
    /// Begins, unless it is done. Waits while another thread has begun. After a thread has given up, this begins only
    /// if `takes_poisoned`.
    #[cold]
    pub fn begin(&self, takes_poisoned: bool) -> Begun<'_, P> {
        let mut seen = self.look();
        loop {
            match progress_of(seen) {
                OnceProgress::Done => return Begun::Done,
                OnceProgress::Poisoned if !takes_poisoned => return Begun::Poisoned,
                OnceProgress::Running => {
                    seen = self.wait_while(|progress| progress == OnceProgress::Running);
                }
                OnceProgress::New | OnceProgress::Poisoned => {
                    if self.take(seen) {
                        let was_poisoned = progress_of(seen) == OnceProgress::Poisoned;
                        return Begun::Ours(Running { once: self, was_poisoned });
                    }
                    seen = self.look();
                }
            }
        }
    }

    /// Waits until it is done, or the last thread that began has given up. Returns `true` if it is done.
    pub fn wait(&self) -> bool {
        let waits = |progress| matches!(progress, OnceProgress::New | OnceProgress::Running);
        self.is_done() || self.wait_while(waits) == DONE
    }
    /// Waits until it is done, whatever threads give up before.
    pub fn wait_until_done(&self) {
        if !self.is_done() {
            self.wait_while(|progress| progress != OnceProgress::Done);
        }
    }

    /// Begins if the word is still `seen`, in which no closure runs. Returns `true` if it did.
    fn take(&self, seen: u32) -> bool {
        let next = seen & SLEEPER | RUNNING;
        // (new or poisoned, s) -> (running, s)
        // ordering: Acquire; O1. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(seen, next, Acquire, Relaxed).is_ok()
    }

    /// Ends what the caller has begun, and wakes all threads that sleep.
    fn end(&self, state: u32) {
        let address = &raw const self.word;
        // (running, s) -> (done or poisoned, 0), after which the word may no longer exist.
        // ordering: Release; O1.
        let before = self.word.swap(state, Release);
        if before & SLEEPER != 0 {
            P::futex_wake(address, u32::MAX);
        }
    }

    /// Waits while `waits` returns `true` for how far it is. Returns the first word for which it does not.
    #[cold]
    fn wait_while(&self, waits: impl Fn(OnceProgress) -> bool) -> u32 {
        self.spin(&waits);
        loop {
            let seen = self.look();
            if !waits(progress_of(seen)) {
                return seen;
            }
            if self.announce(seen) {
                P::count(Event::once_sleep);
                P::futex_wait(&self.word, seen | SLEEPER, None);
            }
        }
    }

    /// Looks again and again, with pauses, until the wait is over or has been long.
    fn spin(&self, waits: &impl Fn(OnceProgress) -> bool) {
        let mut patience = Patience::<P>::long();
        let is_over = |seen| !waits(progress_of(seen));
        // ordering: Relaxed; only a hint, re-checked by `wait_while`.
        let _ = self.word.cond_load_bounded(Relaxed, UNTIL_OVER, is_over, || patience.pause());
    }

    /// Says in the word, if it is still `seen`, that a thread sleeps. Returns `true` if the word says so.
    fn announce(&self, seen: u32) -> bool {
        // (not done, 0) -> (the same, 1)
        // ordering: Relaxed; nothing is read through it. On failure Relaxed: the failure value is not used.
        let says_so = || self.word.compare_exchange(seen, seen | SLEEPER, Relaxed, Relaxed).is_ok();
        seen & SLEEPER != 0 || says_so()
    }
}

/// The right to end what the caller has begun. If it is dropped, as by a panic, the caller gives up: the once is
/// poisoned.
pub struct Running<'a, P: EventPlatform> {
    once: &'a RawOnce<P>,
    was_poisoned: bool,
}

impl<P: EventPlatform> Running<'_, P> {
    /// Returns `true` if the last thread that began before this one has given up.
    pub fn was_poisoned(&self) -> bool {
        self.was_poisoned
    }
    /// Ends what the caller has begun: it is done.
    pub fn complete(self) {
        let once = self.once;
        core::mem::forget(self);
        once.end(DONE);
    }
}

impl<P: EventPlatform> Drop for Running<'_, P> {
    fn drop(&mut self) {
        self.once.end(POISONED);
    }
}
