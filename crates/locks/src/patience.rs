//! How long a thread spins, and how often it looks meanwhile.

use crate::platform::{Bound, Budget, Platform};
use core::marker::PhantomData;

/// How long a thread spins before it sleeps: what it costs to put a thread to sleep and to wake it.
/// Whoever spins that long in vain has wasted no more than twice what sleeping at once would have cost.
pub(crate) const SPIN_NS: u64 = 10_000;
/// The longest pause between two looks, about a microsecond: what a look costs the owner, a few
/// transfers of a cache line, is little of that.
const PAUSES_MAX: u32 = 64;

/// A look after every pause, until the one who pauses says that it is over.
pub(crate) const UNTIL_OVER: Bound = Bound { budget: Budget::Looks(u32::MAX), stop_every: 1 };

/// The back-off of one thread: pauses that double, and then a time to spin.
pub(crate) struct Patience<P: Platform> {
    pauses: u32,
    kind: Kind,
    /// When it is over. Not known while the pauses are short: most waits end before a clock was worth
    /// its time.
    until_ns: Option<u64>,
    _platform: PhantomData<P>,
}

#[derive(PartialEq, Eq)]
enum Kind {
    /// Over when the pauses are long.
    Short,
    /// For [`SPIN_NS`] more.
    Seated,
    /// The same, if there is a place to spin in; it is given back afterwards.
    Long,
}

impl<P: Platform> Patience<P> {
    fn new(kind: Kind) -> Self {
        Self { pauses: 1, kind, until_ns: None, _platform: PhantomData }
    }
    /// A few pauses, some microseconds in all.
    pub(crate) fn short() -> Self {
        Self::new(Kind::Short)
    }
    /// [`SPIN_NS`], for a thread that has a place to spin in.
    pub(crate) fn seated() -> Self {
        Self::new(Kind::Seated)
    }
    /// A few pauses, and [`SPIN_NS`] if there is a place to spin in.
    pub(crate) fn long() -> Self {
        Self::new(Kind::Long)
    }
    /// Pauses; whether it is over.
    pub(crate) fn pause(&mut self) -> bool {
        P::delay(self.pauses);
        if self.pauses < PAUSES_MAX {
            self.pauses *= 2;
            return false;
        }
        if self.kind == Kind::Short {
            return true;
        }
        let now_ns = P::now_ns();
        match self.until_ns {
            Some(until_ns) => now_ns >= until_ns,
            None if self.kind == Kind::Seated || P::begin_spinning() => {
                self.until_ns = Some(now_ns.saturating_add(SPIN_NS));
                false
            }
            None => true,
        }
    }
}

impl<P: Platform> Drop for Patience<P> {
    fn drop(&mut self) {
        if self.kind == Kind::Long && self.until_ns.is_some() {
            P::end_spinning();
        }
    }
}
