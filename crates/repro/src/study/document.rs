//! What a study found.

use super::Prepared;
use super::list::{Study, StudyPoint};
use lockwright::registry::LockRow;
use lockwright_cells::simulated::Outcome;
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
    /// The hash of each machine, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    machines: Vec<OfMachine>,
    x: &'static str,
    seed: u64,
    runs: usize,
    /// True if Ctrl-C came before the end.
    pub interrupted: bool,
    /// Point by point, lock by lock.
    pub rows: Vec<StudyRow>,
    #[serde(skip)]
    locks: Vec<&'static str>,
    #[serde(skip)]
    shows_fairness: bool,
}

/// One of several machines.
#[derive(Clone, Debug, Serialize)]
struct OfMachine {
    machine: &'static str,
    calibration_hash: Option<String>,
}

/// A lock at a point.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StudyRow {
    /// The machine, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<&'static str>,
    x: u64,
    lock: &'static str,
    window_ms: f64,
    /// Of all threads together, with the range over seeds and start states.
    ops_per_us: Summary,
    /// The share of the half of the threads that did most: 0.5 is fair, 1 is not.
    fairness_factor: f64,
    /// What the thread with the fewest operations had of the average, in the worst run.
    least_of_average: f64,
    /// How much more than the first lock it did at this point, in percent, if there are several machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    gain_percent: Option<f64>,
}

impl StudyRow {
    /// A row of the runs of a cell.
    pub fn new(at: &StudyPoint, lock: &'static str, outcomes: &[Outcome]) -> Self {
        let of = |get: fn(&Outcome) -> f64| outcomes.iter().map(get).collect::<Vec<f64>>();
        Self {
            machine: None,
            x: at.x,
            lock,
            window_ms: at.window_ns as f64 / 1e6,
            ops_per_us: Summary::of(&of(|run| run.ops_per_s / 1e6)),
            fairness_factor: Summary::of(&of(|run| fairness_factor(&run.per_thread_ops))).mean,
            least_of_average: Summary::of(&of(|run| least_of_average(&run.per_thread_ops))).min,
            gain_percent: None,
        }
    }
}

/// Says on which of several machines these rows of a point were found, and compares them with the first one.
pub fn compare(rows: &mut [StudyRow], machine: &'static str) {
    let Some(first) = rows.first().map(|row| row.ops_per_us.mean) else { return };
    for row in rows {
        row.machine = Some(machine);
        row.gain_percent = Some((row.ops_per_us.mean / first - 1.0) * 100.0);
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
    pub(super) fn new(
        study: &Study,
        locks: &[&'static LockRow],
        seed: u64,
        machines: &[Prepared],
    ) -> Self {
        let of = |machine: &Prepared| OfMachine {
            machine: machine.label,
            calibration_hash: machine.simulated.calibration_hash().map(String::from),
        };
        let machines: Vec<_> = machines.iter().map(of).collect();
        let compares = study.compares_machines();
        Self {
            schema: "lockwright.study/1",
            study: study.name,
            asks: study.asks,
            machine: study.machine_labels(),
            simulated: true,
            calibration_hash: match &*machines {
                [only] => only.calibration_hash.clone(),
                _ => None,
            },
            machines: if compares { machines } else { Vec::new() },
            x: study.x,
            seed,
            runs: study.schedulings().len() * study.seeds as usize,
            interrupted: false,
            rows: Vec::new(),
            locks: locks.iter().map(|lock| lock.name).collect(),
            shows_fairness: study.shows_fairness,
        }
    }
}

/// A column of the CSV file.
type StudyColumn<'a> = (&'a str, &'a dyn Fn(&&StudyRow) -> String);

impl StudyDocument {
    fn compares_machines(&self) -> bool {
        !self.machines.is_empty()
    }

    /// The machines, and with which calibration.
    fn calibrations(&self) -> String {
        let calibration = |hash: &Option<String>| match hash {
            Some(hash) => format!("calibration {hash}"),
            None => "not calibrated".into(),
        };
        if !self.compares_machines() {
            return format!("{} ({})", self.machine, calibration(&self.calibration_hash));
        }
        let of = |it: &OfMachine| format!("{} ({})", it.machine, calibration(&it.calibration_hash));
        self.machines.iter().map(of).collect::<Vec<_>>().join(", ")
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![
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
        if self.compares_machines() {
            columns.insert(0, Column::name("machine"));
            let gain = Column::number("gain, %").means("throughput above that of the first lock");
            columns.push(gain);
        }
        columns
    }

    /// A line for each machine: the last lock compared with the first one.
    fn ratios(&self) -> Chart {
        let (first, last) = (self.locks[0], self.locks[self.locks.len() - 1]);
        let line = |of: &OfMachine| {
            let is_drawn = |row: &&StudyRow| row.machine == Some(of.machine) && row.lock == last;
            let point = |row: &StudyRow| {
                // The axis is logarithmic, so a loss could not be drawn in percent.
                let y = 1.0 + row.gain_percent.unwrap_or_default() / 100.0;
                Point { x: row.x as f64, y, spread: 0.0 }
            };
            let points = self.rows.iter().filter(is_drawn).map(point).collect();
            Series { name: of.machine.into(), points, is_reference: false }
        };
        Chart {
            title: format!("{}, simulated", self.study),
            x_label: self.x.into(),
            y_label: format!("{last}, times the throughput of {first}"),
            shape: ChartShape::Lines(self.machines.iter().map(line).collect()),
        }
    }
}

impl Report for StudyDocument {
    fn text(&self) -> String {
        let row = |row: &StudyRow| {
            let Summary { mean, min, max, .. } = row.ops_per_us;
            let mut cells = vec![
                row.lock.into(),
                row.x.to_string(),
                rate(mean * 1e6),
                rate(min * 1e6),
                rate(max * 1e6),
                digits(row.fairness_factor),
                digits(row.least_of_average),
                setting(row.window_ms * 1e6),
            ];
            if let (Some(machine), Some(gain)) = (row.machine, row.gain_percent) {
                cells.insert(0, machine.into());
                cells.push(digits(gain));
            }
            cells
        };
        let rows = self.rows.iter().map(row).collect();
        let plural = if self.runs == 1 { "" } else { "s" };
        let keys = if self.compares_machines() { 3 } else { 2 };
        wrapped(&format!(
            "{}: {}\nsimulated on {}, {} run{plural} of each cell",
            self.study,
            self.asks,
            self.calibrations(),
            self.runs,
        )) + "\n"
            + &Sheet { columns: self.columns(), keys, rows }.text()
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        let mut columns: Vec<StudyColumn<'_>> = vec![
            ("x", &|row| row.x.to_string()),
            ("lock", &|row| row.lock.into()),
            ("ops_per_us", &|row| row.ops_per_us.mean.to_string()),
            ("ops_per_us_min", &|row| row.ops_per_us.min.to_string()),
            ("ops_per_us_max", &|row| row.ops_per_us.max.to_string()),
            ("fairness_factor", &|row| row.fairness_factor.to_string()),
            ("least_of_average", &|row| row.least_of_average.to_string()),
            ("window_ms", &|row| row.window_ms.to_string()),
        ];
        if self.compares_machines() {
            columns.insert(0, ("machine", &|row| row.machine.unwrap_or_default().into()));
            let gain: StudyColumn<'_> =
                ("gain_percent", &|row| row.gain_percent.unwrap_or_default().to_string());
            columns.push(gain);
        }
        Grid::of(&self.rows, &columns)
    }
    fn chart(&self) -> Option<Chart> {
        if self.compares_machines() {
            return Some(self.ratios());
        }
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

    #[test]
    fn with_several_machines_a_row_says_which_and_how_much_it_gains_over_the_first_lock() {
        let point = StudyPoint {
            x: 4,
            threads: 4,
            window_ns: 1_000_000,
            is_after_pause: false,
            tunables: Vec::new(),
        };
        let row = |lock, ops_per_us| {
            let row = StudyRow::new(&point, lock, &[]);
            StudyRow { ops_per_us: Summary::of(&[ops_per_us]), ..row }
        };
        let mut rows = [row("qspinlock", 2.0), row("hq", 3.0), row("cna", 1.0)];
        compare(&mut rows, "x5-8");
        assert_eq!(rows.map(|row| row.gain_percent), [Some(0.0), Some(50.0), Some(-50.0)]);
        assert!(rows.iter().all(|row| row.machine == Some("x5-8")));
    }
}
