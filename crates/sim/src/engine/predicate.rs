//! What a spinner waits for, callable while it is suspended.

use core::ptr::NonNull;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A pointer to the predicate of a spinner, on the spinner's stack.
///
/// The event loop asks it when a read of the spinner completes, on whatever stack the loop runs
/// then, which saves two switches for every futile look.
#[derive(Clone, Copy)]
pub struct Predicate {
    data: NonNull<()>,
    call: unsafe fn(NonNull<()>, u64) -> bool,
}

impl Predicate {
    /// A predicate that may be asked until `holds` goes out of scope.
    pub fn of<F: FnMut(u64) -> bool>(holds: &mut F) -> Self {
        unsafe fn call<F: FnMut(u64) -> bool>(data: NonNull<()>, value: u64) -> bool {
            // SAFETY: the caller promises that the `F` is alive and not in use.
            let holds = unsafe { data.cast::<F>().as_mut() };
            holds(value)
        }
        Self { data: NonNull::from(holds).cast(), call: call::<F> }
    }
    /// Asks. A predicate that panics counts as holding: its thread goes on, asks again and panics
    /// where it belongs.
    ///
    /// # Safety
    /// The predicate's thread is in the wait it belongs to.
    pub unsafe fn holds(self, value: u64) -> bool {
        let ask = || {
            // SAFETY: the closure lives on the stack of a thread that waits and does not touch it.
            unsafe { (self.call)(self.data, value) }
        };
        catch_unwind(AssertUnwindSafe(ask)).unwrap_or(true)
    }
}
