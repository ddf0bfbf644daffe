//! Peers that are written in C and C++, behind calls of a shim (`peers.c`, `peers.cc`).
//!
//! A call costs a nanosecond or so. Peers that are libraries have that cost in any program. Peers in headers
//! (Concurrency Kit, oneTBB's spinlocks and `tbb_rw_mutex`) do not: their lock/unlock pair costs more here than in a
//! program of their own language.

use crate::peers::methods::{looks_locked, methods};
use crate::peers::stays_owner::StaysOwner;
use crate::peers::{Comparison, Peer};
use lockwright_catalog::registry::{
    CondvarVisitor, LockClass, LockRow, LockVisitor, TimedVisitor, is_compiled,
};
use lockwright_core::native::Native;
use lockwright_core::raw::{Order, RawLock};
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

/// Calls a function of the shim.
macro_rules! call {
    ($function:ident($lock:expr) $(-> $Result:ty)?) => {{
        // SAFETY: the shim has this function with this type.
        unsafe extern "C" {
            fn $function(lock: *mut c_void) $(-> $Result)?;
        }
        // SAFETY: all-zero room is an unlocked lock, which does not move while it is borrowed. The caller of
        // an unlock holds it in the way that this function ends.
        unsafe { $function($lock.0.address()) }
    }};
}

/// Locks of the shim: a type, its calls there, those of readers if they share it, and the order in which it
/// serves its waiters.
macro_rules! types {
    ($(
        $(#[$doc:meta])*
        $Type:ident, $order:expr, ($lock:ident, $try_lock:ident, $unlock:ident) $(, readers (
            $lock_shared:ident, $try_lock_shared:ident, $unlock_shared:ident $(, $downgrade:ident)?
        ))?;
    )*) => {$(
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
            methods! { self;
                lock => call!($lock(self));
                try_lock => call!($try_lock(self) -> bool);
                unlock => call!($unlock(self));
                is_locked => looks_locked(self);
                $(
                    lock_shared => call!($lock_shared(self));
                    try_lock_shared => call!($try_lock_shared(self) -> bool);
                    unlock_shared => call!($unlock_shared(self));
                    $(downgrade => call!($downgrade(self));)?
                )?
            }
        }
    )*};
}

types! {
    /// Concurrency Kit's fetch-and-store spinlock.
    CkFas, Order::None, (lockwright_ck_fas_lock, lockwright_ck_fas_try_lock, lockwright_ck_fas_unlock);
    /// Concurrency Kit's ticket lock.
    CkTicket, Order::Fifo, (
        lockwright_ck_ticket_lock, lockwright_ck_ticket_try_lock, lockwright_ck_ticket_unlock
    );
    /// Concurrency Kit's MCS lock.
    CkMcs, Order::Fifo, (lockwright_ck_mcs_lock, lockwright_ck_mcs_try_lock, lockwright_ck_mcs_unlock);
    /// oneTBB's spinlock, which yields.
    TbbSpin, Order::None, (
        lockwright_tbb_spin_lock, lockwright_tbb_spin_try_lock, lockwright_tbb_spin_unlock
    );
    /// oneTBB's mutex, which sleeps.
    TbbMutex, Order::None, (
        lockwright_tbb_mutex_lock, lockwright_tbb_mutex_try_lock, lockwright_tbb_mutex_unlock
    );
    /// Concurrency Kit's reader-writer spinlock, in which writers pass readers.
    CkRwlock, Order::None, (
        lockwright_ck_rwlock_lock, lockwright_ck_rwlock_try_lock, lockwright_ck_rwlock_unlock
    ), readers (
        lockwright_ck_rwlock_lock_shared, lockwright_ck_rwlock_try_lock_shared,
        lockwright_ck_rwlock_unlock_shared, lockwright_ck_rwlock_downgrade
    );
    /// Concurrency Kit's byte lock, in which each of 56 threads has a byte to read by. A thread has its number
    /// from the shim, the lowest that is free when it first takes such a lock, until it ends.
    CkBytelock, Order::None, (
        lockwright_ck_bytelock_lock, lockwright_ck_bytelock_try_lock, lockwright_ck_bytelock_unlock
    ), readers (
        lockwright_ck_bytelock_lock_shared, lockwright_ck_bytelock_try_lock_shared,
        lockwright_ck_bytelock_unlock_shared, lockwright_ck_bytelock_downgrade
    );
    /// As [`CkPflock`], but for downgrading.
    CkPflockAlone, Order::Fifo, (
        lockwright_ck_pflock_lock, lockwright_ck_pflock_try_lock, lockwright_ck_pflock_unlock
    ), readers (
        lockwright_ck_pflock_lock_shared, lockwright_ck_pflock_try_lock_shared,
        lockwright_ck_pflock_unlock_shared
    );
    /// As [`TbbRw`], but for downgrading.
    TbbRwAlone, Order::None, (
        lockwright_tbb_rw_lock, lockwright_tbb_rw_try_lock, lockwright_tbb_rw_unlock
    ), readers (
        lockwright_tbb_rw_lock_shared, lockwright_tbb_rw_try_lock_shared,
        lockwright_tbb_rw_unlock_shared
    );
    /// As [`TbbSpinRw`], but for downgrading.
    TbbSpinRwAlone, Order::None, (
        lockwright_tbb_spin_rw_lock, lockwright_tbb_spin_rw_try_lock, lockwright_tbb_spin_rw_unlock
    ), readers (
        lockwright_tbb_spin_rw_lock_shared, lockwright_tbb_spin_rw_try_lock_shared,
        lockwright_tbb_spin_rw_unlock_shared
    );
    /// As [`Nsync`], but for downgrading.
    NsyncAlone, Order::None, (
        lockwright_nsync_lock, lockwright_nsync_try_lock, lockwright_nsync_unlock
    ), readers (
        lockwright_nsync_lock_shared, lockwright_nsync_try_lock_shared, lockwright_nsync_unlock_shared
    );
    /// As [`Absl`], but for downgrading.
    AbslAlone, Order::None, (
        lockwright_absl_lock, lockwright_absl_try_lock, lockwright_absl_unlock
    ), readers (
        lockwright_absl_lock_shared, lockwright_absl_try_lock_shared, lockwright_absl_unlock_shared
    );
}

/// Concurrency Kit's phase-fair lock: readers and writers take turns, and writers have tickets.
pub type CkPflock = StaysOwner<CkPflockAlone>;
/// oneTBB's reader-writer lock, which sleeps. Only its own guards can downgrade.
pub type TbbRw = StaysOwner<TbbRwAlone>;
/// oneTBB's reader-writer spinlock, which yields. Only its own guards can downgrade.
pub type TbbSpinRw = StaysOwner<TbbSpinRwAlone>;
/// nsync's mutex, which readers share.
pub type Nsync = StaysOwner<NsyncAlone>;
/// Abseil's mutex, which readers share.
pub type Absl = StaysOwner<AbslAlone>;

// Names, the names of the library, where it is compared, the type, what it is.
crate::peers::table! { IN_C, visit_in_c, visit_timed_in_c, visit_condvar_in_c:
    "ck_fas", [], [Owning], CkFas,
        "Concurrency Kit's fetch-and-store spinlock";
    "ck_ticket", [], [Owning], CkTicket,
        "Concurrency Kit's ticket lock";
    "ck_mcs", [], [Owning], CkMcs,
        "Concurrency Kit's MCS lock";
    "tbb_spin_mutex", [], [Owning], TbbSpin,
        "oneTBB's spinlock, which yields";
    "tbb_mutex", [], [Owning], TbbMutex,
        "oneTBB's mutex";
    "ck_rwlock", [], [Reading], CkRwlock,
        "Concurrency Kit's reader-writer spinlock: writers pass readers";
    "ck_pflock", [], [Reading], CkPflock,
        "Concurrency Kit's phase-fair lock: readers and writers take turns";
    "ck_bytelock", [], [Reading], CkBytelock,
        "Concurrency Kit's byte lock: each of 56 threads has a byte to read by";
    "tbb_rw_mutex", [], [Reading], TbbRw,
        "oneTBB's reader-writer lock";
    "tbb_spin_rw_mutex", [], [Reading], TbbSpinRw,
        "oneTBB's reader-writer spinlock, which yields";
    "nsync", [], [Owning Reading], Nsync,
        "nsync's mutex, which readers share";
    "absl", [], [Owning Reading], Absl,
        "Abseil's mutex, which readers share";
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        safe fn lockwright_ck_bytelock_slot() -> u32;
    }

    /// The bytes of a byte lock.
    const BYTES: u32 = 56;

    #[test]
    fn a_thread_keeps_its_number_in_a_byte_lock_and_nobody_else_has_it() {
        let barrier = std::sync::Barrier::new(70);
        let mut numbers: Vec<u32> = std::thread::scope(|scope| {
            let number = || {
                let number = lockwright_ck_bytelock_slot();
                barrier.wait();
                assert_eq!(lockwright_ck_bytelock_slot(), number);
                number
            };
            let threads: Vec<_> = (0..70).map(|_| scope.spawn(number)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 70);
        assert!(numbers[0] > 0 && numbers[69] > BYTES, "{numbers:?}");
    }

    #[test]
    fn the_number_of_a_thread_that_ended_is_given_away_again() {
        for _ in 0..200 {
            let ended = std::thread::spawn(|| lockwright_ck_bytelock_slot());
            assert!(ended.join().expect("no panic") > 0);
        }
        // If numbers were lost, these would have to do without a byte. Other tests may have some meanwhile.
        let number =
            || std::thread::spawn(|| lockwright_ck_bytelock_slot()).join().expect("no panic");
        assert!((0..200).any(|_| number() <= BYTES));
    }

    #[test]
    fn an_owner_without_a_byte_becomes_a_reader_beside_others() {
        let barrier = std::sync::Barrier::new(70);
        let downgrade = || {
            let number = lockwright_ck_bytelock_slot();
            barrier.wait();
            if number <= BYTES {
                return 0;
            }
            let lock = CkBytelock::new();
            lock.lock();
            // SAFETY: taken above.
            unsafe { lock.downgrade() };
            assert!(lock.try_lock_shared() && !lock.try_lock());
            // SAFETY: a reader since the downgrade.
            unsafe { lock.unlock_shared() };
            // SAFETY: a reader since the attempt.
            unsafe { lock.unlock_shared() };
            assert!(!lock.is_locked());
            1
        };
        let count: u32 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..70).map(|_| scope.spawn(downgrade)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert!(count >= 14, "{count}");
    }
}
