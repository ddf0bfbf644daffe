//! Random numbers that a seed repeats.

/// splitmix64 (Steele, Lea and Flood, 2014).
pub struct SplitMix(u64);

impl SplitMix {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Stream `stream` of a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(seed ^ stream.wrapping_mul(Self::STEP))
    }
    /// The next number.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
    /// The next number, below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next_u64()) * limit as u128) >> 64) as usize
    }
}
