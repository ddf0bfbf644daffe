//! The matrix: which cells are compared. It is part of the source, so that two results are of the same work.

use crate::cell::Workload;
use crate::error::Error;
use crate::subject::is_match;
use crate::suggest::nearest;
use serde::Serialize;

/// A cell of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What `--cells` calls it: `pair`, or the pauses in the critical section and the threads.
    pub name: &'static str,
    /// What the threads do.
    pub workload: Workload,
    /// How many threads.
    pub threads: usize,
}

/// What is compared in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A lock and an unlock that nobody disturbs.
    Pair,
    /// One owner at a time.
    Exclusive,
}

impl Cell {
    const PAIR: Self = Self { name: "pair", workload: Workload::Uncontended, threads: 1 };

    const fn counter(name: &'static str, cs_load: u32, think_load: u32, threads: usize) -> Self {
        Self { name, workload: Workload::counter(cs_load, think_load), threads }
    }
    /// What is compared in it.
    pub fn kind(&self) -> Kind {
        if self.workload == Workload::Uncontended { Kind::Pair } else { Kind::Exclusive }
    }
    /// Pauses inside and outside the critical section.
    pub fn loads(&self) -> (u32, u32) {
        match self.workload {
            Workload::Counter { cs_load, think_load, .. } => (cs_load, think_load),
            _ => (0, 0),
        }
    }
    /// Whether the shares of the threads are what it is for: then its waits are timed for so long that the
    /// scheduler's shares are even.
    pub fn is_for_shares(&self) -> bool {
        (self.loads().0, self.threads) == SHARES
    }
    /// Whether one thread alone is measured beside it: where nobody has anything to do but in the
    /// critical section, more threads cannot be faster, and a good lock is not slower.
    pub fn has_single_thread(&self) -> bool {
        matches!(self.loads(), (cs_load, 0) if cs_load >= LONG_LOAD)
    }
}

/// Pauses in the section and threads of the cell in which shares are compared.
pub const SHARES: (u32, usize) = (20, 32);

/// From so many pauses on a critical section is long beside what a lock costs.
const LONG_LOAD: u32 = 100;

/// All cells, in the order in which they run.
pub const MATRIX: &[Cell] = &[
    Cell::PAIR,
    Cell::counter("cs1-t2", 1, 0, 2),
    Cell::counter("cs1-t4", 1, 0, 4),
    Cell::counter("cs1-t8", 1, 0, 8),
    Cell::counter("cs1-t16", 1, 0, 16),
    Cell::counter("cs1-t32", 1, 0, 32),
    Cell::counter("cs1-t64", 1, 0, 64),
    Cell::counter("cs20-t2", 20, 100, 2),
    Cell::counter("cs20-t4", 20, 100, 4),
    Cell::counter("cs20-t8", 20, 100, 8),
    Cell::counter("cs20-t16", 20, 100, 16),
    Cell::counter("cs20-t32", 20, 100, 32),
    Cell::counter("cs20-t64", 20, 100, 64),
    Cell::counter("cs100-t2", 100, 0, 2),
    Cell::counter("cs100-t4", 100, 0, 4),
    Cell::counter("cs100-t8", 100, 0, 8),
    Cell::counter("cs100-t16", 100, 0, 16),
    Cell::counter("cs100-t32", 100, 0, 32),
    Cell::counter("cs100-t64", 100, 0, 64),
];

/// The cells that `patterns` name, in the order of the matrix; all of them if there are none.
pub fn select(patterns: &[String]) -> Result<Vec<Cell>, Error> {
    let patterns: Vec<&str> = patterns.iter().map(|pattern| pattern.trim()).collect();
    for pattern in &patterns {
        if MATRIX.iter().any(|cell| is_match(pattern, cell.name)) {
            continue;
        }
        let shown: String = pattern.chars().filter(|c| !c.is_control()).take(60).collect();
        let near = nearest(pattern, MATRIX.iter().map(|cell| cell.name));
        let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        return Err(Error::usage(format!(
            "no cell matches `{shown}`; {hint}--cells takes `pair`, and the pauses in the section (1, 20 or \
             100) with the threads (2 to 64), such as `cs1-t8`, 'cs20-*' or '*-t32'"
        )));
    }
    let is_chosen =
        |cell: &Cell| patterns.is_empty() || patterns.iter().any(|p| is_match(p, cell.name));
    Ok(MATRIX.iter().copied().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(patterns: &[&str]) -> Vec<&'static str> {
        let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
        select(&patterns).expect("known cells").iter().map(|cell| cell.name).collect()
    }

    #[test]
    fn a_name_says_what_is_in_the_cell() {
        for cell in MATRIX.iter().filter(|cell| cell.kind() == Kind::Exclusive) {
            let (cs_load, think_load) = cell.loads();
            assert_eq!(cell.name, format!("cs{cs_load}-t{}", cell.threads));
            assert_eq!(think_load, if cs_load == 20 { 100 } else { 0 });
        }
    }

    #[test]
    fn every_load_is_combined_with_every_number_of_threads_once() {
        let threads = [2, 4, 8, 16, 32, 64];
        let all = [1, 20, 100].iter().flat_map(|cs| threads.map(|t| format!("cs{cs}-t{t}")));
        let expected: Vec<String> = std::iter::once("pair".into()).chain(all).collect();
        assert_eq!(names(&[]), expected);
    }

    #[test]
    fn cells_are_chosen_by_name_and_by_pattern_in_the_order_of_the_matrix() {
        assert_eq!(names(&["*-t32", " pair"]), ["pair", "cs1-t32", "cs20-t32", "cs100-t32"]);
        let error = select(&["cs1-t9".into()]).expect_err("no such cell").to_string();
        assert!(error.contains("`cs1-t") && error.contains("--cells"), "{error}");
    }
}
