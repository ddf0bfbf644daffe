//! What shuttle finds in locks that are broken on purpose, and how a violation is repeated.

use lockwright_catalog::busted::{BustedLock, BustedRwLock};
use lockwright_clients::{CLIENTS, READER_CLIENTS, TypeOf, visit_client};
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::CnaSpinlock;
use lockwright_linux::qspinlock::cna::V10;
use lockwright_model::{
    Explored, Shuttle, ShuttleFailure, ShuttleRun, ShuttleSchedule, ShuttleScheduler,
};

type Busted = BustedLock<Shuttle>;
type BustedRw = BustedRwLock<Shuttle>;
type Cna = CnaSpinlock<Shuttle, V10>;

const THREADS: [usize; 3] = [4, 8, 16];
const SCHEDULERS: [ShuttleScheduler; 2] =
    [ShuttleScheduler::Random, ShuttleScheduler::Pct { depth: 3 }];

/// Samples executions of `client` on `L`.
fn sample<L: RawLock>(client: &str, run: &ShuttleRun) -> Result<Explored, ShuttleFailure> {
    run.sample(visit_client::<Shuttle, L, _>(client, TypeOf).expect("a client of the lock"))
}

/// The first violation of `client` on `L`.
fn violation<L: RawLock>(client: &str, run: &ShuttleRun) -> (String, ShuttleSchedule) {
    match sample::<L>(client, run) {
        Err(ShuttleFailure::Violated { complaint, schedule, .. }) => (complaint, schedule),
        other => panic!("{client}: {other:?}"),
    }
}

#[test]
fn a_lock_that_takes_nothing_fails_every_client() {
    for threads in THREADS {
        for client in CLIENTS {
            violation::<Busted>(client, &ShuttleRun::new(threads, 300));
        }
    }
}

#[test]
fn readers_that_take_nothing_fail_every_client_with_readers_and_no_other() {
    for threads in THREADS {
        for client in READER_CLIENTS {
            violation::<BustedRw>(client, &ShuttleRun::new(threads, 300));
        }
        for client in CLIENTS {
            sample::<BustedRw>(client, &ShuttleRun::new(threads, 20)).expect(client);
        }
    }
}

/// Finds a violation, prints its schedule, reads that and runs it.
fn is_found_and_replayed(client: &str, run: &ShuttleRun) {
    let (complaint, schedule) = violation::<Busted>(client, run);
    let line = schedule.to_string();
    assert!(!line.contains(char::is_whitespace), "{line}");
    let replay = ShuttleScheduler::Replay(line.parse().expect("what was printed"));
    let replayed = violation::<Busted>(client, &run.clone().by(replay));
    assert_eq!(replayed, (complaint, schedule));
}

#[test]
fn a_violation_is_found_by_every_scheduler_and_replayed() {
    for scheduler in SCHEDULERS {
        for threads in THREADS {
            let run = ShuttleRun::new(threads, 2000).by(scheduler.clone());
            is_found_and_replayed("exclusion", &run);
        }
    }
}

#[test]
fn a_schedule_of_another_program_is_not_mistaken_for_a_lock_that_holds() {
    let (_, schedule) = violation::<Busted>("exclusion", &ShuttleRun::new(8, 2000));
    let correct = ShuttleRun::new(8, 2000).by(ShuttleScheduler::Replay(schedule));
    assert_eq!(sample::<Cna>("exclusion", &correct), Err(ShuttleFailure::OtherProgram));
}

#[test]
fn a_line_that_is_no_schedule_is_refused() {
    let (_, schedule) = violation::<Busted>("exclusion", &ShuttleRun::new(4, 300));
    let line = schedule.to_string();
    assert_eq!(line.parse(), Ok(schedule));
    for broken in ["", "no", "00", &line[..line.len() - 4], &line[2..]] {
        broken.parse::<ShuttleSchedule>().expect_err(broken);
    }
}

#[test]
fn one_seed_finds_one_violation() {
    for scheduler in SCHEDULERS {
        let violated_by = |seed| {
            let run = ShuttleRun { seed, ..ShuttleRun::new(8, 1000).by(scheduler.clone()) };
            violation::<Busted>("exclusion", &run)
        };
        assert_eq!(violated_by(7), violated_by(7), "{scheduler:?}");
        assert_ne!(violated_by(7).1, violated_by(8).1, "{scheduler:?}");
    }
}
