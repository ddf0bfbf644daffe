//! Sleeping until woken, keyed by address.

use super::queue::EventKind;
use super::thread::Activity;
use super::{CellRef, Engine};
use crate::switch::Here;

impl Engine {
    fn fall_asleep(&mut self, address: usize, deadline_ps: u64) {
        let line = self.line_of(address);
        let (now, current) = (self.time.now, self.current);
        let thread = &mut self.threads[current];
        thread.activity = Activity::Sleeping;
        thread.wait.line = line;
        thread.wait.deadline_ps = deadline_ps;
        thread.wait.is_cpu_time = false;
        thread.wait.expired = false;
        thread.wait.since_ps = now;
        self.sleepers.add(address, current);
        self.trace_at(current, "sleeps", address);
        self.arm_timer(current);
        self.idle_on_core();
    }
    /// Takes a thread from the sleepers, and gives it its CPU back if it has one of its own.
    pub(super) fn wake_up(&mut self, thread: usize) {
        self.sleepers.remove(thread);
        let state = &mut self.threads[thread];
        state.activity = Activity::Busy;
        if self.is_scheduled() {
            return;
        }
        let state = &self.threads[thread];
        self.busy_on_core[usize::from(state.site.core)] += 1;
    }
    /// As [`wake_sleepers`](Self::wake_sleepers), of threads that come to their last CPU or to another one;
    /// what the interrupts of other CPUs cost the waker.
    fn wake_somewhere(&mut self, address: usize, count: u32) -> u64 {
        let interrupt = self.costs.wake_call.saturating_sub(self.wake_local_call());
        let mut cost = 0;
        for thread in self.sleepers.on(address, count) {
            self.trace_wake(thread);
            self.wake_up(thread);
            let latency = match self.interrupts(thread) {
                true => {
                    cost += interrupt;
                    cost + self.costs.wake_latency
                }
                false => cost,
            };
            self.kick(thread, latency);
        }
        cost
    }
    fn wake_sleepers(&mut self, address: usize, count: u32) {
        for thread in self.sleepers.on(address, count) {
            self.trace_wake(thread);
            self.wake_up(thread);
            let latency = self.costs.wake_latency;
            if self.is_scheduled() {
                self.kick(thread, latency);
            } else {
                self.schedule(self.time.now + latency, EventKind::Resume, thread);
            }
        }
    }
}

impl Here {
    /// Sleeps if `cell` holds `expected`, until woken or until the deadline.
    pub fn sleep(self, cell: CellRef, expected: u64, deadline_ps: u64) {
        // The system call orders the caller's stores before its look at the word.
        let entered = self.with(|engine| engine.stores_done() + engine.costs.sleep_call);
        self.until(entered);
        if self.load(cell) != expected {
            return;
        }
        if self.with(|engine| engine.time.now >= deadline_ps) {
            return;
        }
        self.with(|engine| engine.fall_asleep(cell.address(), deadline_ps));
        self.wait_for_others();
        self.handles_signal();
        self.until_back();
    }
    /// Wakes up to `count` threads that sleep on the word at `address`.
    pub fn wake(self, address: usize, count: u32) {
        // What the caller wrote is visible before it looks for sleepers.
        if self.with(|engine| engine.is_kernel()) {
            self.until(self.with(|engine| engine.stores_done()));
            if self.with(|engine| engine.sleepers.on(address, 1).is_empty()) {
                return self.until(self.with(|engine| engine.time.now + engine.wake_local_call()));
            }
        }
        if self.with(|engine| engine.wakes_locally()) {
            self.until(self.with(|engine| engine.stores_done() + engine.wake_local_call()));
            let interrupts = self.with(|engine| engine.wake_somewhere(address, count));
            return self.until(self.with(|engine| engine.time.now + interrupts));
        }
        let entered = self.with(|engine| engine.stores_done() + engine.costs.wake_call);
        self.until(entered);
        self.with(|engine| engine.wake_sleepers(address, count));
    }
}
