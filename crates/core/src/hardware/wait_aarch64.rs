//! Waits for an event on aarch64.
//!
//! An exclusive load marks the line of a cell. When another CPU writes to the line, the mark is gone, which is an
//! event. `wfe` waits for an event. On Linux the timer of each CPU makes an event every 100 us or so, and Linux says so
//! to programs (`HWCAP_EVTSTRM`). So a wait ends even if a hypervisor or an emulator loses the mark.

use core::arch::asm;

/// Waits for an event if the cell at `at` still holds `value`.
#[inline(always)]
pub(super) fn wait_for_change<T: Copy>(at: *const T, value: T) {
    match size_of::<T>() {
        // SAFETY: a `T` of 4 bytes is an integer here: cells hold integers and pointers.
        4 => wait_if_equal_32(at.cast(), unsafe { core::mem::transmute_copy(&value) }),
        // SAFETY: as above, but of 8 bytes: an integer, or a pointer of which only the address matters.
        8 => wait_if_equal_64(at.cast(), unsafe { core::mem::transmute_copy(&value) }),
        _ => core::hint::spin_loop(),
    }
}

macro_rules! wait_if_equal {
    ($name:ident, $value:ty, $register:literal) => {
        /// Waits for an event if the cell holds `value`. `sevl` and the first `wfe` clear an event that is already
        /// there.
        #[inline(always)]
        fn $name(at: *const $value, value: $value) {
            // SAFETY: reads a live cell, exclusively; the mark that this leaves excludes no other access.
            unsafe {
                asm!("sevl", "wfe", concat!("ldxr {seen:", $register, "}, [{at}]"),
                    concat!("eor {seen:", $register, "}, {seen:", $register, "}, {value:", $register, "}"),
                    concat!("cbnz {seen:", $register, "}, 2f"), "wfe", "2:",
                    at = in(reg) at, value = in(reg) value, seen = out(reg) _,
                    options(nostack, preserves_flags));
            }
        }
    };
}
wait_if_equal!(wait_if_equal_32, u32, "w");
wait_if_equal!(wait_if_equal_64, u64, "x");
