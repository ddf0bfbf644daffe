//! Statics of which a process has one, even if several copies of this crate are loaded.
//!
//! A program in C may load two libraries that each have a copy of the locks from an archive. A thread that releases a
//! lock by one copy then has to find the sleepers of the other. So for such a library (`lockwright_c`) these statics
//! are objects of a kind that the dynamic linker of glibc keeps once for each process and name (`STB_GNU_UNIQUE`), in
//! whatever way the libraries are loaded. In any other program they are plain statics.
//!
//! All copies have to agree on the sizes of these objects, on what is in them, and on what the words of locks mean. The
//! number in their names is that of the agreement: **a change of any of these raises it**, in [`symbol`] and in
//! `crates/c/lockwright.map`. Copies of different numbers share nothing, so a lock must not be used by both.

/// The name that a static has for the dynamic linker.
#[cfg(lockwright_c)]
macro_rules! symbol {
    ($name:literal) => {
        concat!("lockwright_4_", $name)
    };
}

/// The memory of such a static: zeroes.
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

/// A static that is used by its name. All zero bytes are its value at first.
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

/// A [table](super::table) of such a static.
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
