//! How a run with a scheduler begins.

use crate::engine::Engine;
use crate::engine::cpus::Host;
use crate::engine::queue::EventKind;
use crate::machine::{Machine, Scheduler, ThreadPlacement};
use crate::rng::{RandomStream, Rng};
use crate::scheduling::{ScheduleReport, ScheduledKind, Scheduling, StartState};

/// Between the starts of two threads that start together, in picoseconds.
const START_STAGGER_PS: u64 = 100;
/// The CPUs are taken away at this part of the first slice.
const OUTAGE_PART: u64 = 10;

impl Engine {
    /// Gives the threads, all of which are there and none of which has started, to a scheduler.
    pub fn schedule_on(
        &mut self,
        machine: &Machine,
        scheduler: &Scheduler,
        Scheduling { kind, start }: Scheduling,
        seed: u64,
    ) {
        let threads = self.threads.len();
        self.host = Host::new(machine, scheduler, kind, seed);
        self.host.report = ScheduleReport {
            run_ps: vec![0; threads],
            voluntary_switches: vec![0; threads],
            involuntary_switches: vec![0; threads],
            ..ScheduleReport::default()
        };
        let mut random = Rng::split(seed, 0, RandomStream::Start);
        let numbers = match start {
            StartState::Queued => shuffled(threads, &mut random),
            StartState::Running | StartState::Preempted => (0..threads).collect(),
        };
        self.deal_out(machine, kind, &numbers, random.next());
        match start {
            StartState::Queued => self.start_at_random(&mut random),
            StartState::Running | StartState::Preempted => self.start_together(),
        }
        if start == StartState::Preempted {
            let at = self.host.times.slice / OUTAGE_PART;
            self.schedule(at, EventKind::Outage, 0);
        }
        if self.host.times.noise > 0 {
            (0..self.host.cpus.len()).for_each(|cpu| self.plan_noise(cpu));
        }
    }
    /// Gives each thread the CPU whose run queue it comes to first: a random order of the cores, second
    /// hardware threads last, and over again.
    fn deal_out(&mut self, machine: &Machine, kind: ScheduledKind, numbers: &[usize], seed: u64) {
        let topology = &machine.topology;
        let Ok(order) = ThreadPlacement::Random.place(topology, topology.cpus(), seed) else {
            unreachable!("every CPU has room for one")
        };
        let sockets = topology.sockets as usize;
        let has_nodes = matches!(kind, ScheduledKind::Guest { virtual_numa: true });
        let mut next = vec![0; sockets];
        for &thread in numbers {
            let turn = &mut self.threads[thread].turn;
            turn.is_off = true;
            let socket = thread % sockets;
            turn.socket = has_nodes.then_some(socket as u16);
            let mine = |cpu: &&u32| !has_nodes || topology.socket_of(**cpu) as usize == socket;
            let mut mine = order.iter().filter(mine).cycle();
            let next = &mut next[if has_nodes { socket } else { 0 }];
            turn.cpu = mine.nth(*next).map_or(0, |&cpu| cpu as usize);
            *next += 1;
        }
    }
    fn start_together(&mut self) {
        for thread in 0..self.threads.len() {
            let turn = &mut self.threads[thread].turn;
            turn.rest_ps = thread as u64 * START_STAGGER_PS;
            let cpu = turn.cpu;
            if self.host.cpus[cpu].is_idle() {
                self.put_on(cpu, thread, 0);
            } else {
                self.host.cpus[cpu].queue.push_back(thread);
            }
        }
    }
    fn start_at_random(&mut self, random: &mut Rng) {
        let slice = self.host.times.slice as usize;
        for thread in 0..self.threads.len() {
            self.schedule(random.below(slice) as u64, EventKind::Arrive, thread);
        }
    }
}

/// The numbers below `count` in random order (Fisher and Yates).
fn shuffled(count: usize, random: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}
