//! The number by which a reentrant mutex knows its owner.

use crate::platform::ThreadNumbers;
use core::marker::PhantomData;
use core::num::NonZeroUsize;

/// The number of the calling thread, by which a [`ReentrantMutex`](crate::ReentrantMutex) knows its owner.
///
/// It is the platform's number of the thread (`this_thread`). No other living thread has it. In programs a number is
/// never used again, also not in a forked child. The thread that forked keeps its number there.
pub struct ThreadNumber<P>(PhantomData<fn() -> P>);

impl<P: ThreadNumbers> ThreadNumber<P> {
    /// It has no state.
    const NEW: Self = Self(PhantomData);

    /// Returns the number of the caller, with a bit set. The lowest bits of a thread's number are 0, so two numbers
    /// stay different with a bit set there.
    #[inline]
    fn of_caller() -> NonZeroUsize {
        NonZeroUsize::MIN | P::this_thread() as usize
    }
}

#[cfg(feature = "lock_api")]
// SAFETY: by the contract of `ThreadNumbers` no two living threads have the same number.
unsafe impl<P: ThreadNumbers> lockwright_core::glue::v04::GetThreadId for ThreadNumber<P> {
    const INIT: Self = Self::NEW;

    #[inline]
    fn nonzero_thread_id(&self) -> NonZeroUsize {
        Self::of_caller()
    }
}

#[cfg(feature = "lock_api_05")]
// SAFETY: by the contract of `ThreadNumbers` no two living threads have the same number, and a thread keeps its own.
unsafe impl<P: ThreadNumbers> lockwright_core::glue::v05::GetThreadId for ThreadNumber<P> {
    const INIT: Self = Self::NEW;

    #[inline]
    fn nonzero_thread_id(&self) -> NonZeroUsize {
        Self::of_caller()
    }
}
