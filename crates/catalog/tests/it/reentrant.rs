//! The mutex that its owner may take again.

use super::alone;
use super::children::{How, in_child};
use super::process::in_a_process_of_its_own;
use lockwright::{MappedReentrantMutexGuard, ReentrantMutex, ReentrantMutexGuard};
use std::cell::Cell;
use std::collections::HashSet;
use std::mem::forget;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(10);

/// Returns `true` if another thread can take `lock` at once.
fn is_free_for_another(lock: &ReentrantMutex<Cell<u64>>) -> bool {
    thread::scope(|scope| scope.spawn(|| lock.try_lock().is_some()).join().expect("no panic"))
}

#[test]
fn its_owner_takes_it_again_in_every_way_and_it_is_free_after_the_last_guard() {
    let _alone = alone();
    static LOCK: ReentrantMutex<Cell<u64>> = ReentrantMutex::new(Cell::new(0));
    assert!(!LOCK.is_locked() && !LOCK.is_owned_by_current_thread());
    let first = LOCK.lock();
    let second = LOCK.try_lock().expect("the caller holds it");
    let third = LOCK.try_lock_for(Duration::ZERO).expect("the caller holds it");
    let fourth = LOCK.try_lock_until(Instant::now()).expect("the caller holds it");
    for guard in [second, first, fourth] {
        guard.set(guard.get() + 1);
        drop(guard);
        assert!(LOCK.is_owned_by_current_thread() && !is_free_for_another(&LOCK));
    }
    let part: MappedReentrantMutexGuard<'_, u64> =
        ReentrantMutexGuard::map(LOCK.lock(), |_| &7_u64);
    drop(third);
    assert!(*part == 7 && !is_free_for_another(&LOCK));
    drop(part);
    assert!(!LOCK.is_locked() && is_free_for_another(&LOCK));
    assert_eq!(LOCK.lock().get(), 3);
}

#[test]
fn it_is_24_bytes_and_zero_is_unlocked() {
    assert_eq!(size_of::<ReentrantMutex<()>>(), 24);
    // SAFETY: all words are integers, for which zero is a value.
    let mutex: ReentrantMutex<Cell<u64>> = unsafe { std::mem::zeroed() };
    assert!(is_free_for_another(&mutex) && mutex.try_lock().is_some());
}

#[test]
fn two_threads_that_take_it_twice_exclude_each_other() {
    let _alone = alone();
    let lock = ReentrantMutex::new(Cell::new(0_u64));
    let both_run = Barrier::new(2);
    let add = || {
        both_run.wait();
        for _ in 0..200_000 {
            let outer = lock.lock();
            let before = outer.get();
            let inner = lock.lock();
            inner.set(before + 1);
            drop(outer);
        }
    };
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    assert_eq!(lock.lock().get(), 400_000);
}

#[test]
fn an_attempt_of_another_thread_ends_at_its_deadline() {
    let _alone = alone();
    let lock = ReentrantMutex::new(Cell::new(0_u64));
    let _twice = (lock.lock(), lock.lock());
    thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            assert!(lock.try_lock_for(SHORT).is_none());
            assert!(lock.try_lock_until(start + 2 * SHORT).is_none());
            assert!(start.elapsed() >= 2 * SHORT && !lock.is_owned_by_current_thread());
        });
    });
}

#[test]
fn a_closure_runs_unlocked_only_under_the_last_guard() {
    let _alone = alone();
    let lock = ReentrantMutex::new(Cell::new(0_u64));
    let mut first = lock.lock();
    assert!(ReentrantMutexGuard::unlocked(&mut first, || is_free_for_another(&lock)));
    let second = lock.lock();
    assert!(!ReentrantMutexGuard::unlocked(&mut first, || is_free_for_another(&lock)));
    ReentrantMutexGuard::bump(&mut first);
    drop(second);
    ReentrantMutexGuard::bump(&mut first);
    assert!(lock.is_owned_by_current_thread());
    ReentrantMutexGuard::unlock_fair(first);
    assert!(is_free_for_another(&lock));
}

#[test]
fn no_two_living_threads_have_one_number() {
    use lock_api::GetThreadId;
    use lockwright::api::ThreadNumber;
    use lockwright_core::native::Native;
    const THREADS: usize = 32;
    let all_live = Barrier::new(THREADS);
    let number = || {
        let number = ThreadNumber::<Native>::INIT.nonzero_thread_id();
        all_live.wait();
        assert_eq!(number, ThreadNumber::<Native>::INIT.nonzero_thread_id(), "it changes");
        number
    };
    let numbers: HashSet<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(number)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(numbers.len(), THREADS);
}

#[test]
fn the_lock_of_a_thread_that_ended_with_it_stays_locked() {
    let _alone = alone();
    let lock = ReentrantMutex::new(Cell::new(0_u64));
    let holder = thread::scope(|scope| {
        let holder = scope.spawn(|| {
            forget(lock.lock());
            thread::current().id()
        });
        holder.join().expect("no panic")
    });
    assert_ne!(holder, thread::current().id());
    assert!(lock.is_locked() && lock.try_lock().is_none() && lock.try_lock_for(SHORT).is_none());
    // They come where the memory of that thread was.
    assert!((0..20).all(|_| !is_free_for_another(&lock)), "a later thread is taken for the owner");
}

#[test]
fn a_thread_that_starts_in_a_child_is_not_taken_for_the_owner() {
    static LOCK: ReentrantMutex<Cell<u64>> = ReentrantMutex::new(Cell::new(0));
    in_a_process_of_its_own(|| {
        let other = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                let held = LOCK.lock();
                other.wait();
                other.wait();
                drop(held);
            });
            other.wait();
            // They come where the memory of the owner was.
            let child = || (0..20).all(|_| !is_free_for_another(&LOCK));
            let are_well = [How::Fork, How::Clone].map(|how| in_child(how, child));
            other.wait();
            assert_eq!(are_well, [true; 2], "by fork and by clone");
        });
    });
}

#[test]
fn the_thread_of_a_forked_child_still_owns_what_it_held() {
    let _alone = alone();
    static LOCK: ReentrantMutex<Cell<u64>> = ReentrantMutex::new(Cell::new(0));
    static OF_ANOTHER: ReentrantMutex<Cell<u64>> = ReentrantMutex::new(Cell::new(0));
    let other = Barrier::new(2);
    let guard = LOCK.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            let held = OF_ANOTHER.lock();
            other.wait();
            other.wait();
            drop(held);
        });
        other.wait();
        let child = || {
            let again = LOCK.try_lock().is_some();
            // SAFETY: the only thread of this process has one guard, which the child never drops.
            unsafe { LOCK.force_unlock() };
            again && !LOCK.is_locked() && OF_ANOTHER.try_lock().is_none()
        };
        let are_well = [How::Fork, How::Clone].map(|how| in_child(how, child));
        // Before a panic, so that the other thread ends.
        other.wait();
        assert_eq!(are_well, [true; 2], "by fork and by clone");
    });
    drop(guard);
    assert!(LOCK.try_lock_for(LONG).is_some() && is_free_for_another(&LOCK));
}

#[cfg(feature = "lock_api_05")]
#[test]
fn that_of_lock_api_05_is_the_same() {
    use lockwright::v05;
    static LOCK: v05::ReentrantMutex<Cell<u64>> = v05::ReentrantMutex::new(Cell::new(1));
    let first: v05::ReentrantMutexGuard<'_, Cell<u64>> = LOCK.lock();
    let part: v05::MappedReentrantMutexGuard<'_, u64> =
        v05::ReentrantMutexGuard::map(LOCK.lock(), |_| &7);
    let attempt = || {
        thread::scope(|scope| scope.spawn(|| LOCK.try_lock().is_some()).join().expect("no panic"))
    };
    drop(first);
    assert!(*part == 7 && !attempt());
    drop(part);
    assert!(attempt());
}
