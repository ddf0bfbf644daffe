//! A number of each thread, zero at first, without initialiser and destructor.
//!
//! The compiler reaches thread-local variables of a shared library by a function of the dynamic linker, which may
//! allocate. A library that takes the place of the C library's locks must not: an allocator may wait for it. So for
//! such a library (`lockwright_preload`) these numbers are in the static part of each thread's memory.

#[cfg(not(lockwright_preload))]
macro_rules! per_thread {
    ($(#[$about:meta])* $name:ident at $symbol:literal) => {
        std::thread_local! {
            $(#[$about])*
            static $name: core::cell::Cell<u32> = const { core::cell::Cell::new(0) };
        }
    };
}

#[cfg(lockwright_preload)]
macro_rules! per_thread {
    ($(#[$about:meta])* $name:ident at $symbol:literal) => {
        core::arch::global_asm!(
            concat!(".pushsection .tbss.", $symbol, ",\"awT\",%nobits"),
            concat!(".hidden ", $symbol),
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ", %tls_object"),
            concat!(".size ", $symbol, ", 4"),
            ".p2align 2",
            concat!($symbol, ":"),
            ".zero 4",
            ".popsection",
        );
        $(#[$about])*
        static $name: crate::native::per_thread::PerThread = {
            fn place() -> *const core::cell::Cell<u32> {
                let place;
                #[cfg(target_arch = "x86_64")]
                // SAFETY: adds where the variable is in the memory of a thread to where that is of this one.
                unsafe {
                    core::arch::asm!(
                        "mov {place}, qword ptr fs:[0]",
                        concat!("add {place}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                        place = out(reg) place,
                        options(nostack, readonly),
                    );
                }
                #[cfg(target_arch = "aarch64")]
                // SAFETY: the same.
                unsafe {
                    core::arch::asm!(
                        concat!("adrp {offset}, :gottprel:", $symbol),
                        concat!("ldr {offset}, [{offset}, :gottprel_lo12:", $symbol, "]"),
                        "mrs {place}, tpidr_el0",
                        "add {place}, {place}, {offset}",
                        place = out(reg) place,
                        offset = out(reg) _,
                        options(nostack, readonly),
                    );
                }
                place
            }
            crate::native::per_thread::PerThread(place)
        };
    };
}
pub(super) use per_thread;

/// As [`std::thread::LocalKey`].
#[cfg(lockwright_preload)]
pub(super) struct PerThread(pub(super) fn() -> *const core::cell::Cell<u32>);

#[cfg(lockwright_preload)]
impl core::ops::Deref for PerThread {
    type Target = core::cell::Cell<u32>;

    fn deref(&self) -> &core::cell::Cell<u32> {
        // SAFETY: the caller's own number, which lives as long as its thread.
        unsafe { &*(self.0)() }
    }
}
