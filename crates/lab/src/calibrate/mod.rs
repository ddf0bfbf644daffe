//! Fitting the free numbers of a simulated machine to published measurements of unpatched code.
//!
//! What hardware costs is known roughly from literature; what a benchmark's software takes, and the
//! little the literature leaves open, is fitted here. The fit sees [`Unpatched`] columns and nothing
//! else: what the simulator says about patched code stays a prediction. It looks everywhere once,
//! descends from the best places, and records, beside the best numbers, the others that fit about
//! as well: the data does not always tell them apart, and a reader should know.
//!
//! Deterministic: the same machine, table and effort give the same calibration on any computer,
//! with any number of workers.

mod plan;
mod search;

pub use plan::Plan;

use crate::cell::Purpose;
use crate::published::Unpatched;
use crate::simulated::{Cell, Outcome, SimulatedError, run_cells};
use lockwright_sim::machine::{Alternative, Calibration, Fit, Machine, Parameters};
use plan::Column;
use search::Tried;
use std::cell::RefCell;

/// How hard to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Effort {
    /// Places looked at before the first descent.
    pub places: usize,
    /// Descents, each from another place.
    pub descents: usize,
    /// Evaluations in each descent.
    pub evaluations: usize,
    /// Seeds averaged over while searching.
    pub search_seeds: Vec<u64>,
    /// Seeds averaged over in the final judgement.
    pub seeds: Vec<u64>,
    /// Simulated microseconds before counting.
    pub warmup_us: u64,
    /// Simulated microseconds counted while searching.
    pub search_window_us: u64,
    /// Simulated microseconds counted in the final judgement.
    pub window_us: u64,
    /// An alternative fits as well if its residual is at most this many percentage points above
    /// the best.
    pub tolerance_percent: f64,
}

impl Default for Effort {
    /// A few minutes on two cores.
    fn default() -> Self {
        Self {
            places: 64,
            descents: 6,
            evaluations: 70,
            search_seeds: (1..=10).collect(),
            seeds: (1..=24).collect(),
            warmup_us: 200,
            search_window_us: 1_000,
            window_us: 1_000,
            tolerance_percent: 1.0,
        }
    }
}

/// A calibration and how the rows it was fitted on are met.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// The calibration, ready to be saved.
    pub calibration: Calibration,
    /// The cells, in the order of the table.
    pub rows: Vec<Row>,
    /// For each variable the least and greatest value among the best fit and the alternatives.
    pub spread: Vec<(&'static str, f64, f64)>,
    /// How many sets of numbers were simulated.
    pub evaluations: usize,
}

/// A cell of a fitted column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Threads, or vCPUs.
    pub threads: u32,
    /// The column.
    pub column: &'static str,
    /// Published, in the column's unit.
    pub published: f64,
    /// Simulated, in the column's unit.
    pub simulated: f64,
}

impl Row {
    /// The simulated number relative to the published one, in percent.
    pub fn error_percent(self) -> f64 {
        (self.simulated / self.published - 1.0) * 100.0
    }
}

/// How far a fit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Evaluations done.
    pub done: usize,
    /// Evaluations there will be at most.
    pub total: usize,
    /// Seeds of each evaluation. Residuals with different seeds cannot be compared.
    pub seeds: usize,
    /// The least residual with these seeds so far.
    pub least_percent: f64,
}

/// Fits the variables of `plan` on its columns. `progress` is told about each evaluation.
///
/// Which of several equally good fits has the least residual is decided by the seeds' noise, so the
/// result is their centre, unless that fits less well than each of them.
pub fn calibrate(
    machine: &Machine,
    plan: &Plan,
    table: &Unpatched,
    effort: &Effort,
    workers: usize,
    progress: &mut dyn FnMut(Step),
) -> Result<Calibrated, SimulatedError> {
    let judge = Judge { machine, plan, rows: plan.rows(table), effort, workers };
    let total = effort.places + effort.descents * (effort.evaluations + 1) + 1;
    let log = RefCell::new(Log {
        done: 0,
        total,
        seeds: 0,
        least: f64::INFINITY,
        progress,
        failure: None,
    });
    let finalists = look_for_valleys(effort, plan.variables.len(), &mut |at| {
        let seeds = &effort.search_seeds;
        let residual = judge.residual(at, seeds, effort.search_window_us);
        log.borrow_mut().note(residual, seeds.len())
    });
    let judged = |at: Vec<f64>| {
        let residual = judge.residual(&at, &effort.seeds, effort.window_us);
        let value = log.borrow_mut().note(residual, effort.seeds.len());
        Tried { at, value }
    };
    let mut fits: Vec<Tried> = finalists.into_iter().map(judged).collect();
    fits.sort_by(|a, b| a.value.total_cmp(&b.value));
    if let Some(least) = fits.first().map(|fit| fit.value) {
        fits.retain(|fit| fit.value <= least + effort.tolerance_percent);
    }
    let Some(centre) = search::centre(&fits).map(judged) else {
        return Err(SimulatedError::NothingTried);
    };
    if fits.iter().all(|fit| fit.value < centre.value) {
        fits.push(centre);
    } else {
        fits.insert(0, centre);
    }
    let Log { done, failure, .. } = log.into_inner();
    match failure {
        Some(failure) => Err(failure),
        None => judge.conclude(&fits, done),
    }
}

/// The bottoms of the valleys that `residual` has, as far as `effort` goes.
fn look_for_valleys(
    effort: &Effort,
    dimensions: usize,
    residual: &mut impl FnMut(&[f64]) -> f64,
) -> Vec<Vec<f64>> {
    let mut places: Vec<Tried> = (0..effort.places)
        .map(|index| search::halton(index, dimensions))
        .map(|at| Tried { value: residual(&at), at })
        .collect();
    places.sort_by(|a, b| a.value.total_cmp(&b.value));
    let starts = search::apart(places, effort.descents);
    let bottom = |start: &Tried| {
        let tried = search::descend(&start.at, 0.2, effort.evaluations, residual);
        tried.into_iter().min_by(|a, b| a.value.total_cmp(&b.value))
    };
    starts.iter().filter_map(bottom).map(|tried| tried.at).collect()
}

/// Progress, and the first failure of a simulation.
struct Log<'a> {
    done: usize,
    total: usize,
    seeds: usize,
    least: f64,
    progress: &'a mut dyn FnMut(Step),
    failure: Option<SimulatedError>,
}

impl Log<'_> {
    /// Counts an evaluation; a failed one is worse than everything.
    fn note(&mut self, residual: Result<f64, SimulatedError>, seeds: usize) -> f64 {
        self.done += 1;
        let value = residual.unwrap_or_else(|failure| {
            self.failure.get_or_insert(failure);
            f64::INFINITY
        });
        let before = if self.seeds == seeds { self.least } else { f64::INFINITY };
        (self.seeds, self.least) = (seeds, before.min(value));
        let Self { done, total, least: least_percent, .. } = *self;
        (self.progress)(Step { done, total, seeds, least_percent });
        value
    }
}

/// Simulates the rows of the table and compares.
struct Judge<'a> {
    machine: &'a Machine,
    plan: &'a Plan,
    /// Threads, or vCPUs, and a published number for each column.
    rows: Vec<(u32, Vec<f64>)>,
    effort: &'a Effort,
    workers: usize,
}

impl Judge<'_> {
    /// Root mean square of the relative errors in percent, by the weights of the columns.
    fn residual(&self, at: &[f64], seeds: &[u64], window_us: u64) -> Result<f64, SimulatedError> {
        let rows = self.simulate(&self.plan.parameters(at), seeds, window_us)?;
        let weights = || self.plan.columns.iter().map(|column| column.weight).cycle();
        let squares: f64 = rows
            .iter()
            .zip(weights())
            .map(|(row, weight)| weight * row.error_percent().powi(2))
            .sum();
        Ok((squares / weights().take(rows.len()).sum::<f64>()).sqrt())
    }

    /// Each cell of the columns, simulated: the mean over the seeds.
    fn simulate(
        &self,
        parameters: &Parameters,
        seeds: &[u64],
        window_us: u64,
    ) -> Result<Vec<Row>, SimulatedError> {
        let machine = parameters.applied_to(self.machine)?;
        let cell = |threads: u32, seed: u64| Cell {
            machine: &machine,
            parameters,
            lock: self.plan.lock,
            workload: self.plan.workload,
            threads,
            placement: self.plan.crew.placement(),
            scheduling: self.plan.crew.scheduling(),
            seed,
            warmup_ns: self.effort.warmup_us * 1_000,
            window_ns: window_us * 1_000,
            tunables: &[],
            purpose: Purpose::Throughput,
        };
        let cells: Vec<Cell<'_>> = self
            .rows
            .iter()
            .flat_map(|(threads, _)| seeds.iter().map(move |&seed| (*threads, seed)))
            .map(|(threads, seed)| cell(threads, seed))
            .collect();
        let outcomes = run_cells(&cells, self.workers);
        let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
        let runs = self.rows.iter().zip(outcomes.chunks(seeds.len()));
        let row = |((threads, cells), runs): (&(u32, Vec<f64>), &[Outcome])| {
            let of_column = |(column, &published): (&Column, &f64)| {
                let sum: f64 = runs.iter().map(|run| column.rate.of(run)).sum();
                let simulated = sum / seeds.len() as f64 * column.per_ops_per_s;
                Row { threads: *threads, column: column.name, published, simulated }
            };
            self.plan.columns.iter().zip(cells).map(of_column).collect::<Vec<_>>()
        };
        Ok(runs.flat_map(row).collect())
    }

    /// What is recorded of a column that is met like this.
    fn fit(&self, column: &Column, rows: &[Row]) -> Fit {
        let of_column = rows.iter().copied().filter(|row| row.column == column.name);
        Fit {
            table: self.plan.table.into(),
            columns: vec![column.name.into()],
            workload: self.plan.workload.name().into(),
            lock: self.plan.lock.into(),
            threads: self.rows.iter().map(|(threads, _)| *threads).collect(),
            placement: self.plan.crew.placement_name().into(),
            start_state: self.plan.crew.start_name().map(String::from),
            seeds: self.effort.seeds.clone(),
            warmup_us: self.effort.warmup_us,
            window_us: self.effort.window_us,
            residual_rms_percent: rounded(rms_percent(&of_column.collect::<Vec<_>>()), 3),
        }
    }

    /// The result, when `fits` are equally good and the first one is chosen.
    fn conclude(&self, fits: &[Tried], evaluations: usize) -> Result<Calibrated, SimulatedError> {
        let Some((chosen, others)) = fits.split_first() else {
            return Err(SimulatedError::NothingTried);
        };
        let parameters = self.plan.parameters(&chosen.at);
        let rows = self.simulate(&parameters, &self.effort.seeds, self.effort.window_us)?;
        let alternatives = others.iter().map(|tried| Alternative {
            residual_rms_percent: rounded(tried.value, 3),
            parameters: self.plan.parameters(&tried.at),
        });
        let spread = self.plan.variables.iter().enumerate().map(|(axis, variable)| {
            let values = fits.iter().map(|tried| variable.value(tried.at[axis]));
            let range = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = values.fold(range, |(low, high), x| (low.min(x), high.max(x)));
            (variable.name, low, high)
        });
        Ok(Calibrated {
            spread: spread.collect(),
            calibration: Calibration::sealed(
                self.machine,
                parameters.clone(),
                self.plan.columns.iter().map(|column| self.fit(column, &rows)).collect(),
                alternatives.collect(),
            ),
            rows,
            evaluations,
        })
    }
}

/// Root mean square of the relative errors, in percent.
pub fn rms_percent(rows: &[Row]) -> f64 {
    let squares: f64 = rows.iter().map(|row| row.error_percent().powi(2)).sum();
    (squares / rows.len().max(1) as f64).sqrt()
}

/// `value` with so many decimals: what the file says is what is used.
fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests;
