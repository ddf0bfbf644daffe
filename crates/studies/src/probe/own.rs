//! What a core does without the others: loads, stores, read-modify-writes, pauses, memory.

use super::pair::{PaddedWord, alone};
use super::samples::{each_ns, middle};
use lockwright_measure::random::SplitMix;
use std::cell::UnsafeCell;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicU32, Ordering};

/// Costs of one core in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnCosts {
    /// A load that depends on the one before, of a line in the cache.
    pub load: f64,
    /// A store among many.
    pub store: f64,
    /// A locked read-modify-write among many.
    pub rmw: f64,
    /// A spin-loop hint.
    pub pause: f64,
    /// A load of a line that no cache has, if it could be measured.
    pub dram: Option<f64>,
}

/// Lines that are visited in a random order, each by way of the one before, so that neither an
/// out-of-order core nor a prefetcher is early.
pub struct Chain(Vec<PaddedWord>);

impl Chain {
    /// Bits of a word that say where the chain goes on.
    pub const LINK_BITS: u32 = 16;

    /// A chain of `count` lines that ends where it begins.
    pub fn new(count: usize, seed: u64) -> Self {
        let mut random = SplitMix::new(seed, 0);
        let mut order: Vec<usize> = (0..count).collect();
        (1..count).rev().for_each(|last| order.swap(last, random.below(last + 1)));
        let lines: Vec<PaddedWord> = (0..count).map(|_| PaddedWord::default()).collect();
        for (at, &line) in order.iter().enumerate() {
            // ordering: Relaxed; no other thread knows the lines yet.
            lines[line].0.store(order[(at + 1) % count] as u32, Ordering::Relaxed);
        }
        Self(lines)
    }
    /// The words of all lines, in no particular order.
    pub fn words(&self) -> impl Iterator<Item = &AtomicU32> {
        self.0.iter().map(|line| &line.0)
    }
    /// Visits all lines with `visit`, which returns what a line holds; nanoseconds for each.
    #[inline]
    pub fn walk(&self, visit: impl Fn(&AtomicU32) -> u32) -> f64 {
        let mut at = 0;
        let ns = each_ns(self.0.len() as u32, || at = visit(&self.0[at as usize].0));
        black_box(at);
        ns
    }
}

/// Nanoseconds of each of `count` runs of `body`: the median of many rounds.
fn each(rounds: usize, count: u32, mut body: impl FnMut()) -> f64 {
    middle(rounds, || each_ns(count, &mut body))
}

/// Measures one core.
pub fn measure(cpu: usize, rounds: usize) -> OwnCosts {
    alone(cpu, || {
        let word = PaddedWord::default();
        let link = UnsafeCell::new(std::ptr::null_mut::<u8>());
        // SAFETY: no other thread knows the link, which points to itself from here on.
        unsafe { *link.get() = link.get().cast() };
        let mut at: *mut *mut u8 = link.get();
        OwnCosts {
            load: each(rounds, 2_000, || {
                // SAFETY: the link points to itself.
                at = unsafe { at.read_volatile() }.cast();
            }),
            // ordering: Relaxed; no other thread knows the word.
            store: each(rounds, 2_000, || word.0.store(black_box(1), Ordering::Relaxed)),
            rmw: each(rounds, 500, || {
                // ordering: Relaxed; as above.
                let _ = black_box(word.0.fetch_add(1, Ordering::Relaxed));
            }),
            pause: each(rounds, 200, spin_loop),
            dram: dram(rounds),
        }
    })
}

/// Nanoseconds of a load of a line that is in no cache.
#[cfg(target_arch = "x86_64")]
fn dram(rounds: usize) -> Option<f64> {
    use std::arch::x86_64::{_mm_clflush, _mm_mfence};
    let chain = Chain::new(64, 1);
    Some(middle(rounds.max(3), || {
        for word in chain.words() {
            // SAFETY: the word is alive; every processor with 64 bits has the instruction.
            unsafe { _mm_clflush(word.as_ptr().cast()) };
        }
        // SAFETY: as above.
        unsafe { _mm_mfence() };
        // ordering: Relaxed; no other thread knows the lines.
        chain.walk(|word| word.load(Ordering::Relaxed))
    }))
}

/// There is no instruction for it that is always allowed.
#[cfg(not(target_arch = "x86_64"))]
fn dram(_rounds: usize) -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_visits_every_line_once() {
        let chain = Chain::new(64, 7);
        let visits = std::cell::RefCell::new(vec![0; 64]);
        chain.walk(|word| {
            // ordering: Relaxed; no other thread knows the lines.
            let next = word.load(Ordering::Relaxed);
            visits.borrow_mut()[next as usize] += 1;
            next
        });
        assert!(visits.borrow().iter().all(|&count| count == 1));
    }

    #[test]
    fn a_core_takes_time_for_everything() {
        let own = measure(lockwright_measure::native::affinity::allowed_cpus()[0], 3);
        let costs = [own.load, own.store, own.rmw, own.pause];
        assert!(costs.iter().all(|&ns| ns > 0.0 && ns.is_finite()), "{own:?}");
    }
}
