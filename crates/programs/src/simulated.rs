//! Programs on simulated machines.

use crate::program::Program;
use crate::stage::Stage;
use crate::world::World;
use lockwright_sim::machine::{Machine, MachineFile, Topology};
use lockwright_sim::{
    Arena, Config, NodesMode, Preemption, ScheduledKind, Scheduling, Sim, Simulation, StartState,
    thread,
};

impl World for Sim {
    const KNOWS_INSTANTS: bool = false;

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
        // Sometimes there are fewer queue nodes than waiters.
        config.nodes = NodesMode::Pool(if seed % 16 < 2 { 1 + (seed / 16 % 2) as u16 } else { 64 });
        let mut simulation = Simulation::new(&machine, &mut self.arena, seed, config);
        let stage: &Stage<Sim> = simulation.alloc(Stage::new(program.clone()));
        for at in 0..stage.threads() {
            let body = move || stage.run(at);
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
        let limits = ProgramLimits { has_forks: false, steps: 10, reads: 100 };
        let mut simulated = Simulated::new().expect("a machine");
        let found = (1..2_000).find(|seed| simulated.run(&generate(*seed, limits), *seed).is_err());
        assert_eq!(found, None);
    }
}
