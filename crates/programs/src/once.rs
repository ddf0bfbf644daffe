//! A `Once` of a program, with what its closure changes.

use crate::program::OnceCall;
use crate::world::{Data, World, change, look};
use lockwright::once::{Begun, RawOnce, Running};
use std::cell::UnsafeCell;
use std::fmt::{Debug, Formatter};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What a closure of a once says when it begins and before it ends.
pub struct Closure<B, E> {
    pub begins: B,
    pub ends: E,
}

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
    pub fn is_completed(&self, is_exact: bool) -> Result<(), String> {
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
    pub fn call(
        &self,
        how: OnceCall,
        is_exact: bool,
        closure: Closure<impl FnOnce() -> Result<(), String>, impl FnOnce()>,
    ) -> Result<(), String> {
        if how == OnceCall::Wait {
            self.raw.wait_until_done();
            return self.done();
        }
        let (was_done, was_poisoned) = (self.is_done.load(Relaxed), self.is_poisoned.load(Relaxed));
        let begun = self.raw.begin(how != OnceCall::Once);
        let is_expected = match begun {
            Begun::Ours(ref running) => {
                let begins = how != OnceCall::Once || !was_poisoned;
                !was_done && begins && running.was_poisoned() == was_poisoned
            }
            Begun::Done => was_done,
            Begun::Poisoned => was_poisoned && how == OnceCall::Once,
        };
        if is_exact && !is_expected {
            let marks = format!("done: {was_done}, poisoned: {was_poisoned}");
            return Err(format!("{marks}, and it answers otherwise"));
        }
        match begun {
            Begun::Ours(running) => self.run(running, how, closure),
            Begun::Done => self.done(),
            Begun::Poisoned if self.is_poisoned.load(Relaxed) && how == OnceCall::Once => Ok(()),
            Begun::Poisoned => Err("it is poisoned although no closure has given up".into()),
        }
    }

    /// The closure: it has the data for itself.
    fn run(
        &self,
        running: Running<'_, P>,
        how: OnceCall,
        closure: Closure<impl FnOnce() -> Result<(), String>, impl FnOnce()>,
    ) -> Result<(), String> {
        (closure.begins)()?;
        if self.is_done.load(Relaxed) {
            return Err("a closure runs although one has run to its end".into());
        }
        // SAFETY: one closure runs at a time, which `begins` checks, and nothing reads before one has ended.
        let outcome = change::<P>(unsafe { &mut (*self.data.get()).pair });
        (closure.ends)();
        if how == OnceCall::Fail {
            self.is_poisoned.store(true, Relaxed);
            drop(running);
        } else {
            self.is_done.store(true, Relaxed);
            running.complete();
        }
        outcome
    }

    /// It says that it is done: so a closure has run to its end, and what it wrote can be read.
    fn done(&self) -> Result<(), String> {
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
