//! What this process has inherited, so that the program inherits the same.
//!
//! Before `main`, Rust's standard library opens `/dev/null` in the place of closed standard descriptors and ignores
//! `SIGPIPE`. The lab catches signals. So all that is recorded before: the C library calls what is in `.init_array`.

use libc::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Signals that this program handles in its own way.
const SIGNALS: [c_int; 3] = [libc::SIGPIPE, libc::SIGINT, libc::SIGTERM];
/// What happens at each of them.
static ACTIONS: [AtomicUsize; SIGNALS.len()] = [const { AtomicUsize::new(libc::SIG_DFL) }; 3];
/// Standard descriptors that are closed.
static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

#[used]
// SAFETY: a function as the C library expects it there. It uses nothing of Rust's standard library.
#[unsafe(link_section = ".init_array")]
static RECORD: extern "C" fn() = {
    extern "C" fn record() {
        for (signal, place) in SIGNALS.into_iter().zip(&ACTIONS) {
            // SAFETY: all zeroes is a value of this type.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: only asks, and writes to `action`.
            unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
            place.store(action.sa_sigaction, Relaxed);
        }
        for (descriptor, place) in (0..).zip(&CLOSED) {
            // SAFETY: only asks.
            place.store(unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1, Relaxed);
        }
    }
    record
};

/// Undoes what this process has changed. Descriptors that were closed are closed when the program starts.
pub fn restore() {
    for (signal, action) in SIGNALS.into_iter().zip(&ACTIONS) {
        // SAFETY: a program inherits no handler, so the action is to ignore the signal, or the usual one.
        unsafe { libc::signal(signal, action.load(Relaxed)) };
    }
    for (descriptor, _) in (0..).zip(&CLOSED).filter(|(_, is_closed)| is_closed.load(Relaxed)) {
        // SAFETY: nothing but this program's messages uses it.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}
