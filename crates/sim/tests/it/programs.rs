//! Small programs for simulated machines, and critical sections in them.

use lockwright_core::platform::{Cells, Zeroed};
use lockwright_sim::any_lock::DynLock;
use lockwright_sim::machine::Machine;
use lockwright_sim::{Arena, Config, FailureKind, RunReport, Sim, Simulation, watch};

pub type U32 = <Sim as Cells>::U32;

/// A CPU, and what runs there.
pub type Program<'a, T> = (u32, &'a dyn Fn(&T));

/// What programs share, and where they run.
pub struct Shared<T> {
    value: T,
    machine: Machine,
    config: Config,
    seed: u64,
}

/// Programs on `machine` that share a word.
pub fn with_word(machine: Machine) -> Shared<U32> {
    sharing(U32::zeroed(), machine)
}
/// Programs on `machine` that share a value, which is in the memory of socket 0.
pub fn sharing<T: 'static>(value: T, machine: Machine) -> Shared<T> {
    Shared { value, machine, config: Config::default(), seed: 1 }
}

impl<T: 'static> Shared<T> {
    /// The same with other settings.
    pub fn with(self, config: Config) -> Self {
        Self { config, ..self }
    }
    /// The same with another history.
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
    /// Runs programs, each on its CPU.
    pub fn run(self, programs: &[Program<'_, T>]) -> RunReport {
        let mut arena = Arena::default();
        let mut simulation = Simulation::new(&self.machine, &mut arena, self.seed, self.config);
        let value = simulation.alloc(self.value);
        for &(cpu, program) in programs {
            simulation.spawn(cpu, move || program(value));
        }
        simulation.run()
    }
    /// The same; nothing may fail.
    pub fn ends(self, programs: &[Program<'_, T>]) -> RunReport {
        let report = self.run(programs);
        assert_eq!(report.failures, []);
        report
    }
}

/// True if a run has such a failure.
pub fn has(report: &RunReport, is_it: impl Fn(&FailureKind) -> bool) -> bool {
    report.failures.iter().any(|failure| is_it(&failure.kind))
}

/// Does something with a lock held.
pub fn hold<L: DynLock + ?Sized>(lock: &L, inside: impl FnOnce()) {
    lock.lock();
    inside();
    // SAFETY: taken above.
    unsafe { lock.unlock() };
}

/// The same, watched.
pub fn section<L: DynLock + ?Sized>(lock: &L, inside: impl FnOnce()) {
    watch::requested(lock);
    hold(lock, || {
        watch::entered(lock);
        inside();
        watch::left(lock);
    });
}
