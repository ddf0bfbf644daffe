//! The next owner may free the lock: an unlock does not touch it after the release.

use crate::Client;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;
use lockwright_core::raw::RawLock;

/// Objects on the heap, each with a lock and the number of its users. Each thread takes leave of
/// each object under the object's lock; the last one frees it, while the one before may still be
/// about to return from its unlock.
///
/// For real threads under something that sees accesses to freed memory, and for locks that promise this: see
/// [`RawLock::NEXT_OWNER_MAY_FREE`].
pub struct Free<P: Platform, L> {
    objects: Vec<*mut Object<P, L>>,
    freed: AtomicU64,
    threads: usize,
}

struct Object<P: Platform, L> {
    lock: L,
    users: Guarded<P, usize>,
}

// SAFETY: an object is shared by its users, who are threads, and owned by the last of them.
unsafe impl<P: Platform, L: RawLock> Send for Free<P, L> {}
// SAFETY: as above.
unsafe impl<P: Platform, L: RawLock> Sync for Free<P, L> {}

impl<P: Platform, L: RawLock> Client for Free<P, L> {
    const NAME: &'static str = "free";

    fn new(threads: usize) -> Self {
        let mut client = Self { objects: Vec::new(), freed: AtomicU64::new(0), threads };
        client.set_rounds(1);
        client
    }
    fn set_rounds(&mut self, rounds: u32) {
        let object = || Object { lock: L::new(), users: Guarded::new(self.threads) };
        let missing = (rounds as usize).saturating_sub(self.objects.len());
        self.objects.extend((0..missing).map(|_| Box::into_raw(Box::new(object()))));
    }
    fn body(&self, _thread: usize) {
        for &at in &self.objects {
            // SAFETY: this thread is a user, so no thread has freed the object. No function gets the whole reference as
            // an argument, because the object may be gone when it returns.
            let object = unsafe { &*at };
            object.lock.lock();
            // SAFETY: this thread holds the lock that guards the number.
            let users = unsafe { object.users.get() } - 1;
            // SAFETY: as above.
            unsafe { object.users.set(users) };
            // SAFETY: taken above.
            unsafe { object.lock.unlock() };
            if users == 0 {
                // SAFETY: the others have taken leave, and this is the last.
                drop(unsafe { Box::from_raw(at) });
                self.freed.fetch_add(1, Relaxed);
            }
        }
    }
    fn finish(&self) {
        assert_eq!(self.freed.load(Relaxed), self.objects.len() as u64, "objects were left");
    }
}
