//! The CPU of the caller. It comes from the restartable-sequences area if the C library promises that, and otherwise
//! from `getcpu`.

/// Returns the CPU on which the caller runs.
#[inline(always)]
pub(super) fn this_cpu() -> u32 {
    match rseq_cpu() {
        Some(cpu) => cpu,
        None => getcpu(),
    }
}

/// Returns `true` if the processor says that a hypervisor runs it.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) fn is_virtual() -> bool {
    // SAFETY: every x86-64 processor has the instruction and this leaf. A newer `core` needs no reason.
    #[allow(unused_unsafe)]
    let features = unsafe { core::arch::x86_64::__cpuid(1) };
    features.ecx >> 31 == 1
}

/// Returns `false`: other processors do not tell a program.
#[cfg(any(miri, not(target_arch = "x86_64")))]
pub(super) fn is_virtual() -> bool {
    false
}

#[cold]
fn getcpu() -> u32 {
    if cfg!(miri) {
        return 0;
    }
    super::syscall::getcpu()
}

/// Returns the CPU number that the kernel keeps for a registered thread. It is in an area that glibc 2.35 and later put
/// at a fixed offset from the thread pointer and announce by `__rseq_offset` and `__rseq_size`. The reference is weak:
/// with another C library it is null, and there is no answer.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn rseq_cpu() -> Option<u32> {
    let offset_at: *const isize;
    // SAFETY: loads an address from the global offset table; null if the symbol does not exist.
    unsafe {
        core::arch::asm!(".weak __rseq_offset", "mov {at}, qword ptr [rip + __rseq_offset@GOTPCREL]",
            at = out(reg) offset_at, options(pure, readonly, nostack, preserves_flags));
    }
    if offset_at.is_null() {
        return None;
    }
    // SAFETY: the C library's constant, written before any of our code runs.
    let offset = unsafe { *offset_at };
    let cpu: i32;
    // SAFETY: where `__rseq_offset` exists, every thread has at least 32 bytes there, also when
    // registration failed; `cpu_id` is at 4. Volatile because the kernel changes it.
    unsafe {
        core::arch::asm!("mov {cpu:e}, dword ptr fs:[{offset} + 4]", offset = in(reg) offset,
            cpu = out(reg) cpu, options(readonly, nostack, preserves_flags));
    }
    u32::try_from(cpu).ok()
}

/// Returns the CPU number as on x86-64.
#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
fn rseq_cpu() -> Option<u32> {
    let offset_at: *const isize;
    // SAFETY: loads an address from the global offset table; null if the symbol does not exist.
    unsafe {
        core::arch::asm!(".weak __rseq_offset", "adrp {at}, :got:__rseq_offset",
            "ldr {at}, [{at}, :got_lo12:__rseq_offset]",
            at = out(reg) offset_at, options(pure, readonly, nostack, preserves_flags));
    }
    if offset_at.is_null() {
        return None;
    }
    // SAFETY: the C library's constant, written before any of our code runs.
    let offset = unsafe { *offset_at };
    let cpu: i32;
    // SAFETY: as on x86-64; the thread pointer is in `tpidr_el0`.
    unsafe {
        core::arch::asm!("mrs {tp}, tpidr_el0", "add {tp}, {tp}, {offset}", "ldr {cpu:w}, [{tp}, #4]",
            tp = out(reg) _, offset = in(reg) offset, cpu = out(reg) cpu,
            options(readonly, nostack, preserves_flags));
    }
    u32::try_from(cpu).ok()
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[inline(always)]
fn rseq_cpu() -> Option<u32> {
    None
}

#[cfg(all(test, not(miri)))]
mod tests {
    #[test]
    fn the_rseq_area_and_getcpu_agree_on_an_unmoved_thread() {
        // Moving between the two looks is possible but not a hundred times in a row.
        let agrees = || super::rseq_cpu().is_none_or(|cpu| cpu == super::getcpu());
        assert!((0..100).any(|_| agrees()));
    }
}
