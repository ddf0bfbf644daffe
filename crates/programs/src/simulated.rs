//! Programs on simulated machines.

use crate::program::{Priority, Program};
use crate::stage::Stage;
use crate::world::{LIVES_MAX, World};
use lockwright_sim::machine::{Machine, MachineFile, Topology};
use lockwright_sim::{
    Arena, Config, NodesMode, Preemption, ScheduledKind, Scheduling, Sim, Simulation, StartState,
    thread,
};

/// A priority that is raised.
pub struct RaisedSimulated;

impl Drop for RaisedSimulated {
    fn drop(&mut self) {
        thread::set_urgent(false);
        thread::set_must_not_spin(false);
    }
}

impl World for Sim {
    const KNOWS_INSTANTS: bool = false;
    type Raised = RaisedSimulated;

    fn pause() {
        // Now and then long enough for others to fall asleep.
        let longest_ns = if thread::random().is_multiple_of(4) { 40_000 } else { 400 };
        thread::work_ns(thread::random() % longest_ns);
    }
    fn fork(_child: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
        Ok(())
    }
    fn is_child() -> bool {
        false
    }
    fn raise(priority: Priority) -> Option<RaisedSimulated> {
        thread::set_urgent(priority != Priority::Normal);
        thread::set_must_not_spin(priority == Priority::RealTime);
        (priority != Priority::Normal).then_some(RaisedSimulated)
    }
    fn at_end(last: Box<dyn FnOnce()>) {
        last();
    }
}

/// Where programs are simulated.
pub struct Simulated {
    machine: Machine,
    arena: Arena,
}

impl Simulated {
    /// None has run yet.
    pub fn new() -> Result<Self, String> {
        let file = MachineFile::builtin("haswell-2s").ok_or("no machine")?;
        let mut machine = file.machine;
        machine.topology =
            Topology { sockets: 2, cores_per_socket: 2, threads_per_core: 1, ..machine.topology };
        Ok(Self { machine, arena: Arena::default() })
    }

    /// Runs a program once on the machine of a seed; what was not allowed.
    pub fn run(&mut self, program: &Program, seed: u64) -> Result<(), String> {
        let mut machine = self.machine.clone();
        let mut config =
            Config { events_max: 20_000_000, stack_bytes: 128 << 10, ..Config::default() };
        let is_scheduled = seed % 4 == 1 && machine.scheduler.is_some();
        if is_scheduled {
            machine.topology = Topology {
                sockets: 1,
                cores_per_socket: 1 + (seed / 16 % 2) as u32,
                threads_per_core: 1,
                sockets_per_node: 1,
                distance: vec![vec![0]],
            };
            let start = StartState::ALL[(seed / 4 % 3) as usize];
            config.scheduling = Some(Scheduling { kind: ScheduledKind::Program, start });
        }
        if seed % 4 == 2 {
            config.preemption = Some(Preemption { every_ns: 3_000, for_ns: 20_000 });
        }
        let threads = program.threads();
        let all = (0..LIVES_MAX).flat_map(|life| (0..threads).map(move |thread| (thread, life)));
        let all: Vec<_> = all.filter(|&(thread, life)| life < program.lives(thread)).collect();
        if !is_scheduled {
            // Each thread has a CPU, also one that comes in the place of another one.
            let cores = &mut machine.topology.cores_per_socket;
            *cores = (*cores).max(all.len().div_ceil(2) as u32);
        }
        // Sometimes there are fewer queue nodes than waiters.
        config.nodes = NodesMode::Pool(if seed % 16 < 2 { 1 + (seed / 16 % 2) as u16 } else { 64 });
        let mut simulation = Simulation::new(&machine, &mut self.arena, seed, config);
        let stage: &Stage<Sim> = simulation.alloc(Stage::new(program.clone()));
        for (at, &(thread, life)) in all.iter().enumerate() {
            let body = move || stage.run(thread, life);
            if is_scheduled {
                simulation.spawn_scheduled(body);
            } else {
                simulation.spawn(at as u32, body);
            }
        }
        let report = simulation.run();
        if let Some(why) = stage.complaint() {
            return Err(why);
        }
        match report.failures.first() {
            Some(failure) => Err(failure.to_string()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{ProgramLimits, generate};

    /// Fails in the copy with bug 17, 45, 170 or 171: the zoo checks that.
    #[test]
    fn programs_find_nothing_in_correct_locks() {
        assert_eq!(finds(false, 1..2_000), None);
    }

    #[test]
    fn threads_that_end_or_are_urgent_and_pairs_of_kinds_find_nothing() {
        assert_eq!(finds(true, 1..500), None);
    }

    fn finds(has_extras: bool, mut seeds: std::ops::Range<u64>) -> Option<u64> {
        let limits = ProgramLimits { has_forks: false, has_extras, steps: 10, reads: 100 };
        let mut simulated = Simulated::new().expect("a machine");
        seeds.find(|seed| simulated.run(&generate(*seed, limits), *seed).is_err())
    }
}
