//! What `lockwright run` asks for: which slow path mutexes have, and if the objects that are used are counted.

use crate::mutex::Fields;
use crate::thread::{is_alone, knows_tid};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use lockwright::mutex::RawMutex;
use lockwright_core::native::{Native, topology};
use lockwright_core::platform::{Barriers, Counters, QueueNodes};
use lockwright_core::raw::RawLock;
use lockwright_core::tunables::Tunable;
use lockwright_linux::qspinlock::{Fifo, cna};

/// The bits of [`CHOICES`]: a release hands over to a waiter; waiters spin in the order of CNA; objects are counted.
const FAIR: u8 = 1;
const CNA: u8 = 2;
const COUNTS: u8 = 4;
/// The policy is decided. Two slow paths at once would not understand each other's queues.
const DECIDED: u8 = 8;

static CHOICES: AtomicU8 = AtomicU8::new(0);

/// Chooses for the process. Returns `false`, with the policy as it was, if a thread has waited for a mutex before.
#[unsafe(no_mangle)]
pub extern "C" fn lw_choose(is_fair: bool, is_cna: bool, counts: bool) -> bool {
    let bit = |is: bool, bit: u8| if is { bit } else { 0 };
    let wanted = bit(is_fair, FAIR) | bit(is_cna, CNA) | bit(counts, COUNTS) | DECIDED;
    if CHOICES.compare_exchange(0, wanted, Relaxed, Relaxed).is_ok() {
        return true;
    }
    CHOICES.fetch_or(wanted & COUNTS, Relaxed);
    !is_fair && !is_cna
}

/// What a normal mutex has to look at. Everything until the choices are made.
static CASE: AtomicU8 = AtomicU8::new(Case::Any as u8);

/// See [`case`].
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Case {
    /// Objects are counted, releases are fair, the numbers of threads are not known, or functions are glibc's.
    Any,
    /// Nothing of that. The process may have one thread.
    UsualOfOne,
    /// Nothing of that. The process has had several threads.
    UsualOfMany,
}

/// Says that all choices are made, and that no function is glibc's.
#[unsafe(no_mangle)]
pub extern "C" fn lw_choices_are_made() {
    if CHOICES.load(Relaxed) & (FAIR | COUNTS) == 0 && knows_tid() {
        CASE.store(Case::UsualOfOne as u8, Relaxed);
    }
}

/// What a normal mutex has to look at, besides its words.
#[inline(always)]
pub(crate) fn case() -> Case {
    match CASE.load(Relaxed) {
        MANY => Case::UsualOfMany,
        ONE => one_or_many(),
        _ => Case::Any,
    }
}
const ONE: u8 = Case::UsualOfOne as u8;
const MANY: u8 = Case::UsualOfMany as u8;

/// Looks if there is still one thread. Remembers that there are several: then the look is saved.
#[inline(always)]
fn one_or_many() -> Case {
    if is_alone() {
        return Case::UsualOfOne;
    }
    CASE.store(MANY, Relaxed);
    Case::UsualOfMany
}

/// Reads what locks have to know of the machine, once: a thread may have too small a stack for that, or no right. Each
/// start of a program pays for it, so what is not needed is not read.
#[unsafe(no_mangle)]
pub extern "C" fn lw_prepare(makes_threads: bool) {
    topology::prepare(CHOICES.load(Relaxed) & CNA != 0, makes_threads);
    Native::tunable(Tunable::numa_spinlock);
    Native::has_forked();
    // Reads the environment.
    Native::may_use_heavy_barrier();
    // Asks for the page of the kernel that tells the time, and looks up functions in it.
    <Native as lockwright_core::platform::Clock>::now_ns();
}

/// Waits for a mutex, with a deadline or without. Returns `true` if it is taken.
pub(crate) fn wait(mutex: &RawMutex<Native, Fifo, Fields>, deadline_ns: Option<u64>) -> bool {
    let mut choices = CHOICES.load(Relaxed);
    if choices & DECIDED == 0 {
        choices = CHOICES.fetch_or(DECIDED, Relaxed);
    }
    if choices & CNA == 0 {
        return wait_by(mutex, deadline_ns);
    }
    let address = core::ptr::from_ref(mutex);
    // SAFETY: the same words in the same places. No thread of the process waits for it in another order.
    let mutex = unsafe { &*address.cast::<RawMutex<Native, cna::V10, Fields>>() };
    wait_by(mutex, deadline_ns)
}

fn wait_by<S: lockwright_linux::qspinlock::Succession<Native>>(
    mutex: &RawMutex<Native, S, Fields>,
    deadline_ns: Option<u64>,
) -> bool {
    match deadline_ns {
        Some(deadline_ns) => mutex.lock_until(deadline_ns),
        None => {
            mutex.lock();
            true
        }
    }
}

/// Returns `true` if every release hands over to a waiter.
#[inline(always)]
pub(crate) fn is_fair() -> bool {
    CHOICES.load(Relaxed) & FAIR != 0
}

/// What is counted, in the order of `report` in `src/c/choices.c`.
#[derive(Clone, Copy)]
pub(crate) enum Used {
    /// By its kind, 0 to 3.
    Mutex(u32),
    RwLock,
    /// A call for an object that is glibc's.
    OfGlibc,
}

const KINDS: usize = 7;
static COUNT: [AtomicU64; KINDS] = [const { AtomicU64::new(0) }; KINDS];
/// Behind the kinds of mutexes.
const CONDVARS: usize = 4;

/// Counts an object at its first use; `seen` is a word of it that nothing else uses.
#[inline(always)]
pub(crate) fn count(used: Used, seen: Option<&AtomicU32>) {
    if CHOICES.load(Relaxed) & COUNTS != 0 {
        let at = match used {
            Used::Mutex(kind) => (kind & 3) as usize,
            Used::RwLock => CONDVARS + 1,
            Used::OfGlibc => CONDVARS + 2,
        };
        count_once(at, seen);
    }
}

#[cold]
fn count_once(at: usize, seen: Option<&AtomicU32>) {
    if seen.is_none_or(|seen| seen.load(Relaxed) == 0 && seen.swap(1, Relaxed) == 0) {
        COUNT[at].fetch_add(1, Relaxed);
    }
}

/// Counts a condition variable at its first wait; `seen` is a word of it that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_count_condvar(seen: *const AtomicU32) {
    if CHOICES.load(Relaxed) & COUNTS != 0 {
        // SAFETY: a word of the caller's condition variable.
        count_once(CONDVARS, Some(unsafe { &*seen }));
    }
}

/// How many objects of that kind were used, or calls made.
#[unsafe(no_mangle)]
pub extern "C" fn lw_count_of(kind: c_int) -> u64 {
    COUNT.get(kind as usize).map_or(0, |count| count.load(Relaxed))
}
