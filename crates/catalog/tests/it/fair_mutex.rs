//! The mutex whose every unlock is fair.

use super::alone;
use super::hooked::{BEFORE_WAKE, Hooked};
use super::mutex::{await_sleep, this_thread};
use lockwright::mutex::RawMutex;
use lockwright::{FairMutex, FairMutexGuard, MappedFairMutexGuard};
use lockwright_core::raw::RawLock;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(10);

/// The owner lets go by `release` while a thread sleeps that writes 1, and takes the lock the very next moment.
fn hands_over(release: impl FnOnce(FairMutexGuard<'_, [u32; 2]>)) {
    let (mutex, sleeper) = (FairMutex::new([0; 2]), AtomicI32::new(0));
    let guard = mutex.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            sleeper.store(this_thread(), Relaxed);
            mutex.lock()[0] = 1;
        });
        await_sleep(&sleeper);
        release(guard);
        assert_eq!(mutex.lock()[0], 1, "the owner was faster than the one that slept");
    });
}

#[test]
fn every_way_to_let_go_hands_over_to_the_one_that_has_slept() {
    let _alone = alone();
    hands_over(|guard| drop(guard));
    hands_over(|guard| FairMutexGuard::unlock_fair(guard));
    hands_over(|guard| drop(FairMutexGuard::map(guard, |both| &mut both[1])));
    hands_over(|mut guard| {
        FairMutexGuard::unlocked(&mut guard, || {});
        assert_eq!(guard[0], 1, "it was taken back first");
    });
    hands_over(|mut guard| {
        FairMutexGuard::bump(&mut guard);
        assert_eq!(guard[0], 1, "it was taken back first");
    });
}

#[test]
fn attempts_end_at_their_deadlines_and_take_a_free_lock() {
    let _alone = alone();
    let mutex = FairMutex::new([0; 2]);
    let part: MappedFairMutexGuard<'_, u32> =
        FairMutexGuard::map(mutex.lock(), |both| &mut both[1]);
    thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            assert!(mutex.try_lock().is_none() && mutex.try_lock_for(SHORT).is_none());
            assert!(mutex.try_lock_until(start + 2 * SHORT).is_none());
            assert!(start.elapsed() >= 2 * SHORT && mutex.is_locked());
        });
    });
    drop(part);
    // A sleeper has given up; the lock is for others again.
    assert!(mutex.try_lock().is_some() && mutex.try_lock_for(Duration::ZERO).is_some());
    assert!(mutex.try_lock_until(Instant::now()).is_some() && !mutex.is_locked());
}

#[test]
fn threads_exclude_each_other_and_none_is_forgotten() {
    let _alone = alone();
    const ROUNDS: u32 = 500;
    let mutex = FairMutex::new([0; 2]);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    // With a deadline, so that a test that fails ends.
                    let mut both = mutex.try_lock_for(LONG).expect("forgotten");
                    both[0] += 1;
                    if round % 16 == 0 {
                        thread::yield_now();
                    }
                    both[1] += 1;
                    assert_eq!(both[0], both[1]);
                }
            });
        }
    });
    assert_eq!(*mutex.lock(), [4 * ROUNDS; 2]);
}

/// A mutex whose owner does something before each wake-up of its release, where other threads may come, too.
struct Interrupted {
    lock: RawMutex<Hooked>,
    /// The thread that sleeps for it.
    sleeper: AtomicI32,
    /// What the word said while that one held the lock.
    seen: AtomicU32,
}

impl Interrupted {
    const fn new() -> Self {
        Self { lock: RawMutex::INIT, sleeper: AtomicI32::new(0), seen: AtomicU32::new(0) }
    }
    fn word(&self) -> &AtomicU32 {
        super::word(&self.lock)
    }
    /// The owner releases the lock fairly, while a thread sleeps for it.
    fn run(&'static self, before_wake: fn()) {
        self.lock.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                self.sleeper.store(this_thread(), Relaxed);
                self.lock.lock_asleep();
                self.seen.store(self.word().load(Relaxed), Relaxed);
                // SAFETY: taken above.
                unsafe { self.lock.unlock() };
            });
            await_sleep(&self.sleeper);
            BEFORE_WAKE.set(Some(before_wake));
            // SAFETY: taken above.
            unsafe { self.lock.unlock_fair() };
            BEFORE_WAKE.set(None);
        });
    }
}

const HELD: u32 = 1;
const SLEEPERS: u32 = 2;
const WOKEN: u32 = 4;
const KEPT: u32 = 24;

/// As where many threads wait with deadlines: whenever one was woken, another that was gives up.
#[test]
fn a_fair_release_ends_after_two_attempts_however_many_waiters_give_up() {
    static MUTEX: Interrupted = Interrupted::new();
    static GIFTS: AtomicU32 = AtomicU32::new(0);
    fn give_up() {
        BEFORE_WAKE.set(Some(give_up));
        let gives_up = |word| {
            let is_gift = word & HELD != 0 && word & KEPT != 0 && GIFTS.load(Relaxed) < 10;
            is_gift.then_some(word & !KEPT | WOKEN)
        };
        if MUTEX.word().fetch_update(Relaxed, Relaxed, gives_up).is_ok() {
            GIFTS.fetch_add(1, Relaxed);
            // It may have been woken before. It finds the lock held and sleeps again.
            await_sleep(&MUTEX.sleeper);
        }
    }
    let _alone = alone();
    MUTEX.run(give_up);
    assert_eq!(GIFTS.load(Relaxed), 2);
}

/// The thread that the release has woken need not see the count of that waiter in the mark, and so does not say itself
/// that others sleep.
#[test]
fn a_fair_release_keeps_what_a_waiter_says_after_the_wake_up() {
    static MUTEX: Interrupted = Interrupted::new();
    fn comes_to_sleep() {
        MUTEX.word().fetch_or(SLEEPERS, Relaxed);
    }
    let _alone = alone();
    MUTEX.run(comes_to_sleep);
    assert_eq!(MUTEX.seen.load(Relaxed) & SLEEPERS, SLEEPERS);
}

#[test]
fn it_is_eight_bytes_and_zero_is_unlocked() {
    assert_eq!(size_of::<FairMutex<()>>(), 8);
    // SAFETY: all words are atomic integers, for which zero is a value.
    let mutex: FairMutex<()> = unsafe { std::mem::zeroed() };
    assert!(mutex.try_lock().is_some());
}

#[cfg(feature = "lock_api_05")]
#[test]
fn that_of_lock_api_05_hands_over_too() {
    use lockwright::v05;
    let _alone = alone();
    let (mutex, sleeper) = (v05::FairMutex::new(0), AtomicI32::new(0));
    let guard: v05::FairMutexGuard<'_, u32> = mutex.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            sleeper.store(this_thread(), Relaxed);
            *mutex.lock() = 1;
        });
        await_sleep(&sleeper);
        drop(guard);
        assert_eq!(*mutex.lock(), 1, "the owner was faster than the one that slept");
    });
    assert!(mutex.try_lock_for(SHORT).is_some());
}
