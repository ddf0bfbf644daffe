//! A sequence lock: readers write nothing, copy, and check that no writer changed the words meanwhile.
//!
//! Some words of data, a sequence number, and a queued spinlock for writers. A writer makes the number odd, writes, and
//! makes it even again. A reader waits for an even number, copies the words, and looks at the number once more. If the
//! number has changed, it begins again. So a reader never keeps a writer waiting, and costs other threads nothing.
//!
//! ```text
//!  63                            1   0     31                     0
//! +--------------------------------+---+  +------------------------+  +--------+--   --+--------+
//! |        writes that ended       | w |  |  queued spinlock word  |  | word 0 |  ...  | word n |
//! +--------------------------------+---+  +------------------------+  +--------+--   --+--------+
//!                                    a writer is writing
//! ```
//!
//! | state (sequence, lock) | means | moved by |
//! |---|---|---|
//! | (even, free) | the words are whole | a writer, by the lock, to (even, held) |
//! | (even, held) | a writer has not begun yet, or has just ended | it, to odd, or by the lock, to (even, free) |
//! | (odd, held) | the words are being written | the writer, to the next even number |
//!
//! The words are atomic. They are read and written one by one, in no order. A reader may read them while they are
//! written, and then throws the copy away. That needs two fences (Boehm, 2012: can seqlocks get along with programming
//! language memory models?); the litmus of Y2:
//!
//! ```text
//! Y2   writer                            reader
//!      [S] sequence = odd                [L] a word
//!      release fence                     acquire fence
//!      [S] a word                        [L] sequence
//!      never: the reader reads the new word   and the sequence from before odd
//! ```
//!
//! *Overflow.* The sequence wraps after 2^63 writes. At one write each nanosecond, that is after 292 years. A reader
//! that sleeps through exactly a multiple of these between its two looks takes a torn copy for a whole one.
//!
//! *Fairness.* Writers are served as [`QSpinlock`] serves them, and wait for no reader. Readers wait for the writer
//! that writes, and have no bound beyond that: a reader whose copy always takes until the next write never ends. The
//! lock is for data that is written seldom.
//!
//! *Memory ordering.* A reader acquires what the writer of its copy did before it ended its write. A writer releases
//! that, and acquires what the writers before it did. It knows nothing of readers.
//!
//! *Size, cost.* Sixteen bytes and eight for each word; zero is unlocked, and all words zero. A read without writers is
//! two loads of the sequence and one of each word. A write is a pair of the spinlock, two stores and one of each word.
//!
//! *Limits.* They are those of [`QSpinlock`]. A handler that interrupts a writer must not read what it writes, except
//! by [`try_read`](RawSeqLock::try_read). In a child that is forked while another thread writes, the lock stays held.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | Y1 | the even `sequence` in `end`, Release | the first look in `read` and `try_read`, Acquire | the words |
//! | Y2 | the odd `sequence` in `begin`, then a Release fence and the words | a word, then an Acquire fence and the second look in `is_still` | nothing but itself: litmus above |
//!
//! Source: the seqlock of the Linux kernel (Hemminger, 2002, after Eager), with the fences of Boehm's paper.

use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Zeroed};
use crate::qspinlock::QSpinlock;
use crate::queue::QueuePlatform;
use crate::raw::{Order, RawLock};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The bit of a sequence that says that a writer is writing.
const WRITES: u64 = 1;
/// The distance from one even sequence to the next.
const WRITE: u64 = 2;
/// The sequence of words that no thread has written.
pub(crate) const NEVER_WRITTEN: u64 = 0;

/// Words that are written together, and the lock of their writers.
#[repr(C)]
pub struct RawSeqLock<P: Cells, const WORDS: usize> {
    sequence: P::U64,
    lock: QSpinlock<P>,
    words: [P::U64; WORDS],
}

impl<P: ConstCells, const WORDS: usize> RawSeqLock<P, WORDS> {
    /// An unlocked lock whose words are all zero, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self {
        sequence: ConstZeroed::ZEROED,
        lock: QSpinlock::INIT,
        words: [const { ConstZeroed::ZEROED }; WORDS],
    };
}

impl<P: QueuePlatform, const WORDS: usize> RawSeqLock<P, WORDS> {
    /// Copies the words, and waits for writers as long as it takes.
    #[doc(alias = "read_seqbegin")]
    #[inline]
    pub fn read(&self) -> [u64; WORDS] {
        self.read_numbered().1
    }
    /// Copies the words, or returns `None` if a thread writes meanwhile.
    #[inline]
    pub fn try_read(&self) -> Option<[u64; WORDS]> {
        self.try_read_numbered().map(|(_, words)| words)
    }
    /// Replaces the words.
    pub fn write(&self, words: [u64; WORDS]) {
        self.update(|_| words);
    }
    /// Replaces the words by what `change` makes of them. No thread writes in between. Readers go on while `change`
    /// runs.
    pub fn update(&self, change: impl FnOnce([u64; WORDS]) -> [u64; WORDS]) {
        self.update_numbered(|_, words| change(words));
    }

    /// As [`read`](Self::read), but also returns the sequence at which the words were written.
    #[inline(always)]
    pub(crate) fn read_numbered(&self) -> (u64, [u64; WORDS]) {
        loop {
            // ordering: Acquire; Y1.
            let begun = self.sequence.cond_load(Acquire, |sequence| sequence & WRITES == 0);
            let words = self.copy();
            if self.is_still(begun) {
                return (begun, words);
            }
        }
    }
    /// As [`try_read`](Self::try_read), but also returns the sequence at which the words were written.
    #[inline(always)]
    pub(crate) fn try_read_numbered(&self) -> Option<(u64, [u64; WORDS])> {
        // ordering: Acquire; Y1.
        let begun = self.sequence.load(Acquire);
        if begun & WRITES != 0 {
            return None;
        }
        let words = self.copy();
        self.is_still(begun).then_some((begun, words))
    }
    /// As [`update`](Self::update), but `change` also gets the sequence at which the words were written.
    pub(crate) fn update_numbered(&self, change: impl FnOnce(u64, [u64; WORDS]) -> [u64; WORDS]) {
        /// Unlocks the lock, even if `change` panics.
        struct Unlock<'a, P: QueuePlatform>(&'a QSpinlock<P>);
        impl<P: QueuePlatform> Drop for Unlock<'_, P> {
            fn drop(&mut self) {
                // SAFETY: the lock is taken below.
                unsafe { self.0.unlock() };
            }
        }
        self.lock.lock();
        let _unlock = Unlock(&self.lock);
        let words = change(self.sequence(), self.copy());
        self.begin();
        self.set_words(words);
        self.end();
    }
    /// Replaces the words.
    ///
    /// # Safety
    /// The caller holds the lock.
    pub unsafe fn set(&self, words: [u64; WORDS]) {
        self.set_words(words);
    }

    /// Returns the words, which may be torn.
    #[inline(always)]
    fn copy(&self) -> [u64; WORDS] {
        // ordering: Relaxed; ordered by Y1 and Y2, or by the lock.
        core::array::from_fn(|at| self.words[at].load(Relaxed))
    }
    /// Returns `true` if no writer has begun since the sequence was `begun`, which is even.
    #[inline(always)]
    fn is_still(&self, begun: u64) -> bool {
        // ordering: Acquire fence; Y2.
        P::fence(Acquire);
        // ordering: Relaxed; after the fence, Y2.
        self.sequence.load(Relaxed) == begun
    }
    /// Returns the sequence. The caller holds the lock.
    fn sequence(&self) -> u64 {
        // ordering: Relaxed; written under the lock.
        self.sequence.load(Relaxed)
    }
    #[inline(always)]
    fn begin(&self) {
        // (even, held) -> (odd, held)
        // ordering: Relaxed; before the fence, Y2.
        self.sequence.store(self.sequence() | WRITES, Relaxed);
        // ordering: Release fence; Y2.
        P::fence(Release);
    }
    fn set_words(&self, words: [u64; WORDS]) {
        for (cell, word) in self.words.iter().zip(words) {
            // ordering: Relaxed; after the fence of Y2, published by Y1.
            cell.store(word, Relaxed);
        }
    }
    #[inline(always)]
    fn end(&self) {
        let next = self.sequence().wrapping_add(WRITE) & !WRITES;
        // (odd, held) -> (even, held)
        // ordering: Release; Y1.
        self.sequence.store(next, Release);
    }
}

/// The write side of the lock: its owner may [`set`](RawSeqLock::set) the words, and readers wait.
impl<P: QueuePlatform, const WORDS: usize> RawLock for RawSeqLock<P, WORDS> {
    const ORDER: Order = QSpinlock::<P>::ORDER;

    fn new() -> Self {
        let words = core::array::from_fn(|_| Zeroed::zeroed());
        Self { sequence: Zeroed::zeroed(), lock: QSpinlock::new(), words }
    }
    #[doc(alias = "write_seqlock")]
    #[inline]
    fn lock(&self) {
        self.lock.lock();
        self.begin();
    }
    #[inline]
    fn try_lock(&self) -> bool {
        let is_ours = self.lock.try_lock();
        if is_ours {
            self.begin();
        }
        is_ours
    }
    #[doc(alias = "write_sequnlock")]
    #[inline]
    unsafe fn unlock(&self) {
        self.end();
        // SAFETY: the caller holds the lock.
        unsafe { self.lock.unlock() };
    }
    fn is_locked(&self) -> bool {
        self.lock.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        QSpinlock::<P>::word_is_legal(word)
    }
}
