//! The floor: the least that taking and releasing an uncontended lock can cost.
//!
//! A lock takes its word with a compare-exchange and gives it back with a store. Both have a width, and which width is
//! the fastest differs between processors, so there is one floor for each. The floor of a run is the fastest of them.
//! Within a floor the two widths are equal: some processors let a locked access wait for a store of another width.

use crate::subject::FLOORS;
use lockwright_catalog::registry::{LockRow, LockVisitor};
use lockwright_core::native::Native;
use lockwright_core::raw::{Order, RawLock};
use std::cell::UnsafeCell;

/// Calls `visitor` with the type of a floor.
pub fn visit<V: LockVisitor<Native>>(row: &'static LockRow, visitor: V) -> Option<V::Output> {
    match FLOORS.iter().position(|floor| floor.name == row.name)? {
        0 => Some(visitor.visit::<Floor8>(row)),
        1 => Some(visitor.visit::<Floor16>(row)),
        _ => Some(visitor.visit::<Floor32>(row)),
    }
}

/// A type of a floor: its name, its bits, and what the assembly calls an access of that width.
macro_rules! floor {
    ($name:ident $bits:literal $int:ident $($words:tt)*) => {
        #[doc = concat!("One compare-exchange and one plain store of ", $bits, " bits, and no decision in between:")]
        /// not a lock.
        ///
        /// On one cache line with nothing else, as the locks it is compared with are.
        #[repr(align(64))]
        pub struct $name(UnsafeCell<$int>);

        // SAFETY: the word is touched by the functions below only, each of which is atomic.
        unsafe impl Sync for $name {}

        impl $name {
            accesses!($int $($words)*);
        }

        impl RawLock for $name {
            const ORDER: Order = Order::Broken;

            fn new() -> Self {
                Self(UnsafeCell::new(0))
            }
            #[inline(always)]
            fn lock(&self) {
                self.take();
            }
            #[inline(always)]
            fn try_lock(&self) -> bool {
                self.take();
                true
            }
            #[inline(always)]
            unsafe fn unlock(&self) {
                self.give();
            }
            fn is_locked(&self) -> bool {
                false
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! accesses {
    ($int:ident $pointer:literal $class:ident $operand:literal $old:tt $($other:tt)*) => {
        #[inline(always)]
        fn take(&self) {
            let (one, zero): ($int, $int) = (1, 0);
            // SAFETY: a locked compare-exchange of a live, aligned word.
            unsafe {
                core::arch::asm!(
                    concat!("lock cmpxchg ", $pointer, " ptr [{word}], {one", $operand, "}"),
                    word = in(reg) self.0.get(), one = in($class) one,
                    inout($old) zero => _, options(nostack));
            }
        }
        #[inline(always)]
        fn give(&self) {
            let zero: $int = 0;
            // SAFETY: a plain store to a live, aligned word. It comes from a register: an immediate operand of 16 bits
            // is slow to decode on some processors.
            unsafe {
                core::arch::asm!(
                    concat!("mov ", $pointer, " ptr [{word}], {zero", $operand, "}"),
                    word = in(reg) self.0.get(), zero = in($class) zero,
                    options(nostack, preserves_flags));
            }
        }
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! accesses {
    ($int:ident $pointer:literal $class:ident $operand:literal $old:tt $suffix:literal $atomic:ident) => {
        #[inline(always)]
        fn take(&self) {
            // SAFETY: an exclusive load-acquire and store of a live, aligned word; the pair is
            // repeated when the exclusive store fails.
            unsafe {
                core::arch::asm!(
                    concat!("2: ldaxr", $suffix, " {old:w}, [{word}]"),
                    concat!("stxr", $suffix, " {fail:w}, {one:w}, [{word}]"),
                    "cbnz {fail:w}, 2b",
                    word = in(reg) self.0.get(), one = in(reg) 1u32,
                    old = out(reg) _, fail = out(reg) _, options(nostack));
            }
        }
        #[inline(always)]
        fn give(&self) {
            // SAFETY: a store-release to a live, aligned word.
            unsafe {
                core::arch::asm!(concat!("stlr", $suffix, " wzr, [{word}]"),
                    word = in(reg) self.0.get(), options(nostack, preserves_flags));
            }
        }
    };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! accesses {
    ($int:ident $pointer:literal $class:ident $operand:literal $old:tt $suffix:literal $atomic:ident) => {
        fn word(&self) -> &std::sync::atomic::$atomic {
            // SAFETY: the word is live, aligned and accessed atomically only.
            unsafe { std::sync::atomic::$atomic::from_ptr(self.0.get()) }
        }
        #[inline(always)]
        fn take(&self) {
            use std::sync::atomic::Ordering::{Acquire, Relaxed};
            // ordering: Acquire; as a lock has. The failure value is not used.
            let _ = self.word().compare_exchange(0, 1, Acquire, Relaxed);
        }
        #[inline(always)]
        fn give(&self) {
            // ordering: Release; as a lock has.
            self.word().store(0, std::sync::atomic::Ordering::Release);
        }
    };
}

floor!(Floor8 "8" u8 "byte" reg_byte "" "al" "b" AtomicU8);
floor!(Floor16 "16" u16 "word" reg ":x" "ax" "h" AtomicU16);
floor!(Floor32 "32" u32 "dword" reg ":e" "eax" "" AtomicU32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_sets_and_clears_its_word() {
        macro_rules! check {
            ($($floor:ident)*) => {$(
                let floor = $floor::new();
                floor.take();
                // SAFETY: no other thread knows the word.
                assert_eq!(unsafe { *floor.0.get() }, 1);
                floor.give();
                // SAFETY: as above.
                assert_eq!(unsafe { *floor.0.get() }, 0);
            )*};
        }
        check!(Floor8 Floor16 Floor32);
    }

    #[test]
    fn the_name_of_a_floor_says_its_width() {
        struct Bits;
        impl LockVisitor<Native> for Bits {
            type Output = String;
            fn visit<L: RawLock>(self, _row: &'static LockRow) -> String {
                std::any::type_name::<L>().to_lowercase()
            }
        }
        for row in &FLOORS {
            let of_type = visit(row, Bits).expect("it is a floor");
            assert!(of_type.ends_with(&row.name.replace('-', "")), "{of_type}");
        }
    }
}
