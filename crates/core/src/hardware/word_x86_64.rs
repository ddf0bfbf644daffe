//! Narrow lock-word accesses on x86-64.
//!
//! Rust gives no meaning to atomic accesses of different sizes to the same bytes, so the narrow ones are assembly. An
//! assembly block must have the effect of something that the language could have done. Each of these has the effect of
//! a read-modify-write of the whole word that keeps the other bytes, as [`LockWordOps`] specifies. No thread can tell
//! the difference, for these reasons:
//!
//! 1. Writes. A core writes bytes only while it owns the cache line, and the word does not cross one (it is 4-aligned).
//!    At the moment when the narrow store or locked instruction commits, the other bytes of the word have their current
//!    values, no other core can write them, and all cores see that moment in the same order. That is exactly an atomic
//!    read-modify-write at that moment.
//! 2. Reads by other threads are reads of the whole word from the coherent line: before or after it.
//! 3. Reads by the same thread. Between issue and commit of a narrow store only its own thread can know the new byte.
//!    Processors do not satisfy a later load of the word from the store buffer in part: it waits for the commit (a
//!    failed store forwarding). And nothing here depends on that: after a narrow store a thread uses a load of the word
//!    at most as a hint. A locked instruction follows, which drains the buffer.
//! 4. Ordering. Under x86-TSO every store is a release, every load an acquire, and every locked instruction a full
//!    barrier. The blocks are opaque to the compiler (no `nomem`), so it moves no access across them. So `order` is
//!    always met.

use super::HardwareWord;
use crate::platform::{Clock, LockWordOps};
use core::arch::asm;
use core::sync::atomic::Ordering;

// SAFETY: see the module's argument.
unsafe impl<C: Clock + 'static> LockWordOps for HardwareWord<C> {
    #[inline(always)]
    fn store_byte0(&self, value: u8, _order: Ordering) {
        // SAFETY: writes one byte of the live word `self`; see the module's argument.
        unsafe {
            asm!("mov byte ptr [{at}], {value}", at = in(reg) self.0.as_ptr(),
                value = in(reg_byte) value, options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    fn store_byte1(&self, value: u8, _order: Ordering) {
        // SAFETY: as in `store_byte0`.
        unsafe {
            asm!("mov byte ptr [{at} + 1], {value}", at = in(reg) self.0.as_ptr(),
                value = in(reg_byte) value, options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    fn store_half0(&self, value: u16, _order: Ordering) {
        // SAFETY: as in `store_byte0`, two bytes.
        unsafe {
            asm!("mov word ptr [{at}], {value:x}", at = in(reg) self.0.as_ptr(),
                value = in(reg) value, options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    fn swap_byte0(&self, value: u8, _order: Ordering) -> u8 {
        let mut old = value;
        // SAFETY: as in `store_byte0`; `xchg` with memory is a locked instruction.
        unsafe {
            asm!("xchg byte ptr [{at}], {value}", at = in(reg) self.0.as_ptr(),
                value = inout(reg_byte) old, options(nostack, preserves_flags));
        }
        old
    }
    #[inline(always)]
    fn swap_half1(&self, value: u16, _order: Ordering) -> u16 {
        let mut old = value;
        // SAFETY: as in `swap_byte0`, the upper two bytes.
        unsafe {
            asm!("xchg word ptr [{at} + 2], {value:x}", at = in(reg) self.0.as_ptr(),
                value = inout(reg) old, options(nostack, preserves_flags));
        }
        old
    }
    #[inline(always)]
    fn compare_exchange_byte0(
        &self,
        old: u8,
        new: u8,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<u8, u8> {
        let mut seen = old;
        // SAFETY: as in `swap_byte0`; `cmpxchg` leaves what it saw in `al`.
        unsafe {
            asm!("lock cmpxchg byte ptr [{at}], {new}", at = in(reg) self.0.as_ptr(),
                new = in(reg_byte) new, inout("al") seen, options(nostack));
        }
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
        let mut seen = old;
        // SAFETY: as in `compare_exchange_byte0`, two bytes.
        unsafe {
            asm!("lock cmpxchg word ptr [{at}], {new:x}", at = in(reg) self.0.as_ptr(),
                new = in(reg) new, inout("ax") seen, options(nostack));
        }
        if seen == old { Ok(seen) } else { Err(seen) }
    }
}
