//! An owner sees everything the owner before it wrote.

use crate::Client;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::platform::{Atomic, Guarded, Platform, Zeroed};
use lockwright::raw::RawLock;

/// What the client is selected by.
pub const NAME: &str = "handoff";

/// A message passed from owner to owner: two words in one place and a number in another, written
/// together under the lock and read together by the next owner.
///
/// One of the words is an atomic cell accessed `Relaxed`: that it is stale is not a race, so this
/// catches a lock that orders plain memory by accident only.
pub struct Handoff<P: Platform, L> {
    lock: L,
    /// How many owners there were.
    number: Guarded<P, u64>,
    /// What the last owner derived from its number.
    text: Guarded<P, u64>,
    /// The same, in a cell.
    cell: P::U64,
    /// Owners, as the threads count them, unseen by the machine.
    owners: AtomicU64,
    rounds: u32,
}

/// What an owner writes beside its number.
const fn text_of(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl<P: Platform, L: RawLock> Handoff<P, L> {
    /// Reads the last owner's message and checks it.
    ///
    /// # Safety
    /// The caller holds the lock.
    unsafe fn receive(&self) -> u64 {
        // SAFETY: the caller holds the lock that guards the field.
        let number = unsafe { self.number.get() };
        // SAFETY: as above.
        let text = unsafe { self.text.get() };
        assert_eq!(text, text_of(number), "half of the last owner's message is missing");
        assert_eq!(self.cell.load(Relaxed), number, "the last owner's store has not arrived");
        assert_eq!(self.owners.load(Relaxed), number, "an owner is missing");
        number
    }
}

impl<P: Platform, L: RawLock> Client for Handoff<P, L> {
    const NAME: &'static str = NAME;

    fn new(_threads: usize) -> Self {
        Self {
            lock: L::new(),
            number: Guarded::new(0),
            text: Guarded::new(text_of(0)),
            cell: Zeroed::zeroed(),
            owners: AtomicU64::new(0),
            rounds: 1,
        }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, _thread: usize) {
        for _ in 0..self.rounds {
            self.lock.lock();
            // SAFETY: taken above.
            let number = unsafe { self.receive() } + 1;
            self.cell.store(number, Relaxed);
            // SAFETY: this thread holds the lock that guards the field.
            unsafe { self.number.set(number) };
            // SAFETY: as above.
            unsafe { self.text.set(text_of(number)) };
            self.owners.store(number, Relaxed);
            // SAFETY: taken above.
            unsafe { self.lock.unlock() };
        }
    }
    fn finish(&self) {
        self.lock.lock();
        // SAFETY: taken above.
        unsafe { self.receive() };
        // SAFETY: taken above.
        unsafe { self.lock.unlock() };
    }
}
