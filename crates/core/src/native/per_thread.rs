//! Values that each thread has for itself. They are zero at first, and have no initialiser and no destructor.
//!
//! The compiler reaches thread-local variables of a shared library by a function of the dynamic linker, which may
//! allocate. A library that takes the place of the C library's locks must not: an allocator may wait for it. So for
//! such a library (`lockwright_preload`), and for one that programs in C load (`lockwright_c`), these values are in the
//! static part of each thread's memory.

/// Makes a cell for each thread. The value `$zero` of its type has only zero bytes.
#[cfg(not(any(lockwright_preload, lockwright_c)))]
macro_rules! per_thread {
    ($(#[$about:meta])* $name:ident at $symbol:literal: $Value:ty = $zero:expr) => {
        std::thread_local! {
            $(#[$about])*
            static $name: core::cell::Cell<$Value> = const { core::cell::Cell::new($zero) };
        }
    };
}

#[cfg(any(lockwright_preload, lockwright_c))]
macro_rules! per_thread {
    ($(#[$about:meta])* $name:ident at $symbol:literal: $Value:ty = $zero:expr) => {
        core::arch::global_asm!(
            concat!(".pushsection .tbss.", $symbol, ",\"awT\",%nobits"),
            concat!(".hidden ", $symbol),
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ", %tls_object"),
            concat!(".size ", $symbol, ", {size}"),
            ".p2align 3",
            concat!($symbol, ":"),
            ".zero {size}",
            ".popsection",
            size = const size_of::<$Value>(),
        );
        $(#[$about])*
        static $name: crate::native::per_thread::PerThread<$Value> = {
            fn place() -> *const core::cell::Cell<$Value> {
                let place;
                #[cfg(target_arch = "x86_64")]
                // SAFETY: adds the offset of the variable in the memory of a thread to the address of this thread's
                // memory.
                unsafe {
                    core::arch::asm!(
                        "mov {place}, qword ptr fs:[0]",
                        concat!("add {place}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                        place = out(reg) place,
                        options(nostack, readonly),
                    );
                }
                #[cfg(target_arch = "aarch64")]
                // SAFETY: as on x86-64.
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
            const _: $Value = $zero;
            crate::native::per_thread::PerThread(place)
        };
    };
}
pub(super) use per_thread;

/// The key of such a value, as [`std::thread::LocalKey`] is.
#[cfg(any(lockwright_preload, lockwright_c))]
pub(super) struct PerThread<T: 'static>(pub(super) fn() -> *const core::cell::Cell<T>);

#[cfg(any(lockwright_preload, lockwright_c))]
impl<T> PerThread<T> {
    /// Calls `f` with the value of the calling thread, as [`std::thread::LocalKey::with`] does.
    #[inline(always)]
    pub(super) fn with<R>(&self, f: impl FnOnce(&core::cell::Cell<T>) -> R) -> R {
        f(self)
    }
}

#[cfg(any(lockwright_preload, lockwright_c))]
impl<T> core::ops::Deref for PerThread<T> {
    type Target = core::cell::Cell<T>;

    #[inline(always)]
    fn deref(&self) -> &core::cell::Cell<T> {
        // SAFETY: the caller's own value, which lives as long as its thread.
        unsafe { &*(self.0)() }
    }
}
