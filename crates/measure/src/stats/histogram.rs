//! A histogram of times, exact below 64 and within 1.6 % above.

use serde::{Deserialize, Serialize};

/// Values below this are counted exactly.
const LINEAR: u64 = 64;
const LINEAR_BITS: u32 = LINEAR.trailing_zeros();
/// Buckets of each power of two from `LINEAR` on.
const STEPS: usize = LINEAR as usize / 2;
const BUCKETS: usize = LINEAR as usize + (64 - LINEAR_BITS as usize) * STEPS;

/// Counts of nanoseconds in log-linear buckets. There are none before the first one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Counted", into = "Counted")]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    max: u64,
}

/// A histogram in a document.
#[derive(Serialize, Deserialize)]
struct Counted {
    max: u64,
    /// Each bucket that is not empty, by its least value, and its count.
    buckets: Vec<(u64, u64)>,
}

impl From<Counted> for Histogram {
    fn from(counted: Counted) -> Self {
        let mut counts = vec![0; if counted.buckets.is_empty() { 0 } else { BUCKETS }];
        for &(least, count) in &counted.buckets {
            counts[bucket_of(least)] += count;
        }
        Self { total: counts.iter().sum(), counts, max: counted.max }
    }
}

impl From<Histogram> for Counted {
    fn from(histogram: Histogram) -> Self {
        let least = |bucket: usize| bucket.checked_sub(1).map_or(0, |below| last_of(below) + 1);
        let all = histogram.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        Self { max: histogram.max, buckets: all.map(|(at, &count)| (least(at), count)).collect() }
    }
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.record_first(bucket),
        }
        self.total += 1;
        self.max = self.max.max(value);
    }
    #[cold]
    fn record_first(&mut self, bucket: usize) {
        self.counts = vec![0; BUCKETS];
        self.counts[bucket] = 1;
    }
    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.total == 0 {
            self.clone_from(other);
            return;
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
        self.max = self.max.max(other.max);
    }
    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.total
    }
    /// The greatest value, exactly.
    pub fn max(&self) -> u64 {
        self.max
    }
    /// The least value that `per_mille` of all values do not exceed, rounded up to its bucket.
    pub fn quantile(&self, per_mille: u64) -> u64 {
        let rank = (u128::from(self.total) * u128::from(per_mille)).div_ceil(1000).max(1) as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return last_of(bucket).min(self.max);
            }
        }
        self.max
    }
}

/// The bucket of a value.
fn bucket_of(value: u64) -> usize {
    if value < LINEAR {
        return value as usize;
    }
    let power = value.ilog2();
    let step = (value >> (power - LINEAR_BITS + 1)) as usize - STEPS;
    LINEAR as usize + (power - LINEAR_BITS) as usize * STEPS + step
}

/// The greatest value of a bucket.
fn last_of(bucket: usize) -> u64 {
    let Some(above) = bucket.checked_sub(LINEAR as usize) else { return bucket as u64 };
    let shift = (above / STEPS) as u32 + 1;
    let first = ((above % STEPS + STEPS) as u64) << shift;
    first + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_numbers() {
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        assert_eq!(last_of(BUCKETS - 1), u64::MAX);
        for bucket in 0..BUCKETS - 1 {
            assert_eq!(bucket_of(last_of(bucket)), bucket);
            assert_eq!(bucket_of(last_of(bucket) + 1), bucket + 1);
        }
    }

    #[test]
    fn quantiles_are_exact_when_small_and_near_when_large() {
        let mut histogram = Histogram::default();
        (1..=50).for_each(|value| histogram.record(value));
        assert_eq!(histogram.quantile(500), 25);
        assert_eq!(histogram.quantile(990), 50);
        let mut histogram = Histogram::default();
        (1..=100_000).for_each(|value| histogram.record(value));
        let p99 = histogram.quantile(990) as f64;
        assert!((p99 / 99_000.0 - 1.0).abs() < 0.016, "{p99}");
        assert_eq!(histogram.max(), 100_000);
    }

    #[test]
    fn merging_is_counting_both() {
        let (mut a, mut b, mut both) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for value in [3, 77, 1_000_000, 12] {
            a.record(value);
            both.record(value);
        }
        for value in [9, 500] {
            b.record(value);
            both.record(value);
        }
        a.merge(&b);
        assert_eq!(a, both);
        assert_eq!(a.count(), 6);
    }

    #[test]
    fn an_empty_histogram_says_zero() {
        assert_eq!(Histogram::default().quantile(500), 0);
    }
}
