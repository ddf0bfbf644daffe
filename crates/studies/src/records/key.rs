//! Digests: of what decides a result, and of a line.

use sha2::{Digest as _, Sha256};

/// A digest of the sources that decide what a trial comes to.
pub const CODE: &str = env!("LOCKWRIGHT_CODE");

/// SHA-256 of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sha([u8; 32]);

impl Sha {
    pub(crate) fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// The first `digits` digits, in hexadecimal.
    pub(crate) fn hex(self, digits: usize) -> String {
        let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        hex[..digits].into()
    }

    /// One of its four words.
    pub(crate) fn word(self, at: usize) -> u64 {
        let mut word = [0; 8];
        word.copy_from_slice(&self.0[at * 8..][..8]);
        u64::from_le_bytes(word)
    }
}
