//! The mutex whose every release is a fair one.

use super::RawMutex;
use crate::park::MarkPlatform;
use crate::platform::{Cells, ConstCells};
use crate::qspinlock::{Fifo, Succession};
use crate::raw::{Order, RawLock};
use core::ops::Deref;

/// A [`RawMutex`] whose `unlock` is [`unlock_fair`](RawMutex::unlock_fair): if threads sleep for the lock, one of them
/// gets it.
///
/// It has the words of [`RawMutex`] and their states.
#[repr(transparent)]
pub struct RawFairMutex<P: Cells, S = Fifo>(RawMutex<P, S>);

impl<P: ConstCells, S> RawFairMutex<P, S> {
    /// An unlocked mutex, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self(RawMutex::INIT);
}

impl<P: Cells, S> Deref for RawFairMutex<P, S> {
    type Target = RawMutex<P, S>;

    #[inline]
    fn deref(&self) -> &RawMutex<P, S> {
        &self.0
    }
}

impl<P: MarkPlatform, S: Succession<P>> RawLock for RawFairMutex<P, S> {
    const ORDER: Order = Order::None;
    const WAITERS_SLEEP: bool = true;

    fn new() -> Self {
        Self(RawMutex::new())
    }
    #[inline]
    fn lock(&self) {
        self.0.lock();
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock_fair() };
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        RawMutex::<P, S>::word_is_legal(word)
    }
}
