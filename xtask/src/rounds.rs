//! Measurements in rounds, and what they say.

/// Of fewer ratios there is no 95 % interval.
const ROUNDS_MIN: usize = 6;
/// The part of cases that an interval may miss at each end.
const TAIL: f64 = 0.025;

/// How often each program runs unless another number is given.
pub const ROUNDS: usize = 21;

/// Reads a number of rounds.
pub fn rounds(typed: &str) -> Result<usize, String> {
    let rounds = typed.parse().ok().filter(|rounds| *rounds >= ROUNDS_MIN);
    rounds.ok_or_else(|| format!("give a number from {ROUNDS_MIN} on, such as `--runs {ROUNDS}`"))
}

/// What each side took, by round. In every other round the first side is the last one.
pub fn in_turns<T>(
    (title, sides, rounds): (&str, usize, usize),
    mut run: impl FnMut(usize) -> Result<T, String>,
) -> Result<Vec<Vec<T>>, String> {
    let mut took: Vec<Vec<T>> = (0..sides).map(|_| Vec::new()).collect();
    for round in 0..rounds {
        eprint!("\r{title}: round {}   ", round + 1);
        let mut turns: Vec<_> = (0..sides).collect();
        turns.rotate_left(round % 2);
        for side in turns {
            took[side].push(run(side)?);
        }
    }
    eprintln!();
    Ok(took)
}

/// The median of ratios and its interval, for a reader.
pub fn ratio(ratios: impl Iterator<Item = f64>) -> String {
    let ratios = sorted(ratios);
    let [low, high] = interval(&ratios);
    format!("{:.2} [{low:.2}, {high:.2}]", median(&ratios))
}

/// The values in their order.
pub fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The median of values in their order; of an even number, the mean of the two in the middle.
pub fn median(sorted: &[f64]) -> f64 {
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

/// The 95 % interval of the median of values in their order. It assumes no distribution: a value is below the median
/// as often as a coin shows heads.
pub fn interval(sorted: &[f64]) -> [f64; 2] {
    let count = sorted.len();
    // The probability of exactly `at` heads, and of at most as many.
    let (mut exactly, mut at_most) = (0.5_f64.powi(count as i32), 0.0);
    let mut skipped = 0;
    for at in 0..count / 2 {
        at_most += exactly;
        if at_most > TAIL {
            break;
        }
        skipped = at;
        exactly *= (count - at) as f64 / (at + 1) as f64;
    }
    [sorted[skipped], sorted[count - 1 - skipped]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_the_median_is_that_of_the_binomial_tables() {
        for (count, skipped) in [(6, 0), (8, 0), (9, 1), (15, 3), (21, 5), (99, 39)] {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            let expected = [f64::from(skipped), f64::from(count - 1 - skipped)];
            assert_eq!(interval(&values), expected, "{count}");
        }
    }

    #[test]
    fn a_number_of_rounds_that_gives_no_interval_is_refused() {
        assert!(rounds("6") == Ok(6) && rounds("5").is_err() && rounds("").is_err());
    }

    #[test]
    fn a_ratio_has_its_interval() {
        assert_eq!(ratio([1.0, 0.5, 0.8, 0.9, 0.7, 0.6].into_iter()), "0.75 [0.50, 1.00]");
    }

    #[test]
    fn the_first_side_is_the_last_one_in_every_other_round() {
        let mut order = Vec::new();
        let took = in_turns(("test", 3, 2), |side| {
            order.push(side);
            Ok(order.len())
        });
        assert_eq!(took, Ok(vec![vec![1, 6], vec![2, 4], vec![3, 5]]));
    }
}
