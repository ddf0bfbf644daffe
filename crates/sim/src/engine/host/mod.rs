//! The scheduler: CPUs with run queues, and threads that run, are preempted or sleep.
//!
//! The rules are described in the [crate's documentation](crate#the-scheduler). A thread changes
//! between on and off a CPU only here, and only while every thread waits for something: in the event
//! loop, or as the last act of a thread that falls asleep or returns. What a thread waits for is
//! [`CpuTurn::due`](super::turn::CpuTurn::due); when it loses its CPU, that event stays in the queue and is stale.

mod begin;
mod kernel;
mod pick;
mod turns;

use super::Engine;
use super::queue::{EventKind, QueuedEvent};
use super::thread::Activity;
use crate::report::Ending;
use crate::scheduling::ScheduleReport;

impl Engine {
    /// Returns true if threads share the CPUs.
    #[inline]
    pub fn is_scheduled(&self) -> bool {
        !self.host.cpus.is_empty()
    }
    /// How many CPUs the program may use.
    pub fn cpus_in_use(&self) -> usize {
        if self.is_scheduled() { self.host.cpus.len() } else { self.threads.len() }
    }
    /// CPUs of the host that have nothing to do.
    pub fn idle_host_cpus(&self) -> usize {
        self.host.cpus.iter().filter(|cpu| cpu.is_idle()).count()
    }
    /// Returns true if a thread waits for the CPU of the current thread. For a kernel's task: if it was asked to give
    /// way.
    pub fn is_awaited_on_host(&self) -> bool {
        let turn = &self.threads[self.current].turn;
        if self.host.is_kernel {
            return turn.is_asked;
        }
        let cpu = turn.cpu;
        self.host.cpus.get(cpu).is_some_and(|cpu| !cpu.queue.is_empty())
    }
    /// The time the current thread had a CPU, and before it started: a clock that stands still while
    /// it has none.
    #[inline]
    pub fn cpu_time(&self) -> u64 {
        self.time.now - self.threads[self.current].turn.off_ps
    }

    /// The current thread does a read-modify-write until `done`, which is completed before an interrupt.
    #[inline]
    pub(super) fn shield_until(&mut self, done: u64) {
        if self.costs.is_shielded {
            self.threads[self.current].turn.shielded_until = done;
        }
    }
    /// Until when the thread on `cpu` cannot lose it, if that is later than now.
    fn shielded_until(&self, cpu: usize) -> Option<u64> {
        let current = self.host.cpus[cpu].current?;
        let until = self.threads[current].turn.shielded_until;
        (until > self.time.now).then_some(until)
    }

    /// The next step of `thread`, which has a CPU, comes at `at`.
    #[inline]
    pub(super) fn plan(&mut self, at: u64, kind: EventKind, thread: usize) {
        if self.is_exploring() {
            return;
        }
        let event = self.time.stamp(at, kind, thread);
        self.threads[thread].turn.due = event;
        self.time.queue.push(event);
    }
    /// Returns true if what an event stands for was called off. It is called only once for each event.
    #[inline]
    pub(super) fn is_stale(&mut self, event: QueuedEvent) -> bool {
        self.is_scheduled() && self.is_called_off(event)
    }
    fn is_called_off(&mut self, event: QueuedEvent) -> bool {
        let (at, number) = (event.at_ps(), event.thread());
        match event.kind() {
            EventKind::Resume | EventKind::Reread | EventKind::Look => {
                let due = &mut self.threads[number].turn.due;
                let is_stale = *due != event;
                if !is_stale {
                    *due = QueuedEvent::NEVER;
                }
                is_stale
            }
            EventKind::SliceEnd => {
                let cpu = &self.host.cpus[number];
                cpu.slice_end != at || cpu.current.is_none()
            }
            EventKind::NoiseEnd => self.host.cpus[number].away_until != at,
            EventKind::PauseLoop => self.threads[number].turn.pause_loop_at != at,
            _ => false,
        }
    }

    /// Gives an idle CPU to a thread, which gets on after `cost`.
    fn put_on(&mut self, cpu: usize, thread: usize, cost: u64) {
        let on_since = self.time.now + cost;
        let host = &mut self.host.cpus[cpu];
        let state = &mut self.threads[thread];
        let turn = &mut state.turn;
        let slice = if turn.slice_left > 0 { turn.slice_left } else { self.host.times.slice };
        host.current = Some(thread);
        host.slice_end = on_since + slice;
        let away = on_since - turn.off_since;
        turn.is_off = false;
        turn.is_asked = false;
        turn.cpu = cpu;
        turn.on_since = on_since;
        turn.off_ps += away;
        turn.spins_since = on_since;
        state.site = host.site;
        if self.host.is_program {
            state.cpu = host.number;
        }
        if state.wait.is_cpu_time {
            state.wait.deadline_ps = state.wait.deadline_ps.saturating_add(away);
        }
        let (core, slice_end) = (usize::from(host.site.core), host.slice_end);
        self.busy_on_core[core] += 1;
        self.schedule(slice_end, EventKind::SliceEnd, cpu);
        self.go_on(thread, on_since);
    }
    /// What `thread` was at goes on at `on_since`.
    fn go_on(&mut self, thread: usize, on_since: u64) {
        match self.threads[thread].activity {
            Activity::Busy => {
                let rest = self.threads[thread].turn.rest_ps;
                self.plan(on_since.saturating_add(rest), EventKind::Resume, thread);
            }
            // It looks at its line again, whatever happened to that.
            Activity::Parked | Activity::Woken | Activity::Reading => {
                if self.threads[thread].activity == Activity::Parked {
                    self.unpark(thread);
                }
                let state = &mut self.threads[thread];
                state.activity = Activity::Woken;
                let is_too_late = state.wait.deadline_ps <= self.time.now;
                state.wait.expired |= is_too_late;
                self.plan(on_since, EventKind::Reread, thread);
                if !is_too_late {
                    self.arm_timer(thread);
                }
            }
            Activity::Sleeping | Activity::Finished => {
                unreachable!("who sleeps or is done is in no run queue")
            }
        }
    }
    /// Takes a CPU from the thread that has it; returns that thread.
    fn take_off(&mut self, cpu: usize) -> Option<usize> {
        let host = &mut self.host.cpus[cpu];
        let thread = host.current.take()?;
        let state = &mut self.threads[thread];
        let turn = &mut state.turn;
        let off_since = self.time.now.max(turn.on_since);
        let run = turn.on_since..off_since;
        turn.is_off = true;
        turn.off_since = off_since;
        turn.slice_left = host.slice_end.saturating_sub(off_since);
        turn.rest_ps = 0;
        let due = core::mem::replace(&mut turn.due, QueuedEvent::NEVER);
        if state.activity == Activity::Busy && due != QueuedEvent::NEVER {
            turn.rest_ps = due.at_ps() - off_since;
        }
        if state.activity == Activity::Reading {
            state.activity = Activity::Woken;
        }
        self.busy_on_core[usize::from(host.site.core)] -= 1;
        let counted = run.end.min(self.window.end).saturating_sub(run.start.max(self.window.start));
        self.host.report.run_ps[thread] += counted;
        Some(thread)
    }
    /// As [`take_off`](Self::take_off), from a thread that would have gone on.
    fn preempt_on(&mut self, cpu: usize) -> Option<usize> {
        let thread = self.take_off(cpu)?;
        if self.is_counting() {
            self.host.report.involuntary_switches[thread] += 1;
        }
        Some(thread)
    }
    /// The current thread gives up its CPU, because it sleeps or is done.
    pub(super) fn leave_cpu(&mut self) {
        let cpu = self.threads[self.current].turn.cpu;
        let Some(thread) = self.take_off(cpu) else { return };
        self.threads[thread].turn.slice_left = 0;
        if self.threads[thread].activity == Activity::Sleeping && self.is_counting() {
            self.host.report.voluntary_switches[thread] += 1;
        }
        self.fill(cpu);
        if self.host.cpus.iter().all(|cpu| cpu.current.is_none()) {
            self.end_if_deadlocked();
        }
    }
    /// Ends the run if nothing but the scheduler would go on for ever.
    fn end_if_deadlocked(&mut self) {
        if self.ending.is_none() && self.is_deadlocked() {
            self.ending = Some(Ending::Stuck);
        }
    }
    /// The report of a run that is over.
    pub fn take_schedule(&mut self) -> Option<ScheduleReport> {
        if !self.is_scheduled() {
            return None;
        }
        for cpu in 0..self.host.cpus.len() {
            self.take_off(cpu);
        }
        Some(core::mem::take(&mut self.host.report))
    }
}
