//! The matrix: which cells are compared. It is part of the source, so that two results are of the same work.

use super::real_use::{SLEEPERS, real_use};
use lockwright_measure::error::Error;
use lockwright_measure::subject::is_match;
use lockwright_measure::suggest::nearest;
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::counter::CounterParams;
use lockwright_measure::workload::uncontended::UncontendedParams;
use serde::Serialize;
use std::sync::LazyLock;

/// A cell of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CompareCell {
    /// What `--cell` calls it: `pair`, or the pauses in the critical section and the threads; with
    /// readers `read-pair` and the threads, or the percentage that reads before all that. Cells of real use have names
    /// of their own.
    pub name: &'static str,
    /// What the threads do.
    pub workload: Workload,
    /// How many threads.
    pub threads: usize,
    /// What is compared in it.
    pub kind: CellKind,
    /// True if another thread computes on every CPU meanwhile.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_neighbours: bool,
}

/// What is compared in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum CellKind {
    /// A lock and an unlock by a thread that does not have to wait.
    Pair,
    /// One owner at a time.
    Exclusive,
    /// Owners, and readers that share the lock.
    Rw,
    /// Bounded queues of a lock and condition variables.
    Queue,
    /// Sections of microseconds, in which the owner computes or sleeps.
    Blocking,
    /// Maps, caches, sharded counters, threads that come and go, attempts with a deadline, many threads.
    Work,
    /// Readers sleep in their sections. These cells run only if they are asked for.
    Sleep,
}

/// Cells that are taken together: those of a kind without neighbours, or those of every kind with a busy neighbour on
/// every CPU.
pub struct CellGroup {
    /// In documents.
    pub key: &'static str,
    /// In sentences: what one is called, and what follows the noun.
    pub noun: [&'static str; 2],
    kind: Option<CellKind>,
}

impl CellGroup {
    const fn of(
        key: &'static str,
        noun: &'static str,
        more: &'static str,
        kind: Option<CellKind>,
    ) -> Self {
        Self { key, noun: [noun, more], kind }
    }
    /// True if `cell` is one of them.
    pub fn has(&self, cell: &CompareCell) -> bool {
        match self.kind {
            Some(kind) => cell.kind == kind && !cell.has_neighbours,
            None => cell.has_neighbours && cell.kind != CellKind::Sleep,
        }
    }
}

/// All of them.
pub const GROUPS: [CellGroup; 6] = [
    CellGroup::of("exclusive", "exclusive cell", "", Some(CellKind::Exclusive)),
    CellGroup::of("rw", "cell", " with readers", Some(CellKind::Rw)),
    CellGroup::of("queue", "queue cell", "", Some(CellKind::Queue)),
    CellGroup::of("blocking", "blocking cell", "", Some(CellKind::Blocking)),
    CellGroup::of("work", "work cell", "", Some(CellKind::Work)),
    CellGroup::of("busy", "cell", " with a busy neighbour on every CPU", None),
];

impl CellKind {
    /// The kinds of the cells of real use that run without being asked for.
    pub const REAL_USE: [Self; 3] = [Self::Queue, Self::Blocking, Self::Work];

    /// True if its cells do what programs do.
    pub fn is_real_use(self) -> bool {
        Self::REAL_USE.contains(&self) || self == Self::Sleep
    }
    /// In documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Exclusive => "exclusive",
            Self::Rw => "rw",
            Self::Queue => "queue",
            Self::Blocking => "blocking",
            Self::Work => "work",
            Self::Sleep => "sleep",
        }
    }
}

impl CompareCell {
    /// What is compared in it.
    pub fn kind(&self) -> CellKind {
        self.kind
    }
    /// Of 100 operations, those that read.
    pub fn readers(&self) -> u32 {
        self.workload.reads()
    }
    /// True if it is for locks that readers share.
    pub fn has_readers(&self) -> bool {
        self.readers() > 0
    }
    /// The most operations per second that the CPUs and the lock let through, if that is known beforehand. `cpus` are
    /// those that the cell can use. Threads and neighbours have the same share of each.
    pub fn bound(&self, cpus: f64) -> Option<f64> {
        let used = cpus.min(self.threads as f64);
        let on_each = (self.threads as f64 / cpus.max(1.0)).max(1.0);
        let share = if self.has_neighbours { on_each / (on_each + 1.0) } else { 1.0 };
        self.workload.bound(used * share)
    }
    /// Pauses inside and outside the critical section.
    pub fn loads(&self) -> (u32, u32) {
        match self.workload {
            Workload::Counter(it) => (it.cs_load, it.think_load),
            _ => (0, 0),
        }
    }
    /// True if the floors, the least that a pair can cost, are measured next to it.
    pub fn has_floors(&self) -> bool {
        matches!(self.workload, Workload::Uncontended(_))
    }
    /// True if it is there to compare the shares of the threads: then its waits are timed long enough for
    /// the scheduler's shares to be even.
    pub fn is_for_shares(&self) -> bool {
        self.kind() == CellKind::Exclusive && (self.loads().0, self.threads) == SHARES
    }
    /// True if one thread alone is measured next to it: threads that do nothing outside of a long critical
    /// section cannot be faster together than one alone, and with a good lock they are not slower.
    pub fn has_single_thread(&self) -> bool {
        let has_nothing_else = matches!(self.loads(), (cs_load, 0) if cs_load >= LONG_LOAD);
        self.kind() == CellKind::Exclusive && has_nothing_else
    }
}

/// Pauses in the section and threads of the cell in which shares are compared.
pub const SHARES: (u32, usize) = (20, 32);

/// From this number of pauses on, a critical section is long compared with what a lock costs.
const LONG_LOAD: u32 = 100;

/// All cells, in the order in which they run, but those of kind `sleep`.
pub static MATRIX: LazyLock<Vec<CompareCell>> =
    LazyLock::new(|| counters().into_iter().chain(real_use()).collect());

/// The cells in which threads increment counters.
fn counters() -> Vec<CompareCell> {
    let cell = |name: String, kind, workload, threads| {
        // As long as the process.
        CompareCell { name: name.leak(), workload, threads, kind, has_neighbours: false }
    };
    let pair = Workload::Uncontended(UncontendedParams {});
    let mut all = vec![cell("pair".into(), CellKind::Pair, pair, 1)];
    for (cs_load, think_load) in [(1, 0), (20, 100), (100, 0)] {
        all.extend([2, 4, 8, 16, 32, 64].map(|threads| {
            let workload = Workload::counter(cs_load, think_load);
            cell(format!("cs{cs_load}-t{threads}"), CellKind::Exclusive, workload, threads)
        }));
    }
    let reads =
        |read_percent, cs_load| CounterParams { read_percent, cs_load, ..CounterParams::USUAL };
    all.extend([1, 2].map(|threads| {
        let workload = Workload::Counter(CounterParams { empty_section: true, ..reads(100, 0) });
        cell(format!("read-pair-t{threads}"), CellKind::Pair, workload, threads)
    }));
    for percent in [50, 90, 99, 100] {
        for cs_load in [1, 20, 100] {
            all.extend([2, 8, 32].map(|threads| {
                let name = format!("r{percent}-cs{cs_load}-t{threads}");
                cell(name, CellKind::Rw, Workload::Counter(reads(percent, cs_load)), threads)
            }));
        }
    }
    all
}

/// The cells that `patterns` name and that are of one of `kinds`, in the order of the matrix. No pattern and no
/// kind stand for all but those of kind `sleep`, which a pattern names only if it begins like them.
pub fn select(patterns: &[String], kinds: &[CellKind]) -> Result<Vec<CompareCell>, Error> {
    let patterns: Vec<&str> = patterns.iter().map(|pattern| pattern.trim()).collect();
    let has_sleepers = kinds.contains(&CellKind::Sleep)
        || patterns.iter().any(|pattern| pattern.starts_with(CellKind::Sleep.name()));
    let sleepers = if has_sleepers { &SLEEPERS[..] } else { &[] };
    let all = || MATRIX.iter().chain(sleepers).copied();
    for pattern in &patterns {
        if all().any(|cell| is_match(pattern, cell.name)) {
            continue;
        }
        let shown: String = pattern.chars().filter(|c| !c.is_control()).take(60).collect();
        let near = nearest(pattern, all().map(|cell| cell.name));
        let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        return Err(Error::usage(format!(
            "no cell matches `{shown}`; {hint}--cell takes `pair`, names such as `cs20-t8` (20 pause \
             instructions in the critical section, 8 threads), `r90-cs20-t8` (90 % of the operations read) and \
             `q10/1/100-all` (a queue), and patterns such as 'read-pair-*'"
        )));
    }
    let is_chosen = |cell: &CompareCell| {
        (patterns.is_empty() || patterns.iter().any(|p| is_match(p, cell.name)))
            && (kinds.is_empty() || kinds.contains(&cell.kind()))
    };
    let chosen: Vec<CompareCell> = all().filter(is_chosen).collect();
    match chosen.is_empty() {
        true => Err(Error::usage("no cell of --cell is of that --kind: leave out one of the two")),
        false => Ok(chosen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(patterns: &[&str], kinds: &[CellKind]) -> Vec<&'static str> {
        let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
        let cells = select(&patterns, kinds).expect("known cells");
        cells.iter().map(|cell| cell.name).collect()
    }

    fn names(patterns: &[&str]) -> Vec<&'static str> {
        chosen(patterns, &[])
    }

    #[test]
    fn a_name_says_what_is_in_the_cell() {
        for cell in counters().iter().filter(|cell| cell.kind() != CellKind::Pair) {
            let (cs_load, think_load) = cell.loads();
            let readers = match cell.readers() {
                0 => String::new(),
                percent => format!("r{percent}-"),
            };
            assert_eq!(cell.name, format!("{readers}cs{cs_load}-t{}", cell.threads));
            let thinks = cs_load == 20 && !cell.has_readers();
            assert_eq!(think_load, if thinks { 100 } else { 0 });
        }
    }

    #[test]
    fn every_load_is_combined_with_every_number_of_threads_once() {
        let threads = [2, 4, 8, 16, 32, 64];
        let all = [1, 20, 100].iter().flat_map(|cs| threads.map(|t| format!("cs{cs}-t{t}")));
        let expected: Vec<String> = all.collect();
        assert_eq!(chosen(&[], &[CellKind::Exclusive]), expected);
        let loads = [1, 20, 100].map(|cs| [2, 8, 32].map(|t| format!("cs{cs}-t{t}")));
        let loads = loads.as_flattened();
        let all = [50, 90, 99, 100].map(|r| loads.iter().map(move |load| format!("r{r}-{load}")));
        let expected: Vec<String> = all.into_iter().flatten().collect();
        assert_eq!(chosen(&[], &[CellKind::Rw]), expected);
        assert_eq!(chosen(&[], &[CellKind::Pair]), ["pair", "read-pair-t1", "read-pair-t2"]);
    }

    #[test]
    fn no_two_cells_have_one_name_and_every_kind_is_what_the_workload_is() {
        let mut names: Vec<_> = MATRIX.iter().map(|cell| cell.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), MATRIX.len());
        for cell in counters() {
            let expected = match cell.workload {
                Workload::Uncontended(_) => CellKind::Pair,
                Workload::Counter(it) if it.empty_section => CellKind::Pair,
                _ if cell.has_readers() => CellKind::Rw,
                _ => CellKind::Exclusive,
            };
            assert_eq!((cell.kind(), cell.has_neighbours), (expected, false), "{}", cell.name);
        }
    }

    /// What stands behind this key of a goal in its file.
    fn value<'a>(goal: &'a str, key: &str) -> Option<&'a str> {
        goal.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))
    }

    #[test]
    fn every_goal_of_the_project_is_about_as_many_cells_as_it_says() {
        let goals = include_str!("../../../../../xtask/goals.toml");
        for goal in goals.split("[[goal]]").skip(1) {
            let names = value(goal, "names").map_or_else(Vec::new, |names| {
                names.split('"').skip(1).step_by(2).collect::<Vec<_>>()
            });
            let is_meant = |cell: &&CompareCell| match value(goal, "kind") {
                None => names.iter().any(|name| is_match(name, cell.name)),
                Some(kind) => {
                    let is_asked = |group: &&CellGroup| group.key == kind.trim_matches('"');
                    GROUPS.iter().find(is_asked).is_some_and(|group| group.has(cell))
                }
            };
            let count = MATRIX.iter().filter(is_meant).count().to_string();
            assert_eq!(value(goal, "cells"), Some(&*count), "{goal}");
        }
    }

    #[test]
    fn what_is_compared_of_one_kind_of_locks_is_not_of_the_other() {
        let beside = |cell: &&CompareCell| cell.is_for_shares() || cell.has_single_thread();
        assert!(MATRIX.iter().filter(beside).all(|cell| cell.kind() == CellKind::Exclusive));
        assert_eq!(MATRIX.iter().filter(|cell| cell.is_for_shares()).count(), 1);
    }

    #[test]
    fn cells_are_chosen_by_name_by_pattern_and_by_kind_in_the_order_of_the_matrix() {
        let t32 = ["pair", "cs1-t32", "cs20-t32", "cs100-t32", "cs20us-x4-t32"];
        assert_eq!(names(&["cs*-t32", " pair"]), t32);
        assert_eq!(chosen(&["*-cs1-t2"], &[CellKind::Rw])[..2], ["r50-cs1-t2", "r90-cs1-t2"]);
        assert_eq!(
            chosen(&["*1-t2", "*pair*"], &[CellKind::Exclusive, CellKind::Pair])[..2],
            ["pair", "cs1-t2"]
        );
        let sleepers = chosen(&[], &[CellKind::Sleep]);
        assert_eq!(chosen(&["sleep*"], &[]), sleepers);
        assert!(!names(&["*"]).contains(&sleepers[0]) && names(&["*-t16*"])[0] == "cs1-t16");
        let error = select(&["cs1-t9".into()], &[]).expect_err("no such cell").to_string();
        assert!(error.contains("`cs1-t") && error.contains("--cell "), "{error}");
        let error =
            select(&["cs1-*".into()], &[CellKind::Rw]).expect_err("no such cell").to_string();
        assert!(error.contains("--kind"), "{error}");
    }
}
