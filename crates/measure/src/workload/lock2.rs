//! `lock2_threads` of will-it-scale: the threads of one process set and drop a record lock on one file.
//!
//! Each thread has a descriptor of its own for the same file, so what they share is the file's lock
//! context: a spin lock and the lists of the locks that are held. An operation is one `fcntl`, which
//! takes that spin lock once; setting and dropping take turns.
//!
//! # What is modelled
//!
//! - *The context*: spin lock and list head, in one cache line.
//! - *The entries of the list*. All threads of a process are one owner and ask for the same range, so there is at most
//!   one: a thread that sets the lock when there is none puts in an entry of its own. A thread that finds one looks at
//!   it and has nothing to add. A thread that drops the lock takes out what is there, also if another thread put it in,
//!   and keeps the memory for its next one, as an allocator with a cache for each CPU does.
//! - *The rest of the system call*, which touches nothing that is shared, as time: [`part::OUTSIDE`]; and the
//!   comparisons under the lock: [`part::INSIDE`].
//!
//! Not modelled: the list of all locks of a CPU, and the read side of the semaphore around it, which
//! stay local; what a process with one thread saves.

use super::facts::{Facts, Heap, Load, OwnLine, Setting, Worker, locked};
use super::params::params;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_core::raw::RawLock;

/// Parts of the real benchmark's software that [`Worker::software`] is told about.
pub mod part {
    /// The system call without the section: once for each.
    pub const OUTSIDE: &str = "outside";
    /// The critical section.
    pub const INSIDE: &str = "inside";
    /// All of them.
    pub const ALL: &[&str] = &[OUTSIDE, INSIDE];
}

params! {
    /// will-it-scale's lock2_threads: record locks on one file, one `fcntl` for each operation
    "lock2": Lock2Params {}
}

impl Facts for Lock2Params {
    fn software_parts(&self) -> &'static [&'static str] {
        part::ALL
    }
}

impl<W: Heap, L: RawLock> Load<W, L> for Lock2Params {
    type State = (W::One<Lock2State<W::P, L>>, W::Many<LockEntry<W::P>>);
    type Tally = ();

    fn place(&self, setting: Setting, heap: &mut W) -> Self::State {
        (heap.one(Zeroed::zeroed()), heap.zeroed(setting.threads * ENTRIES_PER_THREAD))
    }
    fn run<K: Worker<P = W::P>>(&self, (state, entries): &Self::State, worker: &mut K) {
        run(worker, &**state, entries);
    }
}

/// Entries that a thread has at the start. It ends up with more or fewer.
pub const ENTRIES_PER_THREAD: usize = 2;
/// Entries that a thread keeps for itself; more of them are forgotten.
const KEPT_MAX: usize = 16;

/// The lock context of the file.
pub struct Lock2State<P: Cells, L> {
    context: OwnLine<Context<P, L>>,
}

#[repr(C)]
struct Context<P: Cells, L> {
    lock: L,
    /// The entry in the list, from 1; 0 is none.
    head: P::U32,
}

/// What is known of a lock that is held.
pub type LockEntry<P> = OwnLine<<P as Cells>::U64>;

impl<P: Cells, L: RawLock> Zeroed for Lock2State<P, L> {
    fn zeroed() -> Self {
        Self { context: OwnLine::new(Context { lock: L::new(), head: Zeroed::zeroed() }) }
    }
}

impl<P: Cells, L> Lock2State<P, L> {
    /// The lock.
    pub fn lock(&self) -> &L {
        &self.context.lock
    }
}

/// The entries that a thread may put into the list.
struct Kept {
    entries: [u32; KEPT_MAX],
    count: usize,
}

impl Kept {
    fn of(thread: usize) -> Self {
        let mut kept = Self { entries: [0; KEPT_MAX], count: 0 };
        (0..ENTRIES_PER_THREAD).for_each(|at| kept.put((thread * ENTRIES_PER_THREAD + at) as u32));
        kept
    }
    fn put(&mut self, entry: u32) {
        if let Some(slot) = self.entries.get_mut(self.count) {
            *slot = entry;
            self.count += 1;
        }
    }
    fn take(&mut self) -> Option<u32> {
        self.count = self.count.checked_sub(1)?;
        Some(self.entries[self.count])
    }
}

/// What one thread does. `entries` are [`ENTRIES_PER_THREAD`] for each thread.
#[inline]
pub fn run<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &Lock2State<W::P, L>,
    entries: &[LockEntry<W::P>],
) {
    let mut kept = Kept::of(worker.index());
    let mut sets = true;
    while worker.keep_going() {
        worker.software(part::OUTSIDE);
        section(worker, state, entries, &mut kept, sets);
        sets = !sets;
        worker.op_done();
    }
}

/// Sets or drops the lock on the file.
#[inline(always)]
fn section<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &Lock2State<W::P, L>,
    entries: &[LockEntry<W::P>],
    kept: &mut Kept,
    sets: bool,
) {
    let Context { lock, head } = &*state.context;
    locked(lock, || {
        // ordering: Relaxed, here and below; the lock orders the accesses to the list.
        let found = head.load(Relaxed);
        worker.software(part::INSIDE);
        match (found.checked_sub(1), sets) {
            (Some(entry), true) => {
                entries[entry as usize].load(Relaxed);
            }
            (Some(entry), false) => {
                let cell = &entries[entry as usize];
                // ordering: Relaxed; see above.
                cell.store(cell.load(Relaxed) + 1, Relaxed);
                // ordering: Relaxed; see above.
                head.store(0, Relaxed);
                kept.put(entry);
            }
            (None, true) => {
                if let Some(entry) = kept.take() {
                    // ordering: Relaxed; see above.
                    entries[entry as usize].store(0, Relaxed);
                    // ordering: Relaxed; see above.
                    head.store(entry + 1, Relaxed);
                }
            }
            (None, false) => (),
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};

    #[test]
    fn one_thread_sets_and_drops_in_turn_and_takes_the_lock_once_for_each() {
        let state = Lock2State::<ScriptedPlatform, SpyLock>::zeroed();
        let mut worker = Scripted::new(9);
        let threads = worker.index() + 1;
        let entries: Vec<LockEntry<ScriptedPlatform>> =
            (0..threads * ENTRIES_PER_THREAD).map(|_| Zeroed::zeroed()).collect();
        run(&mut worker, &state, &entries);
        assert_eq!((worker.ops, state.lock().pairs()), (9, 9));
        assert_eq!(worker.parts, [part::OUTSIDE, part::INSIDE]);
        // Five times set, four times dropped: an entry is in, and it is one of the thread's.
        let head = state.context.head.load(Relaxed) as usize - 1;
        assert_eq!(head / ENTRIES_PER_THREAD, threads - 1);
    }

    #[test]
    fn a_thread_takes_out_what_another_put_in_and_keeps_it() {
        let mut kept = Kept::of(3);
        assert_eq!([kept.take(), kept.take(), kept.take()], [Some(7), Some(6), None]);
        (0..40).for_each(|entry| kept.put(entry));
        assert_eq!(kept.take(), Some(KEPT_MAX as u32 - 1));
    }
}
