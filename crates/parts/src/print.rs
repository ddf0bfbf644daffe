//! What a program is told and tells, whatever bytes an argument has and wherever its output goes.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write, stderr, stdout};
use std::process::exit;

/// The arguments behind the program's name. Bytes that are no UTF-8 become the sign for that, which names nothing.
pub fn arguments() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned())
}

/// Prints on standard output. Ends the process if that cannot be written: with 0 if the reader has closed it, otherwise
/// with a sentence and 2.
pub fn print_or_exit(text: Arguments<'_>) {
    let mut stdout = stdout().lock();
    match stdout.write_fmt(text).and_then(|()| stdout.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => exit(0),
        Err(error) => {
            complain(format_args!("error: cannot write standard output: {error}\n"));
            exit(2);
        }
    }
}

/// Prints on standard error, if that can be written.
pub fn complain(text: Arguments<'_>) {
    let _ = stderr().write_fmt(text);
}

/// [`std::print`] without a panic.
#[macro_export]
macro_rules! print {
    ($($part:tt)*) => { $crate::print_or_exit(format_args!($($part)*)) };
}

/// [`std::println`] without a panic.
#[macro_export]
macro_rules! println {
    () => { $crate::print_or_exit(format_args!("\n")) };
    ($($part:tt)*) => { $crate::print_or_exit(format_args!("{}\n", format_args!($($part)*))) };
}

/// [`std::eprint`] without a panic.
#[macro_export]
macro_rules! eprint {
    ($($part:tt)*) => { $crate::complain(format_args!($($part)*)) };
}

/// [`std::eprintln`] without a panic.
#[macro_export]
macro_rules! eprintln {
    () => { $crate::complain(format_args!("\n")) };
    ($($part:tt)*) => { $crate::complain(format_args!("{}\n", format_args!($($part)*))) };
}
