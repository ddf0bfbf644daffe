//! The queued reader-writer spinlock as programs use it.

use super::alone;
use lockwright::QRwLock;
use lockwright_core::native::Native;
use lockwright_core::native::priority::UrgentScope;
use lockwright_core::raw::RawLock;
use lockwright_linux::qrwlock::RawQRwLock;
use std::mem::size_of;
use std::thread;

static READ: QRwLock<u32> = QRwLock::new(7);

#[test]
fn it_lives_in_a_static_of_eight_bytes_and_zero_is_unlocked() {
    *READ.write() += 1;
    assert_eq!((*READ.read(), size_of::<RawQRwLock<Native>>()), (8, 8));
    // SAFETY: all words are atomic integers, for which zero is a value.
    let zero: QRwLock<()> = unsafe { std::mem::zeroed() };
    assert!(!zero.is_locked() && zero.try_write().is_some());
}

#[test]
fn readers_share_and_a_writer_does_not() {
    super::readers::share::<RawQRwLock<Native>>();
}

#[test]
fn a_writer_that_waits_keeps_readers_out_but_for_urgent_ones() {
    let _alone = alone();
    let lock = QRwLock::new(0);
    let reader = lock.read();
    thread::scope(|scope| {
        scope.spawn(|| *lock.write() += 1);
        while lock.try_read().is_some() {
            thread::yield_now();
        }
        let _urgent = UrgentScope::new();
        assert_eq!(*lock.read(), 0, "the handler of an interrupt reads");
        drop(reader);
    });
    assert_eq!(*lock.read(), 1);
}

#[test]
fn readers_that_never_leave_keep_others_out_before_their_number_wraps() {
    let lock = RawQRwLock::<Native>::INIT;
    // SAFETY: nobody uses it yet.
    unsafe { lock.fill_readers(2) };
    lock.lock_shared();
    assert!(lock.try_lock_shared(), "one more fits");
    assert!(!lock.try_lock_shared() && !lock.try_lock(), "and no other");
    // SAFETY: taken above.
    unsafe { lock.unlock_shared() };
    assert!(lock.try_lock_shared() && !lock.try_lock_shared() && lock.is_locked());
}
