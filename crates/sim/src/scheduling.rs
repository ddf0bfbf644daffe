//! What a run with a scheduler is asked to do, and what it tells about it.

use crate::config::{Config, NodesMode};
use crate::machine::{Machine, Scheduler, Topology};
use crate::memory::{CostTable, ps};

/// What is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduledKind {
    /// The threads are the vCPUs of one guest. None is pinned: the host moves them between its CPUs.
    ///
    /// `this_cpu` is the vCPU's number, which is the thread's. The guest sees one NUMA node.
    Guest {
        /// The guest sees the machine's sockets as NUMA nodes, vCPU `i` on node `i` modulo their
        /// number, and runs it on no CPU of another socket.
        virtual_numa: bool,
    },
    /// The threads are those of a program. `this_cpu` is the CPU a thread runs on now, and the NUMA
    /// nodes are the machine's. Such a run needs a [pool](crate::NodesMode::Pool) of queue nodes.
    Program,
    /// The threads are tasks in a kernel that is not preemptible. As those of a program, but a task
    /// keeps its CPU until it sleeps, computes in user mode
    /// ([`thread::user_ns`](crate::thread::user_ns)) or says that it may lose it
    /// ([`thread::may_reschedule`](crate::thread::may_reschedule)); until then it is asked
    /// (`need_resched`). Nothing but the tasks takes CPUs away: there is no noise.
    Kernel,
}

impl ScheduledKind {
    /// Returns true if the threads move between CPUs whose numbers they see.
    pub const fn moves_between_cpus(self) -> bool {
        !matches!(self, Self::Guest { .. })
    }
}

/// How a run begins. An overcommitted machine is metastable: what it settles into depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartState {
    /// All threads start at the same moment, one on each CPU and the rest behind them in the run
    /// queues.
    Running,
    /// The threads are dealt out over the run queues in random order, and each starts at a random
    /// moment of the first slice, so that the slices have random phases.
    Queued,
    /// As [`Running`](Self::Running), but a tenth of a slice later a random half of the CPUs do
    /// something else for a slice, as a host does that was needed for something else: whatever
    /// queue the threads have formed has holes.
    Preempted,
}

impl StartState {
    /// Every state.
    pub const ALL: &[Self] = &[Self::Running, Self::Queued, Self::Preempted];

    /// The name it is selected by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "everybody-running",
            Self::Queued => "random-queue",
            Self::Preempted => "after-preemption",
        }
    }
    /// The state of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.name() == name)
    }
}

/// Threads share the machine's CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduling {
    /// What they are.
    pub kind: ScheduledKind,
    /// How the run begins.
    pub start: StartState,
}

/// What the scheduler of a run did within the window of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleReport {
    /// How long each thread had a CPU, in picoseconds.
    pub run_ps: Vec<u64>,
    /// How often each thread gave its CPU up, to sleep or because it spun for too long.
    pub voluntary_switches: Vec<u64>,
    /// How often each thread lost its CPU: at the end of a slice, to one that woke up, to the host.
    pub involuntary_switches: Vec<u64>,
    /// How often a sleeping thread was woken by another one.
    pub kicks: u64,
    /// How often an idle CPU took a thread from the run queue of another.
    pub steals: u64,
    /// How often a thread yielded because it spun for too long in one go.
    pub pause_loop_exits: u64,
}

impl Scheduling {
    /// A vCPU sleeps by halting and is woken by a kick.
    pub(crate) fn charge(self, costs: &mut CostTable, scheduler: &Scheduler) {
        if matches!(self.kind, ScheduledKind::Guest { .. }) {
            costs.sleep_call = ps(scheduler.halt_exit_ns);
            costs.wake_call = ps(scheduler.kick_call_ns);
            costs.wake_latency = ps(scheduler.kick_latency_ns);
        }
    }
}

/// The CPUs and NUMA nodes that a program sees.
#[derive(Default)]
pub(crate) struct Numa {
    pub nodes: u32,
    pub is_guest: bool,
    pub node_of_cpu: Vec<u16>,
}

impl Numa {
    /// What a program of `threads` threads sees.
    pub fn seen(scheduling: Option<Scheduling>, topology: &Topology, threads: usize) -> Self {
        match scheduling.map(|scheduling| scheduling.kind) {
            Some(ScheduledKind::Guest { virtual_numa }) => {
                let nodes = if virtual_numa { topology.nodes() } else { 1 };
                // vCPUs go to the sockets in turn.
                let node = |vcpu| match virtual_numa {
                    true => vcpu % topology.sockets as usize / topology.sockets_per_node as usize,
                    false => 0,
                };
                let node_of_cpu = (0..threads).map(|vcpu| node(vcpu) as u16).collect();
                Self { nodes, is_guest: true, node_of_cpu }
            }
            Some(ScheduledKind::Program | ScheduledKind::Kernel) | None => {
                let node_of_cpu = (0..topology.cpus()).map(|cpu| topology.node_of(cpu) as u16);
                let (nodes, is_guest) = (topology.nodes(), false);
                Self { nodes, is_guest, node_of_cpu: node_of_cpu.collect() }
            }
        }
    }
}

/// Refuses a run that cannot be scheduled as its settings want it.
pub(crate) fn check(machine: &Machine, config: &Config) {
    let Some(scheduling) = config.scheduling else { return };
    if let Err(error) = machine.scheduler() {
        panic!("{error}");
    }
    assert!(
        config.preemption.is_none(),
        "Config::preemption takes CPUs away from threads that have one of their own, not from a \
         scheduler"
    );
    assert!(
        !scheduling.kind.moves_between_cpus() || config.nodes != NodesMode::PerCpu,
        "the threads of a program or of a kernel move between CPUs: give it a pool of queue nodes"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_select_their_start_state() {
        for &state in StartState::ALL {
            assert_eq!(StartState::named(state.name()), Some(state));
        }
        assert_eq!(StartState::named("asleep"), None);
    }
}
