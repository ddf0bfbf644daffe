//! A comparison on a simulated machine: which locks and cells it has, how long a repetition is, and who shares CPUs.

use super::cells::CompareCell;
use super::effort::CompareEffort;
use lockwright_measure::error::Error;
use lockwright_measure::peers::Comparison;
use lockwright_measure::subject::{Asked, Subject};
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::Workload;
use lockwright_sim::{ScheduledKind, Scheduling, StartState};

/// The peers in cells without readers. Locks of other libraries do not run in a simulation; these are their designs.
const PEERS: &[&str] = &["futex3", "futex3-spin", "word-lock", "kernel-mutex"];
/// The peers in cells with readers.
const RW_PEERS: &[&str] = &["rwsem-current", "rwsem-v5_10", "rwsem-v4_14", "rwsem-v3_12"];

/// Why a cell cannot be simulated.
const NO_NEIGHBOURS: &str = "a simulated machine has no busy neighbours";
const NO_CHURN: &str = "on a simulated machine no threads come and go";
const NO_SCHEDULER: &str =
    "the file of this machine has no section `scheduler`, so that threads cannot share its CPUs";

/// The peers that take part without being named.
pub fn usual_peers(comparison: Comparison) -> impl Iterator<Item = &'static str> {
    let (owning, reading) = match comparison {
        Comparison::Owning => (PEERS, &[][..]),
        Comparison::Reading => (&[][..], RW_PEERS),
        Comparison::RealUse => (PEERS, RW_PEERS),
    };
    owning.iter().chain(reading).copied()
}

/// Leaves out the locks that do not run on `machine`; an error if one of them was named.
pub fn leave_out_foreign(peers: &mut Vec<Asked>, machine: &dyn LabMachine) -> Result<(), Error> {
    let refused = |lock: Subject| machine.refuses(lock, Workload::counter(1, 0));
    let named = peers.iter().filter(|peer| peer.explicitly);
    match named.filter_map(|peer| refused(peer.subject)).next() {
        Some(why) => Err(Error::usage(why)),
        None => {
            peers.retain(|peer| refused(peer.subject).is_none());
            Ok(())
        }
    }
}

/// Leaves out the cells that `machine` cannot run, and says which and why, a sentence for each reason.
pub fn leave_out_cells(
    cells: &mut Vec<CompareCell>,
    machine: &dyn LabMachine,
) -> Result<Vec<String>, Error> {
    let why_not = |cell: &CompareCell| match cell.workload {
        _ if cell.has_neighbours => Some(NO_NEIGHBOURS),
        Workload::Churn(_) => Some(NO_CHURN),
        _ if cell.threads > machine.cpus() && machine.has_scheduler().is_err() => {
            Some(NO_SCHEDULER)
        }
        _ => None,
    };
    let mut said = Vec::new();
    for why in [NO_NEIGHBOURS, NO_CHURN, NO_SCHEDULER] {
        let is_out = |cell: &CompareCell| why_not(cell) == Some(why);
        let names: Vec<&str> =
            cells.iter().filter(|cell| is_out(cell)).map(|cell| cell.name).collect();
        if let Some((first, others)) = names.split_first() {
            let which = match others.len() {
                0..8 => names.join(", "),
                more => format!("{first} and {more} others"),
            };
            said.push(format!("left out, because {why}: {which}"));
            cells.retain(|cell| !is_out(cell));
        }
    }
    match (cells.is_empty(), said.first()) {
        (true, Some(why)) => Err(Error::usage(format!(
            "no cell can be simulated ({why}): leave out --on, or name other cells"
        ))),
        _ => Ok(said),
    }
}

/// Repetitions of a cell. Each has a seed of its own, and differs little from the others.
pub fn runs(effort: CompareEffort) -> u32 {
    match effort {
        CompareEffort::Quick => 2,
        CompareEffort::Full => 6,
    }
}

/// How long a repetition with few threads and short sections is, in simulated time. A waiter of our locks may be
/// overtaken for 4 ms.
pub const fn window_ns(effort: CompareEffort) -> u64 {
    match effort {
        CompareEffort::Quick => 10_000_000,
        CompareEffort::Full => 30_000_000,
    }
}

/// A repetition in which threads share CPUs is that many times as long: they have slices of milliseconds.
pub const SHARED_FACTOR: u32 = 4;

/// Who gives the threads of a cell their CPUs: a scheduler, if there are more threads than `cpus`. The repetitions
/// begin in all the ways that there are, in turn.
pub fn scheduling(threads: usize, cpus: usize, repetition: u32) -> Option<Scheduling> {
    let start = StartState::ALL[repetition as usize % StartState::ALL.len()];
    (threads > cpus).then_some(Scheduling { kind: ScheduledKind::Program, start })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::compare::CompareArgs;
    use crate::commands::compare::cells::MATRIX;
    use crate::options;
    use lockwright_measure::native::locks::readers_share;
    use lockwright_measure::simulated::SimulatedMachine;
    use lockwright_measure::trial::{Purpose, Settings};

    fn x5_4() -> SimulatedMachine {
        let machine = SimulatedMachine::builtin("x5-4", Settings::default());
        machine.expect("it is built in").expect("it is valid")
    }

    #[test]
    fn every_peer_runs_on_a_simulated_machine_and_is_of_its_side() {
        for (names, share) in [(PEERS, false), (RW_PEERS, true)] {
            for name in names {
                let lock = Subject::find(name).expect("a known lock");
                assert_eq!(x5_4().refuses(lock, Workload::counter(1, 0)), None, "{name}");
                assert_eq!(readers_share(lock), share, "{name}");
            }
        }
    }

    #[test]
    fn cells_that_cannot_be_simulated_are_left_out_and_named() {
        let mut cells = MATRIX.to_vec();
        let said = leave_out_cells(&mut cells, &x5_4()).expect("many are left");
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("+busy and ") && said[1].ends_with(": churn-t4"), "{said:?}");
        assert!(cells.iter().all(|cell| !cell.has_neighbours && cell.name != "churn-t4"));
        let mut busy: Vec<_> = MATRIX.iter().copied().filter(|cell| cell.has_neighbours).collect();
        let error = leave_out_cells(&mut busy, &x5_4()).expect_err("none is left").to_string();
        assert!(error.contains("busy neighbours") && error.contains("--on"), "{error}");
    }

    #[test]
    fn a_simulated_plan_has_short_repetitions_no_floors_and_peers_that_can_be_simulated() {
        let args: CompareArgs = options::read("--quick --cell pair,cs1-t64,q1/1/1-one,cs1-t1000");
        let plan = args.plan(&x5_4()).expect("a sound plan");
        let window = |&cell: &CompareCell| plan.window_ns(cell, Purpose::Throughput) / 1_000_000;
        // 1,000 threads share 144 CPUs.
        assert_eq!(plan.cells.iter().map(window).collect::<Vec<_>>(), [10, 20, 10, 320]);
        assert!(plan.cells.iter().all(|&cell| plan.runs(cell.kind()) == 2));
        assert!(plan.cells[0].has_floors() && !plan.has_floors(plan.cells[0]));
        let peers = |at: usize| -> Vec<&str> {
            plan.peers_in(plan.cells[at]).map(|peer| peer.subject.name()).collect()
        };
        assert_eq!((peers(1), peers(2)), (PEERS.to_vec(), vec!["futex3", "futex3-spin"]));
    }

    #[test]
    fn threads_that_have_a_cpu_each_have_no_scheduler() {
        assert_eq!(scheduling(8, 8, 0), None);
        let starts = [0, 1, 2, 3].map(|repetition| scheduling(9, 8, repetition).map(|s| s.start));
        let all = [StartState::Running, StartState::Queued, StartState::Preempted];
        assert_eq!(starts, [all[0], all[1], all[2], all[0]].map(Some));
    }
}
