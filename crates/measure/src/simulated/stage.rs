//! A simulation that takes threads.

use lockwright_sim::Simulation;

/// What the parts of the workload's software take, in picoseconds.
pub type Parts<'a> = &'a [(&'static str, u64)];

/// A simulation that takes threads.
pub struct SimStage<'a, 's> {
    /// The simulation.
    pub simulation: Simulation<'a>,
    /// The CPU of each thread; `None` if a scheduler gives it one.
    seats: &'s [Option<u32>],
    /// What is done at the end of the simulation: each returns how often a thread was not alone.
    pub checks: Vec<Box<dyn FnOnce() -> u64 + 'a>>,
}

impl<'a, 's> SimStage<'a, 's> {
    /// One whose threads have these CPUs.
    pub fn new(simulation: Simulation<'a>, seats: &'s [Option<u32>]) -> Self {
        Self { simulation, seats, checks: Vec::new() }
    }
    /// Adds the threads; `body` makes what the one of that number does.
    pub fn spawn<B: FnOnce() + 'a>(&mut self, mut body: impl FnMut(usize) -> B) {
        for (index, &seat) in self.seats.iter().enumerate() {
            match seat {
                Some(cpu) => self.simulation.spawn(cpu, body(index)),
                None => self.simulation.spawn_scheduled(body(index)),
            };
        }
    }
    /// Adds something to be checked at the end.
    pub fn check(&mut self, check: impl FnOnce() -> u64 + 'a) {
        self.checks.push(Box::new(check));
    }
}
