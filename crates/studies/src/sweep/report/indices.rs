//! Sobol indices: how much of the variance of a result each number decides (Saltelli et al., 2010; Jansen, 1999).

use crate::sweep::question::Question;
use lockwright_measure::stats::Bootstrap;
use lockwright_sheets::digits;
use serde::Serialize;
use std::collections::BTreeMap;

/// What one number decides.
#[derive(Clone, Debug, Serialize)]
pub struct Sensitivity {
    /// Its column in results.
    pub number: String,
    /// The part of the variance that it decides alone, and the 95 % interval.
    pub first: [f64; 3],
    /// The part that would be left if all other numbers were known, and the 95 % interval.
    pub total: [f64; 3],
}

impl Sensitivity {
    /// As cells of a table.
    pub(super) fn cells(&self) -> [String; 3] {
        let with_interval = |[value, low, high]: [f64; 3]| {
            format!("{} [{}, {}]", digits(value), digits(low), digits(high))
        };
        [self.number.clone(), with_interval(self.first), with_interval(self.total)]
    }
}

/// The results at one point of A, at that of B, and at that of A with one number of B.
type Triple = [f64; 3];

/// The indices of each number, from the results by point, in Saltelli's design. A point at which a result is missing
/// is left out.
pub(super) fn of(by_point: &BTreeMap<usize, f64>, question: &Question) -> Vec<Sensitivity> {
    let numbers = question.ranges.len();
    let size = question.samples as usize / (numbers + 2);
    let of_number = |number: usize| {
        let triple = |point: usize| -> Option<Triple> {
            let at = |set: usize| by_point.get(&(set * size + point)).copied();
            Some([at(0)?, at(1)?, at(number + 2)?])
        };
        let triples: Vec<Triple> = (0..size).filter_map(triple).collect();
        let places: Vec<f64> = (0..triples.len()).map(|at| at as f64).collect();
        let with_interval = |which: fn(&[Triple]) -> f64| {
            let [low, high] = Bootstrap::new(1).interval(|draw| {
                let drawn = draw.resampled(&places).into_iter().map(|at| triples[at as usize]);
                which(&drawn.collect::<Vec<_>>())
            });
            [which(&triples), low, high]
        };
        Sensitivity {
            number: question.ranges[number].clone(),
            first: with_interval(first),
            total: with_interval(total),
        }
    };
    (0..numbers).map(of_number).collect()
}

fn variance(triples: &[Triple]) -> f64 {
    let all = || triples.iter().flat_map(|[a, b, _]| [*a, *b]);
    let count = (triples.len() * 2) as f64;
    let mean = all().sum::<f64>() / count;
    all().map(|value| (value - mean).powi(2)).sum::<f64>() / count
}

/// Half of the mean square of a difference, as a part of the variance.
fn part(triples: &[Triple], difference: fn(&Triple) -> f64) -> f64 {
    let sum: f64 = triples.iter().map(|triple| difference(triple).powi(2)).sum();
    sum / (2.0 * triples.len() as f64) / variance(triples).max(f64::MIN_POSITIVE)
}

fn first(triples: &[Triple]) -> f64 {
    1.0 - part(triples, |[_, b, swapped]| b - swapped)
}

fn total(triples: &[Triple]) -> f64 {
    part(triples, |[a, _, swapped]| a - swapped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Ishigami's function, whose indices are known.
    fn ishigami([x, y, z]: [f64; 3]) -> f64 {
        let angle = |share: f64| (2.0 * share - 1.0) * std::f64::consts::PI;
        let [x, y, z] = [x, y, z].map(angle);
        x.sin() + 7.0 * y.sin().powi(2) + 0.1 * z.powi(4) * x.sin()
    }

    #[test]
    fn the_indices_of_a_known_function_are_in_their_intervals() {
        let text = "asks = \"?\"\nsamples = 4096\nsampling = \"saltelli\"\n[machine]\nname = \"x5-4\"\n\
                    set.pause = { from = 0, to = 1 }\nset.smt = { from = 1, to = 2 }\n\
                    set.load_hit = { from = 0, to = 1 }\n[lock]\nname = \"mcs\"\n[workload]\n\
                    name = \"counter\"\n[run]\nthreads = 2\n";
        let question = Question::parse("q.toml", text, Path::new("")).expect("it can be read");
        assert_eq!(question.samples, 4096 * 5);
        let drawn = &question.drawn;
        let at = |point: usize| (point, ishigami([0, 1, 2].map(|number| drawn[number][point])));
        let found = of(&(0..question.samples as usize).map(at).collect(), &question);
        let known = [(0.3139, 0.5576), (0.4424, 0.4424), (0.0, 0.2437)];
        for (found, (first, total)) in found.iter().zip(known) {
            for ([value, low, high], known) in [(found.first, first), (found.total, total)] {
                assert!((value - known).abs() < 0.03, "{found:?}");
                assert!(
                    (low - 0.01..high + 0.01).contains(&known) && high - low < 0.15,
                    "{found:?}"
                );
            }
        }
    }
}
