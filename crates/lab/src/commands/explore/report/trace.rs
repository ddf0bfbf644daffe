//! What each move of a schedule did, for people and for programs.

use lockwright_measure::client::Target;
use lockwright_sheets::{hanging, width};
use lockwright_sim::explore::{Traced, letter};
use serde::Serialize;

/// Lines of the longest trace that people read as a whole.
pub(super) const LINES_MAX: usize = 60;

/// A schedule that was run again, line by line.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Trace {
    /// Which thread is where.
    #[serde(skip)]
    pub(super) threads: String,
    /// Moves of the schedule; what follows them is not part of it.
    #[serde(skip)]
    pub(super) moves: usize,
    pub(super) lines: Vec<TraceLine>,
}

/// What a move did.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TraceLine {
    #[serde(rename = "move")]
    pub number: u64,
    pub thread: char,
    pub what: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// It touches a lock, a link or a grant, or no memory.
    #[serde(skip)]
    pub is_of_lock: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub values: String,
}

impl Trace {
    /// The trace of a schedule with this number of moves.
    pub fn new(target: &Target, moves: usize, traced: Vec<Traced>) -> Self {
        let place = |(thread, &cpu): (usize, &u32)| {
            let node = target.machine.topology.socket_of(cpu);
            format!("{} is thread {thread} on CPU {cpu} of NUMA node {node}", letter(thread))
        };
        let threads: Vec<_> = target.cpus.iter().enumerate().map(place).collect();
        let line = |Traced { number, thread, what, place, is_of_lock, values }| TraceLine {
            number,
            thread: letter(thread),
            what,
            place,
            is_of_lock,
            values,
        };
        let lines = traced.into_iter().map(line).collect();
        Self { threads: threads.join("; "), moves, lines }
    }
    /// What people read.
    pub fn text(&self) -> String {
        let left_out = self.lines.len().saturating_sub(LINES_MAX);
        let shown = &self.lines[left_out..];
        let widest = |part: fn(&TraceLine) -> &str| {
            shown.iter().map(|line| part(line).chars().count()).max().unwrap_or(0)
        };
        let (what, place) = (widest(|line| &line.what), widest(|line| &line.place));
        let mut text = format!("  {}", hanging(&self.threads, "    "));
        text += "    move, thread, what it did, to which object, values\n";
        if left_out > 0 {
            text += &format!("    ({left_out} lines before these are left out; --json has all)\n");
        }
        let mut is_within = true;
        for line in shown {
            if is_within && line.number > self.moves as u64 {
                is_within = false;
                text += "    (the schedule ends here; the threads run on)\n";
            }
            let TraceLine { number, thread, what: does, place: at, values, .. } = line;
            let begins = format!("{number:>8}  {thread}  ");
            let line = format!("{begins}{does:<what$}  {at:<place$}  ");
            // Values that do not fit stand below.
            let line = match line.chars().count() + values.chars().count() <= width() {
                true => line + values,
                false => format!("{}\n{:2$}{values}", line.trim_end(), "", begins.len()),
            };
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}
