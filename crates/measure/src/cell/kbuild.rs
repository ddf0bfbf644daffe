//! The knobs of the workload `kbuild`.

use crate::workload::kbuild::BuildParams;
use serde::Serialize;

/// The knobs in documents.
#[derive(Serialize)]
#[serde(remote = "BuildParams")]
pub struct InDocuments {
    units: u64,
    unit_ops: u64,
    lock_count: u32,
    hot_locks: u32,
    hot_percent: u32,
    serial_percent: u32,
    compute_ns: u64,
    section_ns: u64,
    io_ns: u64,
}
