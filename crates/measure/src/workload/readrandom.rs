//! `readrandom` of leveldb's `db_bench`: threads look keys up in a database behind one mutex.
//!
//! An operation is one `Get`: it takes the mutex of the database, takes references to what it will read,
//! gives the mutex back, searches, takes the mutex again to drop the references, and gives it back. The
//! mutex is the C library's: threads that find it taken sleep in the kernel, which keeps them in a list
//! under the spin lock of a bucket of its hash table. That spin lock is the lock to be compared.
//!
//! # What is modelled
//!
//! - *The mutex*: a word that is free, taken, or or taken with perhaps a sleeping thread. No thread spins. Any arriving
//!   thread may take a free mutex, and a woken thread tries again like all others.
//! - *The bucket*: spin lock, number of waiters and the ends of the list in one line; an entry for each thread
//!   in a line of its own. Who goes to sleep looks at the mutex again under the bucket's lock; who wakes
//!   takes the first entry out under it, and wakes its thread after.
//! - *The references*: a line that the owner of the mutex changes.
//! - *Sleeping and waking* are the machine's: its calls and its latency. A thread has a CPU of its own,
//!   to which it comes back.
//! - *Software* as time: the search, [`part::OUTSIDE`]; each section of the mutex, [`part::INSIDE`]; the way
//!   from the program to the bucket, [`part::ENTRY`].
//!
//! Not modelled: the locks of the block cache, which are many; the scheduler's own locks, which woken
//! threads meet on; other buckets.

use super::facts::{Facts, Finding, Heap, Load, OwnLine, Setting, Worker, locked};
use super::params::params;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use lockwright_core::platform::{Atomic, AtomicInt, Cells, Sleeping, Zeroed};
use lockwright_core::raw::RawLock;

/// Parts of the real benchmark's software that [`Worker::software`] is told about.
pub mod part {
    /// The search: once for each operation.
    pub const OUTSIDE: &str = "outside";
    /// A section of the mutex: twice for each operation.
    pub const INSIDE: &str = "inside";
    /// From the program to the bucket: once for each system call.
    pub const ENTRY: &str = "entry";
    /// All of them.
    pub const ALL: &[&str] = &[OUTSIDE, INSIDE, ENTRY];
}

params! {
    /// leveldb lookups behind a futex mutex; the lock is that of the futex's hash bucket
    "readrandom": ReadrandomParams {}
}

impl Facts for ReadrandomParams {
    fn software_parts(&self) -> &'static [&'static str] {
        part::ALL
    }
}

impl<W: Heap, L: RawLock> Load<W, L> for ReadrandomParams {
    type State = (W::One<ReadState<W::P, L>>, W::Many<ReadSleeper<W::P>>);
    type Tally = ();

    fn place(&self, setting: Setting, heap: &mut W) -> Self::State {
        (heap.one(Zeroed::zeroed()), heap.zeroed(setting.threads))
    }
    fn run<K: Worker<P = W::P>>(&self, (state, sleepers): &Self::State, worker: &mut K) {
        run(worker, &**state, sleepers);
    }
    fn found(&self, (state, _): &Self::State, (): &(), ops: u64) -> Finding {
        Finding::fail((ops * 2).saturating_sub(state.sections()))
    }
}

/// The mutex: no thread has it.
const FREE: u32 = 0;
/// The mutex: a thread has it.
const TAKEN: u32 = 1;
/// The mutex: a thread has it, and another may sleep.
const AWAITED: u32 = 2;
/// An entry: its thread sleeps, or is about to.
const ASLEEP: u32 = 1;

/// What the threads share apart from the entries.
pub struct ReadState<P: Cells, L> {
    mutex: OwnLine<P::U32>,
    references: OwnLine<P::U64>,
    bucket: OwnLine<Bucket<P, L>>,
}

#[repr(C)]
struct Bucket<P: Cells, L> {
    lock: L,
    /// Threads that sleep or are about to look whether they should.
    waiters: P::U32,
    /// The first and the last thread in the list, from 1; 0 is none.
    first: P::U32,
    last: P::U32,
}

/// The entry of a thread in the list.
pub type ReadSleeper<P> = OwnLine<ReadEntry<P>>;

/// See [`ReadSleeper`].
#[repr(C)]
pub struct ReadEntry<P: Cells> {
    /// The thread behind this one, from 1; 0 is none.
    next: P::U32,
    /// [`ASLEEP`] until it was woken.
    state: P::U32,
}

impl<P: Cells> Zeroed for ReadEntry<P> {
    fn zeroed() -> Self {
        Self { next: Zeroed::zeroed(), state: Zeroed::zeroed() }
    }
}

impl<P: Cells, L: RawLock> Zeroed for ReadState<P, L> {
    fn zeroed() -> Self {
        let bucket = Bucket {
            lock: L::new(),
            waiters: Zeroed::zeroed(),
            first: Zeroed::zeroed(),
            last: Zeroed::zeroed(),
        };
        Self { mutex: Zeroed::zeroed(), references: Zeroed::zeroed(), bucket: OwnLine::new(bucket) }
    }
}

impl<P: Cells, L> ReadState<P, L> {
    /// The lock of the bucket.
    pub fn lock(&self) -> &L {
        &self.bucket.lock
    }
    /// Sections of the mutex, unless a lock is broken: then fewer. Only when all threads are done.
    pub fn sections(&self) -> u64 {
        // ordering: Relaxed; the caller waited for the threads, and so is ordered after them.
        self.references.load(Relaxed)
    }
}

/// What one thread does; `sleepers` has one for each thread.
#[inline]
pub fn run<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &ReadState<W::P, L>,
    sleepers: &[ReadSleeper<W::P>],
) {
    while worker.keep_going() {
        section(worker, state, sleepers);
        worker.software(part::OUTSIDE);
        section(worker, state, sleepers);
        worker.op_done();
    }
}

/// Takes the mutex, changes the references, and gives the mutex back.
#[inline(always)]
fn section<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &ReadState<W::P, L>,
    sleepers: &[ReadSleeper<W::P>],
) {
    take(worker, state, sleepers);
    // ordering: Relaxed; the mutex orders the accesses.
    let references = state.references.load(Relaxed);
    worker.software(part::INSIDE);
    // ordering: Relaxed; as above. Not one atomic operation: the mutex excludes.
    state.references.store(references + 1, Relaxed);
    give_back(worker, state, sleepers);
}

#[inline(always)]
fn take<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &ReadState<W::P, L>,
    sleepers: &[ReadSleeper<W::P>],
) {
    // ordering: Acquire; what the last owner did is seen.
    if state.mutex.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok() {
        return;
    }
    // ordering: Acquire; as above.
    while state.mutex.swap(AWAITED, Acquire) != FREE {
        sleep(worker, state, sleepers);
    }
}

#[inline(always)]
fn give_back<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &ReadState<W::P, L>,
    sleepers: &[ReadSleeper<W::P>],
) {
    // ordering: SeqCst; the next owner sees what this one did; and see `sleep`.
    if state.mutex.swap(FREE, SeqCst) == AWAITED {
        wake(worker, state, sleepers);
    }
}

/// Sleeps in the bucket while a thread has the mutex and knows that a thread may sleep.
fn sleep<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &ReadState<W::P, L>,
    sleepers: &[ReadSleeper<W::P>],
) {
    worker.software(part::ENTRY);
    let Bucket { lock, waiters, first, last } = &*state.bucket;
    let (number, entry) = (worker.index() as u32 + 1, &*sleepers[worker.index()]);
    // ordering: SeqCst, with the look at the mutex below, its release and the waker's look at this
    // number: the waker sees the waiter, or the waiter sees the free mutex.
    waiters.fetch_add(1, SeqCst);
    let is_in = locked(lock, || {
        // ordering: SeqCst; see above.
        if state.mutex.load(SeqCst) != AWAITED {
            return false;
        }
        // ordering: Relaxed, here and below; the lock orders the accesses to the list.
        entry.next.store(0, Relaxed);
        // ordering: Relaxed; see above.
        entry.state.store(ASLEEP, Relaxed);
        // ordering: Relaxed; see above.
        match last.load(Relaxed).checked_sub(1) {
            None => first.store(number, Relaxed),
            Some(before) => sleepers[before as usize].next.store(number, Relaxed),
        }
        // ordering: Relaxed; see above.
        last.store(number, Relaxed);
        true
    });
    if !is_in {
        // ordering: Relaxed; only counts.
        waiters.fetch_sub(1, Relaxed);
        return;
    }
    // ordering: Relaxed; the mutex orders what matters.
    while entry.state.load(Relaxed) == ASLEEP {
        W::P::futex_wait(&entry.state, ASLEEP, None);
    }
}

/// Wakes the first in the bucket, if there is one.
fn wake<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &ReadState<W::P, L>,
    sleepers: &[ReadSleeper<W::P>],
) {
    worker.software(part::ENTRY);
    let Bucket { lock, waiters, first, last } = &*state.bucket;
    // ordering: SeqCst; see `sleep`.
    if waiters.load(SeqCst) == 0 {
        return;
    }
    let woken = locked(lock, || {
        // ordering: Relaxed, here and below; the lock orders the accesses to the list.
        let number = first.load(Relaxed).checked_sub(1)?;
        let entry = &*sleepers[number as usize];
        // ordering: Relaxed; see above.
        let next = entry.next.load(Relaxed);
        // ordering: Relaxed; see above.
        first.store(next, Relaxed);
        if next == 0 {
            // ordering: Relaxed; see above.
            last.store(0, Relaxed);
        }
        // ordering: Relaxed; only counts.
        waiters.fetch_sub(1, Relaxed);
        Some(entry)
    });
    if let Some(entry) = woken {
        // ordering: Release; the sleeper may use its entry again.
        entry.state.store(0, Release);
        W::P::futex_wake(&raw const entry.state, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};

    type Shared = ReadState<ScriptedPlatform, SpyLock>;

    fn sleepers() -> Vec<ReadSleeper<ScriptedPlatform>> {
        (0..8).map(|_| Zeroed::zeroed()).collect()
    }

    #[test]
    fn alone_a_thread_takes_the_mutex_twice_and_never_the_bucket() {
        let (state, sleepers) = (Shared::zeroed(), sleepers());
        let mut worker = Scripted::new(5);
        run(&mut worker, &state, &sleepers);
        assert_eq!((worker.ops, state.sections(), state.lock().pairs()), (5, 10, 0));
        assert_eq!(worker.parts, [part::INSIDE, part::OUTSIDE, part::INSIDE]);
    }

    #[test]
    fn who_gives_back_an_awaited_mutex_wakes_the_first() {
        let (state, sleepers) = (Shared::zeroed(), sleepers());
        let mut worker = Scripted::new(1);
        state.bucket.waiters.store(2, Relaxed);
        state.bucket.first.store(3, Relaxed);
        state.bucket.last.store(5, Relaxed);
        sleepers[2].next.store(5, Relaxed);
        for at in [2, 4] {
            sleepers[at].state.store(ASLEEP, Relaxed);
            state.mutex.store(AWAITED, Relaxed);
            give_back(&mut worker, &state, &sleepers);
            assert_eq!((state.mutex.load(Relaxed), sleepers[at].state.load(Relaxed)), (FREE, 0));
        }
        assert_eq!((state.bucket.first.load(Relaxed), state.bucket.last.load(Relaxed)), (0, 0));
        assert_eq!((state.bucket.waiters.load(Relaxed), state.lock().pairs()), (0, 2));
    }

    #[test]
    fn nobody_sleeps_for_a_mutex_that_was_given_back_meanwhile() {
        let (state, sleepers) = (Shared::zeroed(), sleepers());
        sleep(&mut Scripted::new(1), &state, &sleepers);
        assert_eq!((state.bucket.waiters.load(Relaxed), state.lock().pairs()), (0, 1));
    }
}
