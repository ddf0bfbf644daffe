//! What many short rounds say: on a noisy machine the middle of them.

use lockwright_measure::stats::median;
use std::iter::repeat_with;
use std::time::Instant;

/// Nanoseconds of each of `count` runs of `body`, one after the other.
#[inline]
pub fn each_ns(count: u32, mut body: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..count).for_each(|_| body());
    start.elapsed().as_nanos() as f64 / f64::from(count)
}

/// The median of what `rounds` rounds say.
pub fn middle(rounds: usize, round: impl FnMut() -> f64) -> f64 {
    median(&repeat_with(round).take(rounds).collect::<Vec<_>>())
}

/// The value below which this part of the values lies; 0 of none.
pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    sorted[(last as f64 * part).round() as usize]
}

/// How far single values are from the middle, as a part of it: the uniform distribution with the
/// quartiles of the values reaches this far to both sides.
pub fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    match middle > 0.0 {
        // Half of a uniform distribution of width 2 * j lies within j.
        true => (quantile(values, 0.75) - quantile(values, 0.25)) / middle,
        false => 0.0,
    }
}

/// Groups numbers that differ by less than `factor` from the least of their group; groups and what is
/// in them in ascending order.
pub fn grouped(values: &[f64], factor: f64) -> Vec<Vec<f64>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut groups: Vec<Vec<f64>> = Vec::new();
    for value in sorted {
        match groups.last_mut() {
            Some(group) if value < group[0] * factor => group.push(value),
            _ => groups.push(vec![value]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uniform_sample_spreads_as_far_as_it_reaches() {
        let values: Vec<f64> = (0..=1000).map(|i| 80.0 + f64::from(i) * 0.04).collect();
        assert!((spread(&values) - 0.2).abs() < 0.01, "{}", spread(&values));
        assert_eq!((spread(&[]), quantile(&[], 0.5)), (0.0, 0.0));
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 1.0), 3.0);
    }

    #[test]
    fn numbers_that_are_near_are_one_group() {
        let groups = grouped(&[130.0, 100.0, 105.0, 200.0, 128.0], 1.15);
        assert_eq!(groups, [vec![100.0, 105.0], vec![128.0, 130.0], vec![200.0]]);
        assert!(grouped(&[], 1.15).is_empty());
    }
}
