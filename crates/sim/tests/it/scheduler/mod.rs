//! The scheduler, most of it in closed forms: no noise, no jitter, round numbers.
//!
//! A slice is 1 ms, a switch 2 us, and 100 us are enough for a thread that runs to be preempted by one
//! that wakes up.

mod bounded;
mod guests;
mod kernel;
mod locks;
mod sleeping;
mod spinning;
mod turns;

use crate::machines::{machine, quiet};
use crate::programs::U32;
use lockwright_core::platform::Zeroed;
use lockwright_sim::machine::{Machine, Scheduler};
use lockwright_sim::{
    Arena, Config, NodesMode, RunReport, ScheduleReport, ScheduledKind, Scheduling, Simulation,
    StartState, thread,
};
use std::cell::Cell;

const US: u64 = 1_000_000;
const MS: u64 = 1_000 * US;
const GUEST: ScheduledKind = ScheduledKind::Guest { virtual_numa: false };

fn host(sockets: u32, cores: u32) -> Machine {
    quiet(machine(sockets, cores, 1))
}

fn with(mut machine: Machine, change: impl Fn(&mut Scheduler)) -> Machine {
    machine.scheduler.iter_mut().for_each(change);
    machine
}

fn run_as<'a>(
    machine: &Machine,
    kind: ScheduledKind,
    start: StartState,
    bodies: &[&'a dyn Fn(&U32)],
) -> RunReport {
    let mut arena = Arena::default();
    let nodes = match kind {
        ScheduledKind::Guest { .. } => NodesMode::PerCpu,
        ScheduledKind::Program | ScheduledKind::Kernel => NodesMode::Pool(64),
    };
    let scheduling = Some(Scheduling { kind, start });
    let config = Config { scheduling, nodes, ..Config::default() };
    let mut simulation = Simulation::new(machine, &mut arena, 1, config);
    let word = simulation.alloc(U32::zeroed());
    for &body in bodies {
        simulation.spawn_scheduled(move || body(word));
    }
    simulation.run()
}

trait RunsGuests {
    /// Runs the vCPUs of a guest, which all start at once.
    fn run(&self, bodies: &[&dyn Fn(&U32)]) -> RunReport;
    /// The same; nothing may fail.
    fn ends(&self, bodies: &[&dyn Fn(&U32)]) -> RunReport {
        let report = self.run(bodies);
        assert_eq!(report.failures, []);
        report
    }
}
impl RunsGuests for Machine {
    fn run(&self, bodies: &[&dyn Fn(&U32)]) -> RunReport {
        run_as(self, GUEST, StartState::Running, bodies)
    }
}

fn schedule(report: &RunReport) -> &ScheduleReport {
    assert_eq!(report.failures, []);
    report.schedule.as_ref().expect("the run has a scheduler")
}

/// Works and notes when it is done.
fn works(ps: u64, done_ps: &Cell<u64>) -> impl Fn(&U32) {
    move |_| {
        thread::hold_ps(ps);
        done_ps.set(thread::now_ps());
    }
}
