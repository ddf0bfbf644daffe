//! What happens if a function of the library panics, which is an error in it: one line, and the end of the process. A
//! panic never unwinds into the caller's code.

use std::io::Write;
use std::panic::PanicHookInfo;

/// Before `main`, or when the library is loaded. The compiler's own library, which keeps the hook, is a copy that
/// nothing else uses.
#[cfg(lockwright_c)]
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn before_main() {
        end_by_abort();
    }
    before_main
};

/// From now on a panic prints one line and ends the process.
pub fn end_by_abort() {
    std::panic::set_hook(Box::new(print_and_abort));
}

fn print_and_abort(info: &PanicHookInfo<'_>) {
    let (text, place) = (info.payload_as_str().unwrap_or("?"), info.location());
    let (file, line) = place.map_or(("?", 0), |place| (place.file(), place.line()));
    // Nothing can be done about a message that is not written.
    let _ = writeln!(std::io::stderr(), "lockwright: internal error at {file}:{line}: {text}");
    std::process::abort();
}
