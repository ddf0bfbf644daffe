//! Where the running simulated thread is, and how it leaves the CPU.
//!
//! A run belongs to one host thread. While one of its simulated threads runs, a thread-local
//! pointer leads to the engine; at all other times it is null, and cells are plain memory without
//! cost, so that objects can be prepared before a run and examined after it.
//!
//! Invariants:
//! 1. The pointer is set only while [`enter`] runs, to an engine that lives as long; [`Here`] is
//!    not `Send` and never leaves the crate, so one that exists on a simulated thread's stack leads
//!    to the live engine of the host thread that runs it.
//! 2. The closure given to [`Here::with`] neither suspends nor runs foreign code (programs,
//!    predicates, destructors of user types), so there is never a second `&mut Engine`.

use crate::engine::Engine;
use core::cell::Cell;
use core::ptr::{NonNull, null_mut};

thread_local! {
    static RUNNING: Cell<*mut Engine> = const { Cell::new(null_mut()) };
}

/// The engine, as seen from a simulated thread or from the loop that runs them.
#[derive(Clone, Copy)]
pub struct Here(NonNull<Engine>);

impl Here {
    /// The engine of the simulated thread that calls this; `None` outside of one.
    #[inline]
    pub fn get() -> Option<Self> {
        NonNull::new(RUNNING.get()).map(Self)
    }
    /// As [`get`](Self::get), for what only a simulated thread can ask.
    ///
    /// # Panics
    /// Outside of a simulated thread.
    #[inline]
    pub fn expect(what: &str) -> Self {
        match Self::get() {
            Some(here) => here,
            None => panic!("{what}: only a simulated thread can ask for this"),
        }
    }
    /// The engine at `engine`, for the loop that runs the threads.
    ///
    /// # Safety
    /// The engine outlives the value and is reached through nothing but `Here` while it exists.
    pub unsafe fn of(engine: NonNull<Engine>) -> Self {
        Self(engine)
    }
    /// Works on the engine.
    #[inline]
    pub fn with<R>(self, work: impl FnOnce(&mut Engine) -> R) -> R {
        // SAFETY: the engine is alive (invariant 1) and not borrowed elsewhere (invariant 2).
        work(unsafe { &mut *self.0.as_ptr() })
    }
    /// Leaves the stack of the simulated thread that calls this, until it is resumed.
    pub fn suspend(self) {
        let suspender = self.with(|engine| engine.threads[engine.current].suspender);
        // SAFETY: the yielder lives at the root of this very stack, set when it started.
        unsafe { suspender.suspend() };
    }
    /// Runs `thread` as simulated threads of this engine.
    pub fn enter<R>(self, thread: impl FnOnce() -> R) -> R {
        let _guard = Restore(RUNNING.replace(self.0.as_ptr()));
        thread()
    }
}

/// Runs `outside` as if outside of a simulated thread: cells are plain memory.
pub fn aside<R>(outside: impl FnOnce() -> R) -> R {
    let _guard = Restore(RUNNING.replace(null_mut()));
    outside()
}

struct Restore(*mut Engine);

impl Drop for Restore {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}
