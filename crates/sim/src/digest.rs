//! The fingerprint of a run.

use core::fmt;

/// Every event of a run, folded into 128 bits: equal digests mean equal histories.
///
/// Not cryptographic; it tells apart runs of one program, and serves tests as a golden value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest {
    high: u64,
    low: u64,
}

impl Digest {
    pub(crate) const fn new() -> Self {
        Self { high: 0x6a09_e667_f3bc_c908, low: 0xbb67_ae85_84ca_a73b }
    }
    /// Folds one event in.
    #[inline]
    pub(crate) fn fold(&mut self, at_ps: u64, what: u64) {
        self.low = (self.low ^ at_ps).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        self.high = (self.high ^ what).wrapping_add(self.low).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    /// The digest as a number.
    pub const fn bits(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.bits())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
