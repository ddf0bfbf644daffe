//! The table from locks to the waiters that sleep for them. There is one per process.

use super::Native;
use super::per_process::table_per_process;
use crate::hardware::HardwareU64;
use crate::platform::{ConstZeroed, LockHash};
use crate::queue::NODES_MAX;
use core::ptr::NonNull;

/// The number of cells: twice as many as there are queue nodes, so that most cells are always empty. The table is one
/// mebibyte of zeroes, of which only the pages exist that were ever used.
const SLOTS: usize = (NODES_MAX * 2).next_power_of_two();

/// A line of cells. It is aligned, so that it is a cache line.
#[repr(align(64))]
struct Line([HardwareU64<Native>; LINE]);
const LINE: usize = 8;

table_per_process! {
    const TABLE at "lock_hash": [Line; SLOTS / LINE] = Line([const { ConstZeroed::ZEROED }; LINE])
}

// SAFETY: cells of one static array; a sleeping waiter uses a queue node, of which there are fewer;
// two locks of four bytes each have different addresses, also in units of four bytes.
unsafe impl LockHash for Native {
    #[inline]
    fn hash_slots() -> usize {
        SLOTS
    }
    #[inline]
    fn hash_slot(at: usize) -> NonNull<HardwareU64<Self>> {
        // A power of two: the bound costs an instruction and no branch.
        NonNull::from(&TABLE.at(at % SLOTS / LINE).0[at % LINE])
    }
    /// Returns the address of the word in units of four bytes. It has 48 bits as long as the memory of programs ends
    /// below 2^50. It does so on every Linux machine, unless a program asks for higher addresses by number. Memory tags
    /// above are not a part of the address.
    #[inline]
    fn lock_name(word: *const ()) -> u64 {
        (word.addr() as u64 >> 2) & 0xffff_ffff_ffff
    }
}

/// Returns the address of the word whose lock has this name.
pub fn address_of(name: u64) -> usize {
    (name << 2) as usize
}
