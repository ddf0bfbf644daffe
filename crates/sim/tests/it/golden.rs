//! One seed gives one history.

use crate::machines::machine;
use lockwright::mcs::McsLock;
use lockwright::platform::{Atomic, Cells, Zeroed};
use lockwright::raw::RawLock;
use lockwright::ticket::TicketLock;
use lockwright::unfair::UnfairLock;
use lockwright_sim::{Arena, Config, RunReport, Sim, Simulation, thread};
use std::sync::atomic::Ordering::Relaxed;

fn torture<L: RawLock>(seed: u64) -> RunReport {
    let mut arena = Arena::new(1 << 20);
    let config = Config::window(5_000, 100_000);
    let mut simulation = Simulation::new(&machine(4, 4, 2), &mut arena, seed, config);
    let lock = simulation.alloc(L::new());
    let counter = simulation.alloc_at(1, <Sim as Cells>::U64::zeroed());
    for cpu in 0..24 {
        simulation.spawn(cpu, move || {
            while !thread::is_over() {
                thread::work_ns(50 + thread::random() % 100);
                lock.lock();
                counter.store(counter.load(Relaxed) + 1, Relaxed);
                // SAFETY: taken above.
                unsafe { lock.unlock() };
                thread::op_done();
            }
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    report
}

#[test]
fn one_seed_gives_one_history_and_another_seed_another() {
    let (one, same, other) =
        (torture::<McsLock<Sim>>(1), torture::<McsLock<Sim>>(1), torture::<McsLock<Sim>>(2));
    assert_eq!(one.digest, same.digest);
    assert_eq!((one.events, one.switches, &one.ops), (same.events, same.switches, &same.ops));
    assert_ne!(one.digest, other.digest);
    assert_ne!(one.events, other.events);
}

#[test]
fn runs_on_several_host_threads_do_not_disturb_each_other() {
    let serial: Vec<_> = (0..4).map(|seed| torture::<UnfairLock<Sim>>(seed).digest).collect();
    let parallel: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|seed| scope.spawn(move || torture::<UnfairLock<Sim>>(seed).digest))
            .collect();
        runs.into_iter().map(|run| run.join().expect("a run without panic")).collect()
    });
    assert_eq!(serial, parallel);
}

#[test]
fn an_arena_can_be_used_again_and_changes_nothing() {
    let mut arena = Arena::default();
    let mut run = |junk: usize| {
        if junk > 0 {
            let mut first = Simulation::new(&machine(1, 1, 1), &mut arena, 9, Config::default());
            first.alloc(vec![0u8; junk]);
            assert_eq!(first.run().failures, []);
        }
        let mut simulation = Simulation::new(&machine(1, 2, 1), &mut arena, 1, Config::default());
        let word = simulation.alloc(<Sim as Cells>::U32::zeroed());
        for cpu in 0..2 {
            simulation.spawn(cpu, move || word.store(cpu, Relaxed));
        }
        simulation.run().digest
    };
    assert_eq!(run(0), run(1000));
}

/// The history of small fixed runs. A change here is a change of the machine's behaviour, or of the
/// lock's: it belongs into a commit of its own that says why.
#[test]
fn the_golden_runs_have_their_digests() {
    let history =
        |report: RunReport| (report.digest.to_string(), report.events, report.ops_total());
    let golden = |digest: &str, events, ops| (digest.to_owned(), events, ops);
    assert_eq!(
        history(torture::<McsLock<Sim>>(1)),
        golden("b06730e9913e31c54274683892cf938f", 4200, 149)
    );
    assert_eq!(
        history(torture::<TicketLock<Sim>>(1)),
        golden("e4d6819b940d71ff4f2bdd569965065a", 8921, 90)
    );
    assert_eq!(
        history(torture::<UnfairLock<Sim>>(1)),
        golden("2671245f98aa5c6ba3bd00a2a1f571ae", 5777, 89)
    );
}
