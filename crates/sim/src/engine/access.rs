//! Loads, stores and read-modify-writes.

use super::cell::{LastStore, PendingStore};
use super::change::CellChange;
use super::exploration::Intent;
use super::queue::EventKind;
use super::thread::STORES_MAX;
use super::timeline::PS_PER_NS;
use super::{CellRef, Engine, Step};
use crate::memory::{Access, Kind};
use crate::switch::Here;
use lockwright_core::tunables::{HEAVY_BARRIER_APART_NS_PER_CPU, Tunable};

impl Engine {
    /// Issues an access of `thread`, not before `from`, and wakes the spinners it invalidates.
    #[inline]
    pub(super) fn issue(&mut self, thread: usize, line: usize, kind: Kind, from: u64) -> u64 {
        let state = &mut self.threads[thread];
        let now = self.time.now.max(from);
        let access = self.memory.access(&self.costs, now, state.site, line, kind, &mut state.noise);
        let Access { done_ps, invalidates } = access;
        if invalidates {
            self.wake_spinners(line);
        }
        done_ps
    }
    /// Issues an access of the current thread to `address`, not before `from`; returns its
    /// completion.
    #[inline]
    pub(super) fn issue_here(&mut self, address: usize, kind: Kind, from: u64) -> u64 {
        let line = self.line_of(address);
        if self.is_exploring() {
            return self.intend_access(address, kind);
        }
        self.issue(self.current, line, kind, from)
    }

    #[inline]
    fn buffer(&mut self, cell: CellRef, mask: u64, bits: u64) -> u64 {
        let done = self.issue_here(cell.address(), Kind::Write, 0);
        self.intend(Intent::PRIVATE);
        let thread = &mut self.threads[self.current];
        // In order: not before the store issued last.
        let commits_at = done.max(thread.last_commit + 1);
        thread.last_commit = commits_at;
        thread.stores.push_back(PendingStore { cell, mask, bits, commits_at });
        if self.costs.width_mismatch > 0 {
            let until = commits_at + self.costs.width_mismatch;
            thread.last_store = LastStore::new(cell, mask, until);
        }
        self.schedule(commits_at, EventKind::Commit, self.current);
        self.time.now + self.costs.store_issue
    }
    /// The oldest store of `thread` becomes visible.
    pub(super) fn commit(&mut self, thread: usize) -> Option<Step> {
        if let Some(store) = self.threads[thread].stores.pop_front() {
            let old = store.cell.read();
            let value = store.over(old);
            self.trace_access(thread, "store becomes visible", store.cell, (old, Some(value)));
            self.write(thread, store.cell, value);
        }
        None
    }
    /// Makes a value visible: writes it and wakes the threads that spin on the line.
    #[inline]
    fn write(&mut self, thread: usize, cell: CellRef, value: u64) {
        self.checkers.committed(self.time.now, thread, self.region.offset_of(cell.address()));
        cell.write(value);
        self.fold_value(cell, value);
        let line = self.line_of(cell.address());
        self.wake_spinners(line);
        if cell.is_word() && !self.tables.metadata.has(cell.address()) {
            self.checkers.word_written(self.time.now, thread, line, value as u32);
        }
    }
    /// Until when the current thread's last store keeps a read-modify-write waiting, because it wrote a part of what
    /// that reads and not all: then the store buffer cannot answer.
    #[inline]
    fn mismatched_until(&self, cell: CellRef, change: CellChange) -> u64 {
        match self.costs.width_mismatch {
            0 => 0,
            _ => self.threads[self.current].last_store.delays_until(cell, change.mask()),
        }
    }
    /// When the current thread's earlier stores are all visible. In an exploration the next step of
    /// the thread comes after them.
    #[inline]
    pub fn stores_done(&mut self) -> u64 {
        self.intend(Intent::AFTER_OWN_STORES);
        self.time.now.max(self.threads[self.current].last_commit)
    }
}

impl Engine {
    /// Returns true if the last heavy barrier is long enough ago. In an exploration next to no time passes, so any
    /// distance is long enough there, unless the tunable says otherwise.
    pub fn may_use_heavy_barrier(&self) -> bool {
        let usual_ns = match self.is_exploring() {
            true => 0,
            false => HEAVY_BARRIER_APART_NS_PER_CPU * self.cpus_in_use() as u64,
        };
        let apart_ns = self.tunables[Tunable::heavy_barrier_apart_ns as usize].unwrap_or(usual_ns);
        let since_ns = |at: u64| (self.time.now - at) / PS_PER_NS;
        self.last_heavy_barrier.is_none_or(|at| since_ns(at) >= apart_ns)
    }
}

impl Here {
    /// A load of the current thread.
    pub fn load(self, cell: CellRef) -> u64 {
        let done = self.with(|engine| engine.issue_here(cell.address(), Kind::Read, 0));
        self.until(done);
        self.with(|engine| {
            let current = engine.current;
            engine.checkers.touched(
                engine.time.now,
                current,
                engine.region.offset_of(cell.address()),
            );
            let value = engine.threads[current].view(cell);
            engine.fold_value(cell, value);
            engine.trace_access(current, "load", cell, (value, None));
            value
        })
    }
    /// A store of the bits in `mask`: asks for the line now, commits in order, goes on at once.
    pub fn store(self, cell: CellRef, mask: u64, bits: u64) {
        self.may_be_interrupted();
        let full_until = self.with(|engine| {
            let stores = &engine.threads[engine.current].stores;
            if stores.len() < STORES_MAX { 0 } else { stores[0].commits_at }
        });
        if full_until > 0 {
            self.until(full_until);
        }
        let next = self.with(|engine| engine.buffer(cell, mask, bits));
        self.until(next);
    }
    /// A locked read-modify-write: drains the store buffer, then changes the value, or leaves it (a failed
    /// compare-exchange owns the line all the same). Returns the old value.
    pub fn rmw(self, cell: CellRef, change: CellChange) -> u64 {
        let beaten_until = self.with(|engine| engine.beaten_until(cell.address()));
        if beaten_until > 0 {
            self.until(beaten_until);
        }
        let done = self.with(|engine| {
            let from = engine.stores_done().max(engine.mismatched_until(cell, change));
            let done = engine.issue_here(cell.address(), Kind::Rmw, from);
            engine.shield_until(done);
            done
        });
        self.until(done);
        self.with(|engine| {
            let current = engine.current;
            engine.checkers.touched(
                engine.time.now,
                current,
                engine.region.offset_of(cell.address()),
            );
            let old = cell.read();
            engine.fold_value(cell, old);
            let new = change.of(old);
            let name = if new.is_some() { change.name() } else { "compare-exchange fails" };
            engine.trace_access(current, name, cell, (old, new));
            if let Some(value) = new {
                engine.write(current, cell, value);
                engine.checkers.rmw(current, engine.region.offset_of(cell.address()));
            }
            old
        })
    }
    /// Asks for the lines of several addresses at once, to write them soon, and waits for all:
    /// misses that overlap.
    pub fn prefetch_for_write(self, addresses: &[*const ()]) {
        let done = self.with(|engine| {
            let mut done = engine.time.now;
            for address in addresses {
                done = done.max(engine.issue_here(address.addr(), Kind::Write, 0));
            }
            engine.intend(Intent::PRIVATE);
            done
        });
        self.until(done);
    }
    /// A read of a plain field.
    pub fn read_plain(self, address: usize) {
        let done = self.with(|engine| engine.issue_here(address, Kind::Read, 0));
        self.until(done);
        self.with(|engine| engine.trace_at(engine.current, "read a plain field", address));
    }
    /// A write of a plain field. Its value changes at once: a lock guards the field, and the store
    /// that gives the lock back commits after this one.
    pub fn write_plain(self, address: usize) {
        let next = self.with(|engine| {
            let done = engine.issue_here(address, Kind::Write, 0);
            let thread = &mut engine.threads[engine.current];
            thread.last_commit = done.max(thread.last_commit + 1);
            engine.time.now + engine.costs.store_issue
        });
        self.until(next);
        self.with(|engine| engine.trace_at(engine.current, "write a plain field", address));
    }
    /// A full barrier: waits for the store buffer.
    pub fn full_barrier(self) {
        let done = self
            .with(|engine| engine.stores_done() + engine.costs.load_hit + engine.costs.rmw_extra);
        self.until(done);
    }
    /// A barrier in every thread: interrupts all running ones, once the caller's own stores are
    /// visible, and waits for theirs.
    pub fn heavy_barrier(self) {
        self.until(self.with(|engine| engine.stores_done()));
        let done = self.with(|engine| {
            engine.intend_drain();
            let per_cpu = engine.costs.heavy_barrier_per_cpu;
            let mut others = 0;
            let mut drained = engine.time.now;
            for (index, thread) in engine.threads.iter_mut().enumerate() {
                drained = drained.max(thread.last_commit);
                if index != engine.current && thread.is_running() {
                    thread.stolen_ps += per_cpu;
                    others += 1;
                }
            }
            drained + engine.costs.heavy_barrier + per_cpu * others
        });
        self.until(done);
        self.with(|engine| engine.last_heavy_barrier = Some(engine.time.now));
    }
}
