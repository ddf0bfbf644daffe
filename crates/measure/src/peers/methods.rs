//! The methods of a lock, and asking a lock that cannot be asked.

use lockwright_core::raw::RawLock;

/// The methods of a [`RawLock`], an expression each: what an owner does, and what a reader does if readers share it.
macro_rules! methods {
    (
        $this:ident;
        lock => $lock:expr;
        try_lock => $try_lock:expr;
        unlock => $unlock:expr;
        is_locked => $is_locked:expr;
        $(
            lock_shared => $lock_shared:expr;
            try_lock_shared => $try_lock_shared:expr;
            unlock_shared => $unlock_shared:expr;
            $(downgrade => $downgrade:expr;)?
        )?
    ) => {
        #[inline]
        fn lock(&$this) {
            $lock;
        }
        #[inline]
        fn try_lock(&$this) -> bool {
            $try_lock
        }
        #[inline]
        unsafe fn unlock(&$this) {
            $unlock;
        }
        fn is_locked(&$this) -> bool {
            $is_locked
        }
        $(
            const READERS_SHARE: bool = true;

            #[inline]
            fn lock_shared(&$this) {
                $lock_shared;
            }
            #[inline]
            fn try_lock_shared(&$this) -> bool {
                $try_lock_shared
            }
            #[inline]
            unsafe fn unlock_shared(&$this) {
                $unlock_shared;
            }
            $(
                #[inline]
                unsafe fn downgrade(&$this) {
                    $downgrade;
                }
            )?
        )?
    };
}
pub(crate) use methods;

/// Returns true if `lock` is held, for locks that can only be asked by trying.
pub fn looks_locked(lock: &impl RawLock) -> bool {
    let taken = lock.try_lock();
    if taken {
        // SAFETY: taken on the line above.
        unsafe { lock.unlock() };
    }
    !taken
}
