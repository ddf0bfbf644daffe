//! `QRwLock`: the kernel's queued reader-writer spinlock.
//!
//! `QRwLock` is a word that counts owners, and a queued spinlock for threads that must wait. The head of that queue
//! waits for the word, all others wait for the internal lock. So newcomers look at one word, and only one of the
//! waiters does.
//!
//! ```text
//!  31                          9   8   7           0
//! +-----------------------------+-----+--------------+     +--------------------------+
//! |           readers           |  w  |    writer    |     |  internal queued spinlock |
//! +-----------------------------+-----+--------------+     +--------------------------+
//!                                  |    0 or 0xff: a writer holds it
//!                                  a writer is the head of the queue and waits
//! ```
//!
//! | state (readers, w, writer) | means | moved by |
//! |---|---|---|
//! | (0, 0, 0) | free | a writer, to (0, 0, ff); a reader, to (1, 0, 0) |
//! | (r, 0, 0), r > 0 | r readers hold it | readers, to r + 1 and r - 1; the head, if it writes, to (r, 1, 0) |
//! | (r, 1, 0), r > 0 | r readers hold it, and the head waits to write | readers, to r - 1; a reader that comes, to r + 1, which only an urgent one keeps |
//! | (0, 1, 0) | free, for the head | the head, to (0, 0, ff); a reader that comes, to (1, 1, 0), which only an urgent one keeps |
//! | (r, *, ff) | a writer holds it; r readers have added themselves and take that back or wait | its writer, to (r, *, 0), or to (r + 1, *, 0) as a reader from then on; readers, to r + 1 and r - 1; the head, to w = 1 |
//!
//! A reader first adds itself and then looks. If a writer holds the lock or waits, the reader takes itself out again
//! and queues. As the head it adds itself once more, and waits until no writer holds the lock. A reader that
//! [is urgent](crate::platform::Placement::is_urgent), as an interrupt handler is, does not queue. It has added itself,
//! and waits for the writer that holds the lock, past the threads that wait. Otherwise a handler that reads would wait
//! for a writer that waits for the thread it has interrupted.
//!
//! Bit 31, the highest bit of the number of readers, is a guard. With 2^22 readers, which is as many as Linux has
//! threads, attempts fail. A reader that would wait ends the process then, because it may wait for itself. So the
//! number does not wrap, even if a program never drops its read guards.
//!
//! *Fairness.* The queue is served first come, first served. A reader that is its head has got in: only one writer can
//! be in front of it. A writer that is the head says so in the word. From then on only urgent readers pass it, as many
//! as come. Before it has said so, which takes two steps of its own, newcomers may pass: so the lock as a whole keeps
//! no order. Readers pass the queue freely as long as its head is not a writer and no writer holds the lock. All
//! waiters spin: a thread without a CPU in the queue, or in front of it, stalls the threads behind it.
//!
//! *Size, cost.* Eight bytes, zero is unlocked. Without contention each way in and each way out is one atomic
//! read-modify-write, but for the unlock of a writer, which is a store of a byte. Nothing touches the lock after its
//! releasing store: the next owner may free it.
//!
//! *Limits.* It uses queue nodes as [`QSpinlock`] does: not for memory shared between processes. In a forked child it
//! can be used if no thread waited for it when the child was made. A thread that reads twice may wait for ever, unless
//! it is urgent the second time.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | E1 | `store_byte0` in `unlock`, `fetch_add` in `downgrade`, Release | a reader's `fetch_add`, `compare_exchange` or `cond_load`, a writer's `compare_exchange`, Acquire | what the writer did |
//! | E2 | `fetch_sub` in `unlock_shared`, Release | a writer's `compare_exchange`, Acquire | that the reader has read |
//!
//! All other changes of the word are read-modify-writes, so they carry on what E1 and E2 release.
//!
//! Source: the queued rwlock of the Linux kernel, 2014; its behaviour, not its text.

use crate::platform::{
    Atomic, AtomicInt, Cells, ConstCells, ConstZeroed, LockWordOps, Zeroed, barrier_before_look,
};
use crate::qspinlock::QSpinlock;
use crate::queue::QueuePlatform;
use crate::raw::{Order, RawLock};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const WRITER_BITS: u32 = 8;
const WAITING_BITS: u32 = 1;
const READERS_BITS: u32 = 23;
const _: () = assert!(WRITER_BITS + WAITING_BITS + READERS_BITS == u32::BITS);

/// The word of a free lock.
const FREE: u32 = 0;
/// A writer holds it.
const WRITER: u32 = (1 << WRITER_BITS) - 1;
/// A writer, the head of the queue, waits.
const WAITING: u32 = 1 << WRITER_BITS;
/// One reader.
const READER: u32 = WAITING << WAITING_BITS;
/// The bit that keeps further readers out.
const GUARD: u32 = READER << (READERS_BITS - 1);

/// Returns `true` if a reader that comes may hold the lock.
const fn is_open(word: u32) -> bool {
    word & (WRITER | WAITING | GUARD) == 0
}
/// Returns `true` if a reader that is counted may hold the lock. It need not mind a writer that waits.
const fn is_open_for_counted(word: u32) -> bool {
    word.wrapping_sub(READER) & (WRITER | GUARD) == 0
}

/// The queued reader-writer spinlock.
#[repr(C)]
pub struct RawQRwLock<P: Cells> {
    word: P::Word,
    queue: QSpinlock<P>,
}

impl<P: ConstCells> RawQRwLock<P> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { word: ConstZeroed::ZEROED, queue: QSpinlock::INIT };
}

impl<P: QueuePlatform> RawQRwLock<P> {
    /// Takes the lock as its writer, if it is free. Returns `true` if it did.
    #[inline(always)]
    fn take_free(&self) -> bool {
        // (0, 0, 0) -> (0, 0, ff)
        // ordering: Acquire; E1 and E2. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(FREE, WRITER, Acquire, Relaxed).is_ok()
    }

    #[doc(alias = "queued_write_lock_slowpath")]
    #[cold]
    fn lock_slowpath(&self) {
        self.queue.lock();
        if !self.take_free() {
            // (*, 0, *) -> (*, 1, *)
            // ordering: Relaxed; keeps newcomers away, nothing is read through it.
            self.word.fetch_or(WAITING, Relaxed);
            while !self.take_as_head() {}
        }
        // SAFETY: taken above.
        unsafe { self.queue.unlock() };
    }

    /// Waits, as the head of the queue, until no thread holds the lock. Takes it then, unless a reader has added itself
    /// in between. Returns `true` if it did.
    fn take_as_head(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        self.word.cond_load(Relaxed, |word| word == WAITING);
        // (0, 1, 0) -> (0, 0, ff)
        // ordering: Acquire; E1 and E2. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(WAITING, WRITER, Acquire, Relaxed).is_ok()
    }

    /// Takes the lock for a reader that has added itself to the word, which was `seen` before.
    #[doc(alias = "queued_read_lock_slowpath")]
    #[cold]
    fn lock_shared_slowpath(&self, seen: u32) {
        if seen & GUARD != 0 {
            P::end("4,194,304 readers hold the lock, and one more cannot be counted");
        }
        if P::is_urgent() {
            return self.await_writer();
        }
        // (r, *, *) -> (r - 1, *, *)
        // ordering: Relaxed; the reader has read nothing.
        self.word.fetch_sub(READER, Relaxed);
        self.queue.lock();
        // (r, 0, *) -> (r + 1, 0, *)
        // ordering: Relaxed; the wait below acquires what the reader reads.
        self.word.fetch_add(READER, Relaxed);
        self.await_writer();
        // SAFETY: taken above.
        unsafe { self.queue.unlock() };
    }

    /// Waits, as a reader that has added itself, until no writer holds the lock.
    fn await_writer(&self) {
        // ordering: Acquire; E1.
        self.word.cond_load(Acquire, is_open_for_counted);
    }

    /// Sets the number of readers to `missing` less than the most there may be.
    ///
    /// # Safety
    /// No thread uses the lock.
    pub unsafe fn fill_readers(&self, missing: u32) {
        // ordering: Relaxed; the threads that use the lock afterwards are told so by other means.
        self.word.store(GUARD - missing * READER, Relaxed);
    }

    /// Returns `true` if a writer holds the lock. The answer may be stale when it is returned, and acquires nothing.
    pub fn is_owned(&self) -> bool {
        barrier_before_look::<P, _>(&self.word);
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) & WRITER != 0
    }
}

impl<P: QueuePlatform> RawLock for RawQRwLock<P> {
    const ORDER: Order = Order::Queued;
    const READERS_SHARE: bool = true;

    fn new() -> Self {
        Self { word: Zeroed::zeroed(), queue: QSpinlock::new() }
    }
    #[doc(alias = "queued_write_lock")]
    #[inline]
    fn lock(&self) {
        if !self.take_free() {
            self.lock_slowpath();
        }
    }
    #[doc(alias = "queued_write_trylock")]
    #[inline]
    fn try_lock(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        self.word.load(Relaxed) == FREE && self.take_free()
    }
    #[doc(alias = "queued_write_unlock")]
    #[inline]
    unsafe fn unlock(&self) {
        // (*, *, ff) -> (*, *, 0)
        // ordering: Release; E1.
        self.word.store_byte0(0, Release);
    }
    #[doc(alias = "queued_read_lock")]
    #[inline]
    fn lock_shared(&self) {
        // (r, *, *) -> (r + 1, *, *)
        // ordering: Acquire; E1, if it is open.
        let seen = self.word.fetch_add(READER, Acquire);
        if !is_open(seen) {
            self.lock_shared_slowpath(seen);
        }
    }
    #[doc(alias = "queued_read_trylock")]
    #[inline]
    fn try_lock_shared(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut word = self.word.load(Relaxed);
        while is_open(word) {
            // (r, 0, 0) -> (r + 1, 0, 0)
            // ordering: Acquire; E1. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(word, word + READER, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }
    #[doc(alias = "queued_read_unlock")]
    #[inline]
    unsafe fn unlock_shared(&self) {
        // (r, *, *) -> (r - 1, *, *)
        // ordering: Release; E2.
        self.word.fetch_sub(READER, Release);
    }
    #[inline]
    unsafe fn downgrade(&self) {
        // (r, *, ff) -> (r + 1, *, 0)
        // ordering: Release; E1.
        self.word.fetch_add(READER - WRITER, Release);
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.word);
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) & !WAITING != FREE
    }
    /// Accepts the words of the lock and of the internal lock: a checker does not say which of them it asks about.
    fn word_is_legal(word: u32) -> bool {
        matches!(word & WRITER, 0 | WRITER) || QSpinlock::<P>::word_is_legal(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_the_kernels() {
        assert_eq!((WRITER, WAITING, READER, GUARD), (0xff, 0x100, 0x200, 0x8000_0000));
    }

    #[test]
    fn too_many_readers_keep_others_out_before_their_number_wraps() {
        let full = GUARD - READER;
        assert!(is_open(full) && is_open(0));
        assert!(!is_open(full + READER) && is_open_for_counted(full + READER));
        assert!(!is_open_for_counted(full + 2 * READER));
        assert!(!is_open(WAITING) && is_open_for_counted(READER + WAITING));
    }
}
