//! Intervals without a distribution: a statistic of many samples drawn from the sample at hand
//! (Efron, 1979).

use crate::random::SplitMix;

/// Samples drawn for an interval.
const DRAWS: usize = 2_000;
/// The part of them that an interval leaves out at each end: 95 % remain.
const TAIL: f64 = 0.025;

/// Draws samples.
pub struct Bootstrap {
    random: SplitMix,
}

impl Bootstrap {
    /// Samples that `seed` repeats.
    pub fn new(seed: u64) -> Self {
        Self { random: SplitMix::new(seed, 1) }
    }
    /// As many of `values` as there are, drawn one after the other and put back.
    pub fn resampled(&mut self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|_| values[self.random.below(values.len())]).collect()
    }
    /// The 95 % interval, low and high, of a statistic that is computed from samples drawn anew.
    pub fn interval(&mut self, mut statistic: impl FnMut(&mut Self) -> f64) -> [f64; 2] {
        let mut drawn: Vec<f64> = (0..DRAWS).map(|_| statistic(self)).collect();
        drawn.sort_by(f64::total_cmp);
        let low = (DRAWS as f64 * TAIL) as usize;
        [drawn[low], drawn[DRAWS - 1 - low]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::median;

    fn of_median(values: &[f64], seed: u64) -> [f64; 2] {
        Bootstrap::new(seed).interval(|draw| median(&draw.resampled(values)))
    }

    #[test]
    fn an_interval_holds_the_median_and_a_seed_repeats_it() {
        let values: Vec<f64> = (1..=99).map(f64::from).collect();
        let [low, high] = of_median(&values, 1);
        // The binomial interval of the median of 99 values: the 40th to the 60th.
        assert!((37.0..=43.0).contains(&low) && (57.0..=63.0).contains(&high), "{low} {high}");
        assert_eq!([low, high], of_median(&values, 1));
    }

    #[test]
    fn of_equal_values_the_interval_is_that_value_and_of_few_their_extremes() {
        assert_eq!(of_median(&[2.0, 2.0, 2.0], 1), [2.0, 2.0]);
        assert_eq!(of_median(&[1.0, 5.0, 3.0], 1), [1.0, 5.0]);
    }
}
