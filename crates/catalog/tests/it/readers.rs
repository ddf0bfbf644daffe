//! What every reader-writer lock does for programs. The tests of each kind call these.

use super::Over;
use lock_api::{RawRwLock, RawRwLockDowngrade, RawRwLockTimed, RwLock, RwLockWriteGuard};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

pub(super) const SOON: Duration = Duration::from_millis(5);
/// Nothing here takes that long unless it never ends.
pub(super) const LONG: Duration = Duration::from_secs(10);

/// Readers share, and a writer does not.
pub(super) fn share<R: RawRwLockDowngrade>() {
    let lock = RwLock::<R, u32>::new(1);
    let first = lock.read();
    let second = lock.try_read().expect("a reader keeps no reader out");
    assert!(lock.try_write().is_none() && !lock.is_locked_exclusive());
    drop((first, second));
    let mut writer = lock.try_write().expect("nobody is there");
    *writer += 1;
    assert!(lock.try_read().is_none() && lock.is_locked_exclusive());
    let reader = RwLockWriteGuard::downgrade(writer);
    assert_eq!((*reader, *lock.read()), (2, 2));
}

/// A thread that gives up leaves a lock that others get.
pub(super) fn leave_it<R: RawRwLockTimed<Duration = Duration, Instant = Instant> + Sync>() {
    let lock = RwLock::<R, ()>::new(());
    let writer = lock.write();
    thread::scope(|scope| {
        let began = Instant::now();
        let reads = scope.spawn(|| lock.try_read_for(SOON).is_some());
        let writes = scope.spawn(|| lock.try_write_for(SOON).is_some());
        assert!(!reads.join().expect("no panic") && !writes.join().expect("no panic"));
        assert!(began.elapsed() >= SOON);
    });
    drop(writer);
    assert!(lock.try_write_until(Instant::now()).is_some());
    assert!(lock.try_read_until(Instant::now()).is_some());
    assert!(!lock.is_locked());
}

/// A writer among many readers is not kept out.
pub(super) fn let_a_writer_in<R: RawRwLock + Sync>() {
    let (lock, is_over) = (RwLock::<R, u64>::new(0), AtomicBool::new(false));
    let longest = thread::scope(|scope| {
        let _over = Over(&is_over);
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    assert!(*lock.read() < u64::MAX);
                }
            });
        }
        let (mut longest, began) = (Duration::ZERO, Instant::now());
        while began.elapsed() < Duration::from_millis(300) {
            let asked = Instant::now();
            *lock.write() += 1;
            longest = longest.max(asked.elapsed());
        }
        longest
    });
    assert!(longest < LONG, "{longest:?}");
}
