use super::*;
use lockwright_catalog::capabilities::{CondvarLock, LockCondvar, TimedLock};
use lockwright_core::platform::Clock;
use lockwright_core::raw::RawLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// What another thread finds.
fn elsewhere(what: impl FnOnce() -> bool + Send) -> bool {
    std::thread::scope(|scope| scope.spawn(what).join()).expect("an attempt does not panic")
}

fn can_own<L: RawLock>(lock: &L) -> bool {
    !methods::looks_locked(lock)
}

fn can_read<L: RawLock>(lock: &L) -> bool {
    let taken = lock.try_lock_shared();
    if taken {
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
    }
    taken
}

/// Looks at each state of a lock from another thread. Returns true if an owner that becomes a reader lets others read.
struct Manners;

impl LockVisitor<Native> for Manners {
    type Output = bool;

    fn visit<L: RawLock>(self, row: &'static LockRow) -> bool {
        let lock = L::new();
        let mut lets_others_read = false;
        for _ in 0..3 {
            assert!(!lock.is_locked() && can_own(&lock) && can_read(&lock), "{}", row.name);
            lock.lock();
            assert!(lock.is_locked(), "{}", row.name);
            assert!(
                !elsewhere(|| can_own(&lock)) && !elsewhere(|| can_read(&lock)),
                "{}",
                row.name
            );
            // SAFETY: taken above.
            unsafe { lock.unlock() };
            assert!(elsewhere(|| can_own(&lock)), "{}", row.name);
            if !L::READERS_SHARE {
                continue;
            }
            lock.lock_shared();
            assert!(lock.is_locked(), "{}", row.name);
            assert!(!elsewhere(|| can_own(&lock)) && elsewhere(|| can_read(&lock)), "{}", row.name);
            // SAFETY: taken above.
            unsafe { lock.unlock_shared() };
            lock.lock();
            // SAFETY: taken above.
            unsafe { lock.downgrade() };
            assert!(!elsewhere(|| can_own(&lock)), "{}", row.name);
            lets_others_read = elsewhere(|| can_read(&lock));
            // SAFETY: downgraded above.
            unsafe { lock.unlock_shared() };
            assert!(elsewhere(|| can_own(&lock)), "{}", row.name);
        }
        lets_others_read
    }
}

#[test]
fn every_peer_excludes_other_threads_lets_readers_in_beside_readers_and_lets_go() {
    let downgrade: Vec<_> = peers()
        .filter(|peer| visit(&peer.row, Manners).expect("a peer of this build"))
        .map(|peer| peer.row.name)
        .collect();
    let mut expected =
        vec!["std-rwlock", "parking_lot-rwlock", "parking_lot-rwlock-0.13", "spin-rwlock"];
    if cfg!(feature = "c-peers") {
        expected.extend(["ck_rwlock", "ck_bytelock"]);
    }
    assert_eq!(downgrade, expected);
}

#[test]
fn readers_of_the_default_kind_pass_a_writer_that_waits_and_of_the_other_kind_do_not() {
    fn passes<const PREFERS_WRITERS: bool>() -> bool {
        let lock = PthreadRwLock::<PREFERS_WRITERS>::new();
        lock.lock_shared();
        let mut passed = true;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                lock.lock();
                // SAFETY: taken above.
                unsafe { lock.unlock() };
            });
            // The writer waits after some of them at the latest; a second is long.
            for _ in 0..if PREFERS_WRITERS { 1_000 } else { 30 } {
                std::thread::sleep(std::time::Duration::from_millis(1));
                passed = can_read(&lock);
                if !passed {
                    break;
                }
            }
            // SAFETY: taken above.
            unsafe { lock.unlock_shared() };
        });
        passed
    }
    assert!(passes::<false>());
    assert!(!passes::<true>());
}

/// A thread that waits is notified, and one that nobody notifies gives up at its deadline and owns the lock then.
struct Waits;

impl CondvarVisitor for Waits {
    type Output = ();

    fn visit<L: CondvarLock>(self) {
        let (lock, condvar, is_set) = (L::new(), L::Condvar::new(), AtomicBool::new(false));
        let wait = |deadline_ns| {
            // SAFETY: called with the lock taken.
            unsafe { condvar.wait(&lock, deadline_ns) }
        };
        let unlock = || {
            // SAFETY: called with the lock taken.
            unsafe { lock.unlock() }
        };
        for notify in [|it: &L::Condvar| _ = it.notify_one(), L::Condvar::notify_all] {
            is_set.store(false, Relaxed);
            std::thread::scope(|scope| {
                let waiter = scope.spawn(|| {
                    lock.lock();
                    while !is_set.load(Relaxed) {
                        wait(None);
                    }
                    unlock();
                });
                std::thread::sleep(Duration::from_millis(5));
                lock.lock();
                is_set.store(true, Relaxed);
                unlock();
                notify(&condvar);
                waiter.join().expect("no panic");
            });
        }
        lock.lock();
        let deadline_ns = Native::now_ns() + 20_000_000;
        while wait(Some(deadline_ns)) {}
        assert!(Native::now_ns() >= deadline_ns, "it gave up before its deadline");
        assert!(!elsewhere(|| can_own(&lock)), "it does not own the lock");
        unlock();
        assert!(can_own(&lock));
    }
}

/// A thread takes a free lock at once, and gives up a held one at its deadline.
struct GivesUp;

impl TimedVisitor for GivesUp {
    type Output = ();

    fn visit<L: TimedLock>(self) {
        let lock = L::new();
        assert!(lock.lock_until(Native::now_ns()), "it is free");
        let deadline_ns = Native::now_ns() + 20_000_000;
        assert!(!elsewhere(|| lock.lock_until(deadline_ns)));
        assert!(Native::now_ns() >= deadline_ns, "it gave up before its deadline");
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        assert!(elsewhere(|| can_own(&lock)));
    }
}

#[test]
fn peers_with_a_condition_variable_are_notified_and_give_up_at_a_deadline() {
    let names = |can: fn(&LockRow) -> bool| -> Vec<&str> {
        peers().filter(|peer| can(&peer.row)).map(|peer| peer.row.name).collect()
    };
    let with_condvar = names(|row| visit_condvar(row, Waits).is_some());
    let both = ["parking_lot", "parking_lot-0.13", "pthread", "pthread-adaptive"];
    assert_eq!(with_condvar, [&["std"], &both[..], &["usync"]].concat());
    assert_eq!(names(|row| visit_timed(row, GivesUp).is_some()), both);
}
