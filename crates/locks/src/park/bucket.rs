//! What paces the locks of one mark. No lock depends on it, so checkers do not see it.

use crate::platform::Cells;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU32 as Private;

/// Counts next to a mark.
#[repr(C, align(128))]
pub struct Bucket<P: Cells> {
    /// Releases by exchange that found no sleeper, since the mark was quiet.
    pub(super) calm: Private,
    /// Wake-ups by its mark.
    pub(super) wakes: Private,
    _platform: PhantomData<fn() -> P>,
}

impl<P: Cells> Bucket<P> {
    /// A fresh one, in a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const EMPTY: Self =
        Self { calm: Private::new(0), wakes: Private::new(0), _platform: PhantomData };

    /// A fresh one.
    pub fn new() -> Self {
        Self::EMPTY
    }
}

impl<P: Cells> Default for Bucket<P> {
    fn default() -> Self {
        Self::new()
    }
}
