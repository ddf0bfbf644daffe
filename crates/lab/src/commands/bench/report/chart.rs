//! The results of a benchmark as a picture.

use super::document::{BenchDocument, BenchResult};
use super::text::title;
use lockwright_measure::workload::Workload;
use lockwright_sheets::{Bar, Chart, ChartShape, Point, Series};

/// A picture of `document`, if it has results.
pub fn of(document: &BenchDocument) -> Option<Chart> {
    let most_threads = document.results.iter().map(|result| result.threads).max()?;
    let (height, y_label) = height(document.workload());
    let (x_label, shape) = if document.results.iter().all(|result| result.threads == most_threads) {
        let bar = |result: &BenchResult| Bar { name: name(result), value: height(result).0 };
        ("", ChartShape::Bars(document.results.iter().map(bar).collect()))
    } else {
        (document.noun(), ChartShape::Lines(series(document, height)))
    };
    let (x_label, y_label) = (x_label.into(), y_label.into());
    Some(Chart { title: title(document), x_label, y_label, shape })
}

/// What is drawn of a result: the middle and the spread around it.
type Height = fn(&BenchResult) -> (f64, f64);

/// What is drawn, and what it is called.
fn height(workload: Workload) -> (Height, &'static str) {
    let mops: Height = |result| (result.ops_per_s.median / 1e6, result.ops_per_s.stddev / 1e6);
    let pair: Height = |result| (result.pair_ns.map_or(0.0, |pair| pair.median), 0.0);
    match workload {
        Workload::Uncontended(_) => (pair, "nanoseconds per lock/unlock pair"),
        // Work that was not done in time has no height, and its rate has one.
        _ => (mops, "million operations per second"),
    }
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

/// A line for each lock and start state, over the numbers of threads.
fn series(document: &BenchDocument, height: Height) -> Vec<Series> {
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
