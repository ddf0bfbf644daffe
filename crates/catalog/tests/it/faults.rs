//! Locks in memory that faults: a handler mends it, and the operation goes on.

use super::alone;
use super::process::in_a_process_of_its_own;
use lockwright::rwlock::{Fair, RawRwLock};
use lockwright::semaphore::RawSemaphore;
use lockwright_core::events::Event;
use lockwright_core::native::{self, Native};
use lockwright_core::platform::Clock;
use lockwright_core::raw::RawLock;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

unsafe extern "C" {
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn pthread_sigmask(how: c_int, set: *const [u64; 16], before: *mut [u64; 16]) -> c_int;
}
const SIGUSR1: u32 = 10;
const SIGSEGV: c_int = 11;

const PAGE: usize = 4096;
/// The page that the handler mends.
static MENDED: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static FAULTS: AtomicU32 = AtomicU32::new(0);
/// The signals that waited while the handler ran.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

fn protect(flags: MprotectFlags) {
    // SAFETY: a page that this file has mapped. Writes of it fault as long as they may not be, and are done again.
    unsafe { mprotect(MENDED.load(Relaxed), PAGE, flags) }.expect("a page of ours");
}

extern "C" fn mend(_: c_int) {
    let mut blocked = [0; 16];
    // SAFETY: only writes the set.
    unsafe { pthread_sigmask(0, std::ptr::null(), &raw mut blocked) };
    BLOCKED.store(blocked[0], Relaxed);
    FAULTS.fetch_add(1, Relaxed);
    protect(MprotectFlags::READ | MprotectFlags::WRITE);
}

/// A waiter for a lock that is held gives up while its page must not be written: it removes its
/// mark from the word, with its bucket locked.
fn a_waiter_gives_up_in_a_protected_page<L: RawLock>(
    sleeps: Event,
    wait: impl Fn(&L, u64) -> bool + Sync,
) {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new private mapping overlaps nothing.
    let page = unsafe { mmap_anonymous(null_mut(), PAGE, protection, MapFlags::PRIVATE) };
    let page = page.expect("memory for a page");
    MENDED.store(page, Relaxed);
    // SAFETY: mapped for good, aligned, and all zeroes, which is an unlocked lock.
    let lock: &L = unsafe { &*page.cast::<L>() };
    native::count_events(true);
    native::reset_events();
    FAULTS.store(0, Relaxed);
    lock.lock();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(lock, Native::now_ns() + 300_000_000));
        while native::event_count(sleeps) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        protect(MprotectFlags::READ);
        assert!(!waiter.join().expect("no panic"), "{sleeps:?}: it was not free");
    });
    assert_eq!(FAULTS.load(Relaxed), 1, "{sleeps:?}: the waiter wrote elsewhere");
    // So no other handler runs while a bucket is locked.
    assert_ne!(BLOCKED.load(Relaxed) & 1 << (SIGUSR1 - 1), 0, "{sleeps:?}: outside of the section");
    // SAFETY: taken above.
    unsafe { lock.unlock() };
    assert!(lock.try_lock());
}

#[test]
fn a_handler_mends_a_fault_that_a_waiter_of_the_table_makes() {
    let _alone = alone();
    in_a_process_of_its_own(|| {
        // SAFETY: the handler makes two system calls and touches statics only.
        unsafe { signal(SIGSEGV, mend) };
        a_waiter_gives_up_in_a_protected_page(Event::rwlock_sleep, |lock, deadline_ns| {
            RawRwLock::<Native>::lock_until(lock, deadline_ns)
        });
        a_waiter_gives_up_in_a_protected_page(Event::rwlock_sleep, |lock, deadline_ns| {
            RawRwLock::<Native, Fair>::lock_shared_until(lock, deadline_ns)
        });
        a_waiter_gives_up_in_a_protected_page(Event::semaphore_sleep, |lock, deadline_ns| {
            RawSemaphore::<Native, 1>::acquire_until(lock, 1, deadline_ns)
        });
    });
}
