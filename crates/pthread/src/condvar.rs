//! Condition variables. The steps of a wait, between which `src/c/condvar.c` sleeps: a thread that is cancelled while
//! it sleeps leaves by unwinding, and no function of this file may be on its stack then.

use crate::mutex::{MutexObject, lw_mutex_lock, lw_mutex_unlock};
use crate::thread::keep_errno;
use core::ffi::c_int;
use libc::ETIMEDOUT;
use lockwright::condvar::{CondvarWait, CondvarWake, RawCondvar};
use lockwright::mutex::RawMutex;
use lockwright_core::native::Native;
use lockwright_core::raw::RawLock;

/// A wait, from its begin to its end. `struct lw_wait` of `src/c/condvar.c` has the first three fields and enough room.
#[repr(C)]
pub struct ThreadWait {
    /// Where to sleep, ...
    address: *const u32,
    /// ... while this is there, ...
    expected: u32,
    /// ... and as which kinds.
    kinds: u32,
    /// True if the condition variable knows a gate instead of the mutex.
    has_gate: bool,
    condvar: *const RawCondvar<Native>,
    mutex: *mut MutexObject,
    waiting: CondvarWait<Native>,
    woken: Option<CondvarWake>,
}

const _: () = assert!(size_of::<ThreadWait>() <= 128 && align_of::<ThreadWait>() <= 16);

const GATES: usize = 64;
/// Mutexes that take the place of those that a condition variable of ours cannot release and take again as a whole:
/// those of glibc, and recursive ones that are held more than once. A waiter holds the gate while it is counted and
/// releases its mutex, and takes it for a moment when it was woken.
static GATE: [RawMutex<Native>; GATES] = [const { RawMutex::INIT }; GATES];

/// The gate of a condition variable.
fn gate(condvar: *const RawCondvar<Native>) -> &'static RawMutex<Native> {
    &GATE[(condvar.addr() / 16) % GATES]
}

impl ThreadWait {
    fn condvar<'a>(&self) -> &'a RawCondvar<Native> {
        // SAFETY: the caller's, until the wait is over.
        unsafe { &*self.condvar }
    }
    fn mutex<'a>(&self) -> &'a MutexObject {
        // SAFETY: the caller's, which it holds before and after the wait.
        unsafe { &*self.mutex }
    }
}

/// Counts the caller as a waiter and releases its mutex. Returns an error if it cannot; then there is no wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_wait_begin(
    wait: *mut ThreadWait,
    condvar: *const RawCondvar<Native>,
    mutex: *mut MutexObject,
) -> c_int {
    // SAFETY: the caller's condition variable.
    let of = unsafe { &*condvar };
    // SAFETY: the caller's mutex.
    let lock = unsafe { &*mutex };
    let has_gate = !lock.is_held_once();
    let mut waiting = if has_gate {
        let gate = gate(condvar);
        gate.lock();
        let mut waiting = of.begin_wait(gate, None);
        lock.begin_wait_in_glibc();
        // SAFETY: the caller's mutex.
        let error = unsafe { lw_mutex_unlock(mutex) };
        if error != 0 {
            lock.end_wait_in_glibc();
            of.look(&mut waiting);
            let woken = of.give_up(&mut waiting);
            // SAFETY: taken above.
            unsafe { gate.unlock() };
            leave_gate(gate, waiting, woken);
            pass_on(of, woken);
            return error;
        }
        // SAFETY: taken above.
        unsafe { gate.unlock() };
        waiting
    } else {
        if let Err(error) = lock.begin_wait() {
            return error;
        }
        let waiting = of.begin_wait(lock.raw(), None);
        // SAFETY: the caller holds it.
        unsafe { lock.raw().unlock_to_sleep() };
        waiting
    };
    of.look(&mut waiting);
    let (address, expected, kinds) = (of.address().cast(), waiting.expected(), waiting.kinds());
    let begun =
        ThreadWait { address, expected, kinds, has_gate, condvar, mutex, waiting, woken: None };
    // SAFETY: the caller's memory.
    unsafe { wait.write(begun) };
    0
}

/// Returns `true` if the wait is over because a thread has notified the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_wait_is_over(wait: *mut ThreadWait) -> bool {
    // SAFETY: the caller's wait.
    let wait = unsafe { &mut *wait };
    wait.woken = wait.condvar().woken(&mut wait.waiting);
    wait.expected = wait.waiting.expected();
    wait.woken.is_some()
}

/// The kernel has woken the caller, perhaps for a reason that another thread knew first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_wait_is_woken(wait: *mut ThreadWait) {
    // SAFETY: the caller's wait.
    unsafe { &mut *wait }.waiting.was_woken();
}

/// The deadline has passed: the wait is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_wait_is_late(wait: *mut ThreadWait) {
    // SAFETY: the caller's wait.
    let wait = unsafe { &mut *wait };
    wait.woken = Some(wait.condvar().give_up(&mut wait.waiting));
}

/// The caller is cancelled: the wait is over. It may have been woken without knowing it. What it was notified of is
/// passed on to another waiter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_wait_is_cancelled(wait: *mut ThreadWait) {
    // SAFETY: the caller's wait.
    let wait = unsafe { &mut *wait };
    wait.waiting.was_woken();
    let woken = wait.condvar().give_up(&mut wait.waiting);
    wait.woken = Some(woken);
    pass_on(wait.condvar(), woken);
}

/// Takes the mutex again. Returns what the wait of the program returns. The condition variable may no longer exist.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_wait_end(wait: *mut ThreadWait) -> c_int {
    // SAFETY: the caller's wait.
    let wait = unsafe { &*wait };
    let Some(woken) = wait.woken else { return 0 };
    // SAFETY: the wait ends here, once.
    let waiting = unsafe { core::ptr::read(&raw const wait.waiting) };
    let error = if wait.has_gate {
        leave_gate(gate(wait.condvar), waiting, woken);
        // SAFETY: the caller's mutex.
        let error = unsafe { lw_mutex_lock(wait.mutex) };
        wait.mutex().end_wait_in_glibc();
        error
    } else {
        waiting.take_again(wait.mutex().raw(), woken);
        wait.mutex().end_wait();
        0
    };
    match error {
        0 if !woken.is_notified => ETIMEDOUT,
        error => error,
    }
}

/// Passes the gate after a wait.
fn leave_gate(gate: &RawMutex<Native>, waiting: CondvarWait<Native>, woken: CondvarWake) {
    waiting.take_again(gate, woken);
    // SAFETY: just taken.
    unsafe { gate.unlock() };
}

/// What the caller does not need may have been for another waiter.
fn pass_on(condvar: &RawCondvar<Native>, woken: CondvarWake) {
    if woken.is_notified {
        condvar.notify_one();
    }
}

/// Lets go threads that were notified and sleep until their mutex is released: the condition variable ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_condvar_wake_notified(condvar: *const RawCondvar<Native>) {
    // SAFETY: the caller's condition variable.
    unsafe { &*condvar }.wake_notified();
}

/// Releases the gates that threads of the parent held: the process is a forked child, and the caller its only thread.
#[unsafe(no_mangle)]
pub extern "C" fn lw_release_gates() {
    for gate in GATE.iter().filter(|gate| gate.is_locked()) {
        // SAFETY: its owner does not exist here, and what it guards was the owner's wait.
        unsafe { gate.unlock() };
    }
}

/// `pthread_cond_signal` and `pthread_cond_broadcast`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_condvar_notify(condvar: *const RawCondvar<Native>, all: bool) {
    // SAFETY: the caller's condition variable.
    let of = unsafe { &*condvar };
    keep_errno(|| {
        if all {
            of.notify_all();
        } else {
            of.notify_one();
        }
    });
}
