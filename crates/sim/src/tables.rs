//! What the locks of a run keep outside of themselves.

use crate::claims::Claims;
use crate::metadata::MetadataTable;
use crate::nodes::{LockHashTable, NodeTable};
use crate::park::SleepSlots;
use std::rc::Rc;

/// The storage that the platform lends to the locks.
pub struct LockTables {
    pub nodes: NodeTable,
    pub hash: LockHashTable,
    pub sleepers: SleepSlots,
    pub metadata: MetadataTable,
    /// How many threads have a slot to read in.
    pub readers: usize,
    /// Who has which of these slots, in an exploration.
    pub claims: Rc<Claims>,
}
