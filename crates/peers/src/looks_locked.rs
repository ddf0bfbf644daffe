//! Asking a lock that cannot be asked.

use lockwright_core::raw::RawLock;

/// Returns true if `lock` is held, for locks that can only be asked by trying.
pub fn looks_locked(lock: &impl RawLock) -> bool {
    let taken = lock.try_lock();
    if taken {
        // SAFETY: taken on the line above.
        unsafe { lock.unlock() };
    }
    !taken
}
