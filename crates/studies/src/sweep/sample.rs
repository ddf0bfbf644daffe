//! Points in a space of several numbers, each between 0 and 1.

use crate::records::Sha;

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// A Sobol sequence with Owen's scrambling.
    Sobol,
    /// A Latin hypercube: of N points, each Nth of each number has one.
    LatinHypercube,
    /// Saltelli's design for Sobol indices, on a Sobol sequence: two sets of N points, A and B, and for each number a
    /// copy of A that has this number from B.
    Saltelli,
}

impl Sampling {
    pub(crate) const ALL: [Self; 3] = [Self::Sobol, Self::LatinHypercube, Self::Saltelli];

    /// The name it is selected by.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sobol => "sobol",
            Self::LatinHypercube => "latin-hypercube",
            Self::Saltelli => "saltelli",
        }
    }

    /// The most points that it has.
    pub(crate) const fn most(self) -> u32 {
        match self {
            Self::Sobol | Self::Saltelli => 1 << 16,
            Self::LatinHypercube => 1 << 24,
        }
    }

    /// For each of the numbers its values, in the order of the points. Saltelli's design has the sets A, B, and those
    /// of each number, one after the other, each of `points` points.
    pub(crate) fn columns(self, points: u32, numbers: u32, seed: u32) -> Vec<Vec<f64>> {
        if self != Self::Saltelli {
            return (0..numbers).map(|number| self.column(points, number, seed)).collect();
        }
        let of_number = |number: u32| {
            let [a, b] = [number, numbers + number].map(|at| self.column(points, at, seed));
            let swapped = (0..numbers).map(|other| if other == number { &b } else { &a });
            [&a, &b].into_iter().chain(swapped).flatten().copied().collect()
        };
        (0..numbers).map(of_number).collect()
    }

    /// All values of one number, in the order of the points.
    fn column(self, points: u32, dimension: u32, seed: u32) -> Vec<f64> {
        match self {
            Self::Sobol | Self::Saltelli => (0..points)
                .map(|point| f64::from(sobol_burley::sample(point, dimension, seed)))
                .collect(),
            Self::LatinHypercube => {
                let random: Vec<_> =
                    (0..points).map(|point| random(point, dimension, seed)).collect();
                let mut strata: Vec<u32> = (0..points).collect();
                strata.sort_by_key(|&at| random[at as usize]);
                let within = random.iter().map(|[_, it]| *it as f64 / 2f64.powi(64));
                let column = strata.iter().zip(within);
                column.map(|(&at, within)| (f64::from(at) + within) / f64::from(points)).collect()
            }
        }
    }
}

/// Numbers that are the same on every computer: one that decides the order, and one for the place in the stratum.
fn random(point: u32, dimension: u32, seed: u32) -> [u64; 2] {
    let digest = Sha::of(&format!("{seed} {dimension} {point}"));
    [digest.word(0), digest.word(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stratum_of_each_number_has_a_point() {
        const POINTS: u32 = 64;
        for sampling in [Sampling::Sobol, Sampling::LatinHypercube] {
            let columns = sampling.columns(POINTS, 3, 7);
            for column in &columns {
                let mut strata: Vec<_> = column.iter().map(|it| (it * 64.0) as u32).collect();
                strata.sort_unstable();
                assert_eq!(strata, (0..POINTS).collect::<Vec<_>>(), "{}", sampling.name());
            }
            assert_ne!(columns[0], columns[1]);
            assert_eq!(columns, sampling.columns(POINTS, 3, 7));
            assert_ne!(columns, sampling.columns(POINTS, 3, 8));
        }
    }

    #[test]
    fn saltellis_design_changes_one_number_at_a_time() {
        let columns = Sampling::Saltelli.columns(8, 2, 1);
        let [one, other] =
            [&columns[0], &columns[1]].map(|column| column.chunks(8).collect::<Vec<_>>());
        assert_eq!([one.len(), other.len()], [4, 4]);
        assert_ne!(one[0], one[1]);
        assert_eq!((one[2], other[2]), (one[1], other[0]), "the first number is from B");
        assert_eq!((one[3], other[3]), (one[0], other[1]), "the second one is");
    }
}
