//! Cells on top of a checker's atomics.
//!
//! A checker's thread that waits in a loop would be scheduled again and again, to no effect. A
//! [`CheckedCell`] therefore knows the value that was stored last and how often it was written, in
//! memory the checker does not see: a thread that waits gives way until there is news. That leaves
//! out only executions that differ from explored ones by futile looks.

use crate::raw::{Arithmetic, ConstRawCell, RawCell, RawInt, Remember};
use lockwright_core::platform::{Atomic, AtomicInt, Bound, Budget, ConstZeroed, WholeWord, Zeroed};
use std::marker::PhantomData;
use std::sync::atomic::Ordering::{self, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU32};

/// A checker, as its cells see it.
pub trait ModelChecker: Sized + 'static {
    /// How often in a row a waiting thread may be scheduled without news before that is reported as
    /// a wait for something that will not happen.
    const IDLE_MAX: u32;

    /// Looks of a bounded wait that are worth exploring before it gives up.
    fn bounded_looks() -> u32;
    /// Lets another thread run.
    fn give_way();
    /// As [`give_way`](Self::give_way), from a thread that cannot go on before another thread writes the cell at
    /// `address`, or any cell if that is [`ANY_CELL`].
    fn wait(address: usize);
    /// The cell at `address` was written.
    fn written(address: usize);
    /// How often any cell was written.
    fn writes() -> u32;
    /// A waiting thread was scheduled for the `idle`-th time in a row without news.
    fn was_idle(idle: u32);
    /// A bounded wait has used up its budget.
    fn budget_passed(budget: Budget);
}

/// No cell is at this address.
pub const ANY_CELL: usize = usize::MAX;

/// A cell of a checker `C` on top of its atomic type `A`.
pub struct CheckedCell<A: RawCell, C> {
    raw: A,
    latest: A::Latest,
    writes: AtomicU32,
    is_swapped: AtomicBool,
    _checker: PhantomData<fn() -> C>,
}

impl<A: RawCell, C: ModelChecker> Zeroed for CheckedCell<A, C> {
    #[track_caller]
    fn zeroed() -> Self {
        Self::with_zero(A::zero())
    }
}

impl<A: RawCell, C: ModelChecker> CheckedCell<A, C> {
    /// The cell whose checked part is `zero`, which must hold zero.
    pub const fn with_zero(zero: A) -> Self {
        Self {
            raw: zero,
            latest: A::Latest::ZERO,
            writes: AtomicU32::new(0),
            is_swapped: AtomicBool::new(false),
            _checker: PhantomData,
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
    fn written(&self, value: A::Value) {
        self.latest.set(value);
        self.writes.fetch_add(1, Relaxed);
        C::written(self.address());
    }
    /// True if the value stored last `is_expected`, whatever a load may return: a system call finds the newest value in
    /// the word that it was given. Loom knows the order of two stores only if something orders their threads, so the
    /// load is there for it to see an access, and the value is our own.
    pub(crate) fn holds_now(&self, is_expected: impl Fn(A::Value) -> bool) -> bool {
        self.raw.load(Relaxed);
        let latest = self.latest.get();
        if !is_expected(latest) {
            // A thread that has seen it sees nothing older later: an exchange with itself.
            let _ = self.raw.compare_exchange(latest, latest, Relaxed, Relaxed);
        }
        is_expected(latest)
    }
    /// Waits until the cell has been written more often than `writes` times.
    fn wait_for_news(&self, writes: u32) {
        for idle in 1..C::IDLE_MAX {
            C::wait(self.address());
            if self.writes.load(Relaxed) != writes {
                return;
            }
            C::was_idle(idle);
        }
        panic!("a thread waits for a value that nobody will write");
    }
}

/// Steps of one wait in a row without a write by any thread, after which the others get a turn before each further
/// step. More than one, because the first may have read old values.
const QUIET_STEPS: u32 = 2;
/// Old values that one wait may be shown while the newest one would end it.
const OLD_VALUES_MAX: u32 = 2;

/// Steps of one wait that may follow each other before the other threads get a turn in between.
const STEPS_IN_A_ROW: u32 = 16;

// SAFETY: every operation is that of the checker's atomic, or a loop around its load.
unsafe impl<A: RawCell, C: ModelChecker> Atomic<A::Value> for CheckedCell<A, C> {
    fn load(&self, order: Ordering) -> A::Value {
        self.raw.load(order)
    }
    fn store(&self, value: A::Value, order: Ordering) {
        // Loom takes the order of an exchange and a later store of another thread for open, even if both have
        // followed the value that was exchanged, and may show the stored value as the older one. Two exchanges
        // are in order.
        if self.is_swapped.load(Relaxed) {
            self.raw.swap(value, order);
        } else {
            self.raw.store(value, order);
        }
        self.written(value);
    }
    fn swap(&self, value: A::Value, order: Ordering) -> A::Value {
        self.is_swapped.store(true, Relaxed);
        let old = self.raw.swap(value, order);
        self.written(value);
        old
    }
    fn compare_exchange(
        &self,
        old: A::Value,
        new: A::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<A::Value, A::Value> {
        let result = self.raw.compare_exchange(old, new, success, failure);
        if result.is_ok() {
            // As for `swap`.
            self.is_swapped.store(true, Relaxed);
            self.written(new);
        }
        result
    }

    fn cond_load(&self, order: Ordering, mut pred: impl FnMut(A::Value) -> bool) -> A::Value {
        let mut old_values = 0;
        loop {
            let writes = self.writes.load(Relaxed);
            let value = self.raw.load(order);
            if pred(value) {
                return value;
            }
            // The value may have been an old one, when the newest one will do. A machine does not
            // return old values for ever; an exchange with itself reads the newest.
            let latest = self.latest.get();
            if pred(latest) {
                old_values += 1;
                if old_values <= OLD_VALUES_MAX {
                    C::give_way();
                } else if self.raw.compare_exchange(latest, latest, order, Relaxed).is_ok() {
                    return latest;
                } else {
                    // The store that came last has not overwritten the value that is read: nothing
                    // orders the two, and this thread may wait for ever.
                    assert!(old_values < C::IDLE_MAX, "a value is awaited that a later one hides");
                    C::give_way();
                }
            } else {
                self.wait_for_news(writes);
            }
        }
    }

    fn cond_load_bounded(
        &self,
        order: Ordering,
        bound: Bound,
        mut pred: impl FnMut(A::Value) -> bool,
        mut stop: impl FnMut() -> bool,
    ) -> Result<A::Value, A::Value> {
        // A wait that is asked at its first look may begin its work there. It is asked again before it yields, because
        // after that loom does not let it read an old value.
        let more = u32::from(bound.stop_first && bound.budget == Budget::Unlimited);
        let looks_max = match bound.budget {
            Budget::Looks(looks) => looks.clamp(1, C::bounded_looks()),
            Budget::Nanoseconds(_) | Budget::Unlimited => C::bounded_looks() + more,
        };
        for look in 1.. {
            let value = self.raw.load(order);
            if pred(value) {
                return Ok(value);
            }
            if stop() {
                return Err(value);
            }
            if look >= looks_max {
                C::budget_passed(bound.budget);
                return Err(value);
            }
            if look > more {
                C::give_way();
            }
        }
        unreachable!("a bounded wait looks at most u32::MAX times")
    }

    fn cond_load_stepping(
        &self,
        order: Ordering,
        mut pred: impl FnMut(A::Value) -> bool,
        mut step: impl FnMut() -> bool,
    ) -> A::Value {
        let (mut steps, mut quiet_steps) = (0, 0);
        loop {
            let writes = C::writes();
            let value = self.raw.load(order);
            if pred(value) {
                return value;
            }
            if !step() {
                break;
            }
            steps += 1;
            quiet_steps = if C::writes() == writes { quiet_steps + 1 } else { 0 };
            if pred(self.latest.get()) || steps % STEPS_IN_A_ROW == 0 {
                C::give_way();
            } else if quiet_steps >= QUIET_STEPS {
                C::wait(ANY_CELL);
                if C::writes() == writes {
                    assert!(quiet_steps < C::IDLE_MAX, "a thread steps and nobody will write");
                    C::was_idle(quiet_steps);
                }
            }
        }
        self.cond_load(order, pred)
    }
}

// SAFETY: every operation is that of the checker's atomic.
unsafe impl<A: RawInt, C: ModelChecker> AtomicInt<A::Value> for CheckedCell<A, C>
where
    A::Value: Arithmetic,
{
    fn fetch_add(&self, value: A::Value, order: Ordering) -> A::Value {
        self.is_swapped.store(true, Relaxed);
        let old = self.raw.fetch_add(value, order);
        self.written(old.plus(value));
        old
    }
    fn fetch_sub(&self, value: A::Value, order: Ordering) -> A::Value {
        self.is_swapped.store(true, Relaxed);
        let old = self.raw.fetch_sub(value, order);
        self.written(old.minus(value));
        old
    }
    fn fetch_or(&self, value: A::Value, order: Ordering) -> A::Value {
        self.is_swapped.store(true, Relaxed);
        let old = self.raw.fetch_or(value, order);
        self.written(old.or(value));
        old
    }
    fn fetch_and(&self, value: A::Value, order: Ordering) -> A::Value {
        self.is_swapped.store(true, Relaxed);
        let old = self.raw.fetch_and(value, order);
        self.written(old.and(value));
        old
    }
}

// SAFETY: every operation is that of the checker's atomic.
unsafe impl<A: RawInt + RawCell<Value = u32>, C: ModelChecker> WholeWord for CheckedCell<A, C> {
    /// The value stored last is a good guess of what a compare-exchange will find, so that there is
    /// one scheduling point in most executions and none of them reads an old value.
    fn guess(&self) -> u32 {
        self.latest.get()
    }
}

impl<A: ConstRawCell, C: ModelChecker> ConstZeroed for CheckedCell<A, C> {
    #[allow(clippy::declare_interior_mutable_const)]
    const ZEROED: Self = Self::with_zero(A::ZERO);
}
