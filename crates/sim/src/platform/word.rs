//! Narrow accesses of a lock word: the same cell and the same line, under a mask.

use super::cells::SimCell;
use crate::engine::CellChange;
use core::sync::atomic::{AtomicU32, Ordering};
use lockwright_core::platform::LockWordOps;

/// A part of a lock word.
#[derive(Clone, Copy)]
struct Part {
    shift: u32,
    mask: u64,
}

const BYTE0: Part = Part { shift: 0, mask: 0xff };
const BYTE1: Part = Part { shift: 8, mask: 0xff00 };
const HALF0: Part = Part { shift: 0, mask: 0xffff };
const HALF1: Part = Part { shift: 16, mask: 0xffff_0000 };

impl Part {
    #[inline]
    fn of(self, word: u64) -> u64 {
        (word & self.mask) >> self.shift
    }
}

impl SimCell<AtomicU32, true> {
    #[inline]
    fn store_part(&self, part: Part, value: u64, order: Ordering) {
        self.store_bits(part.mask, value << part.shift, order);
    }
    #[inline]
    fn swap_part(&self, part: Part, value: u64) -> u64 {
        part.of(self.update(CellChange::Swap { mask: part.mask, bits: value << part.shift }))
    }
    #[inline]
    fn replace_part(&self, part: Part, old: u64, new: u64) -> Result<u64, u64> {
        let Part { mask, shift } = part;
        let change = CellChange::CompareExchange { mask, old: old << shift, bits: new << shift };
        let found = part.of(self.update(change));
        if found == old { Ok(found) } else { Err(found) }
    }
}

// SAFETY: an access changes exactly its part of the word, at one moment of simulated time.
unsafe impl LockWordOps for SimCell<AtomicU32, true> {
    #[inline]
    fn store_byte0(&self, value: u8, order: Ordering) {
        self.store_part(BYTE0, value.into(), order);
    }
    #[inline]
    fn store_byte1(&self, value: u8, order: Ordering) {
        self.store_part(BYTE1, value.into(), order);
    }
    #[inline]
    fn store_half0(&self, value: u16, order: Ordering) {
        self.store_part(HALF0, value.into(), order);
    }
    #[inline]
    fn swap_byte0(&self, value: u8, _order: Ordering) -> u8 {
        self.swap_part(BYTE0, value.into()) as u8
    }
    #[inline]
    fn swap_half1(&self, value: u16, _order: Ordering) -> u16 {
        self.swap_part(HALF1, value.into()) as u16
    }
    #[inline]
    fn compare_exchange_byte0(
        &self,
        old: u8,
        new: u8,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<u8, u8> {
        let found = self.replace_part(BYTE0, old.into(), new.into());
        found.map(|byte| byte as u8).map_err(|byte| byte as u8)
    }
    #[inline]
    fn compare_exchange_half0(
        &self,
        old: u16,
        new: u16,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<u16, u16> {
        let found = self.replace_part(HALF0, old.into(), new.into());
        found.map(|half| half as u16).map_err(|half| half as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::Ordering::Relaxed;
    use lockwright_core::platform::{Atomic, Zeroed};

    #[test]
    fn narrow_accesses_change_only_their_part() {
        let word = SimCell::<AtomicU32, true>::zeroed();
        word.store(0x1234_5678, Relaxed);
        word.store_byte0(0xff, Relaxed);
        assert_eq!(word.load(Relaxed), 0x1234_56ff);
        word.store_byte1(0, Relaxed);
        assert_eq!(word.load(Relaxed), 0x1234_00ff);
        assert_eq!(word.swap_half1(0xabcd, Relaxed), 0x1234);
        assert_eq!(word.load(Relaxed), 0xabcd_00ff);
        assert_eq!(word.swap_byte0(1, Relaxed), 0xff);
        assert_eq!(word.compare_exchange_byte0(2, 3, Relaxed, Relaxed), Err(1));
        assert_eq!(word.compare_exchange_byte0(1, 0, Relaxed, Relaxed), Ok(1));
        assert_eq!(word.compare_exchange_half0(0, 0x101, Relaxed, Relaxed), Ok(0));
        assert_eq!(word.load(Relaxed), 0xabcd_0101);
        word.store_half0(7, Relaxed);
        assert_eq!(word.load(Relaxed), 0xabcd_0007);
    }
}
