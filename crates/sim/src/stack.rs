//! The stacks of simulated threads.

use core::num::NonZeroUsize;
use corosensei::stack::{DefaultStack, Stack, StackPointer};

/// How far the tops of two neighbouring stacks are apart, within a page.
const SHIFT_BYTES: usize = 64 * 5;
/// After this many threads the shifts repeat.
const SHIFTS: usize = 32;

/// A stack with a guard page whose top is shifted by the thread's number.
///
/// All stacks are aligned to pages. Without the shift the tops of all of them, the only parts that
/// are used all the time, would compete for the same few sets of the host's caches.
pub struct ThreadStack {
    inner: DefaultStack,
    base: StackPointer,
}

impl ThreadStack {
    /// A stack of about `bytes` for thread `number`.
    ///
    /// # Panics
    /// If the host has no memory for it.
    pub fn new(bytes: usize, number: usize) -> Self {
        let shift = number % SHIFTS * SHIFT_BYTES;
        let inner = match DefaultStack::new(bytes.max(16 << 10) + SHIFTS * SHIFT_BYTES) {
            Ok(inner) => inner,
            Err(error) => panic!("no memory for the stack of thread {number}: {error}"),
        };
        let base = NonZeroUsize::new(inner.base().get() - shift).unwrap_or(inner.base());
        Self { inner, base }
    }
}

// SAFETY: the memory and its guard page are the inner stack's; the base stays within them, aligned
// to 64 bytes, with more than the minimum below it.
unsafe impl Stack for ThreadStack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.base
    }
    #[inline]
    fn limit(&self) -> StackPointer {
        self.inner.limit()
    }
}
