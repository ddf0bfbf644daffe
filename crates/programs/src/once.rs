//! A `Once` of a program, with what its closure changes.

use crate::guards::{Data, change, look};
use crate::locks::{ProgramLock, World};
use crate::program::Call;
use crate::stage::{Allowed, LockSite};
use lockwright::once::{Begun, RawOnce, Running};
use std::cell::UnsafeCell;
use std::fmt::{Debug, Formatter};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A `Once`. What it says is held against two marks that its closures leave. These order nothing between threads.
pub struct OnceSite<P: World> {
    raw: RawOnce<P>,
    /// Written by the closure that runs, and only read when one has run to its end.
    data: UnsafeCell<Data>,
    /// A closure has run to its end.
    is_done: AtomicBool,
    /// A closure has given up.
    is_poisoned: AtomicBool,
}

impl<P: World> OnceSite<P> {
    pub fn new() -> Self {
        let (is_done, is_poisoned) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { raw: RawOnce::new(), data: UnsafeCell::default(), is_done, is_poisoned }
    }

    /// Holds `is_completed` against the marks. `is_exact`: no other thread uses it.
    pub fn is_completed(&self, is_exact: bool) -> Allowed {
        let found = self.raw.is_done();
        if found {
            return self.done();
        }
        match is_exact && self.is_done.load(Relaxed) {
            true => Err("it is not completed although a closure has run to its end".into()),
            false => Ok(()),
        }
    }

    /// Calls it, or waits for it. `is_exact`: no other thread uses it.
    pub fn call(&self, how: Call, site: &LockSite<P>, thread: usize, is_exact: bool) -> Allowed {
        if how == Call::Wait {
            self.raw.wait_until_done();
            return self.done();
        }
        let (was_done, was_poisoned) = (self.is_done.load(Relaxed), self.is_poisoned.load(Relaxed));
        let begun = self.raw.begin(how != Call::Once);
        let is_expected = match begun {
            Begun::Ours(ref running) => {
                !was_done
                    && running.was_poisoned() == was_poisoned
                    && (how != Call::Once || !was_poisoned)
            }
            Begun::Done => was_done,
            Begun::Poisoned => was_poisoned && how == Call::Once,
        };
        if is_exact && !is_expected {
            return Err(format!(
                "done: {was_done}, poisoned: {was_poisoned}, and it answers otherwise"
            ));
        }
        match begun {
            Begun::Ours(running) => self.run(running, how, site, thread),
            Begun::Done => self.done(),
            Begun::Poisoned if self.is_poisoned.load(Relaxed) && how == Call::Once => Ok(()),
            Begun::Poisoned => Err("it is poisoned although no closure has given up".into()),
        }
    }

    /// The closure: it has the data for itself.
    fn run(
        &self,
        running: Running<'_, P>,
        how: Call,
        site: &LockSite<P>,
        thread: usize,
    ) -> Allowed {
        site.entered(thread, false)?;
        if self.is_done.load(Relaxed) {
            return Err("a closure runs although one has run to its end".into());
        }
        // SAFETY: one closure runs at a time, which `entered` checks, and nothing reads before one has ended.
        let outcome = change::<P>(unsafe { &mut (*self.data.get()).pair });
        site.left_by(thread, 0, false);
        if how == Call::Fail {
            self.is_poisoned.store(true, Relaxed);
            drop(running);
        } else {
            self.is_done.store(true, Relaxed);
            running.complete();
        }
        outcome
    }

    /// It says that it is done: so a closure has run to its end, and what it wrote can be read.
    fn done(&self) -> Allowed {
        if !self.is_done.load(Relaxed) {
            return Err("it is done although no closure has run to its end".into());
        }
        // SAFETY: nothing writes any more.
        look::<P>(unsafe { &(*self.data.get()).pair })
    }

    /// Ends the waits of other threads.
    pub fn end(&self) {
        if let Begun::Ours(running) = self.raw.begin(true) {
            self.is_done.store(true, Relaxed);
            running.complete();
        }
    }
}

impl<P: World> Debug for OnceSite<P> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Once").field("state", &self.raw.progress()).finish_non_exhaustive()
    }
}

impl<P: World> ProgramLock<P> for OnceSite<P> {}
