//! Preemption as a fault: at random moments something else takes a thread's CPU for a random time.
//!
//! A thread that is *away* issues no access and does not read the line it spins on again; its
//! deadlines pass unnoticed. Its store buffer drains all the same. Work that was under way has its
//! remaining time left when the thread is back, and an access that was under way takes effect then.
//! A thread that sleeps has no CPU that could be taken. Once no thread can go on by itself there is
//! nothing to disturb, and no preemption is planned any more: the run is found to be stuck at once,
//! not at its time limit.

use super::faults::around;
use super::queue::EventKind;
use super::thread::Activity;
use super::{Engine, Step};
use crate::switch::Here;

impl Engine {
    /// Returns true if `thread` runs, as far as the other threads are told.
    pub fn seems_to_run(&self, thread: usize) -> bool {
        let it = &self.threads[thread];
        match self.host.times.hides_preemption {
            true => it.activity != Activity::Sleeping,
            false => it.has_cpu(self.time.now) && !self.is_preempted(thread),
        }
    }
    /// Decides when `thread` is preempted next, not before `from`.
    pub(super) fn plan_preemption(&mut self, thread: usize, from: u64) {
        if let Some(rule) = self.preemptions.rule {
            let gap = around(rule.every_ns, &mut self.threads[thread].faults);
            self.schedule(from.saturating_add(gap), EventKind::Preempt, thread);
        }
    }
    pub(super) fn preempt(&mut self, thread: usize) -> Option<Step> {
        let rule = self.preemptions.rule?;
        let now = self.time.now;
        let state = &mut self.threads[thread];
        let away = around(rule.for_ns, &mut state.faults);
        let back = now.saturating_add(away);
        if state.activity == Activity::Finished || self.is_deadlocked() {
            return None;
        }
        let state = &mut self.threads[thread];
        if state.activity != Activity::Sleeping {
            state.away_until = back;
            self.preemptions.count += 1;
        }
        if state.activity == Activity::Busy {
            state.lost_ps = state.lost_ps.saturating_add(away);
        }
        self.plan_preemption(thread, back);
        None
    }
    /// Returns true if only preemptions can still happen: no thread goes on by itself, and no store that is on its way
    /// could make one go on.
    pub(super) fn is_deadlocked(&self) -> bool {
        self.threads.iter().all(|thread| {
            let is_over = thread.activity == Activity::Finished || thread.is_stuck();
            is_over && thread.stores.is_empty()
        })
    }
    /// When a thread that is away comes back; `None` if it is not away.
    #[inline]
    pub(super) fn back_at(&self, thread: usize) -> Option<u64> {
        let back = self.threads[thread].away_until;
        (self.time.now < back).then_some(back)
    }
    /// When the current thread, whose time has come, may go on if it was away meanwhile.
    pub(super) fn delayed_until(&mut self) -> Option<u64> {
        let lost = core::mem::take(&mut self.threads[self.current].lost_ps);
        (lost > 0).then(|| self.time.now.saturating_add(lost))
    }
}

impl Here {
    /// Waits for the CPU of the current thread, which was woken and may have lost it since.
    pub(super) fn until_back(self) {
        if let Some(at) = self.with(Engine::delayed_until) {
            self.until(at);
        }
    }
}
