//! Fences, the asymmetric pair, and pauses.
//!
//! | id | one side | the other side | carries |
//! |----|----------|----------------|---------|
//! | V1 | `full_barrier` | `full_barrier` | that one of two threads sees the other's store |
//! | V2 | `light_barrier` | `heavy_barrier` | that one of two threads sees the other's store |
//! | V3 | `fence`, Release | `fence`, Acquire | what the caller publishes with relaxed accesses |
//!
//! ```text
//! V1, V2   [S] mine = 1              [S] yours = 1
//!          barrier                   barrier
//!          [L] yours                 [L] mine
//!          never: both read 0
//! ```

use super::Native;
use super::environment;
use super::per_process::per_process;
use super::syscall::{
    MEMBARRIER_PRIVATE_EXPEDITED, MEMBARRIER_REGISTER_PRIVATE_EXPEDITED, membarrier,
    visit_all_cpus, write_stderr,
};
use crate::platform::{Atomic, Barriers, Clock, Counters, SchedulerHints};
use crate::tunables::{HEAVY_BARRIER_APART_NS_PER_CPU, Tunable};
use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, compiler_fence, fence};

per_process! {
    /// The form of the asymmetric pair. Both sides must agree, so it is chosen once.
    static MODE at "barrier_mode": AtomicU8 = AtomicU8::new(UNDECIDED)
}
const UNDECIDED: u8 = 0;
/// Light is a compiler fence, heavy is membarrier(PRIVATE_EXPEDITED).
const EXPEDITED: u8 = 1;
/// There is no pair: heavy is a full fence, but light is still a compiler fence, and the two order nothing. A caller
/// asks `has_heavy_barrier` before it relies on them.
const FENCES: u8 = 2;

per_process! {
    /// The time of the last heavy barrier, in nanoseconds.
    static LAST_NS at "last_barrier_ns": AtomicU64 = AtomicU64::new(0)
}

/// A variable of the environment about heavy barriers. In a program that does not know of the locks it turns them on;
/// in any other program it forbids them. Reason: a program of the first kind may have a filter that ends it for the
/// system call.
const CHOICE: &[u8] = match cfg!(lockwright_preload) {
    true => b"LOCKWRIGHT_MEMBARRIER=on",
    false => b"LOCKWRIGHT_MEMBARRIER=off",
};

/// Registers for expedited membarriers if the kernel has them. Concurrent callers decide the same.
#[cold]
fn decide() -> u8 {
    let register = || membarrier(MEMBARRIER_REGISTER_PRIVATE_EXPEDITED);
    let is_expedited =
        cfg!(miri) || environment::has(CHOICE) == cfg!(lockwright_preload) && register();
    let mode = if is_expedited { EXPEDITED } else { FENCES };
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

/// Chooses the form of the asymmetric pair.
pub(super) fn prepare() {
    mode();
}

per_process! {
    /// True if a heavy barrier was refused: a system call filter was installed after the form was chosen.
    static IS_REFUSED at "barrier_refused": AtomicBool = AtomicBool::new(false)
}

const NO_BARRIER: &str = "lockwright: a system call filter refuses membarrier and sched_setaffinity, \
    but locks rely on one of them: allow one, or set LOCKWRIGHT_MEMBARRIER=off\n";

/// Executes the heavy side. The light side has already relied on it, so there is no way back to fences.
fn expedite() {
    let run = || membarrier(MEMBARRIER_PRIVATE_EXPEDITED);
    // The registration may have been lost, as in a forked child.
    let again = || membarrier(MEMBARRIER_REGISTER_PRIVATE_EXPEDITED) && run();
    if run() || again() {
        return;
    }
    // ordering: Relaxed; nothing is read through it.
    IS_REFUSED.store(true, Ordering::Relaxed);
    if !visit_all_cpus() {
        write_stderr(NO_BARRIER.as_bytes());
        // To go on would break exclusion.
        std::process::abort();
    }
}

// SAFETY: `core`'s fences, and `membarrier` or what takes its place; the form is chosen once for both sides.
unsafe impl Barriers for Native {
    #[inline(always)]
    fn fence(order: Ordering) {
        // ordering: the caller's; V3.
        fence(order);
    }
    #[inline(always)]
    fn full_barrier<T: Copy + Eq>(on: &impl Atomic<T>) {
        // A detector that does not understand fences understands a read-modify-write of the cell.
        #[cfg(lockwright_whole_word)]
        {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let mut seen = on.load(Ordering::Relaxed);
            // ordering: AcqRel; V1, as far as such a detector sees it. The barrier is the fence below.
            while let Err(now) =
                on.compare_exchange(seen, seen, Ordering::AcqRel, Ordering::Relaxed)
            {
                seen = now;
            }
        }
        let _ = on;
        #[cfg(all(target_arch = "x86_64", not(miri), not(lockwright_whole_word)))]
        // A locked instruction on the stack costs half of `mfence`.
        // SAFETY: changes nothing; the red zone below the stack pointer is readable and writable,
        // and `or` with 0 keeps its contents.
        unsafe {
            core::arch::asm!("lock or dword ptr [rsp - 4], 0", options(nostack));
        }
        #[cfg(any(not(target_arch = "x86_64"), miri, lockwright_whole_word))]
        // ordering: SeqCst; V1.
        fence(Ordering::SeqCst);
    }
    #[inline(always)]
    fn barrier_after_exchange<T: Copy + Eq>(on: &impl Atomic<T>) {
        if cfg!(all(target_arch = "x86_64", not(miri), not(lockwright_whole_word))) {
            // ordering: SeqCst; V1, where the exchange is a locked instruction.
            compiler_fence(Ordering::SeqCst);
        } else {
            Self::full_barrier(on);
        }
    }
    #[inline(always)]
    fn light_barrier() {
        if cfg!(miri) {
            // ordering: SeqCst; V2, without membarrier.
            fence(Ordering::SeqCst);
        } else {
            // ordering: SeqCst; V2, where the other half is membarrier.
            compiler_fence(Ordering::SeqCst);
        }
    }
    fn heavy_barrier() {
        if !cfg!(miri) {
            expedite();
            // ordering: Relaxed; nothing is read through it.
            LAST_NS.store(Self::now_ns(), Ordering::Relaxed);
        }
        // ordering: SeqCst; V2, the caller's own half.
        fence(Ordering::SeqCst);
    }
    #[inline]
    fn has_heavy_barrier() -> bool {
        // ordering: Relaxed; nothing is read through it.
        MODE.load(Ordering::Relaxed) != FENCES
    }
    fn may_use_heavy_barrier() -> bool {
        // ordering: Relaxed; nothing is read through it.
        let since_ns = || Self::now_ns().saturating_sub(LAST_NS.load(Ordering::Relaxed));
        let usual_ns = || HEAVY_BARRIER_APART_NS_PER_CPU * u64::from(Self::usable_cpus());
        let apart_ns = || Self::tunable(Tunable::heavy_barrier_apart_ns).unwrap_or_else(usual_ns);
        // ordering: Relaxed; nothing is read through it.
        let is_refused = || IS_REFUSED.load(Ordering::Relaxed);
        mode() == EXPEDITED && since_ns() >= apart_ns() && !is_refused()
    }
    #[inline]
    fn delay(pauses: u32) {
        for _ in 0..pauses {
            spin_loop();
        }
    }
}
