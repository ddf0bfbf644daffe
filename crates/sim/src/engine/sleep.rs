//! Sleeping until woken, keyed by address.

use super::queue::EventKind;
use super::thread::Activity;
use super::{CellRef, Engine};
use crate::switch::Here;

/// Who sleeps on what, in the order in which they fell asleep.
#[derive(Default)]
pub struct Sleepers(Vec<Sleeper>);

struct Sleeper {
    address: usize,
    thread: usize,
}

impl Engine {
    fn fall_asleep(&mut self, address: usize, deadline_ps: u64) {
        let line = self.line_of(address);
        let (now, current) = (self.now, self.current);
        let thread = &mut self.threads[current];
        thread.activity = Activity::Sleeping;
        thread.wait.line = line;
        thread.wait.deadline_ps = deadline_ps;
        thread.wait.is_cpu_time = false;
        thread.wait.expired = false;
        thread.wait.since_ps = now;
        self.sleepers.0.push(Sleeper { address, thread: current });
        self.arm_timer(current);
        self.idle_on_core();
    }
    /// Takes a thread from the sleepers, and gives it its CPU back if it has one of its own.
    pub(super) fn wake_up(&mut self, thread: usize) {
        self.sleepers.0.retain(|sleeper| sleeper.thread != thread);
        let state = &mut self.threads[thread];
        state.activity = Activity::Busy;
        if self.is_scheduled() {
            return;
        }
        let state = &self.threads[thread];
        self.busy_on_core[usize::from(state.site.core)] += 1;
    }
    fn wake_sleepers(&mut self, address: usize, count: u32) {
        let wanted = self.sleepers.0.iter().filter(|sleeper| sleeper.address == address);
        let woken: Vec<usize> = wanted.take(count as usize).map(|sleeper| sleeper.thread).collect();
        for thread in woken {
            self.wake_up(thread);
            let latency = self.costs.wake_latency;
            if self.is_scheduled() {
                self.kick(thread, latency);
            } else {
                self.schedule(self.now + latency, EventKind::Resume, thread);
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
        if self.with(|engine| engine.now >= deadline_ps) {
            return;
        }
        self.with(|engine| engine.fall_asleep(cell.address(), deadline_ps));
        self.wait_for_others();
        self.until_back();
    }
    /// Wakes up to `count` threads that sleep on the word at `address`.
    pub fn wake(self, address: usize, count: u32) {
        let entered = self.with(|engine| engine.stores_done() + engine.costs.wake_call);
        self.until(entered);
        self.with(|engine| engine.wake_sleepers(address, count));
    }
}
