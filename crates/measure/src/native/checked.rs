//! Noticing that an owner was not alone, and a reader not only with readers.

use lockwright_core::raw::{Order, RawLock};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

thread_local! {
    /// How often this thread saw that it was not alone.
    static INTRUSIONS: Cell<u64> = const { Cell::new(0) };
    /// What this thread wrote or, as a reader, found when it took the locks it holds, in the order in
    /// which it took them.
    static LEFT_ALONE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The intrusions seen by this thread since the last call.
pub fn take_intrusions() -> u64 {
    INTRUSIONS.take()
}

/// A lock that guards a counter of several words, incremented one after the other.
///
/// All words are equal, and even, while no owner is inside; an owner makes them odd. A thread was not alone if it finds
/// them odd or different, or if it finds something else when it leaves than an owner wrote or a reader found
/// when it came. The accesses are relaxed loads and stores, never read-modify-writes: they
/// lose updates like plain ones would, without being a data race in the sense of the language when the
/// lock is broken. A thread that holds several gives them back in reverse.
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
    /// What every thread does first: notes it if an owner is inside, and returns what the words hold.
    #[inline]
    fn look(&self) -> u64 {
        let found = self.agreed();
        if found.is_none_or(is_odd) {
            intruded();
        }
        found.unwrap_or_else(|| self.words[0].0.load(Relaxed))
    }
    fn write(&self, value: u64) {
        for word in &self.words {
            word.0.store(value, Relaxed);
        }
    }
    /// What an owner does first.
    #[inline]
    fn enter(&self) {
        let odd = (self.look() | 1).wrapping_add(2);
        self.write(odd);
        leave_alone(odd);
    }
    /// What a reader does first.
    #[inline]
    fn enter_shared(&self) {
        leave_alone(self.look());
    }
    /// What every thread does last: checks that the words are what they should be.
    #[inline]
    fn look_again(&self) {
        let expected = LEFT_ALONE.with_borrow_mut(Vec::pop);
        if expected.is_none() || self.agreed() != expected {
            intruded();
        }
    }
    /// What an owner does last; the even value that it leaves behind.
    #[inline]
    fn leave(&self) -> u64 {
        self.look_again();
        let even = (self.words[0].0.load(Relaxed) | 1).wrapping_add(1);
        self.write(even);
        even
    }
}

const fn is_odd(value: u64) -> bool {
    value % 2 == 1
}

/// This thread expects the value until it gives the lock back.
fn leave_alone(value: u64) {
    LEFT_ALONE.with_borrow_mut(|values| values.push(value));
}

/// Counts one intrusion.
#[cold]
fn intruded() {
    INTRUSIONS.set(INTRUSIONS.get() + 1);
}

impl<L: RawLock> RawLock for Checked<L> {
    const ORDER: Order = L::ORDER;
    const WAITERS_SLEEP: bool = L::WAITERS_SLEEP;
    const READERS_SHARE: bool = L::READERS_SHARE;
    const NEXT_OWNER_MAY_FREE: bool = L::NEXT_OWNER_MAY_FREE;

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
        self.leave();
        // SAFETY: the caller holds the lock.
        unsafe { self.lock.unlock() }
    }
    #[inline]
    fn lock_shared(&self) {
        self.lock.lock_shared();
        self.enter_shared();
    }
    fn try_lock_shared(&self) -> bool {
        let taken = self.lock.try_lock_shared();
        if taken {
            self.enter_shared();
        }
        taken
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        self.look_again();
        // SAFETY: the caller is a reader of the lock.
        unsafe { self.lock.unlock_shared() }
    }
    unsafe fn downgrade(&self) {
        leave_alone(self.leave());
        // SAFETY: the caller holds the lock.
        unsafe { self.lock.downgrade() }
    }
    fn is_locked(&self) -> bool {
        self.lock.is_locked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_catalog::busted::BustedLock;
    use lockwright_clients::plain_rw::PlainRwLock;
    use lockwright_core::native::Native;
    use lockwright_linux::ticket::TicketLock;

    /// The intrusions that another thread sees meanwhile.
    fn elsewhere(what: impl FnOnce() + Send) -> u64 {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                what();
                take_intrusions()
            });
            other.join().expect("no panic")
        })
    }

    #[test]
    fn readers_see_nothing_in_each_other_nor_in_an_owner_that_became_one_of_them() {
        let lock = Checked::<PlainRwLock<Native>>::new();
        let read = || {
            lock.lock_shared();
            // SAFETY: taken on the line above.
            unsafe { lock.unlock_shared() };
        };
        take_intrusions();
        lock.lock_shared();
        assert_eq!(elsewhere(read), 0);
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
        lock.lock();
        // SAFETY: taken on the line above.
        unsafe { lock.downgrade() };
        assert_eq!(elsewhere(read), 0);
        // SAFETY: taken above, and downgraded.
        unsafe { lock.unlock_shared() };
        assert_eq!(take_intrusions(), 0);
    }

    #[test]
    fn an_owner_beside_a_reader_is_seen_by_whoever_came_first() {
        let lock = Checked::<BustedLock<Native>>::new();
        take_intrusions();
        let own = || {
            lock.lock();
            // SAFETY: taken on the line above, as far as that lock can be taken.
            unsafe { lock.unlock() };
        };
        lock.lock_shared();
        assert_eq!(elsewhere(own), 0, "it finds nothing wrong");
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
        assert_eq!(take_intrusions(), 1);

        lock.lock();
        let read = || {
            lock.lock_shared();
            // SAFETY: taken on the line above.
            unsafe { lock.unlock_shared() };
        };
        assert_eq!(elsewhere(read), 1, "the words are odd");
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        assert_eq!(take_intrusions(), 0, "a reader changes nothing");
    }

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
