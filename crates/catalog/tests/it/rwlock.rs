//! The reader-writer locks for programs, as programs use them.

use super::fresh::comes_to_use_slots;
use super::readers::{self, LONG, SOON};
use super::{Over, alone, not_run, own_once, read_once};
use lockwright::percpu_rwlock::{RawPercpuRwLock, ReadIn};
use lockwright::rwlock::{Fair, RawRwLock};
use lockwright::{
    FairRwLock, PercpuRwLock, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use lockwright_core::native::Native;
use lockwright_core::platform::{Clock, ReaderSlots};
use lockwright_core::raw::RawLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn readers_share_and_a_writer_does_not() {
    readers::share::<RawRwLock<Native>>();
    readers::share::<RawRwLock<Native, Fair>>();
}

#[test]
fn whoever_gives_up_leaves_a_lock_that_others_get() {
    readers::leave_it::<RawRwLock<Native>>();
    readers::leave_it::<RawRwLock<Native, Fair>>();
    readers::leave_it::<RawPercpuRwLock<Native>>();
}

/// A thread that waits to write, and what the caller finds meanwhile.
fn beside_a_waiting_writer<L: RawLock, R>(lock: &L, finds: impl FnOnce() -> R) -> R {
    thread::scope(|scope| {
        lock.lock_shared();
        let writer = scope.spawn(|| own_once(lock));
        thread::sleep(20 * SOON);
        assert!(!writer.is_finished());
        let found = finds();
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
        found
    })
}

#[test]
fn a_reader_reads_again_while_a_writer_waits() {
    fn reads_again<L: RawLock>() {
        let lock = L::new();
        let began = Instant::now();
        beside_a_waiting_writer(&lock, || {
            for _ in 0..3 {
                read_once(&lock);
            }
        });
        assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    }
    reads_again::<RawRwLock<Native>>();
    reads_again::<RawPercpuRwLock<Native>>();
}

#[test]
fn where_it_is_first_come_first_served_nobody_passes_a_waiting_writer() {
    let lock = RawRwLock::<Native, Fair>::INIT;
    assert!(!beside_a_waiting_writer(&lock, || lock.try_lock_shared()));
    assert!(lock.is_untouched());
    let fair = FairRwLock::new(1);
    *fair.write() += 1;
    assert_eq!(*fair.read(), 2);
}

#[test]
fn a_writer_among_many_readers_is_not_kept_out() {
    readers::let_a_writer_in::<RawRwLock<Native>>();
    readers::let_a_writer_in::<RawPercpuRwLock<Native>>();
}

#[test]
fn slots_are_used_after_many_reads_and_not_after_a_write() {
    let _alone = alone();
    let lock = RawPercpuRwLock::<Native>::INIT;
    if !comes_to_use_slots(&lock) {
        return;
    }
    lock.lock_shared();
    lock.lock_shared();
    let deadline_ns = Native::now_ns() + 1_000_000;
    assert!(!lock.try_lock() && !lock.lock_until(deadline_ns), "it is read in a slot");
    // SAFETY: taken above.
    unsafe { lock.unlock_shared() };
    thread::scope(|scope| {
        let writer = scope.spawn(|| own_once(&lock));
        thread::sleep(SOON);
        assert!(!writer.is_finished(), "it is read once more");
        lock.lock_shared();
        // SAFETY: taken above, twice.
        unsafe { lock.unlock_shared() };
        // SAFETY: as above.
        unsafe { lock.unlock_shared() };
    });
    assert_eq!(lock.try_lock_shared_in(), Some(ReadIn::Beneath));
    // SAFETY: taken above.
    unsafe { lock.unlock_shared_in(ReadIn::Beneath) };
    assert!(lock.is_untouched());
}

#[test]
fn a_thread_reads_more_locks_at_once_than_have_room_in_its_slot() {
    let _alone = alone();
    let locks = [const { RawPercpuRwLock::<Native>::INIT }; 6];
    if !locks.iter().all(comes_to_use_slots) {
        return;
    }
    let reads: Vec<_> = locks.iter().map(RawPercpuRwLock::lock_shared_in).collect();
    assert_eq!((reads[0], reads[5]), (ReadIn::Slot, ReadIn::Beneath));
    for lock in &locks {
        assert!(lock.is_locked() && !lock.try_lock());
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
        assert!(!lock.is_locked() && lock.try_lock());
        // SAFETY: taken above.
        unsafe { lock.unlock() };
    }
}

#[test]
fn readers_in_slots_and_writers_exclude_each_other() {
    let _alone = alone();
    let lock = PercpuRwLock::new([0_u64; 2]);
    for _ in 0..1 << 14 {
        drop(lock.read());
    }
    if Native::reader_slots() == 0 {
        return not_run("readers use no slots without membarrier");
    }
    let writes = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..20 {
                thread::sleep(Duration::from_millis(2));
                let mut pair = lock.write();
                pair[0] += 1;
                pair[1] += 1;
                writes.fetch_add(1, Relaxed);
            }
        });
        while writes.load(Relaxed) < 20 {
            let pair = lock.read();
            assert_eq!(pair[0], pair[1]);
        }
    });
    assert_eq!(*lock.read(), [20, 20]);
}

#[test]
fn one_reader_may_become_the_writer_and_none_writes_in_between() {
    fn upgrades<R>()
    where
        R: lock_api::RawRwLockUpgradeDowngrade
            + lock_api::RawRwLockUpgradeTimed<Duration = Duration, Instant = Instant>
            + Sync,
    {
        use lock_api::{RwLockUpgradableReadGuard as Upgradable, RwLockWriteGuard as Writer};
        let lock = lock_api::RwLock::<R, u32>::new(0);
        let upgradable = lock.upgradable_read();
        let reader = lock.try_read().expect("it reads together with others");
        assert!(lock.try_upgradable_read().is_none() && lock.try_write().is_none());
        assert!(lock.try_upgradable_read_for(SOON).is_none());
        let upgradable = Upgradable::try_upgrade(upgradable).expect_err("there is a reader");
        let began = Instant::now();
        let upgradable = Upgradable::try_upgrade_for(upgradable, SOON).expect_err("the same");
        assert!(began.elapsed() >= SOON);
        assert_eq!(*lock.read(), 0, "who gave up to upgrade keeps no reader out");
        drop(reader);
        let mut writer = Upgradable::try_upgrade(upgradable).expect("it is the only reader");
        *writer += 1;
        assert!(lock.try_read().is_none());
        let upgradable = Writer::downgrade_to_upgradable(writer);
        assert_eq!((*upgradable, *lock.read()), (1, 1));
        let reader = Upgradable::downgrade(upgradable);
        drop(lock.try_upgradable_read().expect("the reader cannot upgrade any more"));
        drop(reader);
        assert!(!lock.is_locked());
    }
    upgrades::<RawRwLock<Native>>();
    upgrades::<RawRwLock<Native, Fair>>();
}

#[test]
fn a_reader_that_upgrades_goes_before_those_that_wait() {
    let lock = RwLock::new(Vec::new());
    thread::scope(|scope| {
        let upgradable = lock.upgradable_read();
        scope.spawn(|| {
            let reader = lock.read();
            thread::sleep(8 * SOON);
            drop(reader);
        });
        thread::sleep(2 * SOON);
        scope.spawn(|| lock.write().push("writer"));
        scope.spawn(|| RwLockUpgradableReadGuard::upgrade(lock.upgradable_read()).push("other"));
        thread::sleep(2 * SOON);
        // A time-out, so that an upgrader that waits behind the others fails the test, and does not hang it.
        let upgraded = RwLockUpgradableReadGuard::try_upgrade_for(upgradable, LONG);
        upgraded.expect("nobody is before it").push("first");
    });
    let order = lock.into_inner();
    assert_eq!((order[0], order.len()), ("first", 3));
}

#[test]
fn a_fair_unlock_leaves_a_lock_that_others_get() {
    let lock = RwLock::new(0);
    for _ in 0..10 {
        thread::scope(|scope| {
            let mut writer = lock.write();
            scope.spawn(|| *lock.write() += 1);
            scope.spawn(|| RwLockReadGuard::unlock_fair(lock.read()));
            thread::sleep(SOON);
            RwLockWriteGuard::bump(&mut writer);
            *writer += 1;
            RwLockWriteGuard::unlock_fair(writer);
            RwLockUpgradableReadGuard::unlock_fair(lock.upgradable_read());
        });
    }
    assert_eq!(lock.into_inner(), 20);
}

/// While nobody writes or waits to, no attempt to read fails: not even one that sees the lock kept for a reader and
/// looks again when that reader has had it.
#[test]
fn no_attempt_to_read_fails_without_a_writer() {
    fn none_fails<R: lock_api::RawRwLock + Sync>() {
        let (lock, is_over) = (lock_api::RwLock::<R, ()>::new(()), AtomicBool::new(false));
        let until = Instant::now() + Duration::from_secs(1);
        thread::scope(|scope| {
            let _over = Over(&is_over);
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    drop(lock.read());
                }
            });
            while Instant::now() < until {
                for _ in 0..100 {
                    drop(lock.write());
                    for _ in 0..20 {
                        assert!(lock.try_read().is_some(), "the only writer is this thread");
                    }
                }
            }
        });
    }
    none_fails::<RawRwLock<Native>>();
    none_fails::<RawRwLock<Native, Fair>>();
    none_fails::<RawPercpuRwLock<Native>>();
}
