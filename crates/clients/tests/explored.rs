//! Clients with signals in explored schedules: a few thousand each.

mod machine;

use lockwright::platform::Barriers;
use lockwright::registry::LOCKS;
use lockwright_clients::{Client, ClientVisitor, disturbed_clients_of, visit_disturbed};
use lockwright_sim::explore::{Explorer, Found, Limits, Plan, PolicyKind};
use lockwright_sim::{Config, Sim, Simulation, thread};
use std::cell::Cell;
use std::rc::Rc;

/// Schedules of each client, lock and number of threads.
const SCHEDULES: u64 = 2_000;

fn spawn<C: Client>(simulation: &mut Simulation<'_>, threads: usize) {
    let client = simulation.alloc(C::new(threads));
    let running = Rc::new(Cell::new(threads));
    for number in 0..threads {
        let running = Rc::clone(&running);
        simulation.spawn(number as u32, move || {
            thread::handling(|| client.handle(number), || client.body(number));
            running.set(running.get() - 1);
            if running.get() == 0 {
                // Who waits for the end of a thread sees all its stores.
                Sim::heavy_barrier();
                client.finish();
            }
        });
    }
}

/// Explores a client with so many threads; what was found.
struct Explored(usize);

impl ClientVisitor for Explored {
    type Output = Option<Found>;
    fn visit<C: Client>(self) -> Option<Found> {
        let Self(threads) = self;
        let program = |simulation: &mut Simulation<'_>| spawn::<C>(simulation, threads);
        let machine = machine::machine();
        let mut explorer = Explorer::new(&machine, 1, Config::default(), &program);
        let policies = vec![PolicyKind::Random, PolicyKind::Pct(3), PolicyKind::Pos];
        let plan = Plan { policies, schedules: SCHEDULES, limits: Limits::default() };
        explorer.explore(&plan, |_| true).failure
    }
}

#[test]
fn locks_hold_where_signals_interrupt_their_threads() {
    for lock in LOCKS.iter().map(|row| row.name) {
        for client in disturbed_clients_of(lock) {
            for threads in [2, 3] {
                println!("{client} on {lock}, {threads} threads");
                let found = visit_disturbed::<Sim, _>(lock, client, Explored(threads));
                if let Some(found) = found.expect("a client of the table") {
                    panic!("schedule {}: {}", found.schedule, found.failure);
                }
            }
        }
    }
}
