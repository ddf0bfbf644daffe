//! Mutexes: the 40 bytes of a `pthread_mutex_t` (48 on aarch64), of which the first 24 are used.

use crate::choices::{self, Case, Used};
use crate::glibc::{
    lw_glibc_mutex_clocklock, lw_glibc_mutex_destroy, lw_glibc_mutex_lock, lw_glibc_mutex_trylock,
    lw_glibc_mutex_unlock, lw_pthread_mutex_lock, lw_pthread_mutex_unlock,
};
use crate::thread::{keep_errno, known_tid, tid};
use crate::time::{deadline_ns, is_clock, is_time};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use libc::{EAGAIN, EBUSY, EDEADLK, EINVAL, EPERM, ETIMEDOUT, clockid_t, timespec};
use lockwright::mutex::RawMutex;
use lockwright_core::native::Native;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::Fifo;

/// What stands between the words of a mutex, where glibc, debuggers and some programs look for it.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Fields {
    /// How often the owner of a recursive mutex holds it.
    count: AtomicU32,
    /// The owner's number, of every kind of mutex; 0 if it is free.
    owner: AtomicU32,
    /// How many threads wait on condition variables and take it again then.
    waiters: AtomicU32,
    /// Only `pthread_mutex_init` and `pthread_mutex_destroy` write it. Static initialisers do, too.
    kind: AtomicU32,
}

/// A mutex of ours, or one of glibc's: [`kind`](MutexObject::kind) says.
#[repr(transparent)]
pub struct MutexObject(RawMutex<Native, Fifo, Fields>);

/// The mutex as it is in memory, with words that nothing uses.
#[repr(C)]
struct WithUnused {
    mutex: MutexObject,
    seen: AtomicU32,
}

const _: () = assert!(size_of::<MutexObject>() == 24 && align_of::<MutexObject>() <= 8);

/// Bits of the kind that say if the lock may be elided. They change nothing.
const ELISION: u32 = 0x300;
/// What `pthread_mutex_destroy` leaves. glibc refuses it.
const DESTROYED: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PthreadKind {
    /// Normal or adaptive: nobody looks who unlocks it.
    Plain,
    Recursive,
    ErrorCheck,
    /// Robust, with a protocol of priorities, shared between processes, destroyed, or none at all.
    Glibc,
}

impl MutexObject {
    #[inline(always)]
    pub(crate) fn kind(&self) -> PthreadKind {
        match self.fields().kind.load(Relaxed) & !ELISION {
            0 | 3 => PthreadKind::Plain,
            1 => PthreadKind::Recursive,
            2 => PthreadKind::ErrorCheck,
            _ => PthreadKind::Glibc,
        }
    }
    /// What else has to be looked at: nothing but how many threads there are, if it is a [`PthreadKind::Plain`] one.
    #[inline(always)]
    fn case(&self) -> Case {
        let kind = self.fields().kind.load(Relaxed) & !ELISION;
        if kind == 0 || kind == 3 { choices::case() } else { Case::Any }
    }
    #[inline(always)]
    fn fields(&self) -> &Fields {
        self.0.between()
    }
    /// Counts it if objects are counted and this is its first use.
    #[inline(always)]
    fn count(&self) {
        let kind = self.fields().kind.load(Relaxed) & !ELISION;
        // SAFETY: a mutex of glibc has 40 bytes.
        let seen = unsafe { &*core::ptr::from_ref(self).cast::<WithUnused>() };
        choices::count(Used::Mutex(kind), Some(&seen.seen));
    }
    pub(crate) fn raw(&self) -> &RawMutex<Native, Fifo, Fields> {
        &self.0
    }
    #[cold]
    #[inline(never)]
    fn wait(&self) {
        keep_errno(|| choices::wait(&self.0, None));
    }
    #[inline(always)]
    fn has_owner(&self, tid: u32) -> bool {
        // Only the owner itself stores its number.
        self.fields().owner.load(Relaxed) == tid
    }
    /// The caller, which has taken the lock, is the owner now.
    #[inline(always)]
    fn own(&self, kind: PthreadKind, tid: u32) {
        self.fields().owner.store(tid, Relaxed);
        if kind == PthreadKind::Recursive {
            self.fields().count.store(1, Relaxed);
        }
    }
    /// The owner asks again.
    fn own_again(&self) -> c_int {
        match self.fields().count.load(Relaxed).checked_add(1) {
            Some(count) => {
                self.fields().count.store(count, Relaxed);
                0
            }
            None => EAGAIN,
        }
    }
    /// The caller is about to give back the lock. Nothing if it does; otherwise, what to return.
    #[inline(always)]
    fn disown(&self, kind: PthreadKind) -> Option<c_int> {
        if kind != PthreadKind::Plain && !self.has_owner(tid()) {
            return Some(EPERM);
        }
        if kind == PthreadKind::Recursive {
            let count = self.fields().count.load(Relaxed).wrapping_sub(1);
            self.fields().count.store(count, Relaxed);
            if count != 0 {
                return Some(0);
            }
        }
        self.fields().owner.store(0, Relaxed);
        None
    }
    /// Returns `true` if a wait on a condition variable may give back the lock as a whole: it is ours, and held once.
    pub(crate) fn is_held_once(&self) -> bool {
        match self.kind() {
            PthreadKind::Plain | PthreadKind::ErrorCheck => true,
            PthreadKind::Recursive => self.fields().count.load(Relaxed) <= 1,
            PthreadKind::Glibc => false,
        }
    }
    /// Before the owner gives back the lock to wait on a condition variable. An error if it is not the owner.
    pub(crate) fn begin_wait(&self) -> Result<(), c_int> {
        let kind = self.kind();
        if kind != PthreadKind::Plain && !self.has_owner(tid()) {
            return Err(EPERM);
        }
        self.fields().waiters.fetch_add(1, Relaxed);
        self.disown(kind);
        Ok(())
    }
    /// Before a wait with a mutex that may be one of glibc: that counts waiters in the same place, and does not destroy
    /// a mutex that has some.
    pub(crate) fn begin_wait_in_glibc(&self) {
        self.fields().waiters.fetch_add(1, Relaxed);
    }
    /// After such a wait.
    pub(crate) fn end_wait_in_glibc(&self) {
        self.fields().waiters.fetch_sub(1, Relaxed);
    }
    /// After the caller has taken the lock again.
    pub(crate) fn end_wait(&self) {
        self.own(self.kind(), tid());
        self.fields().waiters.fetch_sub(1, Relaxed);
    }
}

/// `pthread_mutex_lock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_mutex_lock(mutex: *mut MutexObject) -> c_int {
    // SAFETY: the caller's mutex.
    let lock = unsafe { &*mutex };
    let is_taken = match lock.case() {
        Case::UsualOfMany => lock.0.take_free(),
        // SAFETY: the process has no other thread, and a mutex that processes share is not ours.
        Case::UsualOfOne => unsafe { lock.0.take_free_alone() },
        // SAFETY: the caller's mutex.
        Case::Any => return unsafe { lw_pthread_mutex_lock(mutex.cast()) },
    };
    if !is_taken {
        lock.wait();
    }
    lock.own(PthreadKind::Plain, known_tid());
    0
}

/// The same, of every kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_mutex_lock_any(mutex: *mut MutexObject) -> c_int {
    // SAFETY: the caller's mutex.
    let lock = unsafe { &*mutex };
    let (kind, tid) = (lock.kind(), tid());
    match kind {
        PthreadKind::Plain => {}
        PthreadKind::Recursive if lock.has_owner(tid) => return lock.own_again(),
        PthreadKind::ErrorCheck if lock.has_owner(tid) => return EDEADLK,
        PthreadKind::Recursive | PthreadKind::ErrorCheck => {}
        PthreadKind::Glibc => {
            choices::count(Used::OfGlibc, None);
            // SAFETY: the caller's mutex.
            return unsafe { lw_glibc_mutex_lock(mutex.cast()) };
        }
    }
    if !lock.0.take_free() {
        lock.wait();
    }
    lock.own(kind, tid);
    lock.count();
    0
}

/// `pthread_mutex_trylock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_mutex_trylock(mutex: *mut MutexObject) -> c_int {
    // SAFETY: the caller's mutex.
    let lock = unsafe { &*mutex };
    let (kind, tid) = (lock.kind(), tid());
    match kind {
        PthreadKind::Recursive if lock.has_owner(tid) => return lock.own_again(),
        PthreadKind::Plain | PthreadKind::Recursive | PthreadKind::ErrorCheck => {}
        // SAFETY: the caller's mutex.
        PthreadKind::Glibc => return unsafe { lw_glibc_mutex_trylock(mutex.cast()) },
    }
    if !lock.0.try_lock() {
        return EBUSY;
    }
    lock.own(kind, tid);
    0
}

/// `pthread_mutex_clocklock`, and `pthread_mutex_timedlock` with the clock that tells the date.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_mutex_timedlock(
    mutex: *mut MutexObject,
    clock: clockid_t,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: the caller's mutex.
    let lock = unsafe { &*mutex };
    let (kind, tid) = (lock.kind(), tid());
    if kind == PthreadKind::Glibc {
        // SAFETY: the caller's mutex and time.
        return unsafe { lw_glibc_mutex_clocklock(mutex.cast(), clock, deadline) };
    }
    if !is_clock(clock) {
        return EINVAL;
    }
    match kind {
        PthreadKind::Recursive if lock.has_owner(tid) => return lock.own_again(),
        PthreadKind::ErrorCheck if lock.has_owner(tid) => return EDEADLK,
        _ => {}
    }
    if !lock.0.take_free() {
        // Only if it has to wait, as glibc does.
        // SAFETY: the caller's time.
        if unsafe { !is_time(deadline) } {
            return EINVAL;
        }
        // SAFETY: as above.
        let deadline_ns = unsafe { deadline_ns(clock, deadline) };
        if !keep_errno(|| choices::wait(&lock.0, Some(deadline_ns))) {
            return ETIMEDOUT;
        }
    }
    lock.own(kind, tid);
    0
}

/// `pthread_mutex_unlock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_mutex_unlock(mutex: *mut MutexObject) -> c_int {
    // SAFETY: the caller's mutex.
    let lock = unsafe { &*mutex };
    let case = lock.case();
    if case == Case::Any {
        // SAFETY: the caller's mutex.
        return unsafe { lw_pthread_mutex_unlock(mutex.cast()) };
    }
    lock.disown(PthreadKind::Plain);
    // SAFETY: the process has no other thread. Of one that does not hold it, below.
    if case == Case::UsualOfOne && unsafe { lock.0.unlock_alone() } {
        return 0;
    }
    unlock(&lock.0)
}

/// Apart from its caller, so that a process with one thread saves no registers.
#[inline(never)]
fn unlock(lock: &RawMutex<Native, Fifo, Fields>) -> c_int {
    // SAFETY: the caller of `pthread_mutex_unlock` holds it, or is wrong in a way that glibc does not notice either.
    unsafe { lock.unlock() };
    0
}

/// The same, of every kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_mutex_unlock_any(mutex: *mut MutexObject) -> c_int {
    // SAFETY: the caller's mutex.
    let lock = unsafe { &*mutex };
    let kind = lock.kind();
    if kind == PthreadKind::Glibc {
        // SAFETY: the caller's mutex.
        return unsafe { lw_glibc_mutex_unlock(mutex.cast()) };
    }
    if let Some(result) = lock.disown(kind) {
        return result;
    }
    if choices::is_fair() {
        // SAFETY: the caller holds it, or is wrong in a way that glibc does not notice either.
        unsafe { lock.0.unlock_fair() };
    } else {
        // SAFETY: as above.
        unsafe { lock.0.unlock() };
    }
    0
}

/// `pthread_mutex_destroy`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_mutex_destroy(mutex: *mut MutexObject) -> c_int {
    // SAFETY: the caller's mutex.
    let lock = unsafe { &*mutex };
    if lock.kind() == PthreadKind::Glibc {
        // SAFETY: the caller's mutex.
        return unsafe { lw_glibc_mutex_destroy(mutex.cast()) };
    }
    if lock.0.is_locked() || lock.fields().waiters.load(Relaxed) != 0 {
        return EBUSY;
    }
    lock.fields().kind.store(DESTROYED, Relaxed);
    0
}
