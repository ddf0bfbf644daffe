//! Ctrl-C: stop soon and keep what was measured.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

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
    }
    Ok(())
}

/// Whether an end was asked for.
pub fn is_requested() -> bool {
    // ordering: Relaxed; nothing is read through it.
    REQUESTED.get().is_some_and(|requested| requested.load(Ordering::Relaxed))
}
