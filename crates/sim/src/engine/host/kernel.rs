//! The tasks of a kernel, which keep their CPU until they give it up.
//!
//! At the end of a slice, and when a thread wakes up that would preempt it, a task is *asked*. It goes to the end of
//! the run queue when it next looks ([`Here::give_way`]); if it sleeps before that, it has lost nothing. A wake-up that
//! finds no sleeper costs `wake_local_call`, because it is no system call. Only in user mode a task loses its CPU as
//! any thread does.

use crate::engine::Engine;
use crate::engine::queue::EventKind;
use crate::switch::Here;

impl Engine {
    /// Returns true if the threads are tasks of a kernel.
    pub fn is_kernel(&self) -> bool {
        self.host.is_kernel
    }
    /// Returns true if the thread that has `cpu` has to be asked for it.
    pub(super) fn is_kept(&self, cpu: usize) -> bool {
        let current = self.host.cpus[cpu].current;
        self.host.is_kernel && current.is_some_and(|thread| !self.threads[thread].turn.is_in_user)
    }
    /// Asks the thread that has `cpu` to give way.
    pub(super) fn ask(&mut self, cpu: usize) {
        if let Some(thread) = self.host.cpus[cpu].current {
            self.threads[thread].turn.is_asked = true;
        }
    }
    /// Takes back the question to the current thread. Returns true if the thread was asked and another one waits for
    /// its CPU. If it was asked and no thread waits, another slice begins.
    fn takes_question(&mut self) -> bool {
        let turn = &mut self.threads[self.current].turn;
        if !core::mem::take(&mut turn.is_asked) {
            return false;
        }
        let cpu = turn.cpu;
        let slice_end = self.time.now + self.host.times.slice;
        let host = &mut self.host.cpus[cpu];
        if !host.queue.is_empty() {
            return true;
        }
        host.slice_end = slice_end;
        self.schedule(slice_end, EventKind::SliceEnd, cpu);
        false
    }
    /// The current thread waits behind all others that want its CPU.
    pub(super) fn goes_last(&mut self) {
        let cpu = self.threads[self.current].turn.cpu;
        if let Some(thread) = self.preempt_on(cpu) {
            self.queue_last(cpu, thread);
            self.fill(cpu);
        }
    }
}

impl Here {
    /// Gives way to others if the current task was asked to.
    pub fn give_way(self) {
        if self.with(Engine::takes_question) {
            self.with(Engine::goes_last);
            self.wait_for_others();
        }
    }
    /// Lets time pass until `until` in user mode.
    pub fn in_user_mode(self, until: impl FnOnce() -> u64) {
        self.give_way();
        let until = until();
        self.with(|engine| engine.threads[engine.current].turn.is_in_user = true);
        self.until(until);
        self.with(|engine| engine.threads[engine.current].turn.is_in_user = false);
    }
}
