//! Work that takes a known time on a CPU, without a clock in the loop.
//!
//! A thread that waits for a clock gets on while it has no CPU; one that computes does not. How many
//! rounds of the computation fit into a microsecond is measured once, when the first thread asks.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Computes for about `ns` nanoseconds of CPU time.
pub fn compute_ns(ns: u64) {
    rounds(ns.saturating_mul(rounds_per_us()) / 1_000);
}

/// A chain of multiplications, each of which needs the one before.
#[inline(never)]
fn rounds(count: u64) {
    let mut value = 1_u64;
    for _ in 0..count {
        value = black_box(value.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
}

/// The greatest rate of several tries: in the others something came in between.
fn rounds_per_us() -> u64 {
    static RATE: OnceLock<u64> = OnceLock::new();
    const TRIES: usize = 9;
    const ROUNDS: u64 = 50_000;
    *RATE.get_or_init(|| {
        let one = |_| {
            let start = Instant::now();
            rounds(ROUNDS);
            start.elapsed().max(Duration::from_nanos(1))
        };
        let least = (0..TRIES).map(one).min().unwrap_or(Duration::from_micros(1));
        (ROUNDS * 1_000 / least.as_nanos() as u64).max(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_measured_once() {
        let rate = rounds_per_us();
        assert!(rate > 0);
        compute_ns(50_000);
        assert_eq!(rounds_per_us(), rate);
    }
}
