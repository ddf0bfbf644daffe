//! The random numbers of a run: SplitMix64 (Steele, Lea and Flood, 2014), frozen in the tree.
//!
//! A run has one seed. Every thread has streams split from it, for the noise of the machine, for the
//! program and for faults, so that what a program draws does not change the machine's latencies.

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What a stream of random numbers is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomStream {
    /// Jitter of transfers and of work.
    Noise = 1,
    /// What the simulated program asks for.
    Program = 2,
    /// What a policy of an exploration picks; instead of a thread it has a number.
    Schedule = 3,
    /// When and for how long a thread is preempted.
    Faults = 4,
    /// When the host needs a CPU for something else; instead of a thread it has a CPU.
    Host = 5,
    /// How a run with a scheduler begins.
    Start = 6,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream of thread `thread` for `purpose` in the run with this seed.
    pub fn split(seed: u64, thread: usize, purpose: RandomStream) -> Self {
        let stream = (thread as u64) << 8 | purpose as u64;
        Self(mixed(seed.wrapping_add(STEP)) ^ mixed(stream.wrapping_mul(STEP)))
    }
    /// The next number.
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }
    /// Another stream, begun with the next number.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }
    /// The next number, below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The first numbers of the reference implementation from state 1234567.
        let mut rng = Rng(1_234_567);
        assert_eq!(rng.next(), 6_457_827_717_110_365_317);
        assert_eq!(rng.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn streams_of_one_seed_differ() {
        let first = |thread, purpose| Rng::split(7, thread, purpose).next();
        assert_ne!(first(0, RandomStream::Noise), first(0, RandomStream::Program));
        assert_ne!(first(0, RandomStream::Noise), first(1, RandomStream::Noise));
    }
}
