//! What it costs that a locked access has another width than the store before it.

use super::pair::{Padded, alone};
use super::samples::each_ns;
use lockwright_measure::stats::median;
use std::fmt::Write;
use std::hint::black_box;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// The widths of the accesses, in bits.
const BITS: [u32; 4] = [8, 16, 32, 64];

/// Pairs of a round.
const PAIRS: u32 = 500;

/// Nanoseconds of pairs of one thread: a compare-exchange that takes a word, and a store that gives it back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairsOfWidths {
    /// By the width of the compare-exchange, then by that of the store.
    pub ns: [[f64; BITS.len()]; BITS.len()],
}

impl PairsOfWidths {
    /// What a compare-exchange waits that is wider than the store before it, so that the store does not hold all of its
    /// bytes: the median over these pairs of what they cost more than one with a store as wide as the compare-exchange.
    pub fn mismatch_ns(&self) -> f64 {
        let wider = (0..BITS.len()).flat_map(|take| (0..take).map(move |give| (take, give)));
        let more = wider.map(|(take, give)| self.ns[take][give] - self.ns[take][take]);
        median(&more.collect::<Vec<_>>()).max(0.0)
    }
    /// The table, as comments of a machine file.
    pub fn table(&self) -> String {
        let mut text = String::from(
            "# A compare-exchange that takes a word and a store that gives it back, one thread, ns for each pair:\n\
             #                        store of",
        );
        BITS.iter().for_each(|bits| text += &format!(" {bits:>2} bits"));
        for (bits, row) in BITS.iter().zip(&self.ns) {
            let _ = write!(text, "\n#   compare-exchange of {bits:>2} bits");
            row.iter().for_each(|ns| text += &format!(" {ns:>7.2}"));
        }
        text + "\n"
    }
}

/// Runs pairs; nanoseconds of each.
type Round = fn(&AtomicU64) -> f64;

/// The pairs with a compare-exchange of one width, and stores of all.
macro_rules! rounds {
    ($take:ident: $($give:ident)+) => {
        [$(|word| {
            // SAFETY: the word is alive and aligned, and no other thread uses it.
            let taken = unsafe { $take::from_ptr(word.as_ptr().cast()) };
            // SAFETY: as above.
            let given = unsafe { $give::from_ptr(word.as_ptr().cast()) };
            each_ns(PAIRS, || {
                // ordering: Acquire; as a lock has. The failure value is not used.
                let _ = taken.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
                // ordering: Release; as a lock has.
                given.store(0, Ordering::Release);
            })
        }),+]
    };
}

const ALL: [[Round; BITS.len()]; BITS.len()] = [
    rounds!(AtomicU8: AtomicU8 AtomicU16 AtomicU32 AtomicU64),
    rounds!(AtomicU16: AtomicU8 AtomicU16 AtomicU32 AtomicU64),
    rounds!(AtomicU32: AtomicU8 AtomicU16 AtomicU32 AtomicU64),
    rounds!(AtomicU64: AtomicU8 AtomicU16 AtomicU32 AtomicU64),
];

/// Measures the pairs on a core, each in turn in every round.
pub fn measure(cpu: usize, rounds: usize) -> PairsOfWidths {
    alone(cpu, || {
        let Padded(word) = &Padded(AtomicU64::new(0));
        let mut times = ALL.map(|row| row.map(|_| Vec::with_capacity(rounds)));
        for _ in 0..rounds {
            for (row, times) in ALL.iter().zip(&mut times) {
                for (round, times) in row.iter().zip(times) {
                    // What a wider access left in the word must not make the next one fail.
                    // ordering: Relaxed; no other thread knows the word.
                    word.store(0, Ordering::Relaxed);
                    times.push(round(black_box(word)));
                }
            }
        }
        PairsOfWidths { ns: times.map(|row| row.map(|times| median(&times))) }
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// What was seen on a processor on which an access waits if the store before it does not hold all of its bytes.
    pub const WAITS: PairsOfWidths = PairsOfWidths {
        ns: [
            [4.0, 4.0, 4.0, 4.0],
            [9.0, 4.0, 4.0, 4.0],
            [9.0, 9.5, 3.0, 3.0],
            [9.0, 9.5, 10.0, 3.0],
        ],
    };

    #[test]
    fn the_mismatch_is_what_a_wider_access_costs_more_and_never_negative() {
        // 5, 6, 6.5, 6, 6.5 and 7 ns.
        assert_eq!(WAITS.mismatch_ns(), 6.25);
        let mut faster = WAITS;
        (0..BITS.len()).for_each(|at| faster.ns[at][at] = 20.0);
        assert_eq!(faster.mismatch_ns(), 0.0);
    }

    #[test]
    fn the_table_has_a_row_for_each_width() {
        let table = WAITS.table();
        assert_eq!(table.lines().count(), 2 + BITS.len());
        assert!(table.lines().all(|line| line.starts_with("# ") && line.len() <= 120), "{table}");
        assert!(table.contains("compare-exchange of 32 bits    9.00    9.50    3.00"), "{table}");
    }

    #[test]
    fn every_pair_takes_time() {
        let cpu = lockwright_measure::native::affinity::allowed_cpus()[0];
        let pairs = measure(cpu, 3);
        let is_time = |ns: &f64| *ns > 0.0 && ns.is_finite();
        assert!(pairs.ns.as_flattened().iter().all(is_time), "{pairs:?}");
    }
}
