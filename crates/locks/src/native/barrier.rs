//! Fences, the asymmetric pair, and pauses.

use super::Native;
use crate::platform::{Atomic, Barriers};
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};
use rustix::thread::{MembarrierCommand, membarrier};

/// Which form the asymmetric pair has. Both sides must agree, so it is chosen once.
static MODE: AtomicU8 = AtomicU8::new(UNDECIDED);
const UNDECIDED: u8 = 0;
/// Light is a compiler fence, heavy is membarrier(PRIVATE_EXPEDITED).
const EXPEDITED: u8 = 1;
/// Both are full fences.
const FENCES: u8 = 2;

/// Registers for expedited membarriers if the kernel has them. Concurrent callers decide the same.
#[cold]
fn decide() -> u8 {
    let register = || membarrier(MembarrierCommand::RegisterPrivateExpedited);
    let mode = if cfg!(miri) || register().is_err() { FENCES } else { EXPEDITED };
    // ordering: Relaxed; nothing is read through it, and all writers agree.
    MODE.store(mode, Ordering::Relaxed);
    mode
}

#[inline(always)]
fn mode() -> u8 {
    // ordering: Relaxed; nothing is read through it.
    match MODE.load(Ordering::Relaxed) {
        UNDECIDED => decide(),
        mode => mode,
    }
}

/// The heavy side. The light side has already relied on it, so there is no way back to fences.
fn expedite() {
    let run = || membarrier(MembarrierCommand::PrivateExpedited);
    // The registration may have been lost, as in a forked child.
    let again = || membarrier(MembarrierCommand::RegisterPrivateExpedited).and_then(|()| run());
    if run().is_err() && again().is_err() {
        // A system call filter installed after the start. Going on would break exclusion.
        std::process::abort();
    }
}

impl Barriers for Native {
    #[inline(always)]
    fn fence(order: Ordering) {
        fence(order);
    }
    #[inline(always)]
    fn full_barrier<T: Copy + Eq>(on: &impl Atomic<T>) {
        // A detector that does not understand fences understands a read-modify-write of the cell.
        #[cfg(lockwright_whole_word)]
        {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let mut seen = on.load(Ordering::Relaxed);
            // ordering: SeqCst; this is the full barrier itself.
            while let Err(now) =
                on.compare_exchange(seen, seen, Ordering::SeqCst, Ordering::Relaxed)
            {
                seen = now;
            }
        }
        #[cfg(all(target_arch = "x86_64", not(miri), not(lockwright_whole_word)))]
        {
            let _ = on;
            // A locked instruction on the stack costs half of `mfence`.
            // SAFETY: changes nothing; the red zone below the stack pointer is readable and
            // writable, and `or` with 0 keeps its contents.
            unsafe {
                core::arch::asm!("lock or dword ptr [rsp - 4], 0", options(nostack));
            }
        }
        #[cfg(all(not(lockwright_whole_word), any(miri, not(target_arch = "x86_64"))))]
        {
            let _ = on;
            // ordering: SeqCst; this is the full barrier itself.
            fence(Ordering::SeqCst);
        }
    }
    #[inline(always)]
    fn light_barrier() {
        if mode() == EXPEDITED {
            // ordering: SeqCst; half of the pair, membarrier is the other.
            compiler_fence(Ordering::SeqCst);
        } else {
            // ordering: SeqCst; half of the pair, without membarrier.
            fence(Ordering::SeqCst);
        }
    }
    fn heavy_barrier() {
        if mode() == EXPEDITED {
            expedite();
        }
        // ordering: SeqCst; the caller's own half of the pair.
        fence(Ordering::SeqCst);
    }
    #[inline]
    fn delay(pauses: u32) {
        for _ in 0..pauses {
            spin_loop();
        }
    }
}
