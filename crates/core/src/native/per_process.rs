//! Statics that a process has only once, even if several copies of this crate are loaded.
//!
//! A program in C may load two libraries that each have a copy of the locks from an archive. A thread that releases a
//! lock by one copy then has to find the sleepers of the other. So for such a library (`lockwright_c`) these statics
//! are objects of a special kind (`STB_GNU_UNIQUE`). The dynamic linker of glibc keeps such an object once for each
//! process and name, no matter how the libraries are loaded. In any other program they are plain statics.
//!
//! All copies have to agree on the sizes of these objects, on their contents, and on the meaning of the words of locks.
//! The names of the objects have a number for this agreement: **a change of any of these raises it**, in [`symbol`] and
//! in `crates/c/lockwright.map`. Copies with different numbers share nothing, so a program must not use one lock by
//! both.

/// Makes the name that a static has for the dynamic linker.
#[cfg(lockwright_c)]
macro_rules! symbol {
    ($name:literal) => {
        concat!("lockwright_4_", $name)
    };
}

/// Makes the memory of such a static: zeroes.
#[cfg(lockwright_c)]
macro_rules! memory {
    ($symbol:expr, $Value:ty) => {
        core::arch::global_asm!(
            concat!(".pushsection .bss.", $symbol, ",\"aw\",%nobits"),
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ", %gnu_unique_object"),
            concat!(".size ", $symbol, ", {size}"),
            ".balign {alignment}",
            concat!($symbol, ":"),
            ".zero {size}",
            ".popsection",
            size = const size_of::<$Value>(),
            alignment = const align_of::<$Value>(),
        );
    };
}

/// Makes a static that is used by its name. At first all its bytes are zero.
macro_rules! per_process {
    ($(#[$about:meta])* $visibility:vis static $NAME:ident at $name:literal: $Value:ty = $zero:expr) => {
        $(#[$about])*
        #[cfg(not(lockwright_c))]
        $visibility static $NAME: $Value = $zero;

        #[cfg(lockwright_c)]
        crate::native::per_process::memory!(crate::native::per_process::symbol!($name), $Value);
        $(#[$about])*
        #[cfg(lockwright_c)]
        $visibility static $NAME: &$Value = {
            unsafe extern "C" {
                #[allow(improper_ctypes)]
                #[link_name = crate::native::per_process::symbol!($name)]
                static MEMORY: $Value;
            }
            const _: $Value = $zero;
            // SAFETY: of this type, by all copies, and initialised.
            unsafe { &MEMORY }
        };
    };
}

/// Makes a [table](super::table) of such a static.
macro_rules! table_per_process {
    ($(#[$about:meta])* const $NAME:ident at $name:literal: [$Element:ty; $length:expr] = $zero:expr) => {
        #[cfg(lockwright_c)]
        crate::native::per_process::memory!(
            crate::native::per_process::symbol!($name),
            [$Element; $length]
        );
        $(#[$about])*
        const $NAME: crate::native::table::Table<$Element, { $length }> = {
            #[cfg(not(lockwright_c))]
            static CELLS: [$Element; $length] = [const { $zero }; $length];
            #[cfg(lockwright_c)]
            unsafe extern "C" {
                #[allow(improper_ctypes)]
                #[link_name = crate::native::per_process::symbol!($name)]
                static CELLS: [$Element; $length];
            }
            const _: $Element = $zero;
            // SAFETY: a static, of this type by all copies.
            unsafe { crate::native::table::Table::of(&raw const CELLS) }
        };
    };
}

#[cfg(lockwright_c)]
pub(super) use {memory, symbol};
pub(super) use {per_process, table_per_process};
