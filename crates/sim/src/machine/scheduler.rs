//! The host of a machine: how it shares out the CPUs, and what that costs.

use super::Machine;
use super::error::{MachineError, Problem};

/// How a host shares out its CPUs among more threads, and what that costs, in nanoseconds. The rules
/// are described in the [crate's documentation](crate#the-scheduler).
///
/// What a halt and a kick cost is about guests. Ordinary threads pay the machine's `sleep_call` and
/// `wake_call` and run `wake_latency` after they were woken.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduler {
    /// How long a thread runs before the next one in the run queue has its turn.
    pub slice_ns: f64,
    /// From one thread to another on a CPU.
    pub context_switch_ns: f64,
    /// A thread has run for at least this before one that wakes up takes its CPU away.
    pub wake_granularity_ns: f64,
    /// A vCPU that halts: the exit to its host.
    pub halt_exit_ns: f64,
    /// The hypercall that kicks a vCPU, for the kicker.
    pub kick_call_ns: f64,
    /// From the end of that call until the kicked vCPU runs, if a CPU is idle.
    pub kick_latency_ns: f64,
    /// For how long something else of the host has each CPU, once per slice.
    pub noise_ns: f64,
    /// A vCPU that spins for so long in one go yields to the next in the run queue; 0 is never.
    pub pause_loop_window_ns: f64,
    /// A pause between two spins that are one go all the same.
    pub pause_loop_gap_ns: f64,
    /// Chance that a thread of a program that is woken waits for its last CPU, which is busy, although
    /// another one is idle. Above 0, idle CPUs look for threads when they fall idle and when a slice
    /// ends, not at once, and a wake-up that interrupts no other CPU costs `wake_local_call_ns`.
    pub wake_local: f64,
    /// The system call of a wake-up that interrupts no other CPU; the machine's `wake_call_ns` is
    /// that of one that does. Of a task in a kernel: a wake-up that finds no sleeper.
    pub wake_local_call_ns: f64,
    /// An idle CPU takes no thread from the run queue of another that had a CPU less than this long ago: its cache
    /// is still of use there.
    pub steal_after_ns: f64,
    /// Above 0, a guest is not told which of its vCPUs have no CPU.
    pub hides_preemption: f64,
}

impl Machine {
    /// The scheduler, or the reason why the machine runs no more threads than it has CPUs.
    pub fn scheduler(&self) -> Result<&Scheduler, MachineError> {
        self.scheduler.as_ref().ok_or_else(|| MachineError {
            file: format!("machine {}", self.name),
            key: "scheduler".into(),
            problem: Problem::NoScheduler,
        })
    }
}
