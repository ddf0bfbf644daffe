//! The environment that the process was started with, read without allocating.
//!
//! The C library's `getenv` would race with a thread that sets a variable, which a safe program may do. The kernel's
//! copy does not change.

use core::ffi::c_ulong;
use rustix::fs::{CWD, Mode, OFlags, openat};

unsafe extern "C" {
    fn getauxval(kind: c_ulong) -> c_ulong;
}
const AT_SECURE: c_ulong = 23;

/// Returns `true` if `entry`, a name and its value, is in the environment. Never in a program with other rights than
/// its user's, nor where `/proc` cannot be read.
pub(super) fn has(entry: &[u8]) -> bool {
    // SAFETY: reads what the kernel has told the process.
    if cfg!(miri) || unsafe { getauxval(AT_SECURE) } != 0 {
        return false;
    }
    let Ok(file) = openat(CWD, c"/proc/self/environ", OFlags::CLOEXEC, Mode::empty()) else {
        return false;
    };
    let (mut search, mut buffer) = (Search::new(entry), [0; 256]);
    while let Ok(length @ 1..) = rustix::io::read(&file, &mut buffer) {
        if buffer[..length].iter().any(|&byte| search.finds(byte)) {
            return true;
        }
    }
    false
}

/// A search for an entry in a text whose entries end with zero.
struct Search<'a> {
    entry: &'a [u8],
    /// How much of the present entry is right; nothing if it is another one.
    matched: Option<usize>,
}

impl<'a> Search<'a> {
    fn new(entry: &'a [u8]) -> Self {
        Self { entry, matched: Some(0) }
    }
    /// Goes on by one byte. Returns `true` if that ends the entry.
    fn finds(&mut self, byte: u8) -> bool {
        if byte == 0 {
            return self.matched.replace(0) == Some(self.entry.len());
        }
        self.matched =
            self.matched.filter(|&at| self.entry.get(at) == Some(&byte)).map(|at| at + 1);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_as_a_whole_only() {
        let finds = |text: &[u8]| {
            let mut search = Search::new(b"A=off");
            text.iter().any(|&byte| search.finds(byte))
        };
        assert!(finds(b"A=off\0"));
        assert!(finds(b"B=1\0A=off\0C=\0"));
        for text in
            [&b""[..], b"A=of\0", b"A=offf\0", b"AA=off\0", b"B=A=off\0", b"A=on\0", b"A=off"]
        {
            assert!(!finds(text), "{text:?}");
        }
    }
}
