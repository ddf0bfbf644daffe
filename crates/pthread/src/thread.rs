//! The calling thread: its number, its errno, and if it is alone.

use core::sync::atomic::{AtomicIsize, AtomicU8, Ordering::Relaxed};

/// How far behind the thread pointer glibc keeps the number of the thread; 0 if that is not known, or not yet.
static TID_OFFSET: AtomicIsize = AtomicIsize::new(0);

/// Says where glibc keeps the number, which it also keeps right in forked children.
#[unsafe(no_mangle)]
pub extern "C" fn lw_set_tid_offset(offset: isize) {
    TID_OFFSET.store(offset, Relaxed);
}

/// The kernel's number of the calling thread, as glibc knows it.
#[inline(always)]
pub(crate) fn tid() -> u32 {
    match TID_OFFSET.load(Relaxed) {
        0 => ask_kernel(),
        offset => at(offset),
    }
}

/// The same, once [`knows_tid`] has returned `true`.
#[inline(always)]
pub(crate) fn known_tid() -> u32 {
    at(TID_OFFSET.load(Relaxed))
}

/// Returns `true` if it is known where glibc keeps the number.
pub(crate) fn knows_tid() -> bool {
    TID_OFFSET.load(Relaxed) != 0 && cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
}

#[cold]
fn ask_kernel() -> u32 {
    // SAFETY: only returns a number, and cannot fail.
    unsafe { libc::gettid() as u32 }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn at(offset: isize) -> u32 {
    let tid;
    // SAFETY: glibc's number of the thread is there.
    unsafe {
        core::arch::asm!(
            "mov {tid:e}, dword ptr fs:[{offset}]",
            tid = out(reg) tid,
            offset = in(reg) offset,
            options(nostack, readonly, preserves_flags),
        );
    }
    tid
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn at(offset: isize) -> u32 {
    let tid;
    // SAFETY: glibc's number of the thread is there.
    unsafe {
        core::arch::asm!(
            "mrs {pointer}, tpidr_el0",
            "ldr {tid:w}, [{pointer}, {offset}]",
            pointer = out(reg) _,
            tid = out(reg) tid,
            offset = in(reg) offset,
            options(nostack, readonly, preserves_flags),
        );
    }
    tid
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn at(_: isize) -> u32 {
    ask_kernel()
}

/// Runs `section` and leaves errno as it was: the functions of pthread do not change it.
#[cold]
#[inline(never)]
pub(crate) fn keep_errno<R>(section: impl FnOnce() -> R) -> R {
    // SAFETY: the address of the caller's own errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { errno.read() };
    let result = section();
    // SAFETY: as above.
    unsafe { errno.write(before) };
    result
}

unsafe extern "C" {
    /// Not 0 while the process has one thread, as glibc knows it. `pthread_create` sets it to 0 before it starts a
    /// thread.
    static __libc_single_threaded: AtomicU8;
}

/// Returns `true` if the process has no other thread. glibc's own mutexes rest on the same byte.
#[inline(always)]
pub(crate) fn is_alone() -> bool {
    // SAFETY: a byte that glibc has from 2.32 on. Only the caller's own calls change it while it is not 0.
    unsafe { __libc_single_threaded.load(Relaxed) != 0 }
}
