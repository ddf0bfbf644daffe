//! Cells, waits on them, and plain fields that race detectors see.

use super::Barriers;
use core::cell::UnsafeCell;
use core::sync::atomic::Ordering;

/// A cell that starts as zero (null).
pub trait Zeroed {
    /// The cell that holds zero.
    fn zeroed() -> Self;
}

/// A cell that starts as zero (null) in a constant.
pub trait ConstZeroed: Zeroed {
    /// The cell that holds zero.
    const ZEROED: Self;
}

/// The limit of a bounded wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// A number of futile looks at the cell, natively with a pause each. The simulator turns it into the time that this
    /// takes. The checkers explore few looks.
    Looks(u32),
    /// A number of nanoseconds of the platform's clock.
    Nanoseconds(u64),
    /// No limit but the stop condition. The checkers explore few looks, and then end the wait as if it had said so.
    Unlimited,
}

/// The limits of [`Atomic::cond_load_bounded`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The budget: the wait gives up when it is used up.
    pub budget: Budget,
    /// The number of looks (at least 1) between two questions to the stop condition. A platform that knows when the
    /// condition can change may ask at those moments instead.
    pub stop_every: u32,
    /// True if the condition is asked at the first futile look, too, and at no moments but the counted ones.
    pub stop_first: bool,
}

impl Bound {
    /// Returns the bound of a wait with `budget`. Its stop condition is asked once per `stop_every` looks.
    pub const fn of(budget: Budget, stop_every: u32) -> Self {
        Self { budget, stop_every, stop_first: false }
    }
    /// The same, but the condition is asked at the first futile look, too, and at no moments but the counted ones.
    pub const fn asked_first(self) -> Self {
        Self { stop_first: true, ..self }
    }
    /// Returns the bound of a wait of at most `looks` futile looks without a stop condition.
    pub const fn looks(looks: u32) -> Self {
        Self::of(Budget::Looks(looks), u32::MAX)
    }
    /// Returns the bound of a wait that only its stop condition ends. It is asked once per `stop_every` looks.
    pub const fn until_stopped(stop_every: u32) -> Self {
        Self::of(Budget::Unlimited, stop_every)
    }
    /// Returns the bound of a wait of at most `ns` nanoseconds without a stop condition.
    pub const fn nanoseconds(ns: u64) -> Self {
        Self::of(Budget::Nanoseconds(ns), u32::MAX)
    }
}

/// An atomic cell of the platform that holds a `T`.
///
/// Orderings mean what they mean in C11. Where a platform can tell the difference, it offers no more than it is asked
/// for, so that the checkers see a missing ordering.
///
/// # Safety
/// Programs rely on the mutual exclusion of locks that are built on it. So an implementation must keep what this says.
/// Operations on one cell happen one after another, and reads return the value that was written last in that order.
/// Orderings are at least as strong as asked for. The waiting operations return a value that was loaded with the
/// ordering asked for and for which the predicate held.
pub unsafe trait Atomic<T: Copy + Eq>: Zeroed + Send + Sync {
    /// Reads the cell.
    fn load(&self, order: Ordering) -> T;
    /// Writes the cell.
    fn store(&self, value: T, order: Ordering);
    /// Replaces the value and returns the old one.
    fn swap(&self, value: T, order: Ordering) -> T;
    /// Replaces `old` by `new`; otherwise returns the value that was there. It does not fail spuriously.
    fn compare_exchange(
        &self,
        old: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T>;

    /// Waits until `pred` holds of a loaded value, and returns that value (`smp_cond_load_acquire` with `Acquire`).
    ///
    /// Every unbounded wait of this crate is a call of this function, never a hand-written loop. Natively it loads and
    /// pauses. In the simulator the thread sleeps on the cache line until it is written. Under the checkers the thread
    /// yields. `pred` must depend on its argument only.
    fn cond_load(&self, order: Ordering, pred: impl FnMut(T) -> bool) -> T;

    /// As [`cond_load`](Self::cond_load), but gives up when `bound` is used up or `stop` says so. Then `Err` holds the
    /// last value seen. It looks at least once.
    fn cond_load_bounded(
        &self,
        order: Ordering,
        bound: Bound,
        pred: impl FnMut(T) -> bool,
        stop: impl FnMut() -> bool,
    ) -> Result<T, T>;

    /// As [`cond_load`](Self::cond_load), but calls `step` between futile looks as long as `step` returns `true`.
    /// Afterwards it only waits. It is for work that a thread can do while it waits.
    fn cond_load_stepping(
        &self,
        order: Ordering,
        pred: impl FnMut(T) -> bool,
        step: impl FnMut() -> bool,
    ) -> T;
}

/// An atomic cell that holds an integer. The operations return the value *before* them.
///
/// # Safety
/// As for [`Atomic`]; each operation is one indivisible read-modify-write.
pub unsafe trait AtomicInt<T: Copy + Eq>: Atomic<T> {
    /// Adds, and wraps around; returns the value before.
    fn fetch_add(&self, value: T, order: Ordering) -> T;
    /// Subtracts, and wraps around; returns the value before.
    fn fetch_sub(&self, value: T, order: Ordering) -> T;
    /// Sets bits; returns the value before.
    fn fetch_or(&self, value: T, order: Ordering) -> T;
    /// Keeps only the bits set in `value`; returns the value before.
    fn fetch_and(&self, value: T, order: Ordering) -> T;
}

/// A 32-bit lock word whose bytes and halves can be accessed alone. Byte 0 is the least significant on every platform;
/// half 0 is bytes 0 and 1.
///
/// Each narrow access is *specified* as a read-modify-write of the whole word that changes only the named part. An
/// implementation may use a narrower instruction where no agent can tell the difference; see [`crate::native`].
///
/// # Safety
/// As for [`Atomic`]; each operation behaves as the read-modify-write by which it is specified.
pub unsafe trait LockWordOps: AtomicInt<u32> {
    /// Replaces bits 0..8.
    fn store_byte0(&self, value: u8, order: Ordering);
    /// Replaces bits 8..16.
    fn store_byte1(&self, value: u8, order: Ordering);
    /// Replaces bits 0..16.
    fn store_half0(&self, value: u16, order: Ordering);
    /// Replaces bits 0..8 and returns the old ones.
    fn swap_byte0(&self, value: u8, order: Ordering) -> u8;
    /// Replaces bits 16..32 and returns the old ones.
    fn swap_half1(&self, value: u16, order: Ordering) -> u16;
    /// Replaces bits 0..8 if they are `old`; otherwise returns the bits that were there.
    fn compare_exchange_byte0(
        &self,
        old: u8,
        new: u8,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u8, u8>;
    /// Replaces bits 0..16 if they are `old`; otherwise returns the bits that were there.
    fn compare_exchange_half0(
        &self,
        old: u16,
        new: u16,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u16, u16>;
}

/// Arithmetic on parts of a 32-bit word.
pub struct Halves;

impl Halves {
    /// Returns `word` with byte 0 replaced.
    pub const fn with_byte0(word: u32, value: u8) -> u32 {
        word & !0xff | value as u32
    }
    /// Returns `word` with byte 1 replaced.
    pub const fn with_byte1(word: u32, value: u8) -> u32 {
        word & !0xff00 | (value as u32) << 8
    }
    /// Returns `word` with half 0 replaced.
    pub const fn with_half0(word: u32, value: u16) -> u32 {
        word & !0xffff | value as u32
    }
    /// Returns `word` with half 1 replaced.
    pub const fn with_half1(word: u32, value: u16) -> u32 {
        word & 0xffff | (value as u32) << 16
    }
}

/// A lock word whose parts are accessed exactly as they are specified: by read-modify-writes of the whole word. It is
/// for platforms without narrower accesses, and for checkers and detectors that cannot see them.
///
/// # Safety
/// As for [`Atomic`]: all operations are made of its operations.
pub unsafe trait WholeWord: AtomicInt<u32> {
    /// Returns a guess of the word's value for the first attempt. It need not be right.
    fn guess(&self) -> u32;

    /// Replaces the word by `change` of it, in one read-modify-write; returns the old word. A failure orders nothing.
    fn update(&self, order: Ordering, change: impl Fn(u32) -> u32) -> u32 {
        let mut guess = self.guess();
        loop {
            // ordering: the caller's. On failure Relaxed; only a hint, re-checked at the next attempt.
            match self.compare_exchange(guess, change(guess), order, Ordering::Relaxed) {
                Ok(old) => return old,
                Err(seen) => guess = seen,
            }
        }
    }
    /// Replaces a part of the word by `new` if it is `old`. `part` reads that part of a word, and `with` replaces it.
    fn update_part<T: Copy + Eq>(
        &self,
        (old, new): (T, T),
        (success, failure): (Ordering, Ordering),
        part: impl Fn(u32) -> T,
        with: impl Fn(u32, T) -> u32,
    ) -> Result<T, T> {
        let mut guess = self.guess();
        loop {
            let expected = with(guess, old);
            match self.compare_exchange(expected, with(expected, new), success, failure) {
                Ok(_) => return Ok(old),
                Err(seen) if part(seen) != old => return Err(part(seen)),
                Err(seen) => guess = seen,
            }
        }
    }
}

// SAFETY: each operation is a read-modify-write of the whole word.
unsafe impl<W: WholeWord> LockWordOps for W {
    fn store_byte0(&self, value: u8, order: Ordering) {
        self.update(order, |word| Halves::with_byte0(word, value));
    }
    fn store_byte1(&self, value: u8, order: Ordering) {
        self.update(order, |word| Halves::with_byte1(word, value));
    }
    fn store_half0(&self, value: u16, order: Ordering) {
        self.update(order, |word| Halves::with_half0(word, value));
    }
    fn swap_byte0(&self, value: u8, order: Ordering) -> u8 {
        self.update(order, |word| Halves::with_byte0(word, value)) as u8
    }
    fn swap_half1(&self, value: u16, order: Ordering) -> u16 {
        (self.update(order, |word| Halves::with_half1(word, value)) >> 16) as u16
    }
    fn compare_exchange_byte0(
        &self,
        old: u8,
        new: u8,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u8, u8> {
        self.update_part((old, new), (success, failure), |word| word as u8, Halves::with_byte0)
    }
    fn compare_exchange_half0(
        &self,
        old: u16,
        new: u16,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u16, u16> {
        self.update_part((old, new), (success, failure), |word| word as u16, Halves::with_half0)
    }
}

/// The shared cells of a machine.
pub trait Cells: Sized + 'static {
    /// A 32-bit word, which is accessed as a whole.
    type U32: AtomicInt<u32>;
    /// A 64-bit word, which is accessed as a whole.
    type U64: AtomicInt<u64>;
    /// A pointer without a type; locks see it through [`NodePtr`](super::NodePtr).
    ///
    /// It has no type because `type Ptr<T>` would need a `where` clause on every lock and on everything that holds one.
    type Ptr: Atomic<*mut ()>;
    /// A 32-bit lock word that is also accessed by bytes and halves.
    type Word: LockWordOps;
    /// A tracker that makes a plain field visible to race detectors; see [`Guarded`](super::Guarded).
    type Tracker: RaceTracker;

    /// Says that no thread may touch `object` from now on: its last user has freed it. Only a machine for checking does
    /// anything here.
    #[inline(always)]
    fn freed<T>(object: &T) {
        let _ = object;
    }

    /// Ends the program and says why: it has passed a limit of a lock that no program must pass.
    #[cold]
    fn end(why: &'static str) -> ! {
        ends(&why)
    }
}

/// Panics. A panic does not leave a function of this ABI, so the program ends.
extern "C" fn ends(why: &&'static str) -> ! {
    panic!("{why}")
}

/// Cells that can be built in a constant, so that locks can live in a `static`.
///
/// Every lock of this crate that lives in a `static` is unlocked when all its words are zero, so this is the only
/// constant that a platform has to provide. `Loom` cannot provide it, and does not implement this trait.
pub trait ConstCells:
    Cells<U32: ConstZeroed, U64: ConstZeroed, Ptr: ConstZeroed, Word: ConstZeroed, Tracker: ConstZeroed>
{
}
impl<P> ConstCells for P where
    P: Cells<
            U32: ConstZeroed,
            U64: ConstZeroed,
            Ptr: ConstZeroed,
            Word: ConstZeroed,
            Tracker: ConstZeroed,
        >
{
}

/// Tells a race detector or a cost model about accesses to a plain field. Natively it does nothing.
pub trait RaceTracker: Zeroed + Send + Sync {
    /// Runs `read`, which reads the field at `at`.
    fn read<R>(&self, at: *const (), read: impl FnOnce() -> R) -> R;
    /// Runs `write`, which writes (and may read) the field at `at`.
    fn write<R>(&self, at: *const (), write: impl FnOnce() -> R) -> R;
}

/// A plain field of a lock that another lock, or ownership of this one, guards.
///
/// The value is not atomic. If one of two accesses is a write, something else must order them. The model checkers see
/// both accesses and report a race if nothing orders them.
pub struct Guarded<P: Cells, T> {
    value: UnsafeCell<T>,
    tracker: P::Tracker,
}

// SAFETY: access goes through the unsafe methods below, whose callers promise exclusion.
unsafe impl<P: Cells, T: Send> Sync for Guarded<P, T> {}

impl<P: Cells, T> Guarded<P, T> {
    /// Returns a field that holds `value`.
    pub fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), tracker: Zeroed::zeroed() }
    }
    /// Reads the field.
    ///
    /// # Safety
    /// No write happens concurrently: the caller holds the lock that guards the field.
    pub unsafe fn get(&self) -> T
    where
        T: Copy,
    {
        let at = self.value.get();
        // SAFETY: the caller excludes writers; the pointer is to a live field of `self`.
        self.tracker.read(at.cast(), || unsafe { *at })
    }
    /// Writes the field.
    ///
    /// # Safety
    /// No other access happens concurrently: the caller holds the lock that guards the field.
    pub unsafe fn set(&self, value: T) {
        let at = self.value.get();
        // SAFETY: the caller excludes all other threads; the pointer is to a live field of `self`.
        self.tracker.write(at.cast(), || unsafe { *at = value })
    }
}

impl<P: ConstCells, T> Guarded<P, T> {
    /// Returns a field that holds `value`, in a constant.
    pub const fn const_new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), tracker: ConstZeroed::ZEROED }
    }
}

/// Executes the barrier that `is_locked` needs before its load. The caller may just have taken another lock.
///
/// A lock that can be asked is used in pairs: the owner of one lock asks about the other. System V semaphores do this
/// with a lock for one semaphore and a lock for all. Two threads that each take one such lock and then ask about the
/// other lock must not both find it free. On every machine a store may be delayed past a later load of another word, so
/// the question needs a full barrier:
///
/// ```text
/// S1   owner of a                    owner of b
///      [S] a = held, in `lock`       [S] b = held, in `lock`
///      fence                         fence
///      [L] b, in `is_locked`         [L] a, in `is_locked`
///      never: both read free         (both would go on alone)
/// ```
///
/// | id | the store | the load that reads it | carries |
/// |----|-----------|------------------------|---------|
/// | S1 | every store that takes a lock, then the barrier of the same thread | the load in another lock's `is_locked`, after the barrier | nothing but itself: litmus above |
#[inline]
pub fn barrier_before_look<P: Barriers, T: Copy + Eq>(on: &impl Atomic<T>) {
    // ordering: full barrier; S1.
    P::full_barrier(on);
}
