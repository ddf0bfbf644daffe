//! Every lock, every client, in random schedules of four threads.
//!
//! `LOCKWRIGHT_CHECK=full` runs a hundred times as many.

use lockwright::registry::{LOCKS, LockClass};
use lockwright_clients::{CLIENTS, Client, ClientVisitor, Outcome, visit_client_of};
use lockwright_model::{Seen, Shuttle, ShuttleRun, outcome};

struct Explore<'a>(&'a ShuttleRun);

impl ClientVisitor for Explore<'_> {
    type Output = Seen;
    fn visit<C: Client>(self) -> Seen {
        self.0.client::<C>()
    }
}

fn explore(lock: &str, client: &str) -> Seen {
    let is_full = std::env::var("LOCKWRIGHT_CHECK").is_ok_and(|value| value == "full");
    let run = ShuttleRun::new(4, if is_full { 30_000 } else { 300 });
    visit_client_of::<Shuttle, _>(lock, client, Explore(&run)).expect("both are in their tables")
}

#[test]
fn every_lock_holds_in_random_schedules_of_four_threads() {
    for row in LOCKS.iter().filter(|row| row.class != LockClass::Busted) {
        for client in CLIENTS {
            let seen = explore(row.name, client);
            println!("{} {client}: {} executions", row.name, seen.executions);
        }
    }
}

#[test]
fn a_lock_that_takes_nothing_fails_every_client() {
    for client in CLIENTS {
        let outcome = outcome(|| explore("busted", client));
        assert!(matches!(outcome, Outcome::Violated(_)), "{client} on busted: {outcome:?}");
    }
}
