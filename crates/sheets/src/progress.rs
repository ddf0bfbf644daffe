//! What is going on, on standard error: one line that is rewritten on a terminal, lines in a pipe.

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The line on the terminal. A process has one, because it has one terminal.
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// What is done of the work, where there is no terminal.
static SHARE: Mutex<Share> = Mutex::new(Share { done: 0, of: 0, said: None });

struct Share {
    done: usize,
    of: usize,
    /// When a line last said so, or when the work began.
    said: Option<Instant>,
}

/// In a pipe, between two lines that say how much is done.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

const STYLE: &str = "{pos}/{len}, {eta} left: {wide_msg}";

/// Says what is going on, on standard error.
#[derive(Clone, Copy, Debug, Args)]
pub struct Progress {
    /// Do not show progress
    #[arg(long, short)]
    quiet: bool,
}

impl Progress {
    /// Says nothing about progress if `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { quiet }
    }
    /// Before work begins that has `steps` steps.
    pub fn expect(self, steps: usize) {
        if self.quiet {
            return;
        }
        if !std::io::stderr().is_terminal() {
            let mut share = SHARE.lock().unwrap_or_else(PoisonError::into_inner);
            share.of += steps;
            share.said = share.said.or_else(|| Some(Instant::now()));
            return;
        }
        let line = LINE.get_or_init(|| {
            let style = ProgressStyle::with_template(STYLE);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            let target = ProgressDrawTarget::stderr();
            ProgressBar::with_draw_target(Some(0), target).with_style(style)
        });
        line.inc_length(steps as u64);
    }
    /// Tells that `steps` more steps are done.
    pub fn advance(self, steps: usize) {
        if let Some(line) = LINE.get() {
            line.inc(steps as u64);
        }
    }
    /// As [`advance`](Self::advance), in the middle of something that takes long: in a pipe, a line says now and
    /// then how much of it is done.
    pub fn advance_within(self, steps: usize) {
        self.advance(steps);
        if self.quiet || LINE.get().is_some() {
            return;
        }
        let mut share = SHARE.lock().unwrap_or_else(PoisonError::into_inner);
        share.done += steps;
        let is_due = share.said.is_none_or(|at| at.elapsed() >= BETWEEN_LINES);
        if is_due && share.done < share.of {
            share.said = Some(Instant::now());
            complain(&format!("{} of {} cells are done", share.done, share.of));
        }
    }
    /// What is being done: on a terminal until the next step, in a pipe a line.
    pub fn say(self, what: &str) {
        match LINE.get() {
            _ if self.quiet => {}
            Some(line) => line.set_message(what.to_string()),
            None => complain(what),
        }
    }
    /// Something that stays on the terminal, such as how to repeat a failure. It is said even if
    /// progress is not.
    pub fn tell(self, line: &str) {
        complain(line);
    }
    /// Before simulated cells run: Ctrl-C has to wait for those that do, which has to be said.
    pub fn answer_interrupts(self) {
        if !self.quiet {
            interrupt::answer_in_words();
        }
    }
}

/// Runs `write`, which writes on the terminal, with the line out of its way.
fn out_of_the_way<R>(write: impl FnOnce() -> R) -> R {
    match LINE.get() {
        Some(line) => line.suspend(write),
        None => write(),
    }
}

/// Takes the line off the terminal: the work is over.
pub fn end_progress() {
    if let Some(line) = LINE.get() {
        line.finish_and_clear();
    }
}

/// Prints text for people on standard output.
pub fn print(text: &str) -> Result<(), Error> {
    let written = out_of_the_way(|| {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
    });
    written.map_err(|source| Error::output("standard output", source))
}

/// Prints a line on standard error.
pub fn complain(line: &str) {
    // There is nowhere to complain about a standard error that is closed.
    let _ = out_of_the_way(|| writeln!(std::io::stderr(), "{line}"));
}
