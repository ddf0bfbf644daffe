//! What happens at the scheduler's events.

use crate::engine::queue::EventKind;
use crate::engine::thread::Activity;
use crate::engine::{Engine, Step};
use crate::switch::Here;

impl Here {
    /// Lets the next thread in the run queue go first. The call costs as much as one that puts the caller to sleep: it
    /// asks the scheduler, too.
    pub fn yield_cpu(self) {
        self.yield_turn();
        self.until(self.with(|engine| engine.time.now + engine.costs.sleep_call));
        if self.with(Engine::yields_to_another) {
            self.with(Engine::goes_last);
            self.wait_for_others();
        }
    }
}

impl Engine {
    /// Returns true if a thread waits for the current thread's CPU.
    fn yields_to_another(&mut self) -> bool {
        let cpu = self.threads[self.current].turn.cpu;
        self.host.cpus.get(cpu).is_some_and(|cpu| !cpu.queue.is_empty())
    }
    /// An event of the scheduler: `number` is a thread's or a CPU's.
    pub(in crate::engine) fn turn(&mut self, kind: EventKind, number: usize) -> Option<Step> {
        match kind {
            EventKind::SliceEnd => self.slice_ends(number),
            EventKind::NoiseBegin => self.noise_begins(number),
            EventKind::NoiseEnd => self.noise_ends(number),
            EventKind::Arrive => self.arrive(number),
            EventKind::PauseLoop => self.pause_loop_exits(number),
            EventKind::Outage => self.outage(),
            _ => unreachable!("no event of the scheduler"),
        }
        None
    }

    fn slice_ends(&mut self, cpu: usize) {
        self.end_if_deadlocked();
        let slice = self.host.times.slice;
        let shielded_until = self.shielded_until(cpu);
        let is_kept = self.is_kept(cpu);
        let host = &mut self.host.cpus[cpu];
        if let Some(until) = shielded_until {
            host.slice_end = until;
            self.schedule(until, EventKind::SliceEnd, cpu);
        } else if host.queue.is_empty() {
            host.slice_end = self.time.now + slice;
            self.schedule(self.time.now + slice, EventKind::SliceEnd, cpu);
        } else if is_kept {
            self.ask(cpu);
        } else if let Some(thread) = self.preempt_on(cpu) {
            self.queue_last(cpu, thread);
            self.fill(cpu);
            if self.wakes_locally() {
                self.share(cpu);
            }
        }
    }
    /// Ends the turn of a thread that has just lost the CPU: it waits behind all others.
    pub(super) fn queue_last(&mut self, cpu: usize, thread: usize) {
        self.threads[thread].turn.slice_left = 0;
        self.host.cpus[cpu].queue.push_back(thread);
    }

    /// A thread that was woken comes to a run queue, or gets a CPU at once.
    pub(in crate::engine) fn arrive(&mut self, thread: usize) {
        let cpu = match core::mem::take(&mut self.threads[thread].turn.stays) {
            true => self.threads[thread].turn.cpu,
            false => self.host.cpu_for(&self.threads[thread]),
        };
        let host = &self.host.cpus[cpu];
        if host.is_idle() {
            // The latency of the wake-up was all there is to wait for.
            return self.put_on(cpu, thread, 0);
        }
        let granularity = self.host.times.wake_granularity;
        let has_run_enough = host.current.is_some_and(|current| {
            self.time.now >= self.threads[current].turn.on_since.saturating_add(granularity)
        });
        if has_run_enough && self.is_kept(cpu) {
            self.host.cpus[cpu].queue.push_front(thread);
            self.ask(cpu);
        } else if has_run_enough && let Some(preempted) = self.preempt_on(cpu) {
            // It goes on with the rest of its slice after the one that woke up.
            self.host.cpus[cpu].queue.push_front(preempted);
            self.put_on(cpu, thread, self.host.times.context_switch);
        } else {
            self.host.cpus[cpu].queue.push_back(thread);
            self.arm_pause_loop(cpu);
        }
    }

    /// Decides when the noise in the next period of a CPU begins. Noise of two periods never meets.
    pub(super) fn plan_noise(&mut self, cpu: usize) {
        let (slice, noise) = (self.host.times.slice, self.host.times.noise);
        let host = &mut self.host.cpus[cpu];
        let phase = host.noise.below((slice - noise) as usize + 1) as u64;
        let begin = host.noise_period + phase;
        host.noise_period += slice;
        self.schedule(begin, EventKind::NoiseBegin, cpu);
    }
    fn noise_begins(&mut self, cpu: usize) {
        self.end_if_deadlocked();
        if let Some(until) = self.shielded_until(cpu) {
            return self.schedule(until, EventKind::NoiseBegin, cpu);
        }
        self.plan_noise(cpu);
        self.take_away(cpu, self.time.now + self.host.times.noise);
    }
    /// Something else of the host has the CPU until then.
    fn take_away(&mut self, cpu: usize, until: u64) {
        if until <= self.host.cpus[cpu].away_until {
            return;
        }
        let preempted = self.preempt_on(cpu);
        let host = &mut self.host.cpus[cpu];
        host.away_until = until;
        if let Some(thread) = preempted {
            host.queue.push_front(thread);
        }
        self.schedule(until, EventKind::NoiseEnd, cpu);
        if !self.wakes_locally() {
            self.share(cpu);
        }
    }
    fn noise_ends(&mut self, cpu: usize) {
        let host = &mut self.host.cpus[cpu];
        host.away_until = 0;
        // What the host did includes the switches to it and back.
        match host.queue.pop_front() {
            Some(thread) => self.put_on(cpu, thread, 0),
            None => self.fill(cpu),
        }
    }
    /// The host takes a random half of the CPUs that have threads, for a slice.
    fn outage(&mut self) {
        let until = self.time.now + self.host.times.slice;
        let cpus = &self.host.cpus;
        let mut busy: Vec<usize> =
            (0..cpus.len()).filter(|&cpu| cpus[cpu].current.is_some()).collect();
        for _ in 0..busy.len() / 2 {
            let chosen = self.host.cpus[0].noise.below(busy.len());
            self.take_away(busy.swap_remove(chosen), until);
        }
    }

    /// The current thread begins to spin: in one go with its last spin if that is no longer ago than
    /// the gap between two pauses.
    #[inline]
    pub(in crate::engine) fn spin_begins(&mut self) {
        if self.host.times.pause_loop_window == 0 {
            return;
        }
        let gap = self.host.times.pause_loop_gap;
        let turn = &mut self.threads[self.current].turn;
        if self.time.now > turn.spun_until.saturating_add(gap) {
            turn.spins_since = self.time.now;
        }
    }
    /// A spinner's read of its line completes at `done`. The pauses around a slow one are too far apart
    /// to be one loop, so the spin begins anew.
    #[inline]
    pub(in crate::engine) fn reads_while_spinning(&mut self, thread: usize, done: u64) {
        let times = &self.host.times;
        if times.pause_loop_window > 0 && done > self.time.now.saturating_add(times.pause_loop_gap)
        {
            self.threads[thread].turn.spins_since = done;
        }
    }
    /// The current thread stops spinning.
    #[inline]
    pub(in crate::engine) fn spin_ends(&mut self) {
        self.threads[self.current].turn.spun_until = self.time.now;
    }
    /// Asks whether the thread on `cpu` spins for too long, if others want the CPU.
    pub(super) fn arm_pause_loop(&mut self, cpu: usize) {
        let window = self.host.times.pause_loop_window;
        let host = &self.host.cpus[cpu];
        let Some(thread) = host.current.filter(|_| window > 0 && !host.queue.is_empty()) else {
            return;
        };
        let turn = &mut self.threads[thread].turn;
        if turn.pause_loop_at == u64::MAX {
            turn.pause_loop_at = self.time.now.max(turn.spins_since.saturating_add(window));
            let at = turn.pause_loop_at;
            self.schedule(at, EventKind::PauseLoop, thread);
        }
    }
    /// The same for a thread that has looked at its line and found nothing.
    #[inline]
    pub(in crate::engine) fn may_spin_too_long(&mut self, thread: usize) {
        if self.host.times.pause_loop_window > 0 {
            self.arm_pause_loop(self.threads[thread].turn.cpu);
        }
    }
    /// A thread may have spun for too long.
    fn pause_loop_exits(&mut self, thread: usize) {
        let window = self.host.times.pause_loop_window;
        let state = &mut self.threads[thread];
        state.turn.pause_loop_at = u64::MAX;
        if state.turn.is_off || !state.is_spinning() {
            return;
        }
        let cpu = state.turn.cpu;
        if self.time.now < state.turn.spins_since.saturating_add(window) {
            return self.arm_pause_loop(cpu);
        }
        if self.host.cpus[cpu].queue.is_empty() {
            return;
        }
        if let Some(thread) = self.take_off(cpu) {
            if self.is_counting() {
                self.host.report.voluntary_switches[thread] += 1;
                self.host.report.pause_loop_exits += 1;
            }
            self.queue_last(cpu, thread);
            self.fill(cpu);
        }
    }

    /// A sleeping thread was woken and comes to a run queue `latency` later.
    pub(in crate::engine) fn kick(&mut self, thread: usize, latency: u64) {
        if self.is_counting() {
            self.host.report.kicks += 1;
        }
        debug_assert_eq!(
            self.threads[thread].activity,
            Activity::Busy,
            "woken before it is kicked"
        );
        self.schedule(self.time.now + latency, EventKind::Arrive, thread);
    }
}
