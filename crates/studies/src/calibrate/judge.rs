//! Simulating the fitted cells and comparing them with what was published.

use super::cell::{FittedCell, rms_percent, rounded};
use super::nothing_tried;
use super::plan::{DepthOf, FitPlan, VariableOwner, workload_name};
use super::search::Slopes;
use crate::published::Unpatched;
use crate::records::Folder;
use crate::tables::{self, SimulatedTable, TableColumn, TableDepth, TableJob};
use lockwright_measure::error::Error;
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_sim::machine::{Fit, Machine, Parameters};

/// How far a number is moved to see what that does, in parts of its range.
const STEP: f64 = 0.08;

/// Simulates the fitted cells of a plan.
pub struct Judge<'a> {
    machine: &'a Machine,
    pub plan: &'a FitPlan,
    tables: Vec<Target>,
    folder: Option<&'a Folder>,
}

/// A table, and what was published in the cells that are fitted.
struct Target {
    table: &'static SimulatedTable,
    columns: Vec<&'static TableColumn>,
    locks: Vec<&'static str>,
    /// Row by row, column by column.
    published: Vec<f64>,
}

impl Target {
    /// `None` if a column or a row is not there or not unpatched.
    fn of(table: &'static SimulatedTable) -> Option<Self> {
        let data = Unpatched::of(table.name)?;
        let columns: Vec<_> = table.columns.iter().filter(|column| column.weight > 0.0).collect();
        let mut published = Vec::new();
        for row in table.fitted_rows {
            for column in &columns {
                published.push(data.at(&table.key_of(row), column.name)?);
            }
        }
        Some(Self { table, columns, locks: table.fitted_locks(), published })
    }

    fn rows(&self, runs: &tables::Runs<'_>) -> Vec<FittedCell> {
        let mut published = self.published.iter();
        let mut rows = Vec::new();
        for (at, row) in self.table.fitted_rows.iter().enumerate() {
            for (column, &published) in self.columns.iter().zip(published.by_ref()) {
                rows.push(FittedCell {
                    table: self.table.name,
                    of: row,
                    column: column.name,
                    weight: column.weight,
                    published,
                    simulated: runs.mean(at, column),
                });
            }
        }
        rows
    }

    fn lock_of(&self, column: &TableColumn) -> &'static str {
        match column.quantity {
            tables::Quantity::Of(lock, _) => lock,
            _ => self.locks[0],
        }
    }
}

impl<'a> Judge<'a> {
    /// A judge of fits of `machine`. What is in the folder is not simulated again.
    pub fn new(
        machine: &'a Machine,
        plan: &'a FitPlan,
        folder: Option<&'a Folder>,
    ) -> Result<Self, Error> {
        let tables = plan.tables().into_iter().map(Target::of).collect::<Option<Vec<_>>>();
        let tables = tables.filter(|tables| !tables.is_empty());
        Ok(Self { machine, plan, tables: tables.ok_or_else(nothing_tried)?, folder })
    }

    /// All cells with these numbers.
    pub fn rows(&self, parameters: &Parameters, depth: DepthOf) -> Result<Vec<FittedCell>, Error> {
        let mut simulated = self.simulate(&[(parameters.clone(), None)], depth)?;
        Ok(simulated.pop().into_iter().flatten().flatten().collect())
    }

    /// The rows of each table, for each set of numbers with the tables that are to be simulated with it, all
    /// if `None`; those of the others are missing.
    fn simulate(
        &self,
        points: &[(Parameters, Option<Vec<usize>>)],
        depth: DepthOf,
    ) -> Result<Vec<Vec<Vec<FittedCell>>>, Error> {
        let fitted =
            |(numbers, _): &(Parameters, _)| SimulatedMachine::fitted_with(self.machine, numbers);
        let machines = points.iter().map(fitted).collect::<Result<Vec<_>, _>>()?;
        let depths: Vec<TableDepth> =
            self.tables.iter().map(|target| depth(target.table)).collect();
        let (mut jobs, mut of_job) = (Vec::new(), Vec::new());
        for (point, ((_, only), machine)) in points.iter().zip(&machines).enumerate() {
            for (at, target) in self.tables.iter().enumerate() {
                if only.as_ref().is_some_and(|only| !only.contains(&at)) {
                    continue;
                }
                of_job.push((point, at));
                jobs.push(TableJob {
                    table: target.table,
                    machine,
                    depth: &depths[at],
                    rows: target.table.fitted_rows,
                    locks: &target.locks,
                    seed: 1,
                });
            }
        }
        let mut simulated = vec![vec![Vec::new(); self.tables.len()]; points.len()];
        let runs = tables::run(&jobs, self.folder, &|_| ())?;
        for ((point, at), runs) in of_job.into_iter().zip(runs) {
            simulated[point][at] = self.tables[at].rows(&runs);
        }
        Ok(simulated)
    }

    /// What a step in each variable does to the errors.
    pub fn slopes(&self, at: &[f64], depth: DepthOf) -> Result<Slopes, Error> {
        let step = |x: f64| if x + STEP <= 1.0 { STEP } else { -STEP };
        let together = self.moved_together();
        let mut points = vec![(self.plan.parameters(at), None)];
        for moved in &together {
            let mut there = at.to_vec();
            moved.iter().for_each(|&(index, _)| there[index] += step(at[index]));
            let is_theirs = |&table: &usize| moved.iter().any(|&(_, it)| self.is_its(it, table));
            let theirs = (0..self.tables.len()).filter(is_theirs).collect();
            points.push((self.plan.parameters(&there), Some(theirs)));
        }
        let simulated = self.simulate(&points, depth)?;
        let (here, there) = simulated.split_first().ok_or_else(nothing_tried)?;
        let errors: Vec<f64> = here.iter().flatten().map(FittedCell::weighted_error).collect();
        let mut slopes = vec![vec![0.0; at.len()]; errors.len()];
        for (tables, moved) in there.iter().zip(&together) {
            for &(index, owner) in moved {
                let mut first = 0;
                for (table, rows) in tables.iter().enumerate() {
                    for (cell, row) in (first..).zip(rows).filter(|_| self.is_its(owner, table)) {
                        slopes[cell][index] =
                            (row.weighted_error() - errors[cell]) / step(at[index]);
                    }
                    first += here[table].len();
                }
            }
        }
        Ok(Slopes { errors, slopes })
    }

    /// True if a number of this owner decides what comes out of a table: it is the hardware's, or of the same workload.
    fn is_its(&self, owner: VariableOwner, table: usize) -> bool {
        let workload = |table: usize| workload_name(self.tables[table].table);
        owner.is_none_or(|owner| workload(owner) == workload(table))
    }

    /// Which variables can be moved at the same time, and whose they are: numbers of different workloads'
    /// software have nothing to do with each other.
    fn moved_together(&self) -> Vec<Vec<(usize, VariableOwner)>> {
        let mut together: Vec<Vec<(usize, VariableOwner)>> = Vec::new();
        for (index, (owner, _)) in self.plan.variables().into_iter().enumerate() {
            let is_free = |moved: &&mut Vec<(usize, VariableOwner)>| {
                owner.is_some() && moved.iter().all(|(_, other)| other.is_some() && *other != owner)
            };
            match together.iter_mut().find(is_free) {
                Some(moved) => moved.push((index, owner)),
                None => together.push(vec![(index, owner)]),
            }
        }
        together
    }

    /// What is recorded of the columns that are met like this.
    pub fn fits(&self, rows: &[FittedCell], depth: DepthOf) -> Vec<Fit> {
        let of_target = |target: &Target| -> Vec<Fit> {
            let depth = depth(target.table);
            let fit = |column: &&TableColumn| {
                let is_its =
                    |row: &&FittedCell| (row.table, row.column) == (target.table.name, column.name);
                let of_column: Vec<FittedCell> = rows.iter().filter(is_its).copied().collect();
                Fit {
                    table: target.table.name.into(),
                    columns: vec![column.name.into()],
                    workload: workload_name(target.table).into(),
                    lock: target.lock_of(column).into(),
                    threads: target.table.fitted_rows.iter().map(|row| row.threads).collect(),
                    placement: target.table.runs_as.name().into(),
                    start_state: target.table.runs_as.starts(&depth),
                    seeds: (1..=depth.seeds).collect(),
                    warmup_us: depth.warmup_us,
                    window_us: depth.window_us,
                    residual_rms_percent: rounded(rms_percent(&of_column), 3),
                }
            };
            target.columns.iter().map(fit).collect()
        };
        self.tables.iter().flat_map(of_target).collect()
    }
}
