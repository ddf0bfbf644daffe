#![doc = include_str!("../README.md")]
// `include/lockwright.h` says what each function does, and what it asks of its caller.
#![allow(clippy::missing_safety_doc)]

mod calls;
mod condvar;
mod locks;
mod panics;
mod rwlocks;
mod semaphore;
mod tsan;

pub use condvar::*;
pub use locks::*;
pub use panics::end_by_abort;
pub use rwlocks::*;
pub use semaphore::*;

#[unsafe(no_mangle)]
pub extern "C" fn lw_prepare() {
    calls::keep_errno(lockwright_core::native::prepare);
}
