//! Looking for the least value of a rough function of a few variables.
//!
//! The variables live in the unit cube. A low-discrepancy sequence looks everywhere once, then
//! simplexes (Nelder and Mead, 1965) descend from the best places. All of it is deterministic.

/// A place in the unit cube and the value there.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The place.
    pub at: Vec<f64>,
    /// The value; less is better.
    pub value: f64,
}

/// The `index`-th point (from 0) of the Halton sequence in `dimensions` dimensions (at most 6).
pub fn halton(index: usize, dimensions: usize) -> Vec<f64> {
    const PRIMES: [usize; 6] = [2, 3, 5, 7, 11, 13];
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

/// The best `count` of `tried`, which is sorted, that lie apart from each other: otherwise all of
/// them may be in one valley.
pub fn apart(tried: Vec<Tried>, count: usize) -> Vec<Tried> {
    const NEAR: f64 = 0.25;
    let is_near = |a: &Tried, b: &Tried| a.at.iter().zip(&b.at).all(|(a, b)| (a - b).abs() < NEAR);
    let (mut chosen, mut others): (Vec<Tried>, Vec<Tried>) = Default::default();
    for place in tried {
        match chosen.iter().any(|better| is_near(better, &place)) {
            true => others.push(place),
            false => chosen.push(place),
        }
    }
    // If there are not enough valleys the second best places of them must do.
    chosen.extend(others);
    chosen.truncate(count);
    chosen
}

/// The mean of the places; `None` of none.
pub fn centre(places: &[Tried]) -> Option<Vec<f64>> {
    let (first, others) = places.split_first()?;
    let sum = others.iter().fold(first.at.clone(), |sum, place| {
        sum.iter().zip(&place.at).map(|(sum, x)| sum + x).collect()
    });
    Some(sum.into_iter().map(|x| x / places.len() as f64).collect())
}

/// Descends from `start` with steps of `step` at first, for at most `evaluations` values of `f`.
/// Returns everything tried, in order.
pub fn descend(
    start: &[f64],
    step: f64,
    evaluations: usize,
    f: &mut impl FnMut(&[f64]) -> f64,
) -> Vec<Tried> {
    let mut descent = Descent { f, evaluations, tried: Vec::new() };
    descent.run(start, step);
    descent.tried
}

struct Descent<'a, F> {
    f: &'a mut F,
    evaluations: usize,
    tried: Vec<Tried>,
}

impl<F: FnMut(&[f64]) -> f64> Descent<'_, F> {
    /// The value at `at`, brought back into the cube; `None` if there were enough.
    fn look(&mut self, at: Vec<f64>) -> Option<Tried> {
        if self.tried.len() == self.evaluations {
            return None;
        }
        let at: Vec<f64> = at.into_iter().map(|x| x.clamp(0.0, 1.0)).collect();
        let tried = Tried { value: (self.f)(&at), at };
        self.tried.push(tried.clone());
        Some(tried)
    }

    fn run(&mut self, start: &[f64], step: f64) -> Option<()> {
        let mut simplex = vec![self.look(start.to_vec())?];
        for axis in 0..start.len() {
            let mut corner = start.to_vec();
            // Inwards where there is no room.
            corner[axis] += if corner[axis] + step <= 1.0 { step } else { -step };
            simplex.push(self.look(corner)?);
        }
        loop {
            simplex.sort_by(|a, b| a.value.total_cmp(&b.value));
            self.improve(&mut simplex)?;
        }
    }

    /// Replaces the worst corner, or draws all corners towards the best.
    fn improve(&mut self, simplex: &mut [Tried]) -> Option<()> {
        let (worst, others) = simplex.split_last_mut()?;
        let centre = centre(others)?;
        let (best, second_worst) = (others.first()?.value, others.last()?.value);
        let reflected = self.look(between(&centre, &worst.at, -1.0))?;
        if reflected.value < best {
            let expanded = self.look(between(&centre, &worst.at, -2.0))?;
            *worst = if expanded.value < reflected.value { expanded } else { reflected };
            return Some(());
        }
        if reflected.value < second_worst {
            *worst = reflected;
            return Some(());
        }
        let towards = if reflected.value < worst.value { -0.5 } else { 0.5 };
        let contracted = self.look(between(&centre, &worst.at, towards))?;
        if contracted.value < worst.value.min(reflected.value) {
            *worst = contracted;
            return Some(());
        }
        let (best, others) = simplex.split_first_mut()?;
        for corner in others {
            *corner = self.look(between(&best.at, &corner.at, 0.5))?;
        }
        Some(())
    }
}

/// The point at `share` of the way from `a` to `b`.
fn between(a: &[f64], b: &[f64], share: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(tried: &[Tried]) -> &Tried {
        tried.iter().min_by(|a, b| a.value.total_cmp(&b.value)).expect("something was tried")
    }

    #[test]
    fn a_smooth_valley_is_found_from_every_start() {
        let valley = |x: &[f64]| {
            let bend = x[1] - 0.3 - (x[0] - 0.6).powi(2);
            (x[0] - 0.6).powi(2) + 10.0 * bend * bend + (x[2] - 0.9).powi(2)
        };
        for index in 0..5 {
            let tried = descend(&halton(index, 3), 0.2, 200, &mut { valley });
            let found = best(&tried);
            assert!(found.value < 1e-4, "from {index}: {found:?}");
        }
    }

    #[test]
    fn the_number_of_evaluations_and_the_cube_are_limits() {
        let mut calls = 0;
        let tried = descend(&[0.95, 0.5], 0.3, 37, &mut |x: &[f64]| {
            calls += 1;
            assert!(x.iter().all(|x| (0.0..=1.0).contains(x)), "{x:?}");
            // Falls towards a corner, so the descent leans on the walls.
            -x[0] - x[1]
        });
        assert_eq!(tried.len(), 37);
        assert_eq!(calls, 37);
        assert!(best(&tried).value < -1.95);
    }

    #[test]
    fn starts_lie_apart_and_the_best_one_is_among_them() {
        let place = |x: f64, value| Tried { at: vec![x, 0.5], value };
        let tried = vec![place(0.1, 1.0), place(0.2, 2.0), place(0.8, 3.0), place(0.75, 4.0)];
        let values = |count| -> Vec<f64> {
            apart(tried.clone(), count).into_iter().map(|place| place.value).collect()
        };
        assert_eq!(values(1), [1.0]);
        assert_eq!(values(2), [1.0, 3.0]);
        assert_eq!(values(4), [1.0, 3.0, 2.0, 4.0]);
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
