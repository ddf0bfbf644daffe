//! What a set of numbers says.

mod bootstrap;
mod histogram;

pub use bootstrap::Bootstrap;
pub use histogram::Histogram;
use serde::Serialize;

/// Median, mean, spread and extremes of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The middle value; of two middle values their mean.
    pub median: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation of the sample (divided by n - 1); 0 for a single value.
    pub stddev: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
}

impl Summary {
    /// Summarises `values`; all zero if there are none.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            return Self::default();
        };
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        let stddev = if sorted.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Self { median: median_of_sorted(&sorted), mean, stddev, min, max }
    }
}

/// The median of `values`; 0 if there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => 0.0,
        (len, middle) if len % 2 == 1 => sorted[middle],
        (_, middle) => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_the_textbook_values() {
        let summary = Summary::of(&[4.0, 2.0, 8.0, 6.0]);
        assert_eq!(summary.median, 5.0);
        assert_eq!(summary.mean, 5.0);
        assert_eq!((summary.min, summary.max), (2.0, 8.0));
        assert!((summary.stddev - (20.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_spread_and_no_value_no_summary() {
        assert_eq!(Summary::of(&[3.0]).stddev, 0.0);
        assert_eq!(Summary::of(&[3.0]).median, 3.0);
        assert_eq!(Summary::of(&[]), Summary::default());
    }
}
