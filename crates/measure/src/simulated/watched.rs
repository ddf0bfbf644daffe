//! Locks that tell the checkers of a run what is done with them.

use lockwright_core::raw::{Order, RawLock};
use lockwright_sim::watch;

/// A lock that tells the checkers what is done with it.
#[repr(transparent)]
pub struct Watched<L>(L);

impl<L: RawLock> RawLock for Watched<L> {
    const ORDER: Order = L::ORDER;
    const WAITERS_SLEEP: bool = L::WAITERS_SLEEP;
    const READERS_SHARE: bool = L::READERS_SHARE;
    const NEXT_OWNER_MAY_FREE: bool = L::NEXT_OWNER_MAY_FREE;

    fn new() -> Self {
        Self(L::new())
    }
    fn lock(&self) {
        watch::requested(self);
        self.0.lock();
        watch::entered(self);
    }
    fn try_lock(&self) -> bool {
        watch::attempted(self);
        let taken = self.0.try_lock();
        if taken {
            watch::entered(self)
        } else {
            watch::withdrew(self)
        }
        taken
    }
    unsafe fn unlock(&self) {
        watch::left(self);
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() }
    }
    // Where readers do not share, the checkers hold a reader to what they hold an owner to.
    fn lock_shared(&self) {
        if !L::READERS_SHARE {
            return self.lock();
        }
        watch::requested(self);
        self.0.lock_shared();
        watch::entered_shared(self);
    }
    fn try_lock_shared(&self) -> bool {
        if !L::READERS_SHARE {
            return self.try_lock();
        }
        watch::requested(self);
        let taken = self.0.try_lock_shared();
        if taken {
            watch::entered_shared(self)
        } else {
            watch::withdrew(self)
        }
        taken
    }
    unsafe fn unlock_shared(&self) {
        if !L::READERS_SHARE {
            // SAFETY: the caller is a reader, so it owns the lock.
            return unsafe { self.unlock() };
        }
        watch::left_shared(self);
        // SAFETY: the caller is a reader of the lock.
        unsafe { self.0.unlock_shared() }
    }
    unsafe fn downgrade(&self) {
        if L::READERS_SHARE {
            watch::downgraded(self);
        }
        // SAFETY: the caller holds the lock.
        unsafe { self.0.downgrade() }
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        L::word_is_legal(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_catalog::busted::BustedRwLock;
    use lockwright_clients::plain_rw::PlainRwLock;
    use lockwright_sim::machine::Machine;
    use lockwright_sim::{
        Arena, Checks, Config, Failure, FailureKind, RunReport, Sim, Simulation, thread,
    };

    /// Readers, owners and owners that become readers, each of which holds the lock for a while.
    fn oversubscribed<L: RawLock>() -> RunReport {
        let (machine, mut arena) = (Machine::builtin("x5-4").expect("built in"), Arena::default());
        let checks = Checks { overtaking_max: Some(u32::MAX), ..Checks::default() };
        let config = Config { checks, ..Config::window(0, 200_000) };
        let mut simulation = Simulation::new(&machine, &mut arena, 1, config);
        let lock = simulation.alloc(Watched::<L>::new());
        for cpu in 0..6 {
            simulation.spawn(cpu, move || {
                while !thread::is_over() {
                    hold(lock, cpu);
                    thread::op_done();
                    thread::work_ns(500 + thread::random() % 500);
                }
            });
        }
        simulation.run()
    }

    fn hold<L: RawLock>(lock: &Watched<L>, cpu: u32) {
        if cpu.is_multiple_of(3) {
            lock.lock();
            thread::work_ns(100);
            if cpu == 0 {
                // SAFETY: taken above.
                return unsafe { lock.unlock() };
            }
            // SAFETY: taken above.
            unsafe { lock.downgrade() };
        } else if cpu == 1 || !lock.try_lock_shared() {
            lock.lock_shared();
        }
        thread::work_ns(100);
        // SAFETY: taken or downgraded above.
        unsafe { lock.unlock_shared() };
    }

    #[test]
    fn readers_beside_readers_break_nothing() {
        let report = oversubscribed::<PlainRwLock<Sim>>();
        assert_eq!(report.failures, []);
        assert!(report.ops.iter().all(|&ops| ops > 1), "{:?}", report.ops);
        // Readers pass an owner that waits: this lock lets them.
        assert!(report.most_overtakes > Some(0));
    }

    #[test]
    fn readers_that_take_nothing_are_caught_beside_an_owner() {
        let report = oversubscribed::<BustedRwLock<Sim>>();
        let is_beside = |it: &Failure| matches!(it.kind, FailureKind::Exclusion { .. });
        assert!(report.failures.iter().any(is_beside), "{:?}", report.failures);
    }

    #[test]
    fn where_to_read_is_to_own_a_reader_breaks_nothing_either() {
        let report = oversubscribed::<lockwright_linux::ticket::TicketLock<Sim>>();
        assert_eq!(report.failures, []);
        assert!(report.ops.iter().all(|&ops| ops > 1), "{:?}", report.ops);
    }
}
