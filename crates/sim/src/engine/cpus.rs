//! The CPUs that the threads of a run share, and the times of their scheduler.

use crate::machine::{Machine, Scheduler};
use crate::memory::{CoreSite, Factor, ps};
use crate::rng::{RandomStream, Rng};
use crate::scheduling::{ScheduleReport, ScheduledKind};
use std::collections::VecDeque;

/// The CPUs and what they do; without any there is no scheduler and each thread has its own.
#[derive(Default)]
pub struct Host {
    pub(super) cpus: Vec<Cpu>,
    pub(super) times: Times,
    /// Threads are those of a program: their CPU number is the CPU they run on.
    pub(super) is_program: bool,
    /// They keep their CPU until they give it up.
    pub(super) is_kernel: bool,
    pub report: ScheduleReport,
}

/// The costs and periods of the scheduler, in picoseconds.
#[derive(Default)]
pub struct Times {
    pub(super) slice: u64,
    pub(super) context_switch: u64,
    pub(super) wake_granularity: u64,
    pub(super) noise: u64,
    pub(super) pause_loop_window: u64,
    pub(super) pause_loop_gap: u64,
    pub(super) wake_local: Factor,
    pub(super) wake_local_call: u64,
    pub(super) steal_after: u64,
    pub(super) hides_preemption: bool,
}

pub struct Cpu {
    pub(super) number: u32,
    pub(super) site: CoreSite,
    /// The thread that has the CPU.
    pub(super) current: Option<usize>,
    /// Threads that wait for it.
    pub(super) queue: VecDeque<usize>,
    pub(super) slice_end: u64,
    /// Until when something else of the host has it; 0 if nothing has.
    pub(super) away_until: u64,
    /// When its next noise may begin: the start of a slice of its own.
    pub(super) noise_period: u64,
    pub(super) noise: Rng,
}

impl Cpu {
    pub fn is_idle(&self) -> bool {
        self.current.is_none() && self.away_until == 0
    }
    /// How many threads, and other things, want the CPU.
    pub fn load(&self) -> usize {
        self.queue.len() + usize::from(!self.is_idle())
    }
}

impl Times {
    pub fn new(scheduler: &Scheduler, kind: ScheduledKind) -> Self {
        let is_guest = matches!(kind, ScheduledKind::Guest { .. });
        Self {
            slice: ps(scheduler.slice_ns),
            context_switch: ps(scheduler.context_switch_ns),
            wake_granularity: ps(scheduler.wake_granularity_ns),
            noise: if kind == ScheduledKind::Kernel { 0 } else { ps(scheduler.noise_ns) },
            pause_loop_window: if is_guest { ps(scheduler.pause_loop_window_ns) } else { 0 },
            pause_loop_gap: ps(scheduler.pause_loop_gap_ns),
            wake_local: Factor::new(if is_guest { 0.0 } else { scheduler.wake_local }),
            wake_local_call: ps(scheduler.wake_local_call_ns),
            steal_after: ps(scheduler.steal_after_ns),
            hides_preemption: is_guest && scheduler.hides_preemption > 0.0,
        }
    }
}

impl Host {
    /// The CPUs of `machine`, all of them idle.
    pub fn new(machine: &Machine, scheduler: &Scheduler, kind: ScheduledKind, seed: u64) -> Self {
        let topology = &machine.topology;
        let cpu = |number: u32| Cpu {
            number,
            site: CoreSite {
                core: topology.core_of(number) as u16,
                socket: topology.socket_of(number) as u16,
            },
            current: None,
            queue: VecDeque::new(),
            slice_end: 0,
            away_until: 0,
            noise_period: 0,
            noise: Rng::split(seed, number as usize, RandomStream::Host),
        };
        Self {
            cpus: (0..topology.cpus()).map(cpu).collect(),
            times: Times::new(scheduler, kind),
            is_program: !matches!(kind, ScheduledKind::Guest { .. }),
            is_kernel: kind == ScheduledKind::Kernel,
            report: ScheduleReport::default(),
        }
    }
}
