//! Locks with one owner: the mutex and the spinlocks.

use crate::calls::{LockUntil, keep_errno, taken, taken_until};
use crate::tsan;
use core::ffi::c_int;
use libc::timespec;
use lockwright::mutex::RawMutex;
use lockwright_core::native::Native;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::{CnaSpinlock, QSpinlock};

/// The functions of a lock, and the size and alignment that the header gives it.
macro_rules! exclusive {
    ($Lock:ty, $size:literal, $alignment:literal: $lock:ident $try_lock:ident $lock_until:ident $unlock:ident) => {
        const _: () = assert!(size_of::<$Lock>() == $size && align_of::<$Lock>() <= $alignment);

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $lock(lock: *const $Lock) {
            // SAFETY: the caller's lock.
            let lock = unsafe { &*lock };
            if !lock.take_at_once() {
                keep_errno(|| lock.lock());
            }
            $crate::tsan::owned(lock);
        }
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $try_lock(lock: *const $Lock) -> c_int {
            // SAFETY: the caller's lock.
            let result = taken(unsafe { &*lock }.try_lock());
            $crate::tsan::taken_by(result, lock, $crate::tsan::owned)
        }
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $lock_until(
            lock: *const $Lock,
            clock: c_int,
            deadline: *const timespec,
        ) -> c_int {
            // SAFETY: the caller's lock.
            let lock = unsafe { &*lock };
            let take = |deadline_ns| lock.take_until(deadline_ns);
            // SAFETY: the caller's deadline.
            let result = unsafe { taken_until(clock, deadline, take) };
            $crate::tsan::taken_by(result, lock, $crate::tsan::owned)
        }
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $unlock(lock: *const $Lock) {
            // SAFETY: the caller's lock, ...
            let lock = unsafe { &*lock };
            $crate::tsan::disowned(lock);
            // SAFETY: ... which it holds.
            unsafe { lock.unlock() };
        }
    };
}
pub(crate) use exclusive;

exclusive! {
    RawMutex<Native>, 8, 4: lw_mutex_lock lw_mutex_try_lock lw_mutex_lock_until lw_mutex_unlock
}
exclusive! {
    QSpinlock<Native>, 4, 4:
    lw_spinlock_lock lw_spinlock_try_lock lw_spinlock_lock_until lw_spinlock_unlock
}
exclusive! {
    CnaSpinlock<Native>, 4, 4:
    lw_cna_spinlock_lock lw_cna_spinlock_try_lock lw_cna_spinlock_lock_until lw_cna_spinlock_unlock
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_mutex_unlock_fair(mutex: *const RawMutex<Native>) {
    // SAFETY: the caller's mutex, ...
    let mutex = unsafe { &*mutex };
    tsan::disowned(mutex);
    // SAFETY: ... which it holds.
    keep_errno(|| unsafe { mutex.unlock_fair() });
}
