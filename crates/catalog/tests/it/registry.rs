//! Every lock of the registry, two threads, a fraction of a second each.

use super::alone;
use lockwright_catalog::registry::{LOCKS, LockClass, LockRow, LockVisitor, visit};
use lockwright_core::native::{self, Native, topology};
use lockwright_core::raw::RawLock;
use lockwright_core::tunables::{NUMA_ON, Tunable};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// A lock and plain counters that it guards: enough words that a torn section shows.
struct Guarded<L> {
    lock: L,
    words: UnsafeCell<[u64; 8]>,
}

// SAFETY: `words` is only touched under `lock`.
unsafe impl<L: Sync> Sync for Guarded<L> {}

impl<L: RawLock> Guarded<L> {
    fn new() -> Self {
        Self { lock: L::new(), words: UnsafeCell::new([0; 8]) }
    }
    /// Takes the lock, by `try_lock` if `tries`, and increments every word.
    fn increment(&self, tries: bool) -> bool {
        if tries {
            if !self.lock.try_lock() {
                return false;
            }
        } else {
            self.lock.lock();
        }
        // SAFETY: the lock is held.
        let words = unsafe { &mut *self.words.get() };
        for word in words {
            // Volatile, so that the increments stay eight separate ones.
            // SAFETY: a reference is valid.
            let value = unsafe { std::ptr::read_volatile(word) };
            // SAFETY: a reference is valid.
            unsafe { std::ptr::write_volatile(word, value + 1) };
        }
        // SAFETY: taken above.
        unsafe { self.lock.unlock() };
        true
    }
}

struct Exclusion {
    time: Duration,
}

impl LockVisitor<Native> for Exclusion {
    /// Increments made, and increments found.
    type Output = (u64, [u64; 8]);

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> Self::Output {
        let guarded = Guarded::<L>::new();
        let over = AtomicBool::new(false);
        let made = thread::scope(|scope| {
            let workers: Vec<_> = (0..2)
                .map(|thread| {
                    let (guarded, over) = (&guarded, &over);
                    scope.spawn(move || {
                        let mut made = 0;
                        while !over.load(Relaxed) {
                            let tries = thread == 1 && made % 3 == 0;
                            made += u64::from(guarded.increment(tries));
                        }
                        made
                    })
                })
                .collect();
            let end = Instant::now() + self.time;
            thread::sleep(end.saturating_duration_since(Instant::now()));
            over.store(true, Relaxed);
            workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
        });
        (made, guarded.words.into_inner())
    }
}

#[test]
fn every_lock_excludes_and_busted_does_not() {
    let _alone = alone();
    // Two nodes of one CPU each, so that the CNA locks have something to do here.
    topology::set_fake(2, 1);
    native::set_tunable(Tunable::numa_spinlock, Some(NUMA_ON)).expect("in range");
    // Under Miri the fault of the busted locks is a data race, which ends the program.
    let runs = |row: &&LockRow| !(cfg!(miri) && row.class == LockClass::Busted);
    for row in LOCKS.iter().filter(runs) {
        let exclusion = Exclusion { time: Duration::from_millis(100) };
        let (made, found) = visit::<Native, _>(row, exclusion).expect("a registered lock");
        let excludes = found == [made; 8];
        // x86 cannot show what is wrong with `busted-relaxed`, other machines may.
        let may_fail = row.class == LockClass::Busted;
        assert!(excludes || may_fail, "{}: made {made}, found {found:?}", row.name);
        assert!(row.name != "busted" || !excludes, "busted was not caught");
        // An interpreter gets less far.
        let enough = if cfg!(miri) { 1 } else { 100 };
        assert!(made >= enough, "{} made no progress: {made}", row.name);
    }
    native::set_tunable(Tunable::numa_spinlock, None).expect("the default");
    topology::clear_fake();
}

#[test]
fn try_lock_fails_exactly_while_the_lock_is_held() {
    struct TryLock;
    impl LockVisitor<Native> for TryLock {
        type Output = ();
        fn visit<L: RawLock>(self, row: &'static LockRow) {
            let lock = L::new();
            assert!(!lock.is_locked(), "{}", row.name);
            assert!(lock.try_lock(), "{}", row.name);
            assert!(lock.is_locked(), "{}", row.name);
            assert!(!lock.try_lock(), "{}", row.name);
            // SAFETY: taken above.
            unsafe { lock.unlock() };
            assert!(lock.try_lock(), "{}", row.name);
            // SAFETY: taken above.
            unsafe { lock.unlock() };
        }
    }
    let _alone = alone();
    for row in LOCKS.iter().filter(|row| row.name != "busted") {
        visit::<Native, _>(row, TryLock).expect("a registered lock");
    }
}
