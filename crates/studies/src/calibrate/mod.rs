//! Fitting the free numbers of a simulated machine to published measurements of unpatched code.
//!
//! What hardware costs is known roughly from literature; what a benchmark's software takes, and the
//! little the literature leaves open, is fitted here, to all tables of a machine together: numbers of the
//! hardware are shared by all of them, each workload has its own software. The fit sees
//! [`Unpatched`](crate::published::Unpatched) columns and nothing else: what the simulator says about
//! patched code stays a prediction. It looks at some places, descends from the best ones, then moves each
//! number of the hardware away from its best value and fits the others again, and records, next to the
//! best numbers, the others that fit about as well: the data does not always tell them apart, and a reader
//! should know.
//!
//! Deterministic: the same machine, tables and effort give the same calibration on any computer,
//! with any number of workers.

mod cell;
mod judge;
mod plan;
mod search;

pub use cell::FittedCell;
pub use plan::{FitEffort, FitPlan};

use crate::records::Folder;
use cell::{rounded, weighted_rms_percent};
use judge::Judge;
use lockwright_measure::error::Error;
use lockwright_sim::machine::{Alternative, Calibration, Machine};
use plan::DepthOf;
use search::{Model, Slopes};

/// A calibration and how the cells it was fitted on are met.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// The calibration, ready to be saved.
    pub calibration: Calibration,
    /// The cells, table by table.
    pub rows: Vec<FittedCell>,
    /// For each variable the least and greatest value among the best fit and the alternatives.
    pub spread: Vec<(String, f64, f64)>,
    /// How many sets of numbers were simulated.
    pub evaluations: usize,
}

fn nothing_tried() -> Error {
    Error::usage("a calibration needs at least one evaluation")
}

/// How far a fit is.
#[derive(Clone, Debug, PartialEq)]
pub struct FitStep {
    /// What was done.
    pub what: String,
    /// How often something will be done, at most, and which time this was.
    pub of: (usize, usize),
    /// The residual of it.
    pub residual_percent: f64,
}

/// Fits the variables of `plan` on the unpatched columns of its tables. What is in the folder is not simulated again.
/// `progress` is told about each place.
///
/// Which of several equally good fits has the least residual is decided by the seeds' noise, so the
/// result is their centre, unless that fits less well than each of them.
pub fn calibrate(
    machine: &Machine,
    plan: &FitPlan,
    effort: &FitEffort,
    folder: Option<&Folder>,
    progress: &mut dyn FnMut(FitStep),
) -> Result<Calibrated, Error> {
    let judge = Judge::new(machine, plan, folder)?;
    // Each is looked at when it was found, and judged.
    let finalists = effort.descents.min(effort.places) + 2 * plan.hardware.len();
    let mut search = Search {
        judge: &judge,
        effort,
        progress,
        done: 0,
        total: effort.places + 2 * finalists + 1,
        evaluations: 0,
    };
    let mut finalists = search.descend_from_best_places()?;
    finalists.extend(search.profiles(&finalists)?);
    let mut fits = Vec::new();
    for (what, at) in finalists {
        fits.push(search.look(format!("judging {what}"), at, effort.judged)?);
    }
    fits.sort_by(|a, b| a.value.total_cmp(&b.value));
    if let Some(least) = fits.first().map(|fit| fit.value) {
        fits.retain(|fit| fit.value <= least + effort.tolerance_percent);
    }
    let places: Vec<&[f64]> = fits.iter().map(|fit| &fit.at[..]).collect();
    let centre = search::centre(&places).ok_or_else(nothing_tried)?;
    let centre = search.look("judging the centre".into(), centre, effort.judged)?;
    let at = if fits.iter().all(|fit| fit.value < centre.value) { fits.len() } else { 0 };
    fits.insert(at, centre);
    let mut seen = Vec::new();
    fits.retain(|fit| {
        let numbers = plan.parameters(&fit.at);
        let is_new = !seen.contains(&numbers);
        seen.push(numbers);
        is_new
    });
    let evaluations = search.evaluations;
    conclude(&judge, machine, &fits, effort, evaluations)
}

/// A place in the unit cube, what was simulated there, and its residual; less is better.
struct Tried {
    at: Vec<f64>,
    rows: Vec<FittedCell>,
    value: f64,
}

/// A place with its name.
type Named = (String, Vec<f64>);

struct Search<'a, 'b> {
    judge: &'a Judge<'b>,
    effort: &'a FitEffort,
    progress: &'a mut dyn FnMut(FitStep),
    done: usize,
    total: usize,
    evaluations: usize,
}

impl Search<'_, '_> {
    fn look(&mut self, what: String, at: Vec<f64>, depth: DepthOf) -> Result<Tried, Error> {
        let rows = self.judge.rows(&self.judge.plan.parameters(&at), depth)?;
        self.evaluations += 1;
        let value = weighted_rms_percent(&rows);
        self.done += 1;
        let of = (self.done, self.total.max(self.done));
        (self.progress)(FitStep { what, of, residual_percent: value });
        Ok(Tried { at, rows, value })
    }

    /// The ends of descents from the best places.
    fn descend_from_best_places(&mut self) -> Result<Vec<Named>, Error> {
        let dimensions = self.judge.plan.variables().len();
        let mut places = Vec::new();
        for index in 0..self.effort.places {
            let at = search::halton(index, dimensions);
            places.push(self.look(format!("place {}", index + 1), at, self.effort.search)?);
        }
        places.sort_by(|a, b| a.value.total_cmp(&b.value));
        places.truncate(self.effort.descents);
        let mut descend = |(at, place): (usize, Tried)| {
            self.descend(format!("descent {}", at + 1), &place.at, None)
        };
        places.into_iter().enumerate().map(&mut descend).collect()
    }

    fn descend(
        &mut self,
        what: String,
        start: &[f64],
        fixed: Option<usize>,
    ) -> Result<Named, Error> {
        // A profile begins next to a bottom.
        let steps = if fixed.is_some() { self.effort.steps.min(2) } else { self.effort.steps };
        let at = search::descend(self, start, steps, fixed)?;
        let told = self.look(what.clone(), at, self.effort.search)?;
        Ok((what, told.at))
    }

    /// Fits with a number of the hardware that is another one.
    fn profiles(&mut self, finalists: &[Named]) -> Result<Vec<Named>, Error> {
        /// How far away, in parts of the range.
        const AWAY: f64 = 0.2;
        let Some((_, best)) = finalists.first().cloned() else { return Ok(Vec::new()) };
        let mut profiles = Vec::new();
        for (fixed, variable) in self.judge.plan.hardware.iter().enumerate() {
            for by in [-AWAY, AWAY] {
                let mut start = best.clone();
                start[fixed] = (start[fixed] + by).clamp(0.0, 1.0);
                // At the end of its range there is one direction.
                if start == best {
                    continue;
                }
                let what = format!("{} {}", variable.name, variable.value(start[fixed]));
                profiles.push(self.descend(what, &start, Some(fixed))?);
            }
        }
        Ok(profiles)
    }
}

impl Model for Search<'_, '_> {
    fn errors(&mut self, at: &[f64]) -> Result<Vec<f64>, Error> {
        self.evaluations += 1;
        let rows = self.judge.rows(&self.judge.plan.parameters(at), self.effort.search)?;
        Ok(rows.iter().map(FittedCell::weighted_error).collect())
    }
    fn slopes(&mut self, at: &[f64]) -> Result<Slopes, Error> {
        self.evaluations += 1 + at.len();
        self.judge.slopes(at, self.effort.search)
    }
}

/// The result, when `fits` are equally good and the first one is chosen.
fn conclude(
    judge: &Judge<'_>,
    machine: &Machine,
    fits: &[Tried],
    effort: &FitEffort,
    evaluations: usize,
) -> Result<Calibrated, Error> {
    let (chosen, others) = fits.split_first().ok_or_else(nothing_tried)?;
    let plan = judge.plan;
    let alternatives = others.iter().map(|tried| Alternative {
        residual_rms_percent: rounded(tried.value, 3),
        parameters: plan.parameters(&tried.at),
    });
    let tables = plan.tables();
    let spread = plan.variables().into_iter().enumerate().map(|(axis, (owner, variable))| {
        let values = fits.iter().map(|tried| variable.value(tried.at[axis]));
        let range = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(range, |(low, high), x| (low.min(x), high.max(x)));
        let name = match owner {
            None => variable.name.to_string(),
            Some(table) => format!("{}.{}", plan::workload_name(tables[table]), variable.name),
        };
        (name, low, high)
    });
    Ok(Calibrated {
        spread: spread.collect(),
        calibration: Calibration::sealed(
            machine,
            plan.parameters(&chosen.at),
            judge.fits(&chosen.rows, effort.judged),
            alternatives.collect(),
        ),
        rows: chosen.rows.clone(),
        evaluations,
    })
}

#[cfg(test)]
mod tests;
