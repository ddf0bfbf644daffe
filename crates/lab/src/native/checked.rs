//! Noticing that an owner was not alone.

use lockwright::raw::{Order, RawLock};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

thread_local! {
    /// How often this thread saw that it was not alone.
    static INTRUSIONS: Cell<u64> = const { Cell::new(0) };
    /// What this thread wrote when it took the locks it holds, in the order in which it took them.
    static WRITTEN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The intrusions seen by this thread since the last call.
pub fn take_intrusions() -> u64 {
    INTRUSIONS.take()
}

/// A lock that guards a counter of several words, incremented one after the other.
///
/// All words are equal whenever nobody is inside. An owner that finds them different, or finds
/// something else than it wrote when it leaves, was not alone. The accesses are relaxed loads and
/// stores, never read-modify-writes: they lose updates like plain ones would, without being a data
/// race in the sense of the language when the lock is broken. A thread that holds several gives them
/// back in reverse.
#[repr(C)]
pub struct Checked<L> {
    lock: L,
    words: [Padded; 4],
}

/// A word on a cache line of its own, so that an increment of all takes a while.
#[repr(align(64))]
struct Padded(AtomicU64);

impl<L> Checked<L> {
    /// What the words hold if they agree.
    fn agreed(&self) -> Option<u64> {
        let first = self.words[0].0.load(Relaxed);
        self.words.iter().all(|word| word.0.load(Relaxed) == first).then_some(first)
    }
    /// What an owner does first.
    #[inline]
    fn enter(&self) {
        let found = self.agreed();
        if found.is_none() {
            intruded();
        }
        let next = found.unwrap_or_else(|| self.words[0].0.load(Relaxed)).wrapping_add(1);
        for word in &self.words {
            word.0.store(next, Relaxed);
        }
        WRITTEN.with_borrow_mut(|written| written.push(next));
    }
}

/// Counts one intrusion.
#[cold]
fn intruded() {
    INTRUSIONS.set(INTRUSIONS.get() + 1);
}

impl<L: RawLock> RawLock for Checked<L> {
    const ORDER: Order = L::ORDER;
    const WAITERS_SLEEP: bool = L::WAITERS_SLEEP;

    fn new() -> Self {
        let word = || Padded(AtomicU64::new(0));
        Self { lock: L::new(), words: [word(), word(), word(), word()] }
    }
    #[inline]
    fn lock(&self) {
        self.lock.lock();
        self.enter();
    }
    fn try_lock(&self) -> bool {
        let taken = self.lock.try_lock();
        if taken {
            self.enter();
        }
        taken
    }
    #[inline]
    unsafe fn unlock(&self) {
        let written = WRITTEN.with_borrow_mut(Vec::pop);
        if written.is_none() || self.agreed() != written {
            intruded();
        }
        // SAFETY: the caller holds the lock.
        unsafe { self.lock.unlock() }
    }
    fn is_locked(&self) -> bool {
        self.lock.is_locked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright::busted::BustedLock;
    use lockwright::native::Native;
    use lockwright::ticket::TicketLock;

    #[test]
    fn an_intruder_is_seen_by_the_owner_when_it_leaves() {
        let lock = Checked::<BustedLock<Native>>::new();
        take_intrusions();
        lock.lock();
        std::thread::scope(|scope| scope.spawn(|| lock.lock()).join()).expect("no panic");
        // SAFETY: taken above, as far as that lock can be taken.
        unsafe { lock.unlock() };
        assert_eq!(take_intrusions(), 1);
    }

    #[test]
    fn an_owner_of_two_locks_compares_each_with_what_it_wrote_there() {
        let [outer, inner] = [(); 2].map(|()| Checked::<TicketLock<Native>>::new());
        take_intrusions();
        for _ in 0..3 {
            inner.lock();
            // SAFETY: taken on the line above.
            unsafe { inner.unlock() };
        }
        outer.lock();
        inner.lock();
        // SAFETY: taken on the line above.
        unsafe { inner.unlock() };
        // SAFETY: taken above.
        unsafe { outer.unlock() };
        assert_eq!(take_intrusions(), 0);
    }

    #[test]
    fn owners_that_are_alone_see_nobody() {
        let lock = Checked::<TicketLock<Native>>::new();
        take_intrusions();
        for _ in 0..100 {
            lock.lock();
            // SAFETY: taken on the line above.
            unsafe { lock.unlock() };
        }
        assert_eq!(take_intrusions(), 0);
    }
}
