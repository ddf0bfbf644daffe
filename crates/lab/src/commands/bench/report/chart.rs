//! The results of a benchmark as a picture.

use super::document::{BenchDocument, BenchResult};
use super::text::title;
use lockwright_measure::workload::Workload;
use lockwright_sheets::{Bar, Chart, ChartShape, Point, Series};

/// A picture of `document`, if it has results.
pub fn of(document: &BenchDocument) -> Option<Chart> {
    let most_threads = document.results.iter().map(|result| result.threads).max()?;
    let is_pair = matches!(document.workload(), Workload::Uncontended(_));
    // Work that was not done in time has no height, and its rate has one.
    let height = |it: &BenchResult| match is_pair {
        true => (it.pair_ns.map_or(0.0, |pair| pair.median), 0.0),
        false => (it.ops_per_s.median / 1e6, it.ops_per_s.stddev / 1e6),
    };
    let y_label =
        if is_pair { "nanoseconds per lock/unlock pair" } else { "million operations per second" };
    let (x_label, shape) = if document.has(|result| result.threads != most_threads) {
        (document.noun(), ChartShape::Lines(series(document, height)))
    } else {
        let bar = |result: &BenchResult| Bar { name: name(result), value: height(result).0 };
        ("", ChartShape::Bars(document.results.iter().map(bar).collect()))
    };
    let (x_label, y_label) = (x_label.into(), y_label.into());
    Some(Chart { title: title(document), x_label, y_label, shape })
}

/// The lock and what tells its lines apart: its start state, and parameters that have several values.
fn name(result: &BenchResult) -> String {
    let start = result.start_state.map(String::from);
    let values =
        result.parameters.iter().map(|(name, value)| format!("{} {value}", name.replace('_', " ")));
    let values = Some(values.collect::<Vec<_>>().join(", ")).filter(|values| !values.is_empty());
    let parts = [Some(result.lock.into()), start, values];
    parts.into_iter().flatten().collect::<Vec<String>>().join(", ")
}

/// A line for each lock and start state, over the numbers of threads: the middle and the spread around it.
fn series(document: &BenchDocument, height: impl Fn(&BenchResult) -> (f64, f64)) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for result in &document.results {
        let (name, (y, spread)) = (name(result), height(result));
        let point = Point { x: result.threads as f64, y, spread };
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(Series { name, points: vec![point], is_reference: false }),
        }
    }
    series
}
