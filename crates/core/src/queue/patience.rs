//! How long a thread spins, and how often it looks meanwhile.

use super::QueuePlatform;
use crate::platform::{Bound, SchedulerHints};
use crate::tunables::Tunable;
use core::marker::PhantomData;

/// How long a thread spins before it sleeps: what it costs to put a thread to sleep and to wake it.
/// A thread that spins that long without success has wasted no more than twice what sleeping at once would have cost.
pub const SPIN_NS: u64 = 10_000;
/// The first pause, if nothing else is said.
const FIRST_PAUSES: u32 = 8;
/// A pause of this many is timed: before that, most waits end before a clock is worth its time.
const TIMED_PAUSES: u32 = 32;
/// A pause that takes this long is not made longer. What a look costs the owner, a few transfers of a
/// cache line, is little of that; and who waits looks too late by less than it has waited.
const LONG_PAUSE_NS: u64 = 2_000;
/// Nor is one of this many, where the clock hardly moves.
const PAUSES_MAX: u32 = 1 << 10;

/// A look after every pause, until the one who pauses says that it is over.
pub const UNTIL_OVER: Bound = Bound::until_stopped(1);

/// The back-off of one thread: pauses that double until they are long, and then a time to spin.
pub struct Patience<P: QueuePlatform + SchedulerHints> {
    pauses: u32,
    /// How many are left, whatever they take.
    left: u64,
    kind: Kind,
    /// When the last pause ended, once they are timed.
    paused_ns: Option<u64>,
    /// When it is over, once the pauses are long.
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

impl<P: QueuePlatform + SchedulerHints> Patience<P> {
    fn new(kind: Kind, pauses: u32) -> Self {
        let of_thread = P::must_not_spin().then_some(0);
        let left = of_thread.or_else(|| P::tunable(Tunable::spin_pauses)).unwrap_or(u64::MAX);
        Self { pauses, left, kind, paused_ns: None, until_ns: None, _platform: PhantomData }
    }
    /// A few pauses, some microseconds in all.
    pub fn short() -> Self {
        Self::short_from(FIRST_PAUSES)
    }
    /// The same, with `pauses` as the first.
    pub fn short_from(pauses: u32) -> Self {
        Self::new(Kind::Short, pauses)
    }
    /// [`SPIN_NS`], for a thread that has a place to spin in.
    pub fn seated() -> Self {
        Self::new(Kind::Seated, FIRST_PAUSES)
    }
    /// A few pauses, and [`SPIN_NS`] if there is a place to spin in.
    pub fn long() -> Self {
        Self::new(Kind::Long, FIRST_PAUSES)
    }
    /// Pauses. Returns `true` if it is over.
    pub fn pause(&mut self) -> bool {
        if self.left == 0 {
            return true;
        }
        self.left -= 1;
        P::delay(self.pauses);
        if self.pauses < TIMED_PAUSES {
            self.pauses *= 2;
            return false;
        }
        let now_ns = P::now_ns();
        let took_ns = now_ns.saturating_sub(self.paused_ns.replace(now_ns).unwrap_or(now_ns));
        let is_short = took_ns < LONG_PAUSE_NS && self.pauses < PAUSES_MAX;
        if is_short && self.until_ns.is_none() {
            self.pauses *= 2;
            return false;
        }
        if self.kind == Kind::Short {
            return true;
        }
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

impl<P: QueuePlatform + SchedulerHints> Drop for Patience<P> {
    fn drop(&mut self) {
        if self.kind == Kind::Long && self.until_ns.is_some() {
            P::end_spinning();
        }
    }
}
