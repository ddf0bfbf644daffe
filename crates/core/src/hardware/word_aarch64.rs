//! Narrow lock-word accesses on aarch64 (little endian).
//!
//! As on x86-64 (see `word_x86_64`) each block has the effect of a read-modify-write of the whole word that keeps the
//! other bytes. The Armv8 memory model is defined per byte for accesses of mixed size, so the argument is short:
//!
//! 1. An aligned store of one or two bytes is single-copy atomic and ordered in the coherence order
//!    of exactly those bytes. The architecture is other-multi-copy atomic: all other observers see
//!    it at one moment, and whole-word readers find the other bytes as they are at that moment.
//! 2. Whole-word read-modify-writes are exclusive pairs or, from Armv8.1 on, single atomic instructions. The exclusive
//!    monitor covers at least the aligned word. A whole-word exclusive pair that overlaps a narrow store by another
//!    thread fails and retries, and so does a narrow pair that overlaps any store to the word. So whole-word and narrow
//!    read-modify-writes are atomic with respect to each other.
//! 3. A load-acquire that reads even one of its bytes from a store-release is ordered after it, so
//!    `stlrb`, `stlrh` and `stlxrh` give what Release promises to readers of the word.
//!
//! Read-modify-writes here are always acquire and release, which meets every `order`.

use super::HardwareWord;
use crate::platform::{Clock, LockWordOps};
use core::arch::asm;
use core::sync::atomic::Ordering;

#[cfg(target_endian = "big")]
compile_error!(
    "narrow lock-word accesses assume little endian: build with --cfg lockwright_whole_word"
);

impl<C> HardwareWord<C> {
    #[inline(always)]
    fn byte(&self, index: usize) -> *mut u8 {
        self.0.as_ptr().cast::<u8>().wrapping_add(index)
    }
}

/// Exchanges by an exclusive pair; `$bits` is the suffix of the instructions (`b` or `h`).
macro_rules! exchange {
    ($at:expr, $value:expr, $bits:literal) => {{
        let old: u32;
        // SAFETY: accesses bytes of a live word; see the module's argument.
        unsafe {
            asm!("2:", concat!("ldaxr", $bits, " {old:w}, [{at}]"),
                concat!("stlxr", $bits, " {failed:w}, {value:w}, [{at}]"), "cbnz {failed:w}, 2b",
                at = in(reg) $at, value = in(reg) u32::from($value),
                old = out(reg) old, failed = out(reg) _, options(nostack, preserves_flags));
        }
        old
    }};
}

/// Compares and exchanges by an exclusive pair.
macro_rules! compare_exchange {
    ($at:expr, $expected:expr, $new:expr, $bits:literal) => {{
        let old: u32;
        // SAFETY: accesses bytes of a live word; see the module's argument.
        unsafe {
            asm!("2:", concat!("ldaxr", $bits, " {old:w}, [{at}]"), "cmp {old:w}, {expected:w}",
                "b.ne 3f", concat!("stlxr", $bits, " {failed:w}, {new:w}, [{at}]"),
                "cbnz {failed:w}, 2b", "b 4f", "3:", "clrex", "4:",
                at = in(reg) $at, expected = in(reg) u32::from($expected),
                new = in(reg) u32::from($new), old = out(reg) old, failed = out(reg) _,
                options(nostack));
        }
        old
    }};
}

// SAFETY: see the module's argument.
unsafe impl<C: Clock + 'static> LockWordOps for HardwareWord<C> {
    #[inline(always)]
    fn store_byte0(&self, value: u8, _order: Ordering) {
        // SAFETY: writes one byte of the live word `self`; see the module's argument.
        unsafe {
            asm!("stlrb {value:w}, [{at}]", at = in(reg) self.byte(0),
                value = in(reg) u32::from(value), options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    fn store_byte1(&self, value: u8, _order: Ordering) {
        // SAFETY: as in `store_byte0`.
        unsafe {
            asm!("stlrb {value:w}, [{at}]", at = in(reg) self.byte(1),
                value = in(reg) u32::from(value), options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    fn store_half0(&self, value: u16, _order: Ordering) {
        // SAFETY: as in `store_byte0`, two bytes.
        unsafe {
            asm!("stlrh {value:w}, [{at}]", at = in(reg) self.byte(0),
                value = in(reg) u32::from(value), options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    fn swap_byte0(&self, value: u8, _order: Ordering) -> u8 {
        exchange!(self.byte(0), value, "b") as u8
    }
    #[inline(always)]
    fn swap_half1(&self, value: u16, _order: Ordering) -> u16 {
        exchange!(self.byte(2), value, "h") as u16
    }
    #[inline(always)]
    fn compare_exchange_byte0(
        &self,
        old: u8,
        new: u8,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<u8, u8> {
        let seen = compare_exchange!(self.byte(0), old, new, "b") as u8;
        if seen == old { Ok(seen) } else { Err(seen) }
    }
    #[inline(always)]
    fn compare_exchange_half0(
        &self,
        old: u16,
        new: u16,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<u16, u16> {
        let seen = compare_exchange!(self.byte(0), old, new, "h") as u16;
        if seen == old { Ok(seen) } else { Err(seen) }
    }
}
