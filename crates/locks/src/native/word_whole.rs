//! Narrow lock-word accesses as what they are specified to be: read-modify-writes of the word.
//!
//! For targets without assembly here, for Miri, which has none, and for ThreadSanitizer, which
//! cannot see it (`--cfg lockwright_whole_word`).

use super::cells::NativeWord;
use crate::platform::{Halves, LockWordOps};
use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed};

/// The ordering of the load half of a read-modify-write.
const fn load_half(order: Ordering) -> Ordering {
    match order {
        // ordering: as the caller asks for, its load half.
        Acquire | AcqRel => Acquire,
        _ => Relaxed,
    }
}

impl NativeWord {
    /// Replaces the word by `change` of it and returns what it was.
    fn update(&self, order: Ordering, change: impl Fn(u32) -> u32) -> u32 {
        let updated = self.0.fetch_update(order, load_half(order), |word| Some(change(word)));
        updated.unwrap_or_else(|word| word)
    }
    /// Replaces the word by `change` of it if `part` of it is `old`.
    fn update_if<T: PartialEq>(
        &self,
        old: T,
        part: impl Fn(u32) -> T,
        orders: (Ordering, Ordering),
        change: impl Fn(u32) -> u32,
    ) -> Result<T, T> {
        let updated = self
            .0
            .fetch_update(orders.0, orders.1, |word| (part(word) == old).then(|| change(word)));
        updated.map(&part).map_err(&part)
    }
}

// SAFETY: each operation is the read-modify-write it is specified as.
unsafe impl LockWordOps for NativeWord {
    fn store_byte0(&self, value: u8, order: Ordering) {
        self.update(order, |word| Halves::with_byte0(word, value));
    }
    fn store_byte1(&self, value: u8, order: Ordering) {
        self.update(order, |word| Halves::with_byte1(word, value));
    }
    fn store_half0(&self, value: u16, order: Ordering) {
        self.update(order, |word| Halves::with_half0(word, value));
    }
    fn swap_byte0(&self, value: u8, order: Ordering) -> u8 {
        self.update(order, |word| Halves::with_byte0(word, value)) as u8
    }
    fn swap_half1(&self, value: u16, order: Ordering) -> u16 {
        (self.update(order, |word| Halves::with_half1(word, value)) >> 16) as u16
    }
    fn compare_exchange_byte0(
        &self,
        old: u8,
        new: u8,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u8, u8> {
        let change = |word| Halves::with_byte0(word, new);
        self.update_if(old, |word| word as u8, (success, failure), change)
    }
    fn compare_exchange_half0(
        &self,
        old: u16,
        new: u16,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u16, u16> {
        let change = |word| Halves::with_half0(word, new);
        self.update_if(old, |word| word as u16, (success, failure), change)
    }
}
