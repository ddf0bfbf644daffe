//! What signals run, and which of them reach a thread.

use core::ptr::NonNull;

/// A pointer to the handler of a thread, on the thread's stack.
#[derive(Clone, Copy)]
pub struct Handler {
    data: NonNull<()>,
    call: unsafe fn(NonNull<()>),
}

impl Handler {
    /// A handler that may run until `handler` goes out of scope.
    pub fn of<F: Fn()>(handler: &F) -> Self {
        unsafe fn call<F: Fn()>(data: NonNull<()>) {
            // SAFETY: the caller promises that the `F` is alive.
            let handler = unsafe { data.cast::<F>().as_ref() };
            handler();
        }
        Self { data: NonNull::from(handler).cast(), call: call::<F> }
    }
    /// Runs it.
    ///
    /// # Safety
    /// The closure is still in scope.
    pub unsafe fn run(self) {
        // SAFETY: the caller's.
        unsafe { (self.call)(self.data) };
    }
}

/// Which signals reach a thread.
#[derive(Default)]
pub struct Signals {
    /// What they run; nothing reaches a thread without one.
    pub handler: Option<Handler>,
    /// One has interrupted the thread, and its handler has not returned.
    pub(super) is_interrupted: bool,
    /// The handler runs.
    pub(super) is_handling: bool,
    /// How many sections the thread is in that nothing interrupts.
    pub held_back: u32,
}

impl Signals {
    /// Returns true if a signal may interrupt the thread now.
    pub fn may_come(&self) -> bool {
        self.handler.is_some() && !self.is_interrupted && self.held_back == 0
    }
}
