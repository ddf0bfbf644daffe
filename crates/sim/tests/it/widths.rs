//! What a read-modify-write waits for a store just before it that does not hold all of its bytes.

use crate::machines::{machine, quiet};
use crate::programs::{U32, hold, sharing};
use lockwright_core::platform::{Atomic, AtomicInt, Cells, LockWordOps, Zeroed};
use lockwright_core::raw::{Order, RawLock};
use lockwright_linux::qspinlock::{CnaSpinlock, QSpinlock};
use lockwright_sim::machine::Machine;
use lockwright_sim::{Sim, thread};
use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

type Word = <Sim as Cells>::Word;

/// What the machine of these tests charges.
const MISMATCH_NS: f64 = 6.0;
const MISMATCH_PS: u64 = 6_000;

fn with_mismatch(width_mismatch_ns: f64) -> Machine {
    let mut machine = quiet(machine(1, 2, 1));
    machine.costs.width_mismatch_ns = width_mismatch_ns;
    machine
}

fn elapsed_ps(what: impl FnOnce()) -> u64 {
    let start = thread::now_ps();
    what();
    thread::now_ps() - start
}

/// Takes its word with a compare-exchange and gives it back with a store, 32 bits each.
struct WholeWord(U32);

impl RawLock for WholeWord {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self(Zeroed::zeroed())
    }
    fn lock(&self) {
        assert!(self.try_lock(), "one thread only");
    }
    fn try_lock(&self) -> bool {
        self.0.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }
    unsafe fn unlock(&self) {
        self.0.store(0, Release);
    }
    fn is_locked(&self) -> bool {
        self.0.load(Relaxed) != 0
    }
}

/// Simulated time of 100 pairs of one thread after a first one.
fn pairs_ps<L: RawLock>(width_mismatch_ns: f64) -> u64 {
    let elapsed = Cell::new(0);
    sharing(L::new(), with_mismatch(width_mismatch_ns)).ends(&[(0, &|lock| {
        hold(lock, || ());
        elapsed.set(elapsed_ps(|| (0..100).for_each(|_| hold(lock, || ()))));
    })]);
    elapsed.get()
}

#[test]
fn a_lock_that_is_released_by_a_narrower_store_waits_for_it_and_one_of_32_bits_does_not() {
    fn more_ps<L: RawLock>() -> u64 {
        pairs_ps::<L>(MISMATCH_NS) - pairs_ps::<L>(0.0)
    }
    assert_eq!(more_ps::<QSpinlock<Sim>>(), 100 * MISMATCH_PS);
    assert_eq!(more_ps::<CnaSpinlock<Sim>>(), 100 * MISMATCH_PS);
    assert_eq!(more_ps::<WholeWord>(), 0);
}

/// What `access` takes longer than without the rule, that long after `store`.
fn wait_ps(store: &dyn Fn(&Word), after_ps: u64, access: &dyn Fn(&Word)) -> u64 {
    let time = |width_mismatch_ns| {
        let elapsed = Cell::new(0);
        sharing(Word::zeroed(), with_mismatch(width_mismatch_ns)).ends(&[(0, &|word| {
            // The line is there, and the store commits at once.
            word.fetch_add(0, Relaxed);
            thread::hold_ps(100_000);
            store(word);
            thread::hold_ps(after_ps);
            elapsed.set(elapsed_ps(|| access(word)));
        })]);
        elapsed.get()
    };
    time(MISMATCH_NS) - time(0.0)
}

#[test]
fn an_access_waits_if_the_store_wrote_some_of_its_bytes_and_not_all() {
    let byte = |word: &Word| word.store_byte0(0, Release);
    let half = |word: &Word| word.store_half0(0, Release);
    let whole = |word: &Word| word.store(0, Release);
    let take_byte = |word: &Word| _ = word.compare_exchange_byte0(0, 1, Acquire, Relaxed);
    let take_half = |word: &Word| _ = word.compare_exchange_half0(0, 1, Acquire, Relaxed);
    let take_whole = |word: &Word| _ = word.compare_exchange(0, 1, Acquire, Relaxed);
    let add = |word: &Word| _ = word.fetch_add(1, Relaxed);
    let upper = |word: &Word| _ = word.swap_half1(0, Relaxed);
    let wait = |store: &dyn Fn(&Word), access: &dyn Fn(&Word)| wait_ps(store, 0, access);
    assert_eq!(wait(&byte, &take_half), MISMATCH_PS);
    assert_eq!(wait(&byte, &take_whole), MISMATCH_PS);
    assert_eq!(wait(&half, &take_whole), MISMATCH_PS);
    assert_eq!(wait(&half, &add), MISMATCH_PS);
    assert_eq!(
        [wait(&byte, &take_byte), wait(&half, &take_half), wait(&whole, &take_whole)],
        [0; 3]
    );
    assert_eq!([wait(&whole, &take_half), wait(&half, &take_byte)], [0; 2]);
    assert_eq!(wait(&half, &upper), 0, "other bytes");
}

#[test]
fn what_happens_between_the_store_and_the_access_counts_for_the_wait() {
    let byte = |word: &Word| word.store_byte0(0, Release);
    let take = |word: &Word| _ = word.compare_exchange(0, 1, Acquire, Relaxed);
    let waits = [0, 2_000, 6_000, 50_000].map(|after_ps| wait_ps(&byte, after_ps, &take));
    assert_eq!(waits, [6_000, 4_000, 0, 0]);
}
