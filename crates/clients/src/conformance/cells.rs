//! Laws C: cells.

use super::{Note, run_two};
use crate::Threads;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use lockwright::platform::{Atomic, AtomicInt, Guarded, Platform, Zeroed};

pub fn zeroed_cells_hold_zero<P: Platform>(_: &dyn Threads) {
    assert_eq!(P::U32::zeroed().load(Relaxed), 0);
    assert_eq!(P::U64::zeroed().load(Relaxed), 0);
    assert!(P::Ptr::zeroed().load(Relaxed).is_null());
    assert_eq!(P::Word::zeroed().load(Relaxed), 0);
}

/// Calls `check` with every kind of cell and three different values of its type.
macro_rules! for_each_cell {
    ($P:ident, $check:ident) => {{
        let mut places = [0u8; 2];
        let [one, two] = places.each_mut().map(|place| std::ptr::from_mut(place).cast::<()>());
        $check(P::U32::zeroed(), [1, u32::MAX, 0x8000_0001]);
        $check(P::U64::zeroed(), [1, u64::MAX, 0x8000_0001_0000_0001]);
        $check(P::Ptr::zeroed(), [one, two, null_mut()]);
        $check(P::Word::zeroed(), [1, u32::MAX, 0x8000_0001]);
    }};
}

pub fn a_load_returns_the_last_store<P: Platform>(_: &dyn Threads) {
    fn check<T: Copy + Eq + core::fmt::Debug>(cell: impl Atomic<T>, [a, b, c]: [T; 3]) {
        cell.store(a, Release);
        assert_eq!(cell.load(Acquire), a);
        assert_eq!(cell.swap(b, AcqRel), a);
        assert_eq!(cell.load(Relaxed), b);
        cell.store(c, Relaxed);
        assert_eq!(cell.load(Relaxed), c);
    }
    for_each_cell!(P, check);
}

pub fn compare_exchange_reports_the_old_value<P: Platform>(_: &dyn Threads) {
    fn check<T: Copy + Eq + core::fmt::Debug>(cell: impl Atomic<T>, [a, b, c]: [T; 3]) {
        cell.store(a, Relaxed);
        assert_eq!(cell.compare_exchange(b, c, AcqRel, Acquire), Err(a));
        assert_eq!(cell.load(Relaxed), a, "a failed exchange changed the cell");
        assert_eq!(cell.compare_exchange(a, b, Acquire, Relaxed), Ok(a));
        assert_eq!(cell.compare_exchange(b, b, Release, Relaxed), Ok(b));
        assert_eq!(cell.load(Relaxed), b);
    }
    for_each_cell!(P, check);
}

pub fn compare_exchange_does_not_fail_spuriously<P: Platform>(threads: &dyn Threads) {
    // Each thread writes a cell of its own; the cells are neighbours, on one line natively.
    fn count_up<C: Atomic<u32>>(cell: &C) {
        for old in 0..3 {
            assert_eq!(cell.compare_exchange(old, old + 1, AcqRel, Relaxed), Ok(old));
        }
    }
    let cells = (P::U32::zeroed(), P::U32::zeroed());
    run_two(threads, cells, |cells| count_up(&cells.0), |cells| count_up(&cells.1));
}

pub fn fetch_operations_return_the_value_before<P: Platform>(_: &dyn Threads) {
    macro_rules! check {
        ($cell:ty, $int:ty) => {
            let cell = <$cell>::zeroed();
            assert_eq!(cell.fetch_sub(1, AcqRel), 0);
            assert_eq!(cell.fetch_add(2, AcqRel), <$int>::MAX, "zero minus one wraps around");
            assert_eq!(cell.fetch_or(6, AcqRel), 1, "the greatest value plus two wraps around");
            assert_eq!(cell.fetch_and(!3, AcqRel), 7);
            assert_eq!(cell.load(Relaxed), 4);
        };
    }
    check!(P::U32, u32);
    check!(P::U64, u64);
    check!(P::Word, u32);
}

pub fn no_read_modify_write_is_lost<P: Platform>(threads: &dyn Threads) {
    struct State<P: Platform> {
        sum: P::U32,
        bits: P::U64,
    }
    fn body<P: Platform>(state: &State<P>, bit: u64) {
        state.sum.fetch_add(1, Relaxed);
        state.bits.fetch_or(bit, Relaxed);
    }
    let state = State::<P> { sum: Zeroed::zeroed(), bits: Zeroed::zeroed() };
    let state = run_two(threads, state, |state| body(state, 1), |state| body(state, 1 << 63));
    assert_eq!(state.sum.load(Relaxed), 2);
    assert_eq!(state.bits.load(Relaxed), 1 << 63 | 1);
}

/// A message and the flag that announces it.
struct Message<P: Platform> {
    text: Guarded<P, u64>,
    number: P::U64,
    flag: P::U32,
}

const TEXT: u64 = 0x5eed;

impl<P: Platform> Message<P> {
    fn new() -> Self {
        let text = Guarded::new(0);
        Self { text, number: Zeroed::zeroed(), flag: Zeroed::zeroed() }
    }
    fn write(&self) {
        self.number.store(TEXT, Relaxed);
        // SAFETY: nobody reads before the flag is set, which comes after this.
        unsafe { self.text.set(TEXT) };
    }
    fn read(&self) {
        assert_eq!(self.number.load(Relaxed), TEXT, "the flag arrived before the message");
        // SAFETY: the flag was seen set, and nobody writes after that.
        assert_eq!(unsafe { self.text.get() }, TEXT);
    }
}

pub fn a_release_store_publishes_to_an_acquire_load<P: Platform>(threads: &dyn Threads) {
    let write = |message: &Message<P>| {
        message.write();
        message.flag.store(1, Release);
    };
    let read = |message: &Message<P>| {
        if message.flag.load(Acquire) == 1 {
            message.read();
        }
    };
    run_two(threads, Message::new(), write, read);
}

pub fn a_release_swap_publishes_to_an_acquire_compare_exchange<P: Platform>(threads: &dyn Threads) {
    let write = |message: &Message<P>| {
        message.write();
        message.flag.swap(1, Release);
    };
    let read = |message: &Message<P>| {
        if message.flag.compare_exchange(1, 2, Acquire, Relaxed).is_ok() {
            message.read();
        }
    };
    run_two(threads, Message::new(), write, read);
}

pub fn a_read_modify_write_continues_a_release<P: Platform>(threads: &dyn Threads) {
    let message = std::sync::Arc::new(Message::<P>::new());
    let [writer, between, reader] = [(); 3].map(|()| message.clone());
    threads.run(vec![
        Box::new(move || {
            writer.write();
            writer.flag.fetch_or(1, Release);
        }),
        // Orders nothing itself, but what the writer released is still there to be acquired.
        Box::new(move || {
            between.flag.fetch_or(2, Relaxed);
        }),
        Box::new(move || {
            if reader.flag.load(Acquire) & 1 == 1 {
                reader.read();
            }
        }),
    ]);
    assert_eq!(message.flag.load(Relaxed), 3);
}

pub fn one_cell_never_goes_backwards<P: Platform>(threads: &dyn Threads) {
    let state = (P::U32::zeroed(), Note::default(), Note::default());
    let write = |(cell, ..): &(P::U32, Note, Note)| {
        cell.store(1, Relaxed);
        cell.store(2, Relaxed);
    };
    let read = |(cell, first, second): &(P::U32, Note, Note)| {
        first.write(cell.load(Relaxed));
        second.write(cell.load(Relaxed));
    };
    let state = run_two(threads, state, write, read);
    assert!(state.1.read() <= state.2.read(), "a later load returned an older value");
}

pub fn a_guarded_field_holds_what_was_set<P: Platform>(_: &dyn Threads) {
    let field = Guarded::<P, u64>::new(7);
    // SAFETY: nobody else knows the field.
    assert_eq!(unsafe { field.get() }, 7);
    // SAFETY: as above.
    unsafe { field.set(8) };
    // SAFETY: as above.
    assert_eq!(unsafe { field.get() }, 8);
}
