//! The floor: the least that taking and releasing an uncontended lock can cost.

use lockwright::raw::{Order, RawLock};
use std::cell::UnsafeCell;

/// One compare-exchange and one plain store, and no decision in between: not a lock.
///
/// On one cache line with nothing else, as the locks it is compared with are.
#[repr(align(64))]
pub struct Floor(UnsafeCell<u32>);

// SAFETY: the word is touched by the assembly below only, which is atomic in each access.
unsafe impl Sync for Floor {}

#[cfg(target_arch = "x86_64")]
impl Floor {
    #[inline(always)]
    fn take(&self) {
        // SAFETY: a locked compare-exchange of a live, aligned word.
        unsafe {
            core::arch::asm!("lock cmpxchg dword ptr [{word}], {one:e}",
                word = in(reg) self.0.get(), one = in(reg) 1u32,
                inout("eax") 0u32 => _, options(nostack));
        }
    }
    #[inline(always)]
    fn give(&self) {
        // SAFETY: a plain store to the low byte of a live word.
        unsafe {
            core::arch::asm!("mov byte ptr [{word}], 0",
                word = in(reg) self.0.get(), options(nostack, preserves_flags));
        }
    }
}

#[cfg(target_arch = "aarch64")]
impl Floor {
    #[inline(always)]
    fn take(&self) {
        // SAFETY: an exclusive load-acquire and store of a live, aligned word; the pair is
        // repeated when the exclusive store fails.
        unsafe {
            core::arch::asm!("2: ldaxr {old:w}, [{word}]", "stxr {fail:w}, {one:w}, [{word}]",
                "cbnz {fail:w}, 2b",
                word = in(reg) self.0.get(), one = in(reg) 1u32,
                old = out(reg) _, fail = out(reg) _, options(nostack));
        }
    }
    #[inline(always)]
    fn give(&self) {
        // SAFETY: a store-release to the low byte of a live word.
        unsafe {
            core::arch::asm!("stlrb wzr, [{word}]",
                word = in(reg) self.0.get(), options(nostack, preserves_flags));
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl Floor {
    fn word(&self) -> &std::sync::atomic::AtomicU32 {
        // SAFETY: the word is live, aligned and accessed atomically only.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.0.get()) }
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
}

impl RawLock for Floor {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_sets_and_clears_its_word() {
        let floor = Floor::new();
        floor.take();
        // SAFETY: no other thread knows the word.
        assert_eq!(unsafe { *floor.0.get() }, 1);
        floor.give();
        // SAFETY: as above.
        assert_eq!(unsafe { *floor.0.get() }, 0);
    }
}
