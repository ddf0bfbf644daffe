//! What is going on, on standard error: one line that is rewritten on a terminal, lines in a pipe.

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How much of the work is done. On a terminal it is a line, of which a process has one.
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// In a pipe, when a line last said how much is done, or when the work began.
static SAID: Mutex<Option<Instant>> = Mutex::new(None);

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
        let line = LINE.get_or_init(|| {
            *SAID.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            let style = ProgressStyle::with_template(STYLE);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            let target = match std::io::stderr().is_terminal() {
                true => ProgressDrawTarget::stderr(),
                false => ProgressDrawTarget::hidden(),
            };
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
        let Some(line) = LINE.get().filter(|_| !std::io::stderr().is_terminal()) else { return };
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        let (done, of) = (line.position(), line.length().unwrap_or(0));
        if done < of && said.is_none_or(|at| at.elapsed() >= BETWEEN_LINES) {
            *said = Some(Instant::now());
            complain(&format!("{done} of {of} cells are done"));
        }
    }
    /// What is being done: on a terminal until the next step, in a pipe a line.
    pub fn say(self, what: &str) {
        match LINE.get().filter(|_| std::io::stderr().is_terminal()) {
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
