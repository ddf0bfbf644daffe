//! The one reader that may become the writer.
//!
//! ```text
//!   (u, r)  --upgrade: no other reader-->  writer
//!     |
//!     +-----upgrade: others read--> (u, r-1), reserved, first in the table  --no reader left-->  writer
//!                                          |
//!                                          +--deadline--> (u, r)
//! ```
//!
//! While it waits, it is not counted as a reader, so that the last reader that leaves wakes it. No thread writes
//! meanwhile, because the bit UPGRADABLE of the word stays set.

use super::sleepers::{Released, serve};
use super::word::{PENDING, READER, READERS, SLEEPER, UPGRADABLE, WRITER};
use super::{Fairness, RawRwLock, too_many_readers};
use crate::park::{LockMode, ParkPlatform};
use crate::platform::{Atomic, AtomicInt};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

impl<P: ParkPlatform, F: Fairness> RawRwLock<P, F> {
    /// Takes the lock as the upgradable reader: the one reader that may become the writer.
    #[inline]
    pub fn lock_upgradable(&self) {
        if !self.lock_upgradable_unless_full() {
            too_many_readers::<P>();
        }
    }

    /// As [`lock_upgradable`](Self::lock_upgradable), but returns `false` if one more reader cannot be counted.
    #[inline]
    pub fn lock_upgradable_unless_full(&self) -> bool {
        self.lock_upgradable_by(None)
    }

    /// As [`lock_upgradable`](Self::lock_upgradable), but only before `deadline_ns` of the platform's clock. Returns
    /// `true` if it did.
    #[inline]
    pub fn lock_upgradable_until(&self, deadline_ns: u64) -> bool {
        self.lock_upgradable_by(Some(deadline_ns))
    }

    #[inline]
    fn lock_upgradable_by(&self, deadline_ns: Option<u64>) -> bool {
        let kind = LockMode::Upgradable;
        self.listed(|| self.take_unless_reserved(kind) || self.wait(kind, deadline_ns))
    }

    /// As [`lock_upgradable`](Self::lock_upgradable), but only if that needs no waiting. Returns `true` if it did.
    #[inline]
    pub fn try_lock_upgradable(&self) -> bool {
        self.listed(|| self.attempt(LockMode::Upgradable))
    }

    /// Gives the lock back.
    ///
    /// # Safety
    /// The caller is the upgradable reader.
    #[inline]
    pub unsafe fn unlock_upgradable(&self) {
        let (name, entry) = (self.shared().name(), self.entry());
        // (u,r) -> (-,r-1), after which the lock may no longer exist.
        // ordering: Release; A2.
        let before = self.word.fetch_sub(READER | UPGRADABLE, Release);
        Self::unlist(entry);
        if before & SLEEPER != 0 {
            match before & READERS == READER {
                true => Self::serve_after_read(name, entry),
                false => serve::<P>(name, F::IS_FAIR, Released::Share),
            }
        }
    }

    /// Gives the lock back for the waiter that came first, as [`unlock_fair`](Self::unlock_fair) does.
    ///
    /// # Safety
    /// The caller is the upgradable reader.
    pub unsafe fn unlock_upgradable_fair(&self) {
        self.reserve_for_sleeper();
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.unlock_upgradable() };
    }

    /// Makes the caller a reader as the others are.
    ///
    /// # Safety
    /// The caller is the upgradable reader.
    #[inline]
    pub unsafe fn downgrade_upgradable(&self) {
        // (u,r) -> (-,r)
        // ordering: Relaxed; the caller goes on reading.
        let before = self.word.fetch_sub(UPGRADABLE, Relaxed);
        if before & SLEEPER != 0 {
            serve::<P>(self.shared().name(), F::IS_FAIR, Released::Share);
        }
    }

    /// Makes the caller, which is the writer, the upgradable reader.
    ///
    /// # Safety
    /// The caller owns the lock.
    #[inline]
    pub unsafe fn downgrade_to_upgradable(&self) {
        self.list();
        // writer -> (u,1)
        // ordering: Release; A1.
        let before = self.word.fetch_add((READER | UPGRADABLE) - WRITER, Release);
        if before & SLEEPER != 0 {
            serve::<P>(self.shared().name(), F::IS_FAIR, Released::Share);
        }
    }

    /// Makes the caller the owner. Waits for the other readers. No thread writes in between.
    ///
    /// # Safety
    /// The caller is the upgradable reader.
    #[inline]
    pub unsafe fn upgrade(&self) {
        // SAFETY: the caller is the upgradable reader.
        if !unsafe { self.try_upgrade() } {
            self.await_readers(None);
        }
    }

    /// As [`upgrade`](Self::upgrade), but only before `deadline_ns` of the platform's clock. Returns `true` if it did.
    /// Otherwise the caller is still the upgradable reader.
    ///
    /// # Safety
    /// The caller is the upgradable reader.
    #[inline]
    pub unsafe fn upgrade_until(&self, deadline_ns: u64) -> bool {
        // SAFETY: the caller is the upgradable reader.
        let is_ours = unsafe { self.try_upgrade() };
        is_ours || self.await_readers(Some(deadline_ns))
    }

    /// As [`upgrade`](Self::upgrade), but only if there is no other reader. Returns `true` if it did.
    ///
    /// # Safety
    /// The caller is the upgradable reader.
    #[inline]
    pub unsafe fn try_upgrade(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.word.load(Relaxed);
        while seen & READERS == READER {
            // (u,1) -> writer
            // ordering: Acquire; A2. On failure Relaxed: only a hint, as above.
            let next = seen & !(READER | UPGRADABLE | PENDING) | WRITER;
            match self.word.compare_exchange(seen, next, Acquire, Relaxed) {
                Ok(_) => {
                    Self::unlist(self.entry());
                    return true;
                }
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Waits until the caller, the upgradable reader, is the only reader. Returns `true` if it owns the lock then.
    #[cold]
    fn await_readers(&self, deadline_ns: Option<u64>) -> bool {
        self.begin_to_wait();
        // (u,r) -> (u,r-1)
        // ordering: Relaxed; no thread writes before the caller does, or is a reader again.
        self.word.fetch_sub(READER, Relaxed);
        let is_ours = self.wait_in_table(LockMode::Upgrader, deadline_ns, false);
        if is_ours {
            Self::unlist(self.entry());
        } else {
            // (u,r) -> (u,r+1)
            // ordering: Relaxed; no thread has written since the caller was a reader.
            self.word.fetch_add(READER, Relaxed);
        }
        is_ours
    }
}
