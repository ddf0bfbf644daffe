//! `Once` for programs: runs the closure, and decides what a panic in it means.

use crate::native::Native;
use crate::once::{Begun, OnceProgress, RawOnce, Running};
use core::fmt;

/// The progress of a [`Once`].
///
/// [`Once::state`] returns one. [`Once::call_once_force`] passes one to its closure, which says what the `Once` was
/// before: `New` or `Poisoned`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    /// No closure has run.
    New,
    /// The last closure that ran has panicked.
    Poisoned,
    /// A thread runs a closure.
    InProgress,
    /// A closure has run to its end.
    Done,
}

impl OnceState {
    /// Returns `true` if the last closure that ran has panicked. `std` has this name for it.
    #[must_use]
    pub const fn is_poisoned(self) -> bool {
        matches!(self, Self::Poisoned)
    }
    /// Returns `true` if the last closure that ran has panicked. `parking_lot` has this name for it.
    #[must_use]
    pub const fn poisoned(self) -> bool {
        self.is_poisoned()
    }
    /// Returns `true` if a closure has run to its end.
    #[must_use]
    pub const fn done(self) -> bool {
        matches!(self, Self::Done)
    }
}

/// Runs a closure once, however many threads ask for it. Four bytes.
///
/// The first thread runs its closure; the others wait until it has ended. For a value that is made once, use
/// [`OnceLock`](crate::OnceLock) or [`LazyLock`](crate::LazyLock).
///
/// # Examples
///
/// ```
/// use lockwright::Once;
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// static START: Once = Once::new();
/// static STARTED: AtomicU32 = AtomicU32::new(0);
///
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             START.call_once(|| {
///                 STARTED.fetch_add(1, Relaxed);
///             });
///             assert_eq!(STARTED.load(Relaxed), 1);
///         });
///     }
/// });
/// assert!(START.is_completed());
/// ```
///
/// # Memory ordering
///
/// What the closure did is visible to every thread for which [`call_once`](Self::call_once),
/// [`call_once_force`](Self::call_once_force), [`wait`](Self::wait) or [`wait_force`](Self::wait_force) has returned,
/// for which [`is_completed`](Self::is_completed) has returned `true`, or [`state`](Self::state) has returned
/// [`OnceState::Done`]. A closure that runs after one that has panicked sees what that one did.
///
/// # Fairness
///
/// The end of the closure wakes all waiters at once. If the closure panicked, the threads that call
/// [`call_once_force`](Self::call_once_force) compete for the next turn, in no order.
///
/// # Errors and panics
///
/// As in `std`, a closure that panics *poisons* the `Once`. From then on `call_once` and `wait` panic, also in threads
/// that were waiting; `call_once_force` runs its closure, and `wait_force` waits on. A closure that ends without a
/// panic ends the poisoning.
///
/// A closure that uses its own `Once`, except for `is_completed` and `state`, waits for ever. (`std` leaves open
/// whether that panics or deadlocks.)
///
/// # Waiting
///
/// A waiter spins for a moment, about 10 us if there is a CPU for it, and then sleeps. There are no time-outs.
///
/// # Signals and fork
///
/// A signal handler may call `is_completed` and `state`. It may call the others only if the interrupted thread does
/// not run the closure.
///
/// A child that was forked while another thread of the parent ran the closure has no such thread: there, the closure
/// never ends, and threads wait for it for ever. If the closure had ended before the fork, it is done in the child.
///
/// # Size and cost
///
/// Four bytes, which are zero at first. It allocates nothing. Once it is done, a call is one load.
pub struct Once {
    raw: RawOnce<Native>,
}

const _: () = assert!(size_of::<Once>() == 4);

impl Once {
    /// Creates a `Once` for which no closure has run.
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: RawOnce::INIT }
    }

    /// Runs `closure` if no closure has run to its end yet. If another thread runs one, waits until that closure has
    /// ended.
    ///
    /// # Panics
    ///
    /// If the `Once` is poisoned, or `closure` panics.
    #[inline]
    #[track_caller]
    pub fn call_once(&self, closure: impl FnOnce()) {
        if !self.call_unless_poisoned(closure) {
            is_poisoned();
        }
    }

    /// As [`call_once`](Self::call_once), but returns `false` if the `Once` is poisoned.
    #[inline]
    pub(super) fn call_unless_poisoned(&self, closure: impl FnOnce()) -> bool {
        if !self.is_completed() {
            match self.begin(false) {
                Begun::Ours(running) => run(running, |_| closure()),
                Begun::Done => {}
                Begun::Poisoned => return false,
            }
        }
        true
    }

    /// As [`call_once`](Self::call_once), but runs `closure` also if the `Once` is poisoned. The argument of the
    /// closure says what the `Once` was: [`OnceState::New`] or [`OnceState::Poisoned`].
    ///
    /// # Panics
    ///
    /// If `closure` panics.
    #[inline]
    pub fn call_once_force(&self, closure: impl FnOnce(OnceState)) {
        if self.is_completed() {
            return;
        }
        if let Begun::Ours(running) = self.begin(true) {
            run(running, closure);
        }
    }

    /// As [`call_once_force`](Self::call_once_force), but a closure that returns an error counts as one that panics.
    pub(super) fn try_call_once<E>(
        &self,
        closure: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        if let Begun::Ours(running) = self.begin(true) {
            closure()?;
            running.complete();
        }
        Ok(())
    }

    /// Returns `true` if a closure has run to its end. Never waits.
    #[inline]
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.raw.is_done()
    }

    /// Returns how far it is. Another thread may change it at any time, unless it is [`OnceState::Done`]. Never waits.
    #[must_use]
    pub fn state(&self) -> OnceState {
        match self.raw.progress() {
            OnceProgress::New => OnceState::New,
            OnceProgress::Poisoned => OnceState::Poisoned,
            OnceProgress::Running => OnceState::InProgress,
            OnceProgress::Done => OnceState::Done,
        }
    }

    /// Waits until a closure has run to its end, also if no thread has called one yet.
    ///
    /// # Panics
    ///
    /// If the `Once` is poisoned, or becomes poisoned meanwhile.
    #[track_caller]
    pub fn wait(&self) {
        if !self.raw.wait() {
            is_poisoned();
        }
    }

    /// As [`wait`](Self::wait), but waits on if the `Once` is poisoned.
    pub fn wait_force(&self) {
        self.raw.wait_until_done();
    }

    fn begin(&self, takes_poisoned: bool) -> Begun<'_, Native> {
        self.raw.begin(takes_poisoned)
    }
}

/// Runs the closure of the thread that has begun.
fn run(running: Running<'_, Native>, closure: impl FnOnce(OnceState)) {
    let before = if running.was_poisoned() { OnceState::Poisoned } else { OnceState::New };
    closure(before);
    running.complete();
}

#[cold]
#[track_caller]
fn is_poisoned() -> ! {
    panic!("the `Once` is poisoned: the closure of an earlier call panicked")
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("state", &self.state()).finish()
    }
}
