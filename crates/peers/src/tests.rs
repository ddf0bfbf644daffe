use super::*;
use lockwright::raw::RawLock;

/// What another thread finds.
fn elsewhere(what: impl FnOnce() -> bool + Send) -> bool {
    std::thread::scope(|scope| scope.spawn(what).join()).expect("an attempt does not panic")
}

fn can_own<L: RawLock>(lock: &L) -> bool {
    let taken = lock.try_lock();
    if taken {
        // SAFETY: taken above.
        unsafe { lock.unlock() };
    }
    taken
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
