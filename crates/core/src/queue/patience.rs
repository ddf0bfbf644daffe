//! The time that a thread spins, and the pauses between its looks meanwhile.

use super::QueuePlatform;
use crate::platform::{Bound, SchedulerHints};
use crate::tunables::Tunable;
use core::marker::PhantomData;

/// The time that a thread spins before it sleeps, in nanoseconds. It is the cost of putting a thread to sleep and
/// waking it. So a thread that spins that long without success has spent no more than twice the cost of sleeping at
/// once.
pub const SPIN_NS: u64 = 10_000;
/// The length of the first pause, unless another one is given.
const FIRST_PAUSES: u32 = 8;
/// Pauses from this length on are timed. Most waits end before that, and a look at the clock would not pay.
const TIMED_PAUSES: u32 = 32;
/// A pause that takes this long is not made longer. A look costs the owner a few transfers of a cache line, which is
/// little of that time. And a waiter looks too late by less time than it has waited.
const LONG_PAUSE_NS: u64 = 2_000;
/// A pause of this length is not made longer either: it is for machines whose clock hardly moves.
const PAUSES_MAX: u32 = 1 << 10;

/// A look after every pause, until the caller's pause says that it is over.
pub const UNTIL_OVER: Bound = Bound::until_stopped(1);

/// The back-off of one thread. Its pauses double until they are long, and then it spins for some time.
pub struct Patience<P: QueuePlatform + SchedulerHints> {
    pauses: u32,
    /// The number of pauses that are left, no matter how long they take.
    left: u64,
    kind: Kind,
    /// The time at which the last pause ended, once pauses are timed.
    paused_ns: Option<u64>,
    /// The time at which the back-off is over, once the pauses are long.
    until_ns: Option<u64>,
    _platform: PhantomData<P>,
}

#[derive(PartialEq, Eq)]
enum Kind {
    /// It is over when the pauses are long.
    Short,
    /// It goes on for [`SPIN_NS`] more.
    Seated,
    /// It goes on for [`SPIN_NS`] more if there is a place to spin in, which it gives back afterwards.
    Long,
}

impl<P: QueuePlatform + SchedulerHints> Patience<P> {
    fn new(kind: Kind, pauses: u32) -> Self {
        let of_thread = P::must_not_spin().then_some(0);
        let left = of_thread.or_else(|| P::tunable(Tunable::spin_pauses)).unwrap_or(u64::MAX);
        Self { pauses, left, kind, paused_ns: None, until_ns: None, _platform: PhantomData }
    }
    /// Returns a back-off of a few pauses, some microseconds in all.
    pub fn short() -> Self {
        Self::short_from(FIRST_PAUSES)
    }
    /// As [`short`](Self::short), but `pauses` is the length of the first pause.
    pub fn short_from(pauses: u32) -> Self {
        Self::new(Kind::Short, pauses)
    }
    /// Returns a back-off of a few pauses and [`SPIN_NS`], for a thread that has a place to spin in.
    pub fn seated() -> Self {
        Self::new(Kind::Seated, FIRST_PAUSES)
    }
    /// Returns a back-off of a few pauses, and of [`SPIN_NS`] more if there is a place to spin in.
    pub fn long() -> Self {
        Self::new(Kind::Long, FIRST_PAUSES)
    }
    /// Pauses. Returns `true` if the back-off is over.
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
