//! Which CPU a thread gets, and which thread a CPU.

use crate::engine::cpus::{Cpu, Host};
use crate::engine::{Engine, Thread};

impl Host {
    /// All CPUs, nearest to `cpu` first: itself, those of its socket, the others.
    fn near(&self, cpu: usize) -> impl Iterator<Item = usize> + '_ {
        let count = self.cpus.len();
        let socket = self.cpus[cpu].site.socket;
        let all = move || (0..count).map(move |step| (cpu + step) % count);
        let in_socket = move |&other: &usize| self.cpus[other].site.socket == socket;
        all().filter(in_socket).chain(all().filter(move |other| !in_socket(other)))
    }
    fn may_run(&self, thread: &Thread, cpu: usize) -> bool {
        thread.turn.socket.is_none_or(|socket| socket == self.cpus[cpu].site.socket)
    }
    /// The CPU for a thread that wakes up: an idle one near its last, or else the one that the
    /// fewest want.
    pub(super) fn cpu_for(&self, thread: &Thread) -> usize {
        let allowed = || self.near(thread.turn.cpu).filter(|&cpu| self.may_run(thread, cpu));
        allowed()
            .find(|&cpu| self.cpus[cpu].is_idle())
            .or_else(|| allowed().min_by_key(|&cpu| self.cpus[cpu].load()))
            .unwrap_or(thread.turn.cpu)
    }
    /// The CPU with the longest run queue, the nearest of several, from which `cpu` may take a thread.
    fn most_wanted(&self, threads: &[Thread], cpu: usize, now: u64) -> Option<usize> {
        let steal_after = self.times.steal_after;
        let is_cold =
            |thread: &Thread| steal_after == 0 || now >= thread.turn.off_since + steal_after;
        let may_take = |&other: &usize| {
            let first = self.cpus[other].queue.front().map(|&thread| &threads[thread]);
            first.is_some_and(|thread| self.may_run(thread, cpu) && is_cold(thread))
        };
        // The last of several equal ones wins.
        let candidates: Vec<usize> = self.near(cpu).filter(may_take).collect();
        candidates.into_iter().rev().max_by_key(|&other| self.cpus[other].queue.len())
    }
}

impl Engine {
    /// Returns true if wake-ups may prefer the last CPU of a thread to an idle one.
    pub(in crate::engine) fn wakes_locally(&self) -> bool {
        !self.host.times.wake_local.is_never()
    }
    /// Decides whether a thread that the current one wakes waits for its last CPU; returns whether another
    /// CPU is interrupted for it.
    pub(in crate::engine) fn interrupts(&mut self, thread: usize) -> bool {
        let last = self.threads[thread].turn.cpu;
        let own = self.threads[self.current].turn.cpu;
        let cpus = &self.host.cpus;
        let has_choice = !cpus[last].is_idle() && cpus.iter().any(Cpu::is_idle);
        let local = self.host.times.wake_local;
        let state = &mut self.threads[thread];
        state.turn.stays = has_choice && local.happens(&mut state.noise);
        let goes_to =
            if state.turn.stays { last } else { self.host.cpu_for(&self.threads[thread]) };
        goes_to != own
    }
    /// What a wake-up costs that interrupts no CPU.
    pub(in crate::engine) fn wake_local_call(&self) -> u64 {
        self.host.times.wake_local_call
    }
    /// Finds something to do for a CPU that has nothing: the first thread of its own run queue, or the
    /// first one of the longest other run queue.
    pub(super) fn fill(&mut self, cpu: usize) {
        let is_counting = self.is_counting();
        let host = &mut self.host;
        if !host.cpus[cpu].is_idle() {
            return;
        }
        let own = host.cpus[cpu].queue.pop_front();
        let thread = own.or_else(|| {
            let from = host.most_wanted(&self.threads, cpu, self.time.now)?;
            let thread = host.cpus[from].queue.pop_front();
            if is_counting {
                host.report.steals += 1;
            }
            thread
        });
        if let Some(thread) = thread {
            self.put_on(cpu, thread, self.host.times.context_switch);
        }
    }
    /// Lets idle CPUs take threads from the run queue of `cpu`.
    pub(super) fn share(&mut self, cpu: usize) {
        while let Some(&first) = self.host.cpus[cpu].queue.front() {
            let host = &self.host;
            let idle = host.near(cpu).find(|&other| {
                host.cpus[other].is_idle() && host.may_run(&self.threads[first], other)
            });
            match idle {
                Some(idle) => {
                    self.fill(idle);
                    if self.host.cpus[idle].is_idle() {
                        return;
                    }
                }
                None => return,
            }
        }
    }
}
