//! The rows of tables: what they are called, and what of their cells is their own.

use lockwright_core::events::Event;
use serde::Serialize;
use std::fmt;

/// A row of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableRow {
    /// What stands in the columns that are its table's key, in their order.
    pub key: &'static [Key],
    /// The number of threads or vCPUs that run.
    pub threads: u32,
    /// Pause instructions in a section, if that distinguishes rows.
    pub cs_load: u32,
    /// The lock, if that distinguishes rows and not columns.
    pub lock: Option<&'static str>,
    /// True if the second hardware threads of the cores are used.
    pub has_siblings: bool,
    /// What a profile says it is about.
    pub symbol: Option<Symbol>,
}

/// What stands in a column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Key {
    /// How many.
    Number(u32),
    /// Which.
    Word(&'static str),
}

/// A function in a profile, and one of its callers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Symbol {
    /// What the lock counts there, in nanoseconds.
    pub event: Event,
    /// Percentage of all cycles that the function takes for other callers, with which the simulated lock
    /// has nothing to do.
    pub elsewhere_percent: f64,
}

impl TableRow {
    /// A row with this number of threads.
    pub const fn of(key: &'static [Key], threads: u32) -> Self {
        Self { key, threads, cs_load: 0, lock: None, has_siblings: true, symbol: None }
    }
    /// The name of the row: its key.
    pub fn label(&self) -> String {
        self.key.iter().map(Key::to_string).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// Rows whose key is the number of threads.
macro_rules! by_threads {
    ($($threads:literal),+) => {
        &[$($crate::tables::TableRow::of(&[$crate::tables::Key::Number($threads)], $threads)),+]
    };
}
pub(super) use by_threads;
