//! Clients of the reader-writer lock for programs: the one reader that may become the writer.

use crate::client::{Client, has_rounds};
use crate::handler::{Attempted, drawn};
use crate::shared::WithTwins;
use lockwright::rwlock::{Fairness, RawRwLock};
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;

/// What [`Upgrades`] is selected by.
pub const UPGRADE: &str = "rwlock-upgrade";
/// What [`GivesUpUpgrade`] is selected by.
pub const GIVES_UP: &str = "rwlock-upgrade-timed";

impl<P: Platform, F: Fairness> WithTwins<P, RawRwLock<P, F>> {
    /// Takes it in one of three ways, if that needs no waiting, and gives it back.
    fn attempt(&self) {
        let Self { lock, twins } = self;
        match drawn::<P>(3) {
            0 if lock.try_lock() => self.write_and_unlock(),
            1 if lock.try_lock_shared() => self.read_and_unlock(),
            2 if lock.try_lock_upgradable() => {
                // SAFETY: read by the caller.
                unsafe { twins.read_twice() };
                // SAFETY: taken above.
                unsafe { lock.unlock_upgradable() };
            }
            _ => {}
        }
    }
    /// What must hold when no thread uses it any more.
    fn finish_upgradable(&self) {
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
        assert!(self.lock.try_lock_upgradable(), "nobody holds the lock, and it cannot be taken");
        assert!(!self.lock.try_lock_upgradable(), "two readers that may upgrade");
        // SAFETY: taken above.
        assert!(unsafe { self.lock.try_upgrade() }, "there is no other reader");
        self.write_and_unlock();
        assert!(self.lock.is_untouched(), "somebody has left traces in the lock");
    }
}

/// Of four threads the first reads, becomes the writer, reads again, and writes again; the third could do that, and
/// does not; the second only reads, and the fourth only writes. No thread writes between what the first reads and what
/// it writes.
pub struct Upgrades<P: Platform, F: Fairness> {
    object: WithTwins<P, RawRwLock<P, F>>,
    rounds: u32,
}

impl<P: Platform, F: Fairness> WithTwins<P, RawRwLock<P, F>> {
    /// An upgradable reader writes.
    fn upgrade_and_write(&self) {
        // SAFETY: read by the caller.
        let before = unsafe { self.twins.read_twice() };
        // SAFETY: the caller's.
        unsafe { self.lock.upgrade() };
        // SAFETY: upgraded above.
        assert_eq!(before, unsafe { self.twins.read() }, "a thread wrote before the upgrade");
        // SAFETY: as above.
        unsafe { self.twins.increment() };
    }
}

impl<P: Platform, F: Fairness> Client for Upgrades<P, F> {
    const NAME: &'static str = UPGRADE;

    fn new(_threads: usize) -> Self {
        Self { object: WithTwins::new(), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        let object = &self.object;
        for _ in 0..self.rounds {
            match thread % 4 {
                0 => {
                    object.lock.lock_upgradable();
                    object.upgrade_and_write();
                    // SAFETY: upgraded above.
                    unsafe { object.lock.downgrade_to_upgradable() };
                    object.upgrade_and_write();
                    // SAFETY: as above.
                    unsafe { object.lock.unlock() };
                }
                2 => {
                    object.lock.lock_upgradable();
                    // SAFETY: read by the caller.
                    unsafe { object.twins.read_twice() };
                    // SAFETY: taken above.
                    unsafe { object.lock.unlock_upgradable() };
                }
                3 => {
                    object.lock.lock();
                    // SAFETY: taken above.
                    unsafe { object.twins.increment() };
                    // SAFETY: as above.
                    unsafe { object.lock.unlock_fair() };
                }
                _ => {
                    object.lock.lock_shared();
                    // SAFETY: read by the caller.
                    unsafe { object.twins.read_twice() };
                    // SAFETY: taken above.
                    unsafe { object.lock.unlock_shared_fair() };
                }
            }
        }
    }
    fn finish(&self) {
        self.object.finish_upgradable();
    }
}

impl<P: Platform, F: Fairness> Attempted for Upgrades<P, F> {
    const IN_HANDLER: &'static str = "rwlock-upgrade-handler";
    fn attempt(&self) {
        self.object.attempt();
    }
}

/// Threads with an even number give up at once if they cannot become the writer, and go on as readers; the others
/// write.
pub struct GivesUpUpgrade<P: Platform, F: Fairness> {
    object: WithTwins<P, RawRwLock<P, F>>,
    rounds: u32,
}

impl<P: Platform, F: Fairness> Client for GivesUpUpgrade<P, F> {
    const NAME: &'static str = GIVES_UP;

    fn new(_threads: usize) -> Self {
        Self { object: WithTwins::new(), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        let object = &self.object;
        let WithTwins { lock, twins } = object;
        for _ in 0..self.rounds {
            let soon_ns = P::now_ns().saturating_add(1);
            if !thread.is_multiple_of(2) {
                lock.lock();
                // SAFETY: taken above.
                unsafe { twins.increment() };
                // SAFETY: as above.
                unsafe { lock.unlock_fair() };
            } else if !lock.lock_upgradable_until(soon_ns) {
                object.read();
            // SAFETY: taken above.
            } else if unsafe { lock.upgrade_until(soon_ns) } {
                object.write_and_unlock();
            } else {
                // SAFETY: read by the caller.
                unsafe { twins.read_twice() };
                // SAFETY: taken above, and not upgraded.
                unsafe { lock.downgrade_upgradable() };
                object.read_and_unlock();
            }
        }
    }
    fn finish(&self) {
        self.object.finish_upgradable();
    }
}

impl<P: Platform, F: Fairness> Attempted for GivesUpUpgrade<P, F> {
    const IN_HANDLER: &'static str = "rwlock-upgrade-timed-handler";
    fn attempt(&self) {
        self.object.attempt();
    }
}
