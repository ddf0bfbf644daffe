//! The way off a simulated thread's stack.

use core::ptr::null;
use corosensei::Yielder;

/// How a simulated thread gives control back to the event loop.
#[derive(Clone, Copy)]
pub struct Suspender(*const Yielder<(), ()>);

impl Suspender {
    pub fn none() -> Self {
        Self(null())
    }
    pub fn new(yielder: &Yielder<(), ()>) -> Self {
        Self(yielder)
    }
    /// Leaves the stack of the thread.
    ///
    /// # Safety
    /// The thread of this value is the one that runs.
    pub unsafe fn suspend(self) {
        // SAFETY: the yielder lives at the root of the thread's stack, by the contract.
        let yielder = unsafe { &*self.0 };
        yielder.suspend(());
    }
}
