//! What a study found.

use super::list::{Study, StudyPoint};
use lockwright_cells::simulated::{Outcome, SimulatedMachine};
use lockwright_cells::stats::Summary;
use lockwright_report::{
    Chart, ChartShape, Column, Grid, Point, Report, Series, Sheet, digits, rate, setting, to_json,
    wrapped,
};
use serde::Serialize;

/// `lockwright.study/1`.
#[derive(Serialize)]
pub struct StudyDocument {
    schema: &'static str,
    study: &'static str,
    asks: &'static str,
    machine: String,
    simulated: bool,
    calibration_hash: Option<String>,
    x: &'static str,
    seed: u64,
    runs: usize,
    /// True if Ctrl-C came before the end.
    pub interrupted: bool,
    /// Point by point, lock by lock.
    pub rows: Vec<StudyRow>,
    #[serde(skip)]
    locks: &'static [&'static str],
    #[serde(skip)]
    shows_fairness: bool,
}

/// A lock at a point.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StudyRow {
    x: u64,
    lock: &'static str,
    window_ms: f64,
    /// Of all threads together, with the range over seeds and start states.
    ops_per_us: Summary,
    /// The share of the half of the threads that did most: 0.5 is fair, 1 is not.
    fairness_factor: f64,
    /// What the thread with the fewest operations had of the average, in the worst run.
    least_of_average: f64,
}

impl StudyRow {
    /// A row of the runs of a cell.
    pub fn new(at: &StudyPoint, lock: &'static str, outcomes: &[Outcome]) -> Self {
        let of = |get: fn(&Outcome) -> f64| outcomes.iter().map(get).collect::<Vec<f64>>();
        Self {
            x: at.x,
            lock,
            window_ms: at.window_ns as f64 / 1e6,
            ops_per_us: Summary::of(&of(|run| run.ops_per_s / 1e6)),
            fairness_factor: Summary::of(&of(|run| fairness_factor(&run.per_thread_ops))).mean,
            least_of_average: Summary::of(&of(|run| least_of_average(&run.per_thread_ops))).min,
        }
    }
}

/// The share of the half of the threads that did most.
fn fairness_factor(ops: &[u64]) -> f64 {
    let mut sorted = ops.to_vec();
    sorted.sort_unstable();
    let upper: u64 = sorted[sorted.len() / 2..].iter().sum();
    let all: u64 = sorted.iter().sum();
    upper as f64 / all.max(1) as f64
}

fn least_of_average(ops: &[u64]) -> f64 {
    let all: u64 = ops.iter().sum();
    let average = all as f64 / ops.len().max(1) as f64;
    ops.iter().min().map_or(0.0, |&least| least as f64 / average.max(f64::MIN_POSITIVE))
}

impl StudyDocument {
    /// A study that has found nothing yet.
    pub fn new(study: &Study, seed: u64, machine: &SimulatedMachine) -> Self {
        Self {
            schema: "lockwright.study/1",
            study: study.name,
            asks: study.asks,
            machine: machine.machine().name.clone(),
            simulated: true,
            calibration_hash: machine.calibration_hash().map(String::from),
            x: study.x,
            seed,
            runs: study.schedulings().len() * study.seeds as usize,
            interrupted: false,
            rows: Vec::new(),
            locks: study.locks,
            shows_fairness: study.shows_fairness,
        }
    }
}

impl Report for StudyDocument {
    fn text(&self) -> String {
        let columns = vec![
            Column::name("lock"),
            Column::number(self.x),
            Column::number("throughput").means("of all threads together, the mean of the runs"),
            Column::number("from").means("the least of the runs"),
            Column::number("to").means("the greatest"),
            Column::number("fairness factor")
                .means(
                    "operations of the faster half of the threads as a part of all; 0.5 is fair, with 1 \
                     the slower half starves",
                )
                .first(),
            Column::number("least / mean").means(
                "operations of the slowest thread divided by the mean of all, in the worst run",
            ),
            Column::number("window").means("simulated time that was counted"),
        ];
        let row = |row: &StudyRow| {
            let Summary { mean, min, max, .. } = row.ops_per_us;
            vec![
                row.lock.into(),
                row.x.to_string(),
                rate(mean * 1e6),
                rate(min * 1e6),
                rate(max * 1e6),
                digits(row.fairness_factor),
                digits(row.least_of_average),
                setting(row.window_ms * 1e6),
            ]
        };
        let rows = self.rows.iter().map(row).collect();
        let calibration = match self.calibration_hash.as_deref() {
            Some(hash) => format!("calibration {hash}"),
            None => "not calibrated".into(),
        };
        let plural = if self.runs == 1 { "" } else { "s" };
        wrapped(&format!(
            "{}: {}\nsimulated on {} ({calibration}), {} run{plural} of each cell",
            self.study, self.asks, self.machine, self.runs,
        )) + "\n"
            + &Sheet { columns, keys: 2, rows }.text()
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        Grid::of(
            &self.rows,
            &[
                ("x", &|row| row.x.to_string()),
                ("lock", &|row| row.lock.into()),
                ("ops_per_us", &|row| row.ops_per_us.mean.to_string()),
                ("ops_per_us_min", &|row| row.ops_per_us.min.to_string()),
                ("ops_per_us_max", &|row| row.ops_per_us.max.to_string()),
                ("fairness_factor", &|row| row.fairness_factor.to_string()),
                ("least_of_average", &|row| row.least_of_average.to_string()),
                ("window_ms", &|row| row.window_ms.to_string()),
            ],
        )
    }
    fn chart(&self) -> Option<Chart> {
        let series = |name: String, lock: &str, y: &dyn Fn(&StudyRow) -> (f64, f64)| {
            let points = self.rows.iter().filter(|row| row.lock == lock).map(|row| {
                let (y, spread) = y(row);
                Point { x: row.x as f64, y, spread }
            });
            Series { name, points: points.collect(), is_reference: false }
        };
        let throughput = |row: &StudyRow| {
            let Summary { mean, min, max, .. } = row.ops_per_us;
            (mean, (max - min) / 2.0)
        };
        let mut lines: Vec<Series> =
            self.locks.iter().map(|lock| series((*lock).into(), lock, &throughput)).collect();
        if self.shows_fairness {
            let fairness = |row: &StudyRow| (row.fairness_factor, 0.0);
            let lock = self.locks[0];
            lines.push(series(format!("{lock}, fairness factor"), lock, &fairness));
        }
        Some(Chart {
            title: format!("{}, simulated on {}", self.study, self.machine),
            x_label: self.x.into(),
            y_label: "operations per microsecond".into(),
            shape: ChartShape::Lines(lines),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fair_run_has_a_factor_of_a_half_and_an_unfair_one_of_one() {
        assert_eq!(fairness_factor(&[5, 5, 5, 5]), 0.5);
        assert_eq!(fairness_factor(&[0, 9, 0, 9]), 1.0);
        assert_eq!(least_of_average(&[1, 3, 4, 8]), 0.25);
        assert_eq!(least_of_average(&[0, 0]), 0.0);
    }
}
