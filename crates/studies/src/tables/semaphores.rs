//! The tables of the reader-writer semaphore's patches: reader spinning (November 2020), handoff (October
//! 2017), wake-ups under AIM7 (October 2013).
//!
//! *Reader spinning*: each thread reads and writes in turn, because a mixed rate is published for one thread,
//! too; a critical section has pauses and nothing else. The machine's clock is not known, so the cost of a pause
//! is fitted. It is not known either where the threads ran. The column without the patch is met best if they fill
//! one socket after the other: with 20 pauses it falls from 16 threads to 32, which one socket does not hold, and
//! hardly between 4 and 16.
//!
//! *Handoff*: 60 threads only write, for 5 s. The printed rate cannot be one of exclusive sections of 1 us;
//! divided by the 60 threads it agrees with the counts of the threads, so that is how it is read here. It
//! is not known what a "1us sleep" was; its length is fitted. A run of milliseconds stands for 5 s: threads that did
//! at most one operation in it might do a second one later, so their number is an upper bound, and the
//! greatest is what the thread does at that pace. It is not known if the unpatched kernel was 4.14 or the parent of the
//! patch. The parent (`rwsem-v4_14_bits`), simulated with the numbers that were fitted for 4.14, is not closer to the
//! published rate and has no fewer threads with at most one operation.
//!
//! *AIM7*: the pattern of `high_systime` and not the benchmark, with [`TASKS`] tasks instead of 1500 users.
//! The profile says which part of all cycles the internal lock took, on its way through which function and
//! for which caller. What the function takes for others than the caller is as published without the patch
//! ([`elsewhere`]), because no other lock is simulated.

use super::measure::TableMeasure;
use super::row::{Key, Symbol, TableRow};
use super::table::{Quantity, SimulatedTable, TableThreads, Variable, column, depth};
use super::tasks;
use lockwright_core::events::Event;
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::aim7::Aim7Params;
use lockwright_measure::workload::counter::CounterParams;
use lockwright_measure::workload::handoff::{HandoffParams, Section};
use lockwright_measure::workload::{aim7, counter, handoff};
use lockwright_sim::StartState;
use lockwright_sim::machine::{Parameters, ThreadPlacement};

/// Lock operations in thousands per second.
const KOPS: TableMeasure = TableMeasure::Total(1e3);

/// Rows with these numbers of threads and pause instructions.
macro_rules! by_load {
    ($(($threads:literal, $load:literal)),+) => {
        &[$(TableRow {
            cs_load: $load,
            ..TableRow::of(&[Key::Number($threads), Key::Number($load)], $threads)
        }),+]
    };
}

#[rustfmt::skip]
const LOADS: &[TableRow] = by_load![
    (2, 1), (4, 1), (8, 1), (16, 1), (32, 1), (64, 1), (96, 1),
    (2, 20), (4, 20), (8, 20), (16, 20), (32, 20), (64, 20), (96, 20),
    (2, 100), (4, 100), (8, 100), (16, 100), (32, 100), (64, 100), (96, 100)
];

/// Readers and writers of one semaphore, half of each.
pub static READER_SPINNING: SimulatedTable = SimulatedTable {
    name: "rwsem_reader_spinning_cs_load_cascade_lake",
    about: "rwsem without reader spinning (November 2020): half of the operations read",
    machine: "cascade-lake-2s",
    keys: &["threads", "cs_load_pause_instructions"],
    rows: LOADS,
    fitted_rows: LOADS,
    workload: |_, _, row| {
        Workload::Counter(CounterParams {
            cs_load: row.cs_load,
            read_percent: 50,
            empty_section: true,
            ..CounterParams::USUAL
        })
    },
    runs_as: TableThreads::Threads(ThreadPlacement::Compact),
    columns: &[
        column("vanilla_kops_per_s", Quantity::Of("rwsem-v5_10", KOPS), 1.0),
        column("before_kops_per_s", Quantity::Of("rwsem-v5_10_before", KOPS), 0.0),
        column("limit_rspin_kops_per_s", Quantity::Of("rwsem-v5_10_limit_rspin", KOPS), 0.0),
        column("no_rspin_kops_per_s", Quantity::Of("rwsem-v5_10_no_rspin", KOPS), 0.0),
    ],
    software: &[
        Variable { name: counter::part::OUTSIDE, low: 20.0, high: 100.0 },
        Variable { name: counter::part::INSIDE, low: 10.0, high: 90.0 },
    ],
    search: depth(2, &[], 1_000, 3_000, 0),
    full: depth(4, &[], 3_000, 10_000, 0),
    quick: depth(2, &[], 2_000, 6_000, 0),
};

const UNPATCHED: &str = "rwsem-v4_14";
const HANDOFF: &str = "rwsem-v4_14_handoff";
const WRITERS: u32 = 60;
/// The printed rate for an operation per second of all threads.
const REPORTED_RATE: TableMeasure = TableMeasure::Total(1e3 / WRITERS as f64);

const HANDOFF_ROWS: &[TableRow] = &[
    TableRow {
        lock: Some(UNPATCHED),
        ..TableRow::of(&[Key::Word("unpatched"), Key::Number(WRITERS)], WRITERS)
    },
    TableRow {
        lock: Some(HANDOFF),
        ..TableRow::of(&[Key::Word("patched"), Key::Number(WRITERS)], WRITERS)
    },
];

/// How often each thread gets the semaphore.
///
/// The greatest number is printed as a lower bound, and least and counts of threads are small numbers of one
/// run: they count a tenth. The least is one operation, of which no error can be taken.
pub static FAIRNESS: SimulatedTable = SimulatedTable {
    name: "rwsem_handoff_fairness_2s40c80t",
    about: "rwsem with lock handoff (October 2017): operations of each of 60 writers",
    machine: "broadwell-2s-80t",
    keys: &["kernel", "threads"],
    rows: HANDOFF_ROWS,
    fitted_rows: HANDOFF_ROWS.split_at(1).0,
    workload: |parameters, _, _| {
        let section_ns = parameters.software_ns("handoff", handoff::SECTION_PART).round() as u64;
        Workload::Handoff(HandoffParams { section: Section::Sleep, section_ns })
    },
    runs_as: TableThreads::Threads(ThreadPlacement::Random),
    columns: &[
        column("reported_locking_rate_kops_per_s", Quantity::OfRow(REPORTED_RATE), 1.0),
        column("locking_rate_ratio_to_unpatched", Quantity::RowOver(UNPATCHED, REPORTED_RATE), 0.0),
        column("threads_with_one_operation", Quantity::OfRow(TableMeasure::AtMostOne), 0.1),
        column("min_ops_per_thread", Quantity::OfRow(TableMeasure::LeastOrOne(5.0)), 0.0),
        column("max_ops_per_thread", Quantity::OfRow(TableMeasure::Greatest(5.0)), 0.1),
    ],
    software: &[
        Variable { name: handoff::SECTION_PART, low: 1_500.0, high: 6_000.0 },
        Variable { name: handoff::part::OUTSIDE, low: 0.0, high: 1_000.0 },
    ],
    search: depth(2, &[], 0, 20_000, 0),
    full: depth(6, &[], 0, 200_000, 0),
    quick: depth(2, &[], 0, 60_000, 0),
};

const WITHOUT: &str = "rwsem-v3_12";
const WITH: &str = "rwsem-v3_12_wake_flag";
const WITH_SERIES: &str = "rwsem-v3_12_series_wake_flag";
/// Four for each CPU where hyper-threading is off: enough for a CPU whose task waits to find another task.
const TASKS: u32 = 320;
const LOCKS: u32 = 1;
const UNIT_OPS: u64 = 16;
/// Few.
const READ_PERCENT: u32 = 10;
const TASK_STARTS: &[StartState] = &[StartState::Running, StartState::Queued];

fn tasks(parameters: &Parameters) -> Workload {
    let ns = |part| parameters.software_ns(tasks::WORKLOAD, part).round() as u64;
    Workload::Aim7(Aim7Params {
        lock_count: LOCKS,
        unit_ops: UNIT_OPS,
        compute_ns: ns(aim7::COMPUTE_PART),
        section_ns: ns(aim7::SECTION_PART),
        read_percent: READ_PERCENT,
    })
}

const OFF: TableRow = TableRow { has_siblings: false, ..TableRow::of(&[Key::Word("off")], TASKS) };
const ON: TableRow = TableRow::of(&[Key::Word("on")], TASKS);

/// Jobs per minute.
pub static HIGH_SYSTIME: SimulatedTable = SimulatedTable {
    name: "rwsem_wakeup_aim7_high_systime_dl980",
    about: "rwsem with cheaper wake-ups (2013): AIM7 high_systime on 8 sockets",
    machine: "dl980",
    keys: &["hyperthreading"],
    rows: &[OFF, ON],
    fitted_rows: &[OFF, ON],
    workload: |parameters, _, _| tasks(parameters),
    runs_as: TableThreads::Kernel,
    columns: &[
        column("jpm_without_patch", Quantity::Of(WITHOUT, TableMeasure::JobsPerMinute), 1.0),
        column("jpm_with_patch", Quantity::Of(WITH, TableMeasure::JobsPerMinute), 0.0),
        column("change_percent", Quantity::Change("jpm_with_patch", "jpm_without_patch"), 0.0),
    ],
    software: &[
        Variable { name: aim7::COMPUTE_PART, low: 50_000.0, high: 1_000_000.0 },
        Variable { name: aim7::SECTION_PART, low: 20.0, high: 500.0 },
        Variable { name: tasks::JOB, low: 1e6, high: 3e7 },
    ],
    search: depth(1, TASK_STARTS, 20_000, 20_000, 0),
    full: depth(3, TASK_STARTS, 20_000, 60_000, 0),
    quick: depth(2, TASK_STARTS, 20_000, 20_000, 0),
};

/// The same with all nine patches of the series, which was published without hyper-threading. Nothing is fitted to it:
/// the kernel without the patches is the one of [`HIGH_SYSTIME`].
pub static WHOLE_SERIES: SimulatedTable = SimulatedTable {
    name: "rwsem_wakeup_aim7_whole_series_dl980",
    about: "rwsem with the whole series of 2013: AIM7 high_systime on 8 sockets",
    rows: &[OFF],
    fitted_rows: &[],
    columns: &[
        column("jpm_without_patches", Quantity::Of(WITHOUT, TableMeasure::JobsPerMinute), 0.0),
        column("jpm_with_patches", Quantity::Of(WITH_SERIES, TableMeasure::JobsPerMinute), 0.0),
        column("change_percent", Quantity::Change("jpm_with_patches", "jpm_without_patches"), 0.0),
    ],
    software: &[],
    ..HIGH_SYSTIME
};

/// Percentage of cycles that a symbol takes for others than a caller that has a share of it.
const fn elsewhere(self_percent: f64, share_percent: f64) -> f64 {
    self_percent * (100.0 - share_percent) / 100.0
}

const IRQSAVE: Symbol =
    Symbol { event: Event::wait_lock_wake_ns, elsewhere_percent: elsewhere(7.64, 41.77) };
const IRQ: Symbol =
    Symbol { event: Event::wait_lock_write_ns, elsewhere_percent: elsewhere(1.61, 92.37) };

/// A key of words.
macro_rules! words {
    ($($word:literal),+) => { &[$(Key::Word($word)),+] };
}
/// Rows of the profile of a kernel: the release's way into the internal lock, and the writers'.
macro_rules! profiled {
    ($($kernel:literal $lock:ident),+) => {
        &[$(
            TableRow {
                lock: Some($lock),
                symbol: Some(IRQSAVE),
                key: words!["off", $kernel, "_raw_spin_lock_irqsave", "rwsem_wake"],
                ..OFF
            },
            TableRow {
                lock: Some($lock),
                symbol: Some(IRQ),
                key: words!["off", $kernel, "_raw_spin_lock_irq", "rwsem_down_write_failed"],
                ..OFF
            },
        )+]
    };
}

/// Where the cycles go, without hyper-threading.
pub static PROFILE: SimulatedTable = SimulatedTable {
    name: "rwsem_wakeup_perf_profile_dl980",
    about: "rwsem with cheaper wake-ups: where the CPU time of that run goes",
    keys: &["hyperthreading", "kernel", "symbol", "caller"],
    rows: profiled!["without_patch" WITHOUT, "with_patch" WITH],
    fitted_rows: profiled!["without_patch" WITHOUT],
    columns: &[
        column("self_percent_of_cycles", Quantity::OfRow(TableMeasure::OfCycles), 1.0),
        column("caller_share_of_symbol_percent", Quantity::OfRow(TableMeasure::OfFunction), 1.0),
    ],
    software: &[],
    ..HIGH_SYSTIME
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{TableDepth, TableJob, run};
    use lockwright_catalog::registry::LOCKS;
    use lockwright_measure::simulated::SimulatedMachine;
    use lockwright_sim::machine::Machine;

    const TABLES: [&SimulatedTable; 5] =
        [&READER_SPINNING, &FAIRNESS, &HIGH_SYSTIME, &WHOLE_SERIES, &PROFILE];

    /// The middle of each range.
    fn parameters(table: &SimulatedTable) -> Parameters {
        let middle =
            |variable: &Variable| (variable.name.to_string(), (variable.low + variable.high) / 2.0);
        let software = table.software.iter().chain(HIGH_SYSTIME.software).map(middle).collect();
        let workload = (table.workload)(&Parameters::default(), &table.search, &table.rows[0]);
        let software = [(workload.name().to_string(), software)].into();
        Parameters { software, ..Parameters::default() }
    }

    /// The cells of a row, with the name of their column.
    fn cells(table: &'static SimulatedTable, row: TableRow) -> Vec<(&'static str, f64)> {
        let machine = Machine::builtin(table.machine).expect("it is built in");
        let depth = TableDepth { seeds: 1, warmup_us: 200, window_us: 1_000, ..table.search };
        let machine =
            SimulatedMachine::fitted_with(&machine, &parameters(table)).expect("it is sound");
        let (rows, locks) = ([row], table.locks());
        let job = TableJob {
            table,
            machine: &machine,
            depth: &depth,
            rows: &rows,
            locks: &locks,
            seed: 1,
        };
        let runs = match run(&[job], None, &|_| ()) {
            Ok(runs) => runs,
            Err(error) => panic!("{}, {}: {error}", table.name, row.label()),
        };
        table.columns.iter().map(|column| (column.name, runs[0].mean(0, column))).collect()
    }

    #[test]
    fn every_lock_of_these_tables_is_in_the_registry() {
        for table in TABLES {
            for lock in table.locks() {
                assert!(LOCKS.iter().any(|row| row.name == lock), "{}: {lock}", table.name);
            }
        }
    }

    #[test]
    fn the_first_and_the_last_row_of_each_table_have_a_number_in_each_column() {
        for table in TABLES {
            for row in [table.rows[0], table.rows[table.rows.len() - 1]] {
                for (name, value) in cells(table, row) {
                    assert!(
                        value.is_finite(),
                        "{}, {}: {name} is {value}",
                        table.name,
                        row.label()
                    );
                }
            }
        }
    }

    #[test]
    fn a_row_of_patched_code_is_about_its_lock_and_relative_to_the_other() {
        let of = |cells: &[(&str, f64)], name| {
            cells.iter().find(|(column, _)| *column == name).map(|(_, value)| *value)
        };
        let [unpatched, patched] = [0, 1].map(|row| cells(&FAIRNESS, FAIRNESS.rows[row]));
        let rate = "reported_locking_rate_kops_per_s";
        let ratio = "locking_rate_ratio_to_unpatched";
        assert_eq!(of(&unpatched, ratio), Some(1.0));
        let quotient =
            of(&patched, rate).zip(of(&unpatched, rate)).map(|(over, under)| over / under);
        assert_eq!(of(&patched, ratio), quotient);
    }

    #[test]
    fn without_hyper_threading_fewer_cpus_are_busy() {
        let [off, on] = [OFF, ON].map(|row| cells(&HIGH_SYSTIME, row));
        assert!(off[0].1 > 0.0 && on[0].1 > 0.0, "{off:?}, {on:?}");
        assert_ne!(off[0].1, on[0].1, "the second threads are used in one of them");
    }

    #[test]
    fn what_others_take_of_a_function_is_the_rest_of_its_published_share() {
        let caller = |row: &TableRow, percent: f64, share: f64| {
            let elsewhere = row.symbol.map_or(0.0, |symbol| symbol.elsewhere_percent);
            assert!((percent * share / 100.0 + elsewhere - percent).abs() < 1e-9);
        };
        caller(&PROFILE.rows[0], 7.64, 41.77);
        caller(&PROFILE.rows[1], 1.61, 92.37);
    }
}
