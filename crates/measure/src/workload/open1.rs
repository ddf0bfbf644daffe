//! `open1_threads` of will-it-scale: the threads of one process open and close a file of their own each.
//!
//! An operation is one `open` and one `close`. Both take the spin lock of the process's table of
//! descriptors, and both change the reference count of the root directory's name, where the path begins.
//!
//! # What is modelled
//!
//! - *The table of descriptors*: the spin lock and the next free descriptor in one line; the bits of the
//!   descriptors in use, which are in that line, too, while all fit into one word, and in a line of their
//!   own when the table has grown; and the table itself, eight entries to a line, so that neighbours
//!   share one. `open` takes the lowest free descriptor.
//! - *The reference count with its lock*, in one line: it is changed without the lock, by compare-exchange, as long as
//!   no thread holds the lock; who failed [`RETRIES`] times or finds it held takes it. `open` takes a reference,
//!   `close` is where it is given back (the kernel does that at the end of the walk).
//! - *The credentials*, which every open file refers to: a count that `open` increments and `close`
//!   decrements, and a mark in another line that `open` clears. No lock guards them, but their lines
//!   travel (from memory of Linux 5.6).
//! - *The rest of the system calls*, as time: [`part::OUTSIDE`] once for each; and what happens under the lock apart
//!   from the accesses: [`part::INSIDE`].
//!
//! Not modelled: the name and the inode of the file, which no other thread uses; allocators; what a process with one
//! thread saves.

use super::facts::{Facts, Heap, Load, OwnLine, Setting, Worker, locked};
use super::params::params;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, AtomicInt, Cells, Zeroed};
use lockwright_core::raw::RawLock;

/// Parts of the real benchmark's software that [`Worker::software`] is told about.
pub mod part {
    /// A system call without its section: once for each of the two.
    pub const OUTSIDE: &str = "outside";
    /// A critical section of the table's lock.
    pub const INSIDE: &str = "inside";
    /// All of them.
    pub const ALL: &[&str] = &[OUTSIDE, INSIDE];
}

params! {
    /// will-it-scale's open1_threads: a file opened and closed; the table's lock and a lockref
    "open1": Open1Params {}
}

impl Facts for Open1Params {
    fn locks(&self) -> u32 {
        2
    }
    fn software_parts(&self) -> &'static [&'static str] {
        part::ALL
    }
}

impl<W: Heap, L: RawLock> Load<W, L> for Open1Params {
    type State = (W::One<Open1State<W::P, L>>, W::Many<Slots<W::P>>, usize);
    type Tally = ();

    fn place(&self, setting: Setting, heap: &mut W) -> Self::State {
        (
            heap.one(Zeroed::zeroed()),
            heap.many(SLOT_LINES, |_| slots_line::<W::P>()),
            setting.threads,
        )
    }
    fn run<K: Worker<P = W::P>>(&self, (state, slots, threads): &Self::State, worker: &mut K) {
        run(worker, &**state, slots, *threads);
    }
}

/// How often the count is tried to be changed without its lock (from memory of Linux since 5.3).
pub const RETRIES: u32 = 100;
/// Entries of the table in a line.
const SLOTS_PER_LINE: usize = 8;
/// The descriptors that every process has.
const STANDARD: usize = 3;
/// The descriptors that fit into the small table.
const SMALL: usize = 64;
/// Words of bits: enough for the most threads.
const WORDS: usize = 65;
/// The most threads of a run.
pub const THREADS_MAX: usize = WORDS * 64 - STANDARD;

/// The lower half of the count: references.
const REFERENCES: u32 = 0xffff;
/// In the upper half of the count: a thread has the lock or waits for it.
const GOES_FOR_LOCK: u32 = 1 << 16;

/// What the threads share apart from the table's lines.
pub struct Open1State<P: Cells, L> {
    files: OwnLine<Files<P, L>>,
    /// The bits of a table that has grown.
    bits: OwnLine<[P::U64; WORDS]>,
    root: OwnLine<Counted<P, L>>,
    credentials: Credentials<P>,
}

struct Credentials<P: Cells> {
    count: OwnLine<P::U32>,
    mark: OwnLine<P::U32>,
}

#[repr(C)]
struct Files<P: Cells, L> {
    lock: L,
    /// No descriptor below this one is free.
    next: P::U32,
    /// The bits of a small table.
    bits: P::U64,
}

#[repr(C)]
struct Counted<P: Cells, L> {
    lock: L,
    /// References, and who goes for the lock.
    count: P::U32,
}

/// Eight entries of the table.
pub type Slots<P> = OwnLine<[<P as Cells>::U64; SLOTS_PER_LINE]>;

impl<P: Cells, L: RawLock> Zeroed for Open1State<P, L> {
    fn zeroed() -> Self {
        let files = Files { lock: L::new(), next: Zeroed::zeroed(), bits: Zeroed::zeroed() };
        Self {
            files: OwnLine::new(files),
            bits: OwnLine::new(core::array::from_fn(|_| Zeroed::zeroed())),
            root: OwnLine::new(Counted { lock: L::new(), count: Zeroed::zeroed() }),
            credentials: Credentials { count: Zeroed::zeroed(), mark: Zeroed::zeroed() },
        }
    }
}

/// Lines of the table.
const SLOT_LINES: usize = THREADS_MAX.div_ceil(SLOTS_PER_LINE) + 1;

/// A line of an empty table.
fn slots_line<P: Cells>() -> Slots<P> {
    OwnLine::new(core::array::from_fn(|_| Zeroed::zeroed()))
}

impl<P: Cells, L: RawLock> Open1State<P, L> {
    /// The lock of the table.
    pub fn lock(&self) -> &L {
        &self.files.lock
    }
    /// The references that are held. Only when all threads are done.
    pub fn references(&self) -> u32 {
        // ordering: Relaxed; the caller waited for the threads, and so is ordered after them.
        self.root.count.load(Relaxed)
    }
}

/// The bits of the descriptors in use.
fn bits<P: Cells, L>(state: &Open1State<P, L>, threads: usize) -> &[P::U64] {
    match threads + STANDARD <= SMALL {
        true => core::slice::from_ref(&state.files.bits),
        false => &*state.bits,
    }
}

/// What one thread of `threads` does; `slots` are `SLOT_LINES` ones.
///
/// # Panics
/// With more than [`THREADS_MAX`] threads.
#[inline]
pub fn run<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &Open1State<W::P, L>,
    slots: &[Slots<W::P>],
    threads: usize,
) {
    assert!(threads <= THREADS_MAX, "at most {THREADS_MAX} threads");
    let bits = bits(state, threads);
    let number = worker.index() as u64 + 1;
    while worker.keep_going() {
        worker.software(part::OUTSIDE);
        change(&*state.root, true);
        // ordering: Relaxed, here and below; the credentials never go away.
        state.credentials.count.fetch_add(1, Relaxed);
        // ordering: Relaxed; see above.
        state.credentials.mark.store(0, Relaxed);
        let descriptor = allocate(worker, state, bits, slots);
        // ordering: Relaxed; no other thread uses the descriptor.
        slot::<W::P>(slots, descriptor).store(number, Relaxed);
        worker.software(part::OUTSIDE);
        release(worker, state, bits, slots, descriptor);
        change(&*state.root, false);
        // ordering: Relaxed; see above.
        state.credentials.count.fetch_sub(1, Relaxed);
        worker.op_done();
    }
}

fn slot<P: Cells>(slots: &[Slots<P>], descriptor: usize) -> &P::U64 {
    &slots[descriptor / SLOTS_PER_LINE][descriptor % SLOTS_PER_LINE]
}

/// The lowest free descriptor. Bit `i` is descriptor `i`; the standard ones are not in the table.
#[inline(always)]
fn allocate<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &Open1State<W::P, L>,
    bits: &[<W::P as Cells>::U64],
    slots: &[Slots<W::P>],
) -> usize {
    let Files { lock, next, .. } = &*state.files;
    locked(lock, || {
        // ordering: Relaxed, here and below; the lock orders the accesses to the table.
        let mut at = next.load(Relaxed) as usize / 64;
        worker.software(part::INSIDE);
        let free = loop {
            // ordering: Relaxed; see above.
            let word = bits[at].load(Relaxed);
            if word != u64::MAX {
                let bit = word.trailing_ones();
                // ordering: Relaxed; see above.
                bits[at].store(word | 1 << bit, Relaxed);
                break at * 64 + bit as usize;
            }
            at += 1;
        };
        // ordering: Relaxed; see above.
        next.store(free as u32 + 1, Relaxed);
        // ordering: Relaxed; see above.
        slot::<W::P>(slots, free).load(Relaxed);
        free
    })
}

/// Gives a descriptor back.
#[inline(always)]
fn release<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &Open1State<W::P, L>,
    bits: &[<W::P as Cells>::U64],
    slots: &[Slots<W::P>],
    descriptor: usize,
) {
    let Files { lock, next, .. } = &*state.files;
    locked(lock, || {
        // ordering: Relaxed, here and below; the lock orders the accesses to the table.
        let entry = slot::<W::P>(slots, descriptor);
        entry.load(Relaxed);
        // ordering: Relaxed; see above.
        entry.store(0, Relaxed);
        worker.software(part::INSIDE);
        let word = &bits[descriptor / 64];
        // ordering: Relaxed; see above.
        word.store(word.load(Relaxed) & !(1 << (descriptor % 64)), Relaxed);
        // ordering: Relaxed; see above.
        if (descriptor as u32) < next.load(Relaxed) {
            // ordering: Relaxed; see above.
            next.store(descriptor as u32, Relaxed);
        }
    });
}

/// Takes a reference, or gives it back.
///
/// The word of the kernel's lock says if a thread has it or waits for it, and the count changes together with that word
/// or not at all. Locks here do not tell which threads wait, so a thread that wants the lock says so in the count's
/// upper half first.
#[inline(always)]
fn change<P: Cells, L: RawLock>(counted: &Counted<P, L>, takes: bool) {
    let Counted { lock, count } = counted;
    let change = if takes { 1 } else { u32::MAX };
    // ordering: Relaxed, here and below; the count guards nothing.
    let mut seen = count.load(Relaxed);
    for _ in 0..RETRIES {
        if seen & !REFERENCES != 0 {
            break;
        }
        // ordering: Relaxed; see above.
        match count.compare_exchange(seen, seen.wrapping_add(change), Relaxed, Relaxed) {
            Ok(_) => return,
            Err(now) => seen = now,
        }
    }
    // ordering: Relaxed; see above.
    count.fetch_add(GOES_FOR_LOCK, Relaxed);
    locked(lock, || {
        // ordering: Relaxed; see above. One operation, for others come meanwhile. References are given
        // back by those that took one, so the lower half does not wrap.
        count.fetch_add(change.wrapping_sub(GOES_FOR_LOCK), Relaxed);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};

    type Shared = Open1State<ScriptedPlatform, SpyLock>;

    fn table() -> Vec<Slots<ScriptedPlatform>> {
        (0..SLOT_LINES).map(|_| slots_line::<ScriptedPlatform>()).collect()
    }

    #[test]
    fn an_operation_takes_the_lock_of_the_table_twice_and_leaves_nothing_behind() {
        for threads in [1, 100] {
            let (state, slots) = (Shared::zeroed(), table());
            let mut worker = Scripted::new(5);
            run(&mut worker, &state, &slots, threads);
            assert_eq!((worker.ops, state.lock().pairs()), (5, 10));
            assert_eq!((state.references(), state.root.lock.pairs()), (0, 0));
            assert!(bits(&state, threads).iter().all(|word| word.load(Relaxed) == 0));
            assert_eq!(worker.parts, ["outside", "inside", "outside", "inside"]);
        }
    }

    #[test]
    fn the_lowest_free_descriptor_is_next() {
        let (state, slots) = (Shared::zeroed(), table());
        let (mut worker, bits) = (Scripted::new(1), bits(&state, 200));
        let taken: Vec<_> = (0..130).map(|_| allocate(&mut worker, &state, bits, &slots)).collect();
        assert_eq!(taken, (0..130).collect::<Vec<_>>());
        release(&mut worker, &state, bits, &slots, 70);
        release(&mut worker, &state, bits, &slots, 5);
        let next = [(); 3].map(|()| allocate(&mut worker, &state, bits, &slots));
        assert_eq!(next, [5, 70, 130]);
    }

    #[test]
    fn a_count_whose_lock_is_held_is_changed_under_the_lock() {
        let state = Shared::zeroed();
        change(&*state.root, true);
        assert_eq!((state.references(), state.root.lock.pairs()), (1, 0));
        state.root.count.fetch_add(GOES_FOR_LOCK, Relaxed);
        change(&*state.root, true);
        assert_eq!((state.references(), state.root.lock.pairs()), (GOES_FOR_LOCK | 2, 1));
        change(&*state.root, false);
        assert_eq!((state.references(), state.root.lock.pairs()), (GOES_FOR_LOCK | 1, 2));
        state.root.count.fetch_sub(GOES_FOR_LOCK, Relaxed);
        change(&*state.root, false);
        assert_eq!((state.references(), state.root.lock.pairs()), (0, 2));
    }
}
