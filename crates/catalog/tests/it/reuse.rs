//! What a lock leaves behind means nothing to another lock that comes to lie at its address, nor to a signal handler
//! that comes in the middle of an operation.

use super::alone;
use super::hooked::{AT_LIGHT_BARRIER, BEFORE_SLOT, BEFORE_WAKE, Hooked};
use lockwright::PercpuRwLock;
use lockwright::condvar::RawCondvar;
use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::{RawPercpuRwLock, ReadIn};
use lockwright::semaphore::RawSemaphore;
use lockwright_core::platform::Clock;
use lockwright_core::raw::RawLock;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// Time for a thread to fall asleep, or to wake up by mistake.
const SHORT: Duration = Duration::from_millis(50);
/// Nothing here takes that long unless it never ends.
const LONG: Duration = Duration::from_secs(10);

fn await_flag(flag: &AtomicBool) {
    while !flag.load(SeqCst) {
        thread::yield_now();
    }
}

/// Returns `true` if the flag is set before long.
fn comes(flag: &AtomicBool) -> bool {
    let begin = Instant::now();
    while !flag.load(SeqCst) && begin.elapsed() < LONG {
        thread::sleep(Duration::from_millis(1));
    }
    flag.load(SeqCst)
}

/// Room for a lock: zero is unlocked, or a condition variable on which no thread waits.
#[expect(dead_code)]
struct Room([AtomicU64; 2]);

impl Room {
    const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; 2])
    }
    /// The lock there.
    ///
    /// # Safety
    /// Zero is such a lock, it has no more than 16 bytes, and no other lock is used there now.
    unsafe fn lock<L>(&'static self) -> &'static L {
        assert!(size_of::<L>() <= size_of::<Self>() && align_of::<L>() <= align_of::<Self>());
        // SAFETY: by the contract.
        unsafe { &*core::ptr::from_ref(self).cast::<L>() }
    }
}

/// A mutex in `room` is released by a thread that is stopped before it wakes a sleeper, and is gone then. `sleep` has a
/// thread sleep for something else in that room. The first thread goes on when that thread sleeps.
fn late_unlock(room: &'static Room, sleep: impl FnOnce() + Send + 'static) {
    static RELEASED: AtomicBool = AtomicBool::new(false);
    static RESUMED: AtomicBool = AtomicBool::new(false);
    fn stop() {
        RELEASED.store(true, SeqCst);
        await_flag(&RESUMED);
    }
    for flag in [&RELEASED, &RESUMED] {
        flag.store(false, SeqCst);
    }
    // SAFETY: zero is an unlocked mutex, which is not used after the last unlock.
    let mutex: &RawMutex<Hooked> = unsafe { room.lock() };
    let late = thread::spawn(|| {
        mutex.lock();
        // Leaves behind that a thread sleeps.
        let gives_up = || mutex.lock_until(Hooked::now_ns() + SHORT.as_nanos() as u64);
        assert!(!thread::spawn(gives_up).join().expect("no panic"));
        BEFORE_WAKE.set(Some(stop));
        // SAFETY: taken above.
        unsafe { mutex.unlock() };
    });
    await_flag(&RELEASED);
    thread::spawn(sleep);
    thread::sleep(SHORT);
    RESUMED.store(true, SeqCst);
    late.join().expect("no panic");
    thread::sleep(SHORT);
}

#[test]
fn a_late_unlock_of_a_mutex_grants_no_permit_of_a_semaphore_at_its_address() {
    let _alone = alone();
    static SECOND: AtomicBool = AtomicBool::new(false);
    static ROOM: Room = Room::new();
    late_unlock(&ROOM, || {
        // SAFETY: the mutex is free and not used any more; zero is a semaphore with its one permit.
        let semaphore: &RawSemaphore<Hooked, 1> = unsafe { ROOM.lock() };
        semaphore.acquire(1);
        semaphore.acquire(1);
        SECOND.store(true, SeqCst);
    });
    assert!(!SECOND.load(SeqCst), "one permit was granted twice");
}

#[test]
fn a_late_unlock_of_a_mutex_takes_no_notification_from_a_thread_that_waits_at_its_address() {
    let _alone = alone();
    static BACK: AtomicBool = AtomicBool::new(false);
    static MUTEX: RawMutex<Hooked> = RawMutex::INIT;
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    static ROOM: Room = Room::new();
    // SAFETY: zero is a condition variable on which no thread waits, and an unlocked mutex leaves nothing else.
    let condvar: &RawCondvar<Hooked> = unsafe { ROOM.lock() };
    late_unlock(&ROOM, || {
        MUTEX.lock();
        while !IS_OVER.load(SeqCst) {
            // SAFETY: taken above.
            unsafe { condvar.wait(&MUTEX, None) };
        }
        BACK.store(true, SeqCst);
        // SAFETY: a wait returns with the mutex.
        unsafe { MUTEX.unlock() };
    });
    assert!(!BACK.load(SeqCst), "it waits for what has not come");
    MUTEX.lock();
    IS_OVER.store(true, SeqCst);
    assert!(condvar.notify_one(), "a thread waits");
    // SAFETY: taken above.
    unsafe { MUTEX.unlock() };
    assert!(comes(&BACK));
}

/// Reads until readers use slots, if there are heavy barriers.
fn comes_to_use_slots(lock: &PercpuRwLock<u64>) {
    for _ in 0..1 << 20 {
        drop(lock.read());
    }
}

#[test]
fn a_read_guard_that_was_forgotten_opens_no_later_lock_at_its_address_and_keeps_nobody_out_of_it() {
    let _alone = alone();
    let mut lock = PercpuRwLock::new(0_u64);
    comes_to_use_slots(&lock);
    core::mem::forget(lock.read());
    assert!(lock.try_write().is_none(), "the guard was forgotten, so the lock is read for ever");
    lock = PercpuRwLock::new(7);
    let mut writer = lock.write();
    assert!(lock.try_read().is_none(), "a reader together with a writer");
    *writer = 8;
    drop(writer);
    comes_to_use_slots(&lock);
    assert!(lock.try_write_for(LONG).is_some(), "nobody reads this lock");
}

#[test]
fn a_lock_that_is_moved_while_a_guard_is_forgotten_stays_read() {
    let _alone = alone();
    let lock = Box::new(PercpuRwLock::new(0_u64));
    comes_to_use_slots(&lock);
    core::mem::forget(lock.read());
    let moved = *lock;
    assert!(moved.try_write().is_none());
    assert!(moved.try_read().is_some());
}

#[test]
fn a_thread_may_hold_more_read_guards_than_sixteen_bits_count() {
    let _alone = alone();
    static LOCK: PercpuRwLock<u64> = PercpuRwLock::new(1);
    comes_to_use_slots(&LOCK);
    let is_kept_out = || thread::spawn(|| LOCK.try_write().is_none()).join().expect("no panic");
    let mut guards: Vec<_> = (0..(1 << 16) + 2).map(|_| LOCK.read()).collect();
    while guards.len() > 1 {
        guards.truncate(guards.len() / 2);
        assert!(is_kept_out(), "a writer together with {} readers", guards.len());
    }
    guards.clear();
    assert!(!is_kept_out(), "a writer is kept out, and nobody reads");
}

unsafe extern "C" {
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn raise(number: c_int) -> c_int;
}
const SIGUSR2: c_int = 12;

#[test]
fn a_handler_does_not_trust_an_entry_that_its_thread_has_not_confirmed() {
    let _alone = alone();
    static LOCK: RawPercpuRwLock<Hooked> = RawPercpuRwLock::INIT;
    static STAGE: AtomicU32 = AtomicU32::new(0);
    static GOT_IT: AtomicBool = AtomicBool::new(false);
    fn await_stage(stage: u32) {
        while STAGE.load(SeqCst) != stage {
            thread::yield_now();
        }
    }
    /// Before the entry: a writer comes in.
    fn stop() {
        STAGE.store(1, SeqCst);
        await_stage(2);
        AT_LIGHT_BARRIER.set(Some(interrupt));
    }
    /// Between the entry and the look at the mode.
    fn interrupt() {
        // SAFETY: the handler only makes an attempt.
        unsafe { raise(SIGUSR2) };
        STAGE.store(3, SeqCst);
    }
    extern "C" fn handler(_signal: c_int) {
        if let Some(read) = LOCK.try_lock_shared_in() {
            GOT_IT.store(true, SeqCst);
            // SAFETY: taken above.
            unsafe { LOCK.unlock_shared_in(read) };
        }
    }
    // SAFETY: the handler takes no lock but by an attempt.
    unsafe { signal(SIGUSR2, handler) };
    let read = || {
        let read = LOCK.lock_shared_in();
        // SAFETY: taken above.
        unsafe { LOCK.unlock_shared_in(read) };
        read
    };
    assert!((0..1000).any(|_| read() == ReadIn::Slot));
    thread::scope(|scope| {
        scope.spawn(|| {
            await_stage(1);
            LOCK.lock();
            STAGE.store(2, SeqCst);
            await_stage(3);
            // SAFETY: taken above.
            unsafe { LOCK.unlock() };
        });
        BEFORE_SLOT.set(Some(stop));
        read();
    });
    assert!(!GOT_IT.load(SeqCst), "a reader together with a writer");
    assert!(LOCK.lock_until(Hooked::now_ns() + 1_000_000_000), "an entry is left");
}
