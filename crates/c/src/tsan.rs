//! What ThreadSanitizer is told. It sees no access of this library, which is not compiled with it, and would report
//! races between the critical sections of a program that is.
//!
//! Each lock has two places for it: its address, and the byte behind. What a thread did before it *released* a place is
//! visible to a thread that *acquires* that place then.
//!
//! | who | acquires when it has the lock | releases before it gives it back |
//! |---|---|---|
//! | an owner | both places | the first |
//! | a reader | the first | the second |
//!
//! So no order between readers is claimed, which there is not. The functions are looked up when the library is loaded.
//! In a program without ThreadSanitizer they are null, and the price is one look for each operation.

#[cfg(lockwright_c)]
use core::ffi::c_void;

/// A function of ThreadSanitizer; it takes a place.
#[cfg(lockwright_c)]
type Told = Option<unsafe extern "C" fn(*const c_void)>;

#[cfg(lockwright_c)]
core::arch::global_asm!(
    ".weak __tsan_acquire",
    ".weak __tsan_release",
    ".pushsection .data.rel.ro.lockwright_told, \"aw\"",
    ".balign 8",
    ".globl lockwright_told",
    ".hidden lockwright_told",
    ".type lockwright_told, %object",
    ".size lockwright_told, 16",
    "lockwright_told:",
    ".quad __tsan_acquire",
    ".quad __tsan_release",
    ".popsection",
);

#[cfg(lockwright_c)]
unsafe extern "C" {
    /// How to say that a place is acquired, and that it is released.
    safe static lockwright_told: [Told; 2];
}

/// Tells one of the functions, if there are any, of a place of the lock.
#[inline(always)]
fn tell<L>(function: usize, lock: *const L, place: usize) {
    #[cfg(lockwright_c)]
    if let Some(told) = lockwright_told[function] {
        tell_it(told, lock.cast(), place);
    }
    #[cfg(not(lockwright_c))]
    let _ = (function, lock, place);
}

#[cfg(lockwright_c)]
#[cold]
#[inline(never)]
fn tell_it(told: unsafe extern "C" fn(*const c_void), lock: *const c_void, place: usize) {
    // SAFETY: it only takes the address as a name.
    unsafe { told(lock.wrapping_byte_add(place)) };
}

const ACQUIRES: usize = 0;
const RELEASES: usize = 1;

/// The caller owns the lock now.
#[inline(always)]
pub(crate) fn owned<L>(lock: *const L) {
    tell(ACQUIRES, lock, 0);
    tell(ACQUIRES, lock, 1);
}
/// The caller is about to give back the lock, which it owns.
#[inline(always)]
pub(crate) fn disowned<L>(lock: *const L) {
    tell(RELEASES, lock, 0);
}
/// The caller reads now.
#[inline(always)]
pub(crate) fn shared<L>(lock: *const L) {
    tell(ACQUIRES, lock, 0);
}
/// The caller is about to give back the lock, which it reads.
#[inline(always)]
pub(crate) fn unshared<L>(lock: *const L) {
    tell(RELEASES, lock, 1);
}

/// Nothing changes for it.
#[inline(always)]
pub(crate) fn nothing<L>(_: *const L) {}

/// The same of the result of a function that may not have taken the lock.
#[inline(always)]
pub(crate) fn taken_by<L>(
    result: core::ffi::c_int,
    lock: *const L,
    tell: fn(*const L),
) -> core::ffi::c_int {
    if result == 0 {
        tell(lock);
    }
    result
}
