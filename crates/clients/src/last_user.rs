//! Free-on-acquire: the last user of an object frees it, lock and all.

use crate::Client;
use crate::mutex::NotifiedMutex;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::mutex::RawMutex;
use lockwright_catalog::capabilities::LockCondvar;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;

/// Each thread takes leave of an object under its mutex; the last one frees it, while the one before may
/// still be about to return from its unlock. The second thread waits on the object's condition variable
/// first if it comes before the first one, which notifies it after it has taken leave.
///
/// For machines that see accesses to what was freed.
pub struct LastUser<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    object: Object<P, M>,
    freed: AtomicBool,
}

struct Object<P: Platform, M: NotifiedMutex> {
    mutex: M,
    notified: M::Condvar,
    users: Guarded<P, usize>,
    waits: Guarded<P, bool>,
    first_has_left: Guarded<P, bool>,
}

impl<P: Platform, M: NotifiedMutex> Object<P, M> {
    /// Takes leave, as the owner of the mutex. Returns true for the last thread that does so.
    fn take_leave(&self) -> bool {
        // SAFETY: called by the owner of the mutex.
        let users = unsafe { self.users.get() } - 1;
        // SAFETY: as above.
        unsafe { self.users.set(users) };
        users == 0
    }
    /// What the first thread does. Returns true if it is the last user.
    fn leave_and_notify(&self) -> bool {
        // SAFETY: the caller holds the mutex.
        unsafe { self.first_has_left.set(true) };
        // SAFETY: as above.
        let waits = unsafe { self.waits.get() };
        let is_last = self.take_leave();
        // SAFETY: as above.
        unsafe { self.mutex.unlock() };
        if waits {
            // The waiter is a user until it has been notified.
            assert!(self.notified.notify_one(), "the waiter was not there");
        }
        is_last
    }
    /// What the second thread does before it takes leave.
    fn wait(&self) {
        // SAFETY: the caller holds the mutex.
        if unsafe { self.first_has_left.get() } {
            return;
        }
        // SAFETY: as above.
        unsafe { self.waits.set(true) };
        // SAFETY: as above.
        unsafe { self.notified.wait(&self.mutex, None) };
    }
}

impl<P: Platform, M: NotifiedMutex> Client for LastUser<P, M> {
    const NAME: &'static str = "last-user";

    fn new(threads: usize) -> Self {
        let object = Object {
            mutex: M::new(),
            notified: LockCondvar::new(),
            users: Guarded::new(threads),
            waits: Guarded::new(false),
            first_has_left: Guarded::new(false),
        };
        Self { object, freed: AtomicBool::new(false) }
    }
    fn body(&self, thread: usize) {
        let object = &self.object;
        object.mutex.calm();
        object.mutex.lock();
        let is_last = if thread == 0 {
            object.leave_and_notify()
        } else {
            if thread == 1 {
                object.wait();
            }
            let is_last = object.take_leave();
            // SAFETY: taken above.
            unsafe { object.mutex.unlock() };
            is_last
        };
        if is_last {
            P::freed(object);
            self.freed.store(true, Relaxed);
        }
    }
    fn finish(&self) {
        assert!(self.freed.load(Relaxed), "nobody was the last user");
    }
}
