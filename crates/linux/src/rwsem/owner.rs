//! The owner word: hints for spinners.
//!
//! ```text
//!  63                                            3    2         1        0
//! +-----------------------------------------------+-------+-----------+-----------+
//! |  the writer, or the last reader; 0: none      |  WR   |    RD     |  readers  |
//! +-----------------------------------------------+-------+-----------+-----------+
//! ```
//!
//! Under [`OwnerWord::OneFlag`] bit 1 is the only flag, *no thread should spin*. Where there are two flags, it is about
//! readers, and bit 2 is about writers. A reader leaves its name behind. Nothing relies on this word.

use super::object::Slow;
use super::policy::OwnerWord;
use crate::events::Event;
use crate::park::ParkPlatform;
use crate::platform::{Atomic, AtomicInt};
use core::sync::atomic::Ordering::Relaxed;

/// Readers own the lock.
pub const READERS: u64 = 1;
/// No thread should spin; with two flags, no reader should.
pub const RD: u64 = 1 << 1;
/// With two flags: no writer should spin.
pub const WR: u64 = 1 << 2;
const FLAGS: u64 = READERS | RD | WR;

/// Returns the thread in the word.
pub const fn thread_in(word: u64) -> u64 {
    word & !FLAGS
}

/// The owner of the lock, as the word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// No thread is named.
    Nobody,
    /// A writer.
    Writer,
    /// Readers.
    Readers,
    /// A thread should not spin, whichever thread the owner is.
    NotSpinnable,
}

impl OwnerWord {
    /// Returns the flag that keeps writers from spinning.
    pub const fn writers_flag(self) -> u64 {
        match self {
            Self::TwoFlags | Self::TwoFlagsOfOneOwner => WR,
            Self::OneFlag => RD,
            Self::None | Self::WriterLate | Self::WriterOrReaders => 0,
        }
    }
    /// Returns all flags that keep threads from spinning.
    pub const fn all_flags(self) -> u64 {
        match self {
            Self::TwoFlags | Self::TwoFlagsOfOneOwner => RD | WR,
            _ => self.writers_flag(),
        }
    }
    /// Returns what `word` says to a thread that `flag` keeps from spinning.
    pub const fn says(self, word: u64, flag: u64) -> Owner {
        if word & flag != 0 {
            Owner::NotSpinnable
        } else if word & READERS != 0 {
            match self {
                Self::WriterOrReaders => Owner::NotSpinnable,
                _ => Owner::Readers,
            }
        } else if thread_in(word) != 0 {
            Owner::Writer
        } else {
            Owner::Nobody
        }
    }
}

impl<P: ParkPlatform> Slow<'_, P> {
    /// Returns the owner word.
    #[inline]
    pub fn owner(self) -> u64 {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchanges of the count.
        self.sem.owner.load(Relaxed)
    }
    /// Names the caller as the writer.
    #[inline(always)]
    pub fn own(self) {
        if self.policy.owner != OwnerWord::None {
            // ordering: Relaxed; only a hint, as above.
            self.sem.owner.store(P::this_thread(), Relaxed);
        }
    }
    /// Names no thread, for a writer that is about to release the lock or has done so.
    #[inline(always)]
    pub fn disown(self) {
        // ordering: Relaxed; only a hint, as above.
        self.sem.owner.store(0, Relaxed);
    }
    /// Names the caller as a reader.
    #[inline(always)]
    pub fn own_as_reader(self) {
        self.name_reader(P::this_thread, 0);
    }
    /// Names `thread` as a reader, and sets the flags `more`.
    #[inline(always)]
    #[doc(alias = "__rwsem_set_reader_owned")]
    pub fn name_reader(self, thread: impl FnOnce() -> u64, more: u64) {
        match self.policy.owner {
            OwnerWord::None | OwnerWord::WriterLate => return,
            OwnerWord::WriterOrReaders => {
                if self.owner() != READERS {
                    // ordering: Relaxed; only a hint, as above.
                    self.sem.owner.store(READERS, Relaxed);
                }
                return;
            }
            OwnerWord::TwoFlagsOfOneOwner | OwnerWord::TwoFlags | OwnerWord::OneFlag => {}
        }
        let drops = self.policy.owner == OwnerWord::TwoFlagsOfOneOwner;
        let kept = if drops { 0 } else { self.owner() & RD };
        // ordering: Relaxed; only a hint, as above.
        self.sem.owner.store(thread() | READERS | kept | more, Relaxed);
    }
    /// Asks all threads not to spin while these readers own the lock.
    #[cold]
    #[doc(alias = "rwsem_set_nonspinnable")]
    pub fn forbid_spinning(self) {
        let flags = self.policy.owner.all_flags();
        let mut word = self.owner();
        while word & READERS != 0 && word & flags == 0 {
            // ordering: Relaxed; only a hint, as above.
            match self.sem.owner.compare_exchange(word, word | flags, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }
    /// Lets writers spin again.
    #[doc(alias = "clear_nonspinnable")]
    #[doc(alias = "clear_wr_nonspinnable")]
    pub fn allow_spinning(self) {
        let flag = self.policy.owner.writers_flag();
        if self.owner() & flag != 0 {
            // ordering: Relaxed; only a hint, as above.
            self.sem.owner.fetch_and(!flag, Relaxed);
        }
    }
    /// Keeps readers from spinning. For the owner.
    #[cold]
    #[doc(alias = "rwsem_disable_reader_optspin")]
    pub fn forbid_reader_spinning(self) {
        // ordering: Relaxed; only a hint, as above.
        self.sem.owner.fetch_or(RD, Relaxed);
        P::count(Event::rwsem_opt_norspin);
    }
}
