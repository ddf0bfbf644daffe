//! Reads small files, and the environment with which the process was started. It does not allocate.
//!
//! The C library's `getenv` would race with a thread that sets a variable, which a safe program may do. The kernel's
//! copy does not change. A library that is loaded before the program starts reads the C library's environment: there
//! are no other threads then, and it costs no system call.

use super::syscall::File;
use core::ffi::{CStr, c_char, c_ulong};
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

unsafe extern "C" {
    fn getauxval(kind: c_ulong) -> c_ulong;
}
const AT_SECURE: c_ulong = 23;

/// Returns `true` if the kernel makes the timers of its CPUs produce events (`HWCAP_EVTSTRM` of aarch64).
#[inline(always)]
pub(super) fn has_event_stream() -> bool {
    // ordering: Relaxed; nothing else is read through it.
    cfg!(all(target_arch = "aarch64", not(miri)))
        && match EVENT_STREAM.load(Relaxed) {
            UNASKED => ask_for_event_stream(),
            answer => answer == YES,
        }
}

/// The answer. The kernel is asked once, because waiters look at the answer again and again.
static EVENT_STREAM: AtomicU8 = AtomicU8::new(UNASKED);
const UNASKED: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

#[cold]
fn ask_for_event_stream() -> bool {
    const AT_HWCAP: c_ulong = 16;
    const HWCAP_EVTSTRM: c_ulong = 1 << 2;
    // SAFETY: reads a value that the kernel has told the process.
    let has_stream = unsafe { getauxval(AT_HWCAP) } & HWCAP_EVTSTRM != 0;
    // ordering: Relaxed; nothing else is read through it.
    EVENT_STREAM.store(if has_stream { YES } else { NO }, Relaxed);
    has_stream
}

/// Reads a small file into `buffer`. Returns `None` if that does not work.
pub(super) fn read_file<'a>(path: &[u8], buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let file = File::open(CStr::from_bytes_until_nul(path).ok()?)?;
    let length = file.read(buffer)?;
    buffer.get(..length)
}

/// Returns `true` if `entry`, a name and its value, is in the environment.
pub(super) fn has(entry: &[u8]) -> bool {
    let mut is_there = false;
    for_each(|of_process| is_there |= of_process == entry);
    is_there
}

/// Calls `visit` for each entry, a name and its value. It visits no entry in a program whose rights differ from its
/// user's, or if `/proc` cannot be read.
pub(super) fn for_each(mut visit: impl FnMut(&[u8])) {
    // SAFETY: reads a value that the kernel has told the process.
    if cfg!(miri) || unsafe { getauxval(AT_SECURE) } != 0 {
        return;
    }
    if cfg!(lockwright_preload) {
        return for_each_of_c(visit);
    }
    let Some(file) = File::open(c"/proc/self/environ") else { return };
    let (mut entries, mut buffer) = (Entries::new(), [0; 256]);
    while let Some(length @ 1..) = file.read(&mut buffer) {
        buffer[..length].iter().for_each(|&byte| entries.read(byte, &mut visit));
    }
}

/// As [`for_each`], but reads the environment of the C library.
fn for_each_of_c(mut visit: impl FnMut(&[u8])) {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: the C library has set it before it loads other libraries.
    let mut next = unsafe { environ };
    let mut entries = Entries::new();
    // SAFETY: null, or a list that ends with null. No other thread changes it: see above.
    while let Some(&entry) = unsafe { next.as_ref() }.filter(|entry| !entry.is_null()) {
        // SAFETY: entries end with zero.
        let entry = unsafe { CStr::from_ptr(entry) }.to_bytes_with_nul();
        entry.iter().for_each(|byte| entries.read(*byte, &mut visit));
        // SAFETY: the list goes on behind an entry that is not null.
        next = unsafe { next.add(1) };
    }
}

/// The entries of a text in which each ends with zero.
struct Entries {
    entry: [u8; ENTRY_MAX],
    /// The length of the entry so far. It may be more than there is room for.
    length: usize,
}

/// The room for an entry. Our longest entry has 20 digits behind its name. A longer entry is cut, and ends with a sign
/// that no value has.
const ENTRY_MAX: usize = 80;

impl Entries {
    fn new() -> Self {
        Self { entry: [0; ENTRY_MAX], length: 0 }
    }
    /// Reads one more byte, which may end an entry.
    fn read(&mut self, byte: u8, visit: &mut impl FnMut(&[u8])) {
        if byte == 0 {
            if self.length > ENTRY_MAX {
                self.entry[ENTRY_MAX - 1] = b'~';
            }
            visit(&self.entry[..self.length.min(ENTRY_MAX)]);
            self.length = 0;
            return;
        }
        self.entry.get_mut(self.length).into_iter().for_each(|place| *place = byte);
        self.length += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn entries_end_with_zero_and_long_ones_are_cut() {
        let read = |text: &[u8]| {
            let (mut entries, mut found) = (Entries::new(), Vec::new());
            let mut keep = |entry: &[u8]| found.push(entry.to_vec());
            text.iter().for_each(|&byte| entries.read(byte, &mut keep));
            found
        };
        assert_eq!(read(b"A=off\0"), [b"A=off"]);
        assert_eq!(read(b"B=1\0\0A=off\0C="), [&b"B=1"[..], b"", b"A=off"]);
        let (longest, longer) = ([b'x'; ENTRY_MAX], [b'y'; ENTRY_MAX + 1]);
        let text = [&longest[..], b"\0", &longer, b"\0A=1\0"].concat();
        let cut = [&longer[1..ENTRY_MAX], b"~"].concat();
        assert_eq!(read(&text), [&longest[..], &cut, b"A=1"]);
    }
}
