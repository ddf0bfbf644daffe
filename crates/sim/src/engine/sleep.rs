//! Sleeping until woken, keyed by address.

use super::queue::EventKind;
use super::thread::Activity;
use super::{CellRef, Engine};
use crate::memory::Kind;
use crate::switch::Here;

impl Engine {
    fn fall_asleep(&mut self, address: usize, kinds: u32, then: usize, deadline_ps: u64) {
        let line = self.line_of(address);
        let (now, current) = (self.time.now, self.current);
        let thread = &mut self.threads[current];
        thread.activity = Activity::Sleeping;
        thread.wait.line = line;
        thread.wait.deadline_ps = deadline_ps;
        thread.wait.is_cpu_time = false;
        thread.wait.expired = false;
        thread.wait.was_woken = false;
        thread.wait.since_ps = now;
        thread.wait.then = then;
        self.sleepers.add(address, kinds, current);
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
    /// Another thread wakes it.
    fn wake_by_other(&mut self, thread: usize) {
        self.trace_wake(thread);
        self.wake_up(thread);
        self.threads[thread].wait.was_woken = true;
    }
    /// As [`wake_sleepers`](Self::wake_sleepers), of threads that come to their last CPU or to another one;
    /// what the interrupts of other CPUs cost the waker.
    fn wake_somewhere(&mut self, threads: &[usize]) -> u64 {
        let interrupt = self.costs.wake_call.saturating_sub(self.wake_local_call());
        let mut cost = 0;
        for &thread in threads {
            self.wake_by_other(thread);
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
    fn wake_sleepers(&mut self, threads: &[usize]) {
        for &thread in threads {
            self.wake_by_other(thread);
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
    /// Sleeps if the lower half of `cell` holds `expected`, as one of these kinds, until woken or until the deadline.
    /// Returns true if another thread has woken it. `then` is the word of the lock that it takes afterwards, or 0.
    pub fn sleep(
        self,
        kinds: u32,
        cell: CellRef,
        expected: u32,
        then: usize,
        deadline_ps: u64,
    ) -> bool {
        // The system call orders the caller's stores before its look at the word.
        let entered = self.with(|engine| engine.stores_done() + engine.costs.sleep_call);
        self.until(entered);
        if self.load(cell) as u32 != expected {
            return false;
        }
        if self.with(|engine| engine.time.now >= deadline_ps) {
            return false;
        }
        self.with(|engine| engine.fall_asleep(cell.address(), kinds, then, deadline_ps));
        self.wait_for_others();
        self.handles_signal();
        self.until_back();
        self.with(|engine| engine.threads[engine.current].wait.was_woken)
    }
    /// Wakes up to `count` threads of these kinds that sleep on the word at `address`; returns how many.
    pub fn wake(self, kinds: u32, address: usize, count: u32) -> u32 {
        // What the caller wrote is visible before it looks for sleepers.
        if self.with(|engine| engine.is_kernel()) {
            self.until(self.with(|engine| engine.stores_done()));
            if self.with(|engine| engine.sleepers.on(address, kinds, 1).is_empty()) {
                self.until(self.with(|engine| engine.time.now + engine.wake_local_call()));
                return 0;
            }
        }
        self.wake_those(|engine| engine.sleepers.on(address, kinds, count))
    }
    /// Returns true if `then` holds `value`, and false if no thread sleeps at `sleepers` that takes it afterwards: it
    /// may be gone.
    pub fn holds(self, then: CellRef, value: u32, sleepers: usize) -> bool {
        let exists = |engine: &mut Engine| {
            let threads = engine.sleepers.on(sleepers, u32::MAX, u32::MAX);
            threads.iter().any(|&thread| engine.threads[thread].wait.then == then.address())
        };
        self.until(self.with(|engine| engine.stores_done() + engine.wake_local_call()));
        if !self.with(exists) {
            return false;
        }
        let done = self.with(|engine| engine.issue_here(then.address(), Kind::Read, 0));
        self.until(done);
        self.with(|engine| {
            exists(engine) && engine.threads[engine.current].view(then) as u32 == value
        })
    }
    /// If the lower half of `from` holds `expected`: wakes up to `count` threads that sleep there, and lets the
    /// others sleep on the word at `to`. Returns how many these are in all.
    pub fn requeue(self, count: u32, from: CellRef, expected: u32, to: usize) -> Option<u32> {
        let entered = self.with(|engine| engine.stores_done());
        self.until(entered);
        if self.load(from) as u32 != expected {
            return None;
        }
        let address = from.address();
        let mut moved = None;
        let woken = self.wake_those(|engine| {
            // The kernel compares with its queues locked: no thread falls asleep between that and the move.
            if engine.threads[engine.current].view(from) as u32 != expected {
                return Vec::new();
            }
            let first = engine.sleepers.on(address, u32::MAX, count);
            first.iter().for_each(|&thread| engine.sleepers.remove(thread));
            let (line, rest) = (engine.line_of(to), engine.sleepers.move_all(address, to));
            rest.iter().for_each(|&thread| engine.threads[thread].wait.line = line);
            moved = Some(rest.len() as u32);
            first
        });
        moved.map(|moved| woken + moved)
    }
    /// Wakes the sleepers that `choose` finds when the call has entered the kernel; returns how many.
    fn wake_those(self, choose: impl FnOnce(&mut Engine) -> Vec<usize>) -> u32 {
        if self.with(|engine| engine.wakes_locally()) {
            self.until(self.with(|engine| engine.stores_done() + engine.wake_local_call()));
            let threads = self.with(choose);
            let interrupts = self.with(|engine| engine.wake_somewhere(&threads));
            self.until(self.with(|engine| engine.time.now + interrupts));
            return threads.len() as u32;
        }
        let entered = self.with(|engine| engine.stores_done() + engine.costs.wake_call);
        self.until(entered);
        self.with(|engine| {
            let threads = choose(engine);
            engine.wake_sleepers(&threads);
            threads.len() as u32
        })
    }
}
