//! The tables of CNA v10, on the Oracle X5-4.
//!
//! The ranges of what is fitted, and why. *outside* is less than what a cell of one thread leaves for it, and
//! *inside* is instructions without misses: three 64-bit divisions and two indirect calls with retpolines
//! in locktorture, 60 to 80 ns on that processor; a few dozen to some hundred instructions elsewhere.

use super::measure::TableMeasure;
use super::row::{TableRow, by_threads};
use super::table::{Quantity, SimulatedTable, TableColumn, TableThreads, Variable, column, depth};
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::locktorture::LocktortureParams;
use lockwright_measure::workload::{lock2, locktorture, open1, readrandom};
use lockwright_sim::machine::ThreadPlacement;

const ROWS: &[TableRow] = by_threads![1, 2, 4, 8, 16, 32, 36, 72, 108, 142];
const STOCK: &str = "qspinlock";
const CNA: &str = "cna";

/// Lock operations of a lock, in this unit.
const fn total(lock: &'static str, unit: f64) -> Quantity {
    Quantity::Of(lock, TableMeasure::Total(unit))
}

/// Both locks in operations per microsecond.
const PER_US: &[TableColumn] = &[
    column("stock_ops_per_us", total(STOCK, 1e6), 1.0),
    column("patch_cna_ops_per_us", total(CNA, 1e6), 0.0),
    column(
        "speedup_patch_cna_over_stock",
        Quantity::Ratio("patch_cna_ops_per_us", "stock_ops_per_us"),
        0.0,
    ),
];

/// 30 s, in units of 10^7 operations. Threads are not pinned. Runs of milliseconds: random placement needs many of them
/// below 32 threads.
pub static LOCKTORTURE: SimulatedTable = SimulatedTable {
    name: "cna_v10_locktorture_x5_4",
    about: "CNA version 10 (April 2020): the kernel's locktorture on a 4-socket Oracle X5-4",
    machine: "x5-4",
    keys: &["threads"],
    rows: ROWS,
    fitted_rows: ROWS,
    workload: |_, _, _| Workload::Locktorture(LocktortureParams::USUAL),
    runs_as: TableThreads::Threads(ThreadPlacement::Scheduler56),
    columns: &[
        column("stock_ops_1e7", total(STOCK, 1e7 / 30.0), 1.0),
        column("patch_cna_ops_1e7", total(CNA, 1e7 / 30.0), 0.0),
        column(
            "speedup_patch_cna_over_stock",
            Quantity::Ratio("patch_cna_ops_1e7", "stock_ops_1e7"),
            0.0,
        ),
    ],
    software: &[
        Variable { name: locktorture::part::OUTSIDE, low: 0.0, high: 55.0 },
        Variable { name: locktorture::part::INSIDE, low: 60.0, high: 80.0 },
    ],
    search: depth(8, &[], 200, 500, 0),
    full: depth(24, &[], 200, 1_000, 0),
    quick: depth(6, &[], 200, 1_000, 0),
};

/// Threads are pinned to the cores in the order of the sockets, then to their siblings.
pub static OPEN1: SimulatedTable = SimulatedTable {
    name: "cna_v10_will_it_scale_open1_threads_x5_4",
    about: "CNA version 10: will-it-scale open1_threads on the same machine",
    workload: |_, _, _| Workload::Open1(open1::Open1Params {}),
    runs_as: TableThreads::Threads(ThreadPlacement::Compact),
    columns: PER_US,
    software: &[
        Variable { name: open1::part::OUTSIDE, low: 600.0, high: 978.0 },
        Variable { name: open1::part::INSIDE, low: 10.0, high: 150.0 },
    ],
    search: depth(2, &[], 300, 800, 0),
    full: depth(8, &[], 300, 1_500, 0),
    quick: depth(3, &[], 300, 1_500, 0),
    ..LOCKTORTURE
};

/// As [`OPEN1`].
pub static LOCK2: SimulatedTable = SimulatedTable {
    name: "cna_v10_will_it_scale_lock2_threads_x5_4",
    about: "CNA version 10: will-it-scale lock2_threads on the same machine",
    workload: |_, _, _| Workload::Lock2(lock2::Lock2Params {}),
    software: &[
        Variable { name: lock2::part::OUTSIDE, low: 400.0, high: 632.0 },
        Variable { name: lock2::part::INSIDE, low: 0.0, high: 80.0 },
    ],
    search: depth(2, &[], 200, 800, 0),
    full: depth(8, &[], 200, 1_500, 0),
    quick: depth(3, &[], 200, 1_500, 0),
    ..OPEN1
};

/// Threads are not pinned. Sleeping takes tens of microseconds, so the runs are longer.
pub static READRANDOM: SimulatedTable = SimulatedTable {
    name: "cna_v10_leveldb_readrandom_x5_4",
    about: "CNA version 10: leveldb readrandom on the same machine",
    workload: |_, _, _| Workload::Readrandom(readrandom::ReadrandomParams {}),
    columns: PER_US,
    software: &[
        Variable { name: readrandom::part::OUTSIDE, low: 1_000.0, high: 1_887.0 },
        Variable { name: readrandom::part::INSIDE, low: 20.0, high: 300.0 },
        Variable { name: readrandom::part::ENTRY, low: 50.0, high: 800.0 },
    ],
    search: depth(4, &[], 500, 1_500, 0),
    full: depth(12, &[], 1_000, 4_000, 0),
    quick: depth(4, &[], 500, 3_000, 0),
    ..LOCKTORTURE
};
