//! Ctrl-C: stop soon and keep what was measured.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// True while the next Ctrl-C has to be answered in words.
static ANSWERS: AtomicBool = AtomicBool::new(false);

const ANSWER: &[u8] =
    b"interrupted: finishing the repetitions that run; another Ctrl-C stops at once\n";

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Exit code of a command that was interrupted, as a shell expects it.
pub const EXIT_CODE: u8 = 130;

/// From here on the first Ctrl-C asks for an end and the second one makes it. Where signals cannot
/// be caught, the first one makes it.
pub fn install() {
    // Only a kernel that refuses signal handlers makes this fail.
    let _ = try_install();
}

fn try_install() -> std::io::Result<()> {
    let requested = REQUESTED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the flag is still down when the first signal passes this.
        flag::register_conditional_shutdown(signal, EXIT_CODE.into(), Arc::clone(requested))?;
        flag::register(signal, Arc::clone(requested))?;
        // SAFETY: `answer` does nothing that a signal handler must not do.
        unsafe { low_level::register(signal, answer)? };
    }
    Ok(())
}

/// From here on the first Ctrl-C is answered on standard error: what runs cannot be cut short.
pub fn answer_in_words() {
    // ordering: Relaxed; nothing is published with it.
    ANSWERS.store(true, Ordering::Relaxed);
}

/// Runs in a signal handler: atomics and one system call, nothing that allocates or locks.
fn answer() {
    // ordering: Relaxed; only one signal may find it set.
    if ANSWERS.swap(false, Ordering::Relaxed) {
        // SAFETY: has no preconditions.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: it points to the `errno` of this thread.
        let before = unsafe { errno.read() };
        // SAFETY: the bytes are static. Nobody is left to tell if standard error is closed.
        unsafe { libc::write(libc::STDERR_FILENO, ANSWER.as_ptr().cast(), ANSWER.len()) };
        // SAFETY: as above. What was interrupted must not see another error than its own.
        unsafe { errno.write(before) };
    }
}

/// Returns true if an end was asked for.
pub fn is_requested() -> bool {
    // ordering: Relaxed; nothing is read through it.
    REQUESTED.get().is_some_and(|requested| requested.load(Ordering::Relaxed))
}
