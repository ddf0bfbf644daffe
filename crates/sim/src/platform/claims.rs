//! Simulated threads claim slots.

use super::Sim;
use crate::claims::Claims;
use crate::switch::Here;
use core::sync::atomic::{AtomicU64, AtomicUsize};
use lockwright::percpu_rwlock::ReaderSlot;
use lockwright::percpu_rwlock::claims::{self, Process};
use lockwright_core::held::HeldTable;
use std::rc::Rc;

impl Claims {
    /// Those of an explored run.
    pub fn get(here: Here) -> Option<Rc<Self>> {
        here.with(|engine| engine.is_exploring().then(|| Rc::clone(&engine.tables.claims)))
    }
    /// The slot of the calling thread.
    pub fn claimed(&self) -> Option<usize> {
        self.mine().or_else(|| claims::claim(self))
    }
    /// The handlers of `fork` run in the child, if they are registered.
    pub fn run_handlers(&self) {
        if self.handles_forks.get() {
            claims::begin_life(self);
        }
    }
}

fn here() -> Here {
    Here::expect("a reader's slot")
}

impl Process for Claims {
    type Platform = Sim;
    /// So that it happens in short schedules.
    const FEW: usize = 1;
    const LOOKS_MAX: usize = 64;

    fn slots_max(&self) -> usize {
        self.slots.len()
    }
    fn slot(&self, at: usize) -> &ReaderSlot<Sim> {
        // SAFETY: by the contract of `new`.
        unsafe { self.slots[at].as_ref() }
    }
    fn held(&self, at: usize) -> &HeldTable<Sim> {
        // SAFETY: the same.
        unsafe { self.held[at].as_ref() }
    }
    fn owner(&self, at: usize) -> &AtomicU64 {
        &self.owners[at]
    }
    fn used(&self) -> &AtomicUsize {
        &self.used
    }
    fn next(&self) -> &AtomicUsize {
        &self.next
    }
    fn life(&self) -> &AtomicU64 {
        &self.life
    }
    fn mine(&self) -> Option<usize> {
        here().with(|engine| engine.threads[engine.current].claim.slot)
    }
    fn set_mine(&self, at: Option<usize>) {
        here().with(|engine| engine.threads[engine.current].claim.slot = at);
    }
    fn found_none(&self) -> u64 {
        here().with(|engine| engine.threads[engine.current].claim.found_none)
    }
    fn set_found_none(&self, as_found: u64) {
        here().with(|engine| engine.threads[engine.current].claim.found_none = as_found);
    }
    fn epoch(&self) -> u32 {
        here().epoch()
    }
    fn thread_number(&self) -> u32 {
        here().with(|engine| engine.thread_number())
    }
    fn is_gone(&self, thread: u32) -> bool {
        here().with(|engine| !engine.has_thread(thread))
    }
    fn handle_forks(&self) {
        self.handles_forks.set(true);
    }
}
