//! Looking for numbers with which a simulation meets many published ones.
//!
//! The variables live in the unit cube. A low-discrepancy sequence looks everywhere once; then damped
//! steps of least squares (Levenberg, 1944; Marquardt, 1963) descend from the best places. Slopes are
//! differences over a good part of a range, because the errors are rough. All of it is deterministic.

use lockwright_measure::error::Error;

/// Errors at a place, and how each changes with each variable.
pub struct Slopes {
    /// The errors.
    pub errors: Vec<f64>,
    /// For each error one slope for each variable.
    pub slopes: Vec<Vec<f64>>,
}

/// Something with errors that are to become small.
pub trait Model {
    /// The errors at a place.
    fn errors(&mut self, at: &[f64]) -> Result<Vec<f64>, Error>;
    /// The errors and their slopes at a place.
    fn slopes(&mut self, at: &[f64]) -> Result<Slopes, Error>;
}

/// The `index`-th point (from 0) of the Halton sequence in `dimensions` dimensions (at most 16).
pub fn halton(index: usize, dimensions: usize) -> Vec<f64> {
    const PRIMES: [usize; 16] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];
    PRIMES[..dimensions].iter().map(|&base| radical_inverse(index + 1, base)).collect()
}

/// The digits of `n` in `base`, mirrored at the point.
fn radical_inverse(mut n: usize, base: usize) -> f64 {
    let (mut value, mut place) = (0.0, 1.0);
    while n > 0 {
        place /= base as f64;
        value += place * (n % base) as f64;
        n /= base;
    }
    value
}

/// The mean of the places; `None` of none.
pub fn centre(places: &[&[f64]]) -> Option<Vec<f64>> {
    let (first, others) = places.split_first()?;
    let sum = others.iter().fold(first.to_vec(), |sum, place| {
        sum.iter().zip(*place).map(|(sum, x)| sum + x).collect()
    });
    Some(sum.into_iter().map(|x| x / places.len() as f64).collect())
}

/// Descends from `start` in at most `steps` steps, without moving the variable `fixed`.
pub fn descend<M: Model>(
    model: &mut M,
    start: &[f64],
    steps: usize,
    fixed: Option<usize>,
) -> Result<Vec<f64>, Error> {
    const TRIES: usize = 3;
    /// A step that gains less than this part is the last.
    const GAIN: f64 = 0.01;
    let mut at = start.to_vec();
    let mut damping = 0.01;
    for _ in 0..steps {
        let Slopes { errors, slopes } = model.slopes(&at)?;
        let before = sum_of_squares(&errors);
        let mut gain = 0.0;
        for _ in 0..TRIES {
            let there = stepped(&at, &step(&errors, &slopes, damping, fixed));
            let after = sum_of_squares(&model.errors(&there)?);
            if after < before {
                (at, gain) = (there, 1.0 - after / before);
                damping /= 4.0;
                break;
            }
            damping *= 8.0;
        }
        if gain < GAIN {
            break;
        }
    }
    Ok(at)
}

fn sum_of_squares(errors: &[f64]) -> f64 {
    errors.iter().map(|error| error * error).sum()
}

/// `at` moved by `step`, at most this far in each variable, and not out of the cube.
fn stepped(at: &[f64], step: &[f64]) -> Vec<f64> {
    const FARTHEST: f64 = 0.35;
    let moved = at.iter().zip(step).map(|(x, by)| x + by.clamp(-FARTHEST, FARTHEST));
    moved.map(|x| x.clamp(0.0, 1.0)).collect()
}

/// The damped step of least squares: (J'J + d diag(J'J)) step = -J'e.
fn step(errors: &[f64], slopes: &[Vec<f64>], damping: f64, fixed: Option<usize>) -> Vec<f64> {
    let count = slopes.first().map_or(0, Vec::len);
    let column =
        |at: usize| slopes.iter().map(move |row| if fixed == Some(at) { 0.0 } else { row[at] });
    let product = |a: usize, b: usize| column(a).zip(column(b)).map(|(a, b)| a * b).sum::<f64>();
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|a| {
            let mut row: Vec<f64> = (0..count).map(|b| product(a, b)).collect();
            // What moves nothing stays where it is.
            row[a] = row[a] * (1.0 + damping) + f64::MIN_POSITIVE.sqrt();
            row.push(-column(a).zip(errors).map(|(slope, error)| slope * error).sum::<f64>());
            row
        })
        .collect();
    solve(&mut rows)
}

/// Solves linear equations by elimination; each row has its right side at its end. The matrix is
/// positive definite, so no row has to be exchanged.
fn solve(rows: &mut [Vec<f64>]) -> Vec<f64> {
    let count = rows.len();
    for pivot in 0..count {
        let (above, below) = rows.split_at_mut(pivot + 1);
        let pivot_row = &above[pivot];
        for row in below {
            let factor = row[pivot] / pivot_row[pivot];
            for (x, by) in row[pivot..].iter_mut().zip(&pivot_row[pivot..]) {
                *x -= factor * by;
            }
        }
    }
    let mut solution = vec![0.0; count];
    for at in (0..count).rev() {
        let known: f64 = (at + 1..count).map(|other| rows[at][other] * solution[other]).sum();
        solution[at] = (rows[at][count] - known) / rows[at][at];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bent valley whose bottom is at (0.6, 0.3, 0.9).
    struct Valley {
        asked: usize,
    }

    impl Model for Valley {
        fn errors(&mut self, at: &[f64]) -> Result<Vec<f64>, Error> {
            self.asked += 1;
            assert!(at.iter().all(|x| (0.0..=1.0).contains(x)), "{at:?}");
            let bend = at[1] - 0.3 - (at[0] - 0.6).powi(2);
            Ok(vec![at[0] - 0.6, 3.0 * bend, at[2] - 0.9])
        }
        fn slopes(&mut self, at: &[f64]) -> Result<Slopes, Error> {
            let errors = self.errors(at)?;
            let mut slopes = vec![vec![0.0; at.len()]; errors.len()];
            for variable in 0..at.len() {
                let mut there = at.to_vec();
                let by = if there[variable] < 0.9 { 0.08 } else { -0.08 };
                there[variable] += by;
                for (cell, error) in self.errors(&there)?.into_iter().enumerate() {
                    slopes[cell][variable] = (error - errors[cell]) / by;
                }
            }
            Ok(Slopes { errors, slopes })
        }
    }

    #[test]
    fn the_bottom_of_a_valley_is_found_from_every_start() {
        for index in 0..5 {
            let mut valley = Valley { asked: 0 };
            let at = descend(&mut valley, &halton(index, 3), 10, None).expect("a bottom");
            for (x, bottom) in at.iter().zip([0.6, 0.3, 0.9]) {
                assert!((x - bottom).abs() < 0.01, "from {index}: {at:?}");
            }
            assert!(valley.asked <= 10 * 7, "{}", valley.asked);
        }
    }

    #[test]
    fn what_is_fixed_does_not_move_and_the_others_do() {
        let start = [0.2, 0.8, 0.5];
        let at = descend(&mut Valley { asked: 0 }, &start, 10, Some(0)).expect("a bottom");
        assert_eq!(at[0], 0.2);
        assert!((at[1] - 0.46).abs() < 0.01 && (at[2] - 0.9).abs() < 0.01, "{at:?}");
    }

    #[test]
    fn equations_are_solved() {
        let mut rows =
            vec![vec![4.0, 1.0, 2.0, 12.0], vec![1.0, 3.0, 0.0, 7.0], vec![2.0, 0.0, 5.0, 17.0]];
        let solution = solve(&mut rows);
        for (found, wanted) in solution.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - wanted).abs() < 1e-12, "{solution:?}");
        }
    }

    #[test]
    fn the_sequence_fills_the_cube_evenly() {
        let points: Vec<_> = (0..64).map(|index| halton(index, 4)).collect();
        for axis in 0..4 {
            let mut quarters = [0; 4];
            points.iter().for_each(|point| quarters[(point[axis] * 4.0) as usize] += 1);
            assert!(quarters.iter().all(|count| (12..=20).contains(count)), "{axis}: {quarters:?}");
        }
    }
}
