//! The process of a simulated machine, as far as it claims slots to read in. In explorations only: in other runs each
//! thread has the slot with its number, so that a claim takes no time.

use crate::park::SleepSlots;
use crate::platform::Sim;
use core::cell::Cell;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, AtomicUsize};
use lockwright::percpu_rwlock::ReaderSlot;
use lockwright_core::held::HeldTable;

/// The words, and where the slots are.
pub struct Claims {
    pub slots: Vec<NonNull<ReaderSlot<Sim>>>,
    pub held: Vec<NonNull<HeldTable<Sim>>>,
    pub owners: Vec<AtomicU64>,
    pub used: AtomicUsize,
    pub next: AtomicUsize,
    pub life: AtomicU64,
    pub handles_forks: Cell<bool>,
}

impl Claims {
    /// With the first `count` slots, which stay where they are for as long as the claims are used.
    pub fn new(memory: &SleepSlots, count: usize) -> Self {
        let numbers = 0..count.min(memory.reader_slots());
        Self {
            slots: numbers.clone().map(|at| memory.reader_slot(at)).collect(),
            held: numbers.clone().map(|at| memory.held(at)).collect(),
            owners: numbers.map(|_| AtomicU64::new(0)).collect(),
            used: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            life: AtomicU64::new(0),
            handles_forks: Cell::new(false),
        }
    }
}
