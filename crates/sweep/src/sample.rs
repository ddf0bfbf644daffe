//! Points in a space of several numbers, each between 0 and 1.

use crate::key::Sha;

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// A Sobol sequence with Owen's scrambling.
    Sobol,
    /// A Latin hypercube: of N points, each Nth of each number has one.
    LatinHypercube,
}

impl Sampling {
    pub(crate) const ALL: [Self; 2] = [Self::Sobol, Self::LatinHypercube];

    /// The name it is selected by.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sobol => "sobol",
            Self::LatinHypercube => "latin-hypercube",
        }
    }

    /// The most points that it has.
    pub(crate) const fn most(self) -> u32 {
        match self {
            Self::Sobol => 1 << 16,
            Self::LatinHypercube => 1 << 24,
        }
    }

    /// All values of the number `dimension`, in the order of the points. Others than these do not depend on how many
    /// numbers there are.
    pub(crate) fn column(self, points: u32, dimension: u32, seed: u32) -> Vec<f64> {
        match self {
            Self::Sobol => (0..points)
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
        for sampling in Sampling::ALL {
            let columns = [0, 1, 2].map(|dimension| sampling.column(POINTS, dimension, 7));
            for column in &columns {
                let mut strata: Vec<_> = column.iter().map(|it| (it * 64.0) as u32).collect();
                strata.sort_unstable();
                assert_eq!(strata, (0..POINTS).collect::<Vec<_>>(), "{}", sampling.name());
            }
            assert_ne!(columns[0], columns[1]);
            assert_eq!(columns[2], sampling.column(POINTS, 2, 7));
            assert_ne!(columns[2], sampling.column(POINTS, 2, 8));
        }
    }
}
