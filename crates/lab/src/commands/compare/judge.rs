//! Judging what was measured by the goals.

use super::cells::{CellGroup, MATRIX};
use super::goals::{
    Figure, Goal, GoalBound, GoalCells, GoalMeasure, GoalVerdict, Judged, Whose, goals,
};
use super::overall::Overall;
use super::plan::UsualPeers;
use super::score::{Contest, Estimate};

/// What was measured, and what it is judged by.
pub struct Evidence<'a> {
    /// The cells that were run.
    pub contests: &'a [Contest],
    /// In which cells the peers of the goals took part, all of them and no other.
    pub has_usual_peers: UsualPeers,
    /// True if unlocking may rely on membarrier.
    pub has_membarrier: bool,
    /// Seed of the intervals.
    pub seed: u64,
}

/// A figure, and the cell if it is of one. It is complete if all of its cells and peers were measured.
struct Reading {
    estimate: Estimate,
    is_of_one_run: bool,
    cell: Option<&'static str>,
    is_complete: bool,
}

/// A figure of all cells of a group, and the cell if it is of one.
type FromOverall = fn(&Overall) -> Option<(Estimate, Option<&'static str>)>;

impl Evidence<'_> {
    /// All goals.
    pub fn judge(&self) -> Vec<Judged> {
        goals(self.has_membarrier).into_iter().map(|goal| self.judge_one(goal)).collect()
    }
    fn judge_one(&self, goal: Goal) -> Judged {
        let reading = self.read(&goal);
        let verdict = match &reading {
            None => GoalVerdict::NotMeasured,
            Some(reading) if !reading.is_complete => GoalVerdict::PartlyMeasured,
            Some(reading) if goal.bound.holds(reading.estimate.value) => GoalVerdict::Met,
            Some(_) => GoalVerdict::Missed,
        };
        Judged {
            what: goal.what,
            bound: goal.bound,
            gated: goal.gated,
            measured: reading.as_ref().map(|reading| reading.estimate.value),
            ci95: reading.as_ref().filter(|r| !r.is_of_one_run).map(|r| r.estimate.ci95),
            cell: reading.as_ref().and_then(|reading| reading.cell),
            verdict,
        }
    }
    fn read(&self, goal: &Goal) -> Option<Reading> {
        match &goal.measure {
            GoalMeasure::GoalCells { cells, whose, figure } => {
                self.worst_of(cells, *whose, *figure, goal.bound)
            }
            GoalMeasure::GeometricMean(group) => self.overall(*group, |all| {
                let estimate =
                    Estimate { value: all.geometric_mean, ci95: all.geometric_mean_ci95 };
                Some((estimate, None))
            }),
            GoalMeasure::Worst(group) => self.overall(*group, |all| {
                let estimate = Estimate { value: all.worst, ci95: all.worst_ci95 };
                Some((estimate, Some(all.worst_cell)))
            }),
            GoalMeasure::CpuPerOp(group) => self.overall(*group, |all| {
                Some((Estimate { value: all.cpu_per_op?, ci95: all.cpu_per_op_ci95? }, None))
            }),
        }
    }
    /// A number of all cells of a group.
    fn overall(&self, group: CellGroup, get: FromOverall) -> Option<Reading> {
        let all = Overall::of(self.contests, group, Contest::ratios_for_goals, self.seed)?;
        let meant: Vec<_> = MATRIX.iter().filter(|cell| group.has(cell)).collect();
        let has_usual_peers = meant.iter().all(|cell| self.has_usual_peers.in_cell(cell));
        let (estimate, cell) = get(&all)?;
        let is_complete = all.cells == meant.len() && has_usual_peers;
        Some(Reading { estimate, is_of_one_run: false, cell, is_complete })
    }
    fn worst_of(
        &self,
        cells: &GoalCells,
        whose: Whose,
        figure: Figure,
        bound: GoalBound,
    ) -> Option<Reading> {
        let measured: Vec<(&'static str, Vec<f64>)> = self
            .contests
            .iter()
            .filter(|contest| cells.has(&contest.cell))
            .map(|contest| (contest.cell.name, figure.of(contest, whose)))
            .filter(|(_, values)| !values.is_empty())
            .collect();
        let meant: Vec<_> = MATRIX.iter().filter(|cell| cells.has(cell)).collect();
        let has_usual_peers = meant.iter().all(|cell| self.has_usual_peers.in_cell(cell));
        let peers_suffice = has_usual_peers || !figure.needs_all_peers();
        let is_complete = measured.len() == meant.len() && peers_suffice;
        let worse =
            |a: Reading, b: Reading| match bound.is_worse(b.estimate.value, a.estimate.value) {
                true => b,
                false => a,
            };
        let read = |(cell, values): &(&'static str, Vec<f64>)| {
            let estimate = Estimate::of(values, self.seed)?;
            Some(Reading {
                estimate,
                is_of_one_run: values.len() == 1,
                cell: Some(cell),
                is_complete,
            })
        };
        measured.iter().filter_map(read).reduce(worse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::compare::locks::{OURS_MIXED, OURS_READING};
    use crate::commands::compare::score::{ContestEntry, Role, choose_ours, tests::contest};

    fn judge(contests: &[Contest], is_usual: bool) -> Vec<Judged> {
        let has_usual_peers = UsualPeers {
            exclusive: is_usual,
            rw: is_usual,
            real_use: is_usual,
            rw_real_use: is_usual,
        };
        Evidence { contests, has_usual_peers, has_membarrier: true, seed: 1 }.judge()
    }

    fn of<'a>(judged: &'a [Judged], what: &str) -> &'a Judged {
        judged.iter().find(|goal| goal.what == what).expect("a goal of that name")
    }

    #[test]
    fn a_goal_of_several_cells_is_judged_by_the_worst_of_them() {
        let cell = |name, ours| {
            contest(
                name,
                &[("mutex", &[ours; 4]), ("parking_lot-0.12", &[1.0; 4]), ("std", &[1.2; 4])],
            )
        };
        let mut cells = vec![
            cell("cs1-t8", 1.5),
            cell("cs1-t16", 1.25),
            cell("cs1-t32", 1.4),
            cell("cs1-t64", 2.0),
        ];
        let what = "cs1, 8 to 64 threads: throughput relative to parking_lot";
        let judged = judge(&cells, true);
        let goal = of(&judged, what);
        assert_eq!((goal.measured, goal.cell), (Some(1.25), Some("cs1-t16")));
        assert_eq!(goal.verdict, GoalVerdict::Missed);
        cells[1] = cell("cs1-t16", 1.3);
        assert_eq!(of(&judge(&cells, true), what).verdict, GoalVerdict::Met);
        assert_eq!(of(&judge(&cells, false), what).verdict, GoalVerdict::PartlyMeasured);
        assert_eq!(of(&judge(&cells[1..], true), what).verdict, GoalVerdict::PartlyMeasured);
        assert_eq!(of(&judge(&cells[..0], true), what).verdict, GoalVerdict::NotMeasured);
    }

    #[test]
    fn a_cell_at_the_bound_that_the_cpus_set_counts_as_met_unless_it_has_neighbours() {
        // The bound is 200,000 sections of 5 us in a second.
        let cell = |name, ours: f64| {
            let mut cell = contest(name, &[("mutex", &[ours; 4]), ("std", &[250_000.0; 4])]);
            cell.cpus = 2;
            cell
        };
        let worst = |cell: Contest, what| of(&judge(&[cell], true), what).measured;
        let alone = "blocking cells: worst ratio";
        assert_eq!(worst(cell("cs5us-x1-t8", 195_000.0), alone), Some(1.0));
        assert_eq!(worst(cell("cs5us-x1-t8", 187_500.0), alone), Some(0.75));
        let busy = worst(cell("cs5us-x1-t8+busy", 195_000.0), "busy neighbours: worst ratio");
        assert_eq!(busy, Some(0.78));
    }

    #[test]
    fn cpu_time_is_judged_for_each_operation() {
        let mut cell = contest("pingpong", &[("mutex", &[1.0; 4]), ("std", &[1.0; 4])]);
        for (entry, ops) in cell.entries.iter_mut().zip([200, 100]) {
            entry.runs.iter_mut().flatten().for_each(|run| run.per_thread_ops = vec![ops]);
        }
        let judged = judge(&[cell], true);
        let goal = of(&judged, "queues: CPU time per operation relative to the best peer");
        assert_eq!(
            (goal.measured, goal.verdict),
            (Some(0.5), GoalVerdict::PartlyMeasured),
            "other queues were not measured"
        );
    }

    #[test]
    fn the_cost_of_a_pair_is_a_time_so_less_is_better() {
        let floor = |mut contest: Contest| {
            contest.entries.push(ContestEntry {
                role: Role::Floor,
                name: "floor",
                ..contest.entries[1].clone()
            });
            contest
        };
        let cells = [floor(contest("pair", &[("mutex", &[80.0; 2]), ("std", &[40.0; 2])]))];
        let judged = judge(&cells, true);
        assert_eq!(of(&judged, "pair: time relative to std").measured, Some(0.5));
        assert_eq!(of(&judged, "pair: time relative to std").verdict, GoalVerdict::Met);
        assert_eq!(of(&judged, "pair: time relative to the floor").verdict, GoalVerdict::Met);
        assert_eq!(of(&judged, "pair: time relative to pthread").verdict, GoalVerdict::NotMeasured);
    }

    #[test]
    fn without_membarrier_pairs_have_a_goal_of_their_own() {
        let cells = [contest("pair", &[("mutex", &[9.0; 2]), ("parking_lot-0.12", &[10.0; 2])])];
        let evidence = |has_membarrier| {
            let has_usual_peers =
                UsualPeers { exclusive: true, rw: false, real_use: false, rw_real_use: false };
            let evidence = Evidence { contests: &cells, has_usual_peers, has_membarrier, seed: 1 };
            let judged = evidence.judge();
            let pairs = judged.into_iter().filter(|goal| goal.what.starts_with("pair"));
            pairs.map(|goal| (goal.bound, goal.verdict)).collect::<Vec<_>>()
        };
        assert_eq!(evidence(false), [(GoalBound::AtMost(1.0), GoalVerdict::Missed)]);
        assert_eq!(evidence(true).len(), 4);
    }

    #[test]
    fn a_cell_may_use_one_cpu_and_be_as_fast_as_one_thread() {
        let cells: Vec<Contest> = ["cs100-t8", "cs100-t16", "cs100-t32", "cs100-t64"]
            .map(|name| {
                let mut cell = contest(name, &[("mutex", &[96.0; 4]), ("std", &[50.0; 4])]);
                let single = contest(name, &[("mutex", &[100.0; 4])]).entries.remove(0);
                cell.entries.push(ContestEntry { role: Role::SingleThread, ..single });
                cell
            })
            .into();
        let judged = judge(&cells, false);
        let rate = of(&judged, "cs100, 8 to 64 threads: throughput relative to one thread");
        assert_eq!((rate.measured, rate.verdict), (Some(0.96), GoalVerdict::Met));
        // The made-up cells use two.
        assert_eq!(of(&judged, "cs100, 8 to 64 threads: CPUs in use").verdict, GoalVerdict::Missed);
    }

    #[test]
    fn a_goal_about_one_of_our_locks_is_judged_by_it_whichever_is_compared() {
        let (mixed, other) = (OURS_MIXED, "another*");
        let rates = [mixed, other, "parking_lot-rwlock-0.12"];
        let cells = [contest(
            "r50-cs1-t2",
            &[(mixed, &[0.9; 2]), (other, &[2.0; 2]), (rates[2], &[1.0; 2])],
        )];
        let mut chosen = cells.clone();
        choose_ours(&mut chosen, 0);
        assert_eq!(chosen[0].ours().map(|ours| ours.name), Some("another"));
        let judged = judge(&chosen, true);
        let goal = of(
            &judged,
            "50 to 99 % reads, our lock for mixed loads: throughput relative to the best peer",
        );
        assert_eq!(
            (goal.measured, goal.verdict, goal.gated),
            (Some(0.9), GoalVerdict::PartlyMeasured, false)
        );
        assert_eq!(of(&judged, "cells with readers: worst ratio").measured, Some(2.0));
        assert_eq!(of(&judged, "exclusive cells: worst ratio").verdict, GoalVerdict::NotMeasured);
    }

    #[test]
    fn the_cost_of_reading_is_in_terms_of_the_better_lock_of_parking_lot_for_readers() {
        let cells = ["read-pair-t1", "read-pair-t2"].map(|name| {
            let locks = ["parking_lot-rwlock-0.12", "parking_lot-rwlock-0.13"];
            contest(
                name,
                &[(OURS_READING, &[20.0; 2]), (locks[0], &[1.0; 2]), (locks[1], &[2.0; 2])],
            )
        });
        let judged = judge(&cells, true);
        let goal = |what| of(&judged, what);
        assert_eq!(
            goal("read pair, 1 thread: time relative to parking_lot").verdict,
            GoalVerdict::Met
        );
        let two = goal("read pair, 2 threads: time relative to parking_lot");
        assert_eq!((two.measured, two.verdict), (Some(0.1), GoalVerdict::Missed));
    }
}
