//! The kinds of cells that a machine has.

use super::atomic::{Atomic, AtomicInt, LockWordOps};
use super::guarded::RaceTracker;
use super::zeroed::ConstZeroed;

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
