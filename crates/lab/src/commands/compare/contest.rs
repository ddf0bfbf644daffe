//! Running a cell: in each repetition every lock has its turn, each time starting with another one.

use super::cells::CompareCell;
use super::locks::label;
use super::plan::ComparePlan;
use super::score::{Contest, ContestEntry, Role};
use super::simulated;
use crate::outcome::what_broke;
use lockwright_measure::interrupt;
use lockwright_measure::native::ForeignLoad;
use lockwright_measure::record::{TrialError, TrialRecord};
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::{LabMachine, Purpose, Trial};

/// What has a turn in each repetition: a lock, a floor, or our lock with one thread.
#[derive(Clone, Copy)]
struct Contestant {
    lock: Subject,
    role: Role,
    threads: usize,
}

/// Runs `cell`. Ends early, with what there is, after Ctrl-C and after a failure, which leaves threads
/// behind.
pub fn run(plan: &ComparePlan, cell: CompareCell, machine: &dyn LabMachine) -> Contest {
    let foreign = (!plan.is_simulated).then(ForeignLoad::watch);
    let contestants = contestants(plan, cell);
    let entry = |who: &Contestant| ContestEntry::new(label(who.lock), who.role);
    let mut contest = Contest::new(cell, contestants.iter().map(entry).collect());
    contest.cpus = plan.cpus;
    for repetition in 0..plan.runs(cell.kind()) {
        let turns = turns(contestants.len(), repetition).collect::<Vec<_>>();
        let results =
            take_turns(plan, cell, machine, &contestants, &turns, repetition, Purpose::Throughput);
        contest.entries.iter_mut().for_each(|entry| entry.runs.push(None));
        for (turn, result) in turns.into_iter().zip(results) {
            match kept(&contestants[turn], result) {
                Ok(measured) => contest.entries[turn].runs[repetition as usize] = measured,
                Err(failure) => contest.failure = contest.failure.take().or(Some(failure)),
            }
        }
        if interrupt::is_requested() || contest.failure.is_some() {
            break;
        }
    }
    time_waits(plan, cell, machine, &contestants, &mut contest);
    contest.foreign_load_percent = foreign.and_then(|foreign| foreign.percent());
    contest
}

/// Reading the clock slows a lock down, so waits have repetitions of their own.
fn time_waits(
    plan: &ComparePlan,
    cell: CompareCell,
    machine: &dyn LabMachine,
    contestants: &[Contestant],
    contest: &mut Contest,
) {
    let runs = plan.runs(cell.kind());
    for repetition in runs..runs + plan.wait_runs(cell.kind()) {
        if interrupt::is_requested() || contest.failure.is_some() {
            return;
        }
        let is_timed = |turn: &usize| contestants[*turn].role.is_compared();
        let turns: Vec<usize> = turns(contestants.len(), repetition).filter(is_timed).collect();
        let results =
            take_turns(plan, cell, machine, contestants, &turns, repetition, Purpose::Latency);
        for (turn, result) in turns.into_iter().zip(results) {
            match kept(&contestants[turn], result) {
                Ok(measured) => {
                    measured.into_iter().for_each(|timed| contest.entries[turn].add_timed(timed))
                }
                Err(failure) => contest.failure = contest.failure.take().or(Some(failure)),
            }
        }
    }
}

/// Ours, the peers, and the floors or one thread alone if the cell is compared with them.
fn contestants(plan: &ComparePlan, cell: CompareCell) -> Vec<Contestant> {
    let threads = cell.threads;
    let ours = plan.ours_in(cell).collect::<Vec<_>>().into_iter();
    let as_role = |role| move |lock| Contestant { lock, role, threads };
    let mut all: Vec<Contestant> = ours.clone().map(as_role(Role::Ours)).collect();
    all.extend(plan.peers_in(cell).map(|peer| peer.subject).map(as_role(Role::Peer)));
    if plan.has_floors(cell) {
        all.extend(Subject::floors().map(as_role(Role::Floor)));
    }
    if cell.has_single_thread() {
        all.extend(ours.map(|lock| Contestant { lock, role: Role::SingleThread, threads: 1 }));
    }
    all
}

fn turns(count: usize, repetition: u32) -> impl Iterator<Item = usize> {
    (0..count).map(move |place| (place + repetition as usize) % count)
}

fn take_turns(
    plan: &ComparePlan,
    cell: CompareCell,
    machine: &dyn LabMachine,
    contestants: &[Contestant],
    turns: &[usize],
    repetition: u32,
    purpose: Purpose,
) -> Vec<Result<TrialRecord, TrialError>> {
    let shares_cpus = |threads| match plan.is_simulated {
        true => simulated::scheduling(threads, plan.cpus, repetition),
        false => None,
    };
    let spec = |&turn: &usize| {
        let Contestant { lock, threads, .. } = contestants[turn];
        let (window_ns, scheduling) = (plan.window_ns(cell, purpose), shares_cpus(threads));
        let trial = Trial::new(lock, cell.workload, threads, window_ns, plan.seed);
        let has_neighbours = cell.has_neighbours;
        Trial { scheduling, repetition, purpose, has_neighbours, ..trial }
    };
    machine.run_batch(&turns.iter().map(spec).collect::<Vec<_>>(), &|_| ())
}

/// What is kept of a turn: nothing if Ctrl-C came before it.
fn kept(
    who: &Contestant,
    result: Result<TrialRecord, TrialError>,
) -> Result<Option<TrialRecord>, String> {
    let failed = |how: String| Err(format!("`{}`: {how}", label(who.lock)));
    match result {
        Ok(measured) if measured.held() => Ok(Some(measured)),
        Ok(measured) => failed(what_broke(&measured)),
        Err(TrialError::Interrupted) => Ok(None),
        Err(TrialError::Failed(how)) => failed(how),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::compare::cells;
    use crate::commands::compare::effort::CompareEffort;
    use crate::commands::compare::plan::Side;
    use crate::mock::MockMachine;
    use lockwright_measure::subject::Selection;

    fn contest(ours: &str, cell: &str) -> (Vec<(&'static str, Purpose)>, Contest) {
        let machine = MockMachine::default();
        let side = |ours: &str, peers: &str| {
            let subjects = |names: &str| {
                let names: Vec<String> = names.split(',').map(String::from).collect();
                Selection::of(&names).expect("known").subjects
            };
            let ours = subjects(ours).iter().map(|asked| asked.subject).collect();
            Side { ours, peers: subjects(peers) }
        };
        let plan = ComparePlan {
            exclusive: side(ours, "std,parking_lot"),
            rw: side(ours, "std-rwlock"),
            real_use: side(ours, "std,parking_lot"),
            rw_real_use: side(ours, "std-rwlock"),
            cells: cells::select(&[cell.into()], &[]).expect("a known cell"),
            effort: CompareEffort::Quick,
            asked_runs: Some(2),
            leaves_out_neighbours: false,
            spared_runs: 0,
            asked_window_ns: Some(1_000),
            seed: 1,
            cpus: 2,
            is_simulated: false,
            left_out: Vec::new(),
        };
        let contest = run(&plan, plan.cells[0], &machine);
        (machine.ran(), contest)
    }

    #[test]
    fn every_lock_runs_once_in_each_repetition_and_each_starts_with_another_one() {
        let (ran, _) = contest("mutex", "cs1-t2");
        let names: Vec<&str> = ran.iter().map(|(name, _)| *name).collect();
        assert_eq!(names[..6], ["mutex", "std", "parking_lot", "std", "parking_lot", "mutex"]);
        let purposes: Vec<Purpose> = ran[6..].iter().map(|&(_, purpose)| purpose).collect();
        assert_eq!(purposes, [Purpose::Latency; 3]);
    }

    #[test]
    fn one_thread_alone_runs_next_to_long_sections_and_a_floor_of_each_width_next_to_pairs() {
        let (ran, long) = contest("mutex", "cs100-t8");
        assert_eq!(ran.iter().filter(|(name, _)| *name == "mutex").count(), 5);
        let alone = long.entries.iter().find(|entry| entry.role == Role::SingleThread);
        assert_eq!(alone.map(|entry| (entry.name, entry.runs.len())), Some(("mutex", 2)));
        let (ran, pair) = contest("mutex", "pair");
        assert_eq!(ran.len(), 12, "no waits are timed");
        let floors = pair.entries.iter().filter(|entry| entry.role == Role::Floor);
        let floors: Vec<_> = floors.map(|floor| (floor.name, floor.runs.len())).collect();
        assert_eq!(floors, [("floor-8", 2), ("floor-16", 2), ("floor-32", 2)]);
    }

    #[test]
    fn a_lock_without_a_condition_variable_or_deadlines_has_no_turn_where_they_are_needed() {
        let names = |cell| -> Vec<&str> {
            let (ran, contest) = contest("mutex", cell);
            assert_eq!(contest.entries.len(), ran.len() / 2, "no waits are timed");
            contest.entries.iter().map(|entry| entry.name).collect()
        };
        assert_eq!(names("q1/1/1-one"), ["mutex", "std", "parking_lot-0.12"]);
        assert_eq!(names("timed-t8"), ["mutex", "parking_lot-0.12"]);
        let (_, none) = contest("ticket", "pingpong");
        assert!(none.ours().is_none());
    }

    #[test]
    fn all_our_locks_for_readers_run_in_a_cell_with_readers() {
        let (ran, contest) = contest("rwsem-current,rwsem-v5_10", "r90-cs1-t2");
        let names: Vec<&str> = ran.iter().map(|(name, _)| *name).collect();
        let expected = ["rwsem-current", "rwsem-v5_10", "std-rwlock"];
        assert_eq!(names[..3], expected);
        assert_eq!(names.len(), 6, "no waits are timed");
        let ours = contest.entries.iter().filter(|entry| entry.role == Role::Ours);
        assert_eq!(ours.count(), 2);
    }

    #[test]
    fn a_lock_that_does_not_exclude_ends_the_contest() {
        let (ran, contest) = contest("busted", "cs1-t2");
        assert!(contest.failure.is_some_and(|how| how.starts_with("`busted`: does not exclude")));
        assert_eq!(ran.len(), 3, "the first repetition is the last one");
    }
}
