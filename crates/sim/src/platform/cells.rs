//! Cells: the value in place, the cost in the event loop.

use crate::engine::cell::{CellRef, Shape};
use crate::engine::{CellChange, Deadline};
use crate::switch::Here;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use lockwright_core::platform::{
    Atomic, AtomicInt, Bound, Budget, ConstZeroed, RaceTracker, Zeroed,
};

mod sealed {
    /// Keeps others from describing cells: the engine trusts the descriptions.
    pub trait Sealed {}
    impl Sealed for core::sync::atomic::AtomicU32 {}
    impl Sealed for core::sync::atomic::AtomicU64 {}
    impl Sealed for core::sync::atomic::AtomicPtr<()> {}
}

/// What a cell is made of on the host.
pub trait Storage: sealed::Sealed + Send + Sync + 'static {
    /// The type of its value.
    type Value: Copy + Eq;
    /// Zero.
    const ZERO: Self;
    #[doc(hidden)]
    const SHAPE: Shape;
    /// The value as bits.
    fn bits(value: Self::Value) -> u64;
    /// The value of these bits; superfluous ones are dropped.
    fn value(bits: u64) -> Self::Value;
}

impl Storage for AtomicU32 {
    type Value = u32;
    #[allow(clippy::declare_interior_mutable_const)]
    const ZERO: Self = Self::new(0);
    const SHAPE: Shape = Shape::U32;
    #[inline]
    fn bits(value: u32) -> u64 {
        value.into()
    }
    #[inline]
    fn value(bits: u64) -> u32 {
        bits as u32
    }
}

impl Storage for AtomicU64 {
    type Value = u64;
    #[allow(clippy::declare_interior_mutable_const)]
    const ZERO: Self = Self::new(0);
    const SHAPE: Shape = Shape::U64;
    #[inline]
    fn bits(value: u64) -> u64 {
        value
    }
    #[inline]
    fn value(bits: u64) -> u64 {
        bits
    }
}

impl Storage for AtomicPtr<()> {
    type Value = *mut ();
    #[allow(clippy::declare_interior_mutable_const)]
    const ZERO: Self = Self::new(null_mut());
    const SHAPE: Shape = Shape::Pointer;
    #[inline]
    fn bits(value: *mut ()) -> u64 {
        value.expose_provenance() as u64
    }
    #[inline]
    fn value(bits: u64) -> *mut () {
        core::ptr::with_exposed_provenance_mut(bits as usize)
    }
}

/// A cell of a simulated machine. `IS_WORD`: a lock word, whose values are checked for legality.
#[repr(transparent)]
pub struct SimCell<S, const IS_WORD: bool = false>(S);

impl<S: Storage, const IS_WORD: bool> Zeroed for SimCell<S, IS_WORD> {
    fn zeroed() -> Self {
        Self::ZEROED
    }
}

impl<S: Storage, const IS_WORD: bool> ConstZeroed for SimCell<S, IS_WORD> {
    #[allow(clippy::declare_interior_mutable_const)]
    const ZEROED: Self = Self(S::ZERO);
}

impl<S: Storage, const IS_WORD: bool> SimCell<S, IS_WORD> {
    #[inline]
    pub(super) fn cell(&self) -> CellRef {
        let shape = if IS_WORD { Shape::Word } else { S::SHAPE };
        // SAFETY: `self` is a cell of that shape; in the arena it outlives the run, and on a
        // thread's stack or elsewhere the engine refuses it. Direct accesses end before `self`.
        unsafe { CellRef::new(NonNull::from(self).cast(), shape) }
    }
    /// Replaces the bits in `mask`.
    #[inline]
    pub(super) fn store_bits(&self, mask: u64, bits: u64, order: Ordering) {
        match Here::get() {
            Some(here) if order != Ordering::SeqCst => here.store(self.cell(), mask, bits),
            _ => {
                self.update(CellChange::Store { mask, bits });
            }
        }
    }
    /// Changes the value in one step; returns the bits before.
    #[inline]
    pub(super) fn update(&self, change: CellChange) -> u64 {
        let cell = self.cell();
        match Here::get() {
            Some(here) => here.rmw(cell, change),
            None => {
                let old = cell.read();
                if let Some(value) = change.of(old) {
                    cell.write(value);
                }
                old
            }
        }
    }
    #[inline]
    fn load_bits(&self) -> u64 {
        match Here::get() {
            Some(here) => here.load(self.cell()),
            None => self.cell().read(),
        }
    }
}

#[cold]
fn nobody_will_write() -> ! {
    panic!("a wait outside of simulated threads, where no thread will write")
}

// SAFETY: simulated threads run one at a time; an access takes effect at one moment, and memory is
// sequentially consistent but for store buffers, which commit in order.
unsafe impl<S: Storage, const IS_WORD: bool> Atomic<S::Value> for SimCell<S, IS_WORD> {
    #[inline]
    fn load(&self, _order: Ordering) -> S::Value {
        S::value(self.load_bits())
    }
    #[inline]
    fn store(&self, value: S::Value, order: Ordering) {
        self.store_bits(u64::MAX, S::bits(value), order);
    }
    #[inline]
    fn swap(&self, value: S::Value, _order: Ordering) -> S::Value {
        S::value(self.update(CellChange::Swap { mask: u64::MAX, bits: S::bits(value) }))
    }
    #[inline]
    fn compare_exchange(
        &self,
        old: S::Value,
        new: S::Value,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<S::Value, S::Value> {
        let (old, bits) = (S::bits(old), S::bits(new));
        let found = self.update(CellChange::CompareExchange { mask: u64::MAX, old, bits });
        if found == old { Ok(S::value(found)) } else { Err(S::value(found)) }
    }

    fn cond_load(&self, _order: Ordering, mut pred: impl FnMut(S::Value) -> bool) -> S::Value {
        match Here::get() {
            Some(here) => S::value(here.spin(self.cell(), |bits| pred(S::value(bits)))),
            None => {
                let value = S::value(self.load_bits());
                if pred(value) { value } else { nobody_will_write() }
            }
        }
    }

    fn cond_load_bounded(
        &self,
        _order: Ordering,
        bound: Bound,
        mut pred: impl FnMut(S::Value) -> bool,
        mut stop: impl FnMut() -> bool,
    ) -> Result<S::Value, S::Value> {
        let mut holds = |bits| pred(S::value(bits));
        match Here::get() {
            Some(here) => spin_bounded(here, self.cell(), bound, &mut holds, &mut stop),
            None => {
                let bits = self.load_bits();
                if holds(bits) { Ok(bits) } else { Err(bits) }
            }
        }
        .map(S::value)
        .map_err(S::value)
    }

    fn cond_load_stepping(
        &self,
        order: Ordering,
        mut pred: impl FnMut(S::Value) -> bool,
        mut step: impl FnMut() -> bool,
    ) -> S::Value {
        if let Some(here) = Here::get() {
            here.settle();
        }
        loop {
            let value = S::value(self.load_bits());
            if pred(value) {
                return value;
            }
            if !step() {
                return self.cond_load(order, pred);
            }
        }
    }
}

/// Spins within a bound. The stop condition is asked whenever the time of `stop_every` looks has passed. It is also
/// asked at the first look if it is to be, and otherwise at every wake-up.
fn spin_bounded(
    here: Here,
    cell: CellRef,
    bound: Bound,
    mut holds: &mut dyn FnMut(u64) -> bool,
    stop: &mut dyn FnMut() -> bool,
) -> Result<u64, u64> {
    here.settle();
    let cpu_time = || here.with(|engine| engine.cpu_time());
    let start = here.with(|engine| engine.time.now);
    let look = here.with(|engine| engine.costs.look());
    let has_stop = bound.stop_every != u32::MAX;
    let period = if has_stop { look * u64::from(bound.stop_every.max(1)) } else { u64::MAX };
    let mut next_stop = cpu_time().saturating_add(if bound.stop_first { 0 } else { period });
    let mut value = here.load(cell);
    let deadline = match bound.budget {
        // The first look is behind us.
        Budget::Looks(looks) => {
            let rest = u64::from(looks.saturating_sub(1));
            Deadline::OnCpu(cpu_time().saturating_add(rest * look))
        }
        Budget::Unlimited => Deadline::Never,
        Budget::Nanoseconds(ns) => Deadline::At(start.saturating_add(ns.saturating_mul(1000))),
    };
    let asks_when_woken = has_stop && !bound.stop_first;
    let mut was_woken = false;
    loop {
        if holds(value) {
            return Ok(value);
        }
        let now = here.with(|engine| engine.time.now);
        if here.with(|engine| deadline.left(engine)) == 0 {
            return Err(value);
        }
        if has_stop && (was_woken || cpu_time() >= next_stop) {
            was_woken = false;
            next_stop = cpu_time().saturating_add(period);
            if stop() {
                return Err(value);
            }
            if here.with(|engine| engine.time.now) != now {
                // Asking took time, in which the line may have been written.
                value = here.load(cell);
                continue;
            }
        }
        let first = here.with(|engine| deadline.or_earlier(Deadline::OnCpu(next_stop), engine));
        let looked = here.park(cell, &mut holds, first, asks_when_woken);
        value = looked.value;
        was_woken = asks_when_woken && !looked.expired;
    }
}

/// The operations of integer cells.
pub trait Integer: Storage {}
impl Integer for AtomicU32 {}
impl Integer for AtomicU64 {}

// SAFETY: as above; a read-modify-write takes effect at one moment.
unsafe impl<S: Integer, const IS_WORD: bool> AtomicInt<S::Value> for SimCell<S, IS_WORD> {
    #[inline]
    fn fetch_add(&self, value: S::Value, _order: Ordering) -> S::Value {
        S::value(self.update(CellChange::Add(S::bits(value))))
    }
    #[inline]
    fn fetch_sub(&self, value: S::Value, _order: Ordering) -> S::Value {
        S::value(self.update(CellChange::Subtract(S::bits(value))))
    }
    #[inline]
    fn fetch_or(&self, value: S::Value, _order: Ordering) -> S::Value {
        S::value(self.update(CellChange::Or(S::bits(value))))
    }
    #[inline]
    fn fetch_and(&self, value: S::Value, _order: Ordering) -> S::Value {
        S::value(self.update(CellChange::And(S::bits(value))))
    }
}

/// Charges accesses to plain fields; holds nothing.
pub struct Tracker;

impl Zeroed for Tracker {
    fn zeroed() -> Self {
        Self
    }
}

impl ConstZeroed for Tracker {
    const ZEROED: Self = Self;
}

impl RaceTracker for Tracker {
    fn read<R>(&self, at: *const (), read: impl FnOnce() -> R) -> R {
        if let Some(here) = Here::get() {
            here.read_plain(at.addr());
        }
        read()
    }
    fn write<R>(&self, at: *const (), write: impl FnOnce() -> R) -> R {
        if let Some(here) = Here::get() {
            here.write_plain(at.addr());
        }
        write()
    }
}
