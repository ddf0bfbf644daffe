//! Peers that are written in C and C++, behind calls of a shim (`peers.c`, `peers.cc`).
//!
//! A call costs a nanosecond or so, which those of them that are libraries cost in any program, and those
//! in headers (Concurrency Kit, `tbb_spin_mutex`) do not: their pair is dearer here than in a program of
//! theirs.

use lockwright::raw::{Order, RawLock};
use std::cell::UnsafeCell;
use std::ffi::c_void;

/// Room for any of them: as much as `SHIM_BYTES`.
#[repr(C, align(64))]
pub struct Room(UnsafeCell<[u8; 64]>);

impl Room {
    const fn zeroed() -> Self {
        Self(UnsafeCell::new([0; 64]))
    }
    fn address(&self) -> *mut c_void {
        self.0.get().cast()
    }
}

/// A lock of the shim: its type, its name there, and the order in which it serves its waiters.
macro_rules! peers {
    ($($(#[$doc:meta])* $Type:ident: $lock:ident, $try_lock:ident, $unlock:ident, $order:expr;)*) => {
        // SAFETY: the shim has these functions with these types.
        unsafe extern "C" {
            $(
                fn $lock(lock: *mut c_void);
                fn $try_lock(lock: *mut c_void) -> bool;
                fn $unlock(lock: *mut c_void);
            )*
        }
        $(
            $(#[$doc])*
            pub struct $Type(Room);

            // SAFETY: the library synchronises its locks.
            unsafe impl Send for $Type {}
            // SAFETY: as above.
            unsafe impl Sync for $Type {}

            impl RawLock for $Type {
                const ORDER: Order = $order;

                fn new() -> Self {
                    Self(Room::zeroed())
                }
                #[inline]
                fn lock(&self) {
                    // SAFETY: all-zero room is an unlocked lock, which does not move while it is borrowed.
                    unsafe { $lock(self.0.address()) }
                }
                #[inline]
                fn try_lock(&self) -> bool {
                    // SAFETY: as in `lock`.
                    unsafe { $try_lock(self.0.address()) }
                }
                #[inline]
                unsafe fn unlock(&self) {
                    // SAFETY: as in `lock`; the caller holds the lock.
                    unsafe { $unlock(self.0.address()) }
                }
                fn is_locked(&self) -> bool {
                    super::peers::looks_locked(self)
                }
            }
        )*
    };
}

peers! {
    /// Concurrency Kit's fetch-and-store spinlock.
    CkFas: lockwright_ck_fas_lock, lockwright_ck_fas_try_lock, lockwright_ck_fas_unlock, Order::None;
    /// Concurrency Kit's ticket lock.
    CkTicket: lockwright_ck_ticket_lock, lockwright_ck_ticket_try_lock, lockwright_ck_ticket_unlock,
        Order::Fifo;
    /// Concurrency Kit's MCS lock.
    CkMcs: lockwright_ck_mcs_lock, lockwright_ck_mcs_try_lock, lockwright_ck_mcs_unlock, Order::Fifo;
    /// oneTBB's spinlock, which yields.
    TbbSpin: lockwright_tbb_spin_lock, lockwright_tbb_spin_try_lock, lockwright_tbb_spin_unlock,
        Order::None;
    /// oneTBB's mutex, which sleeps.
    TbbMutex: lockwright_tbb_mutex_lock, lockwright_tbb_mutex_try_lock, lockwright_tbb_mutex_unlock,
        Order::None;
    /// nsync's mutex.
    Nsync: lockwright_nsync_lock, lockwright_nsync_try_lock, lockwright_nsync_unlock, Order::None;
    /// Abseil's mutex.
    Absl: lockwright_absl_lock, lockwright_absl_try_lock, lockwright_absl_unlock, Order::None;
}
