//! The types for `lock_api` 0.5. Their guards are those of that version.

use crate::native::Native;
use crate::qrwlock::RawQRwLock;
use crate::qspinlock::{CnaSpinlock, QSpinlock};
use crate::rwsem::RwSem;
use lockwright_core::{mutex_types_again, rwlock_types_again};

#[doc(no_inline)]
pub use lockwright_core::glue::v05 as lock_api;

mutex_types_again! {
    SpinLock, SpinLockGuard, MappedSpinLockGuard, ArcSpinLockGuard: QSpinlock<Native>;
    CnaSpinLock, CnaSpinLockGuard, MappedCnaSpinLockGuard, ArcCnaSpinLockGuard: CnaSpinlock<Native>;
}
rwlock_types_again! {
    QRwLock, QRwLockReadGuard, QRwLockWriteGuard, MappedQRwLockReadGuard, MappedQRwLockWriteGuard, ArcQRwLockReadGuard,
    ArcQRwLockWriteGuard: RawQRwLock<Native>;
    RwSemLock, RwSemReadGuard, RwSemWriteGuard, MappedRwSemReadGuard, MappedRwSemWriteGuard, ArcRwSemReadGuard,
    ArcRwSemWriteGuard: RwSem<Native>;
}
