//! Laws C: cells.

use super::note::{Note, alone, nothing_more};
use crate::platform::{CommonPlatform, Threads};
use core::fmt::Debug;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use lockwright_core::platform::{Atomic, AtomicInt, Guarded, Zeroed};

/// A cell of each kind.
struct EveryKind<P: CommonPlatform> {
    small: P::U32,
    large: P::U64,
    pointer: P::Ptr,
    word: P::Word,
}

impl<P: CommonPlatform> EveryKind<P> {
    fn new() -> Self {
        let (small, large) = (Zeroed::zeroed(), Zeroed::zeroed());
        Self { small, large, pointer: Zeroed::zeroed(), word: Zeroed::zeroed() }
    }
}

pub fn zeroed_cells_hold_zero<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, EveryKind::<P>::new(), |cells| {
        assert_eq!(cells.small.load(Relaxed), 0);
        assert_eq!(cells.large.load(Relaxed), 0);
        assert!(cells.pointer.load(Relaxed).is_null());
        assert_eq!(cells.word.load(Relaxed), 0);
    });
}

/// Calls `check` with every kind of cell and three different values of its type.
macro_rules! for_each_kind {
    ($cells:ident, $check:ident) => {{
        let mut places = [0u8; 2];
        let [one, two] = places.each_mut().map(|place| core::ptr::from_mut(place).cast::<()>());
        $check(&$cells.small, [1, u32::MAX, 0x8000_0001]);
        $check(&$cells.large, [1, u64::MAX, 0x8000_0001_0000_0001]);
        $check(&$cells.pointer, [one, two, null_mut()]);
        $check(&$cells.word, [1, u32::MAX, 0x8000_0001]);
    }};
}

pub fn a_load_returns_the_last_store<P: CommonPlatform, T: Threads>(threads: &T) {
    fn check<V: Copy + Eq + Debug>(cell: &impl Atomic<V>, [a, b, c]: [V; 3]) {
        cell.store(a, Release);
        assert_eq!(cell.load(Acquire), a);
        assert_eq!(cell.swap(b, AcqRel), a);
        assert_eq!(cell.load(Relaxed), b);
        cell.store(c, Relaxed);
        assert_eq!(cell.load(Relaxed), c);
    }
    alone(threads, EveryKind::<P>::new(), |cells| {
        for_each_kind!(cells, check);
    });
}

pub fn compare_exchange_reports_the_old_value<P: CommonPlatform, T: Threads>(threads: &T) {
    fn check<V: Copy + Eq + Debug>(cell: &impl Atomic<V>, [a, b, c]: [V; 3]) {
        cell.store(a, Relaxed);
        assert_eq!(cell.compare_exchange(b, c, AcqRel, Acquire), Err(a));
        assert_eq!(cell.load(Relaxed), a, "a failed exchange changed the cell");
        assert_eq!(cell.compare_exchange(a, b, Acquire, Relaxed), Ok(a));
        assert_eq!(cell.compare_exchange(b, b, Release, Relaxed), Ok(b));
        assert_eq!(cell.load(Relaxed), b);
    }
    alone(threads, EveryKind::<P>::new(), |cells| {
        for_each_kind!(cells, check);
    });
}

pub fn compare_exchange_does_not_fail_spuriously<P: CommonPlatform, T: Threads>(threads: &T) {
    // Each thread writes a cell of its own; the cells are neighbours, natively on one line.
    fn count_up(cell: &impl Atomic<u32>) {
        for old in 0..3 {
            assert_eq!(cell.compare_exchange(old, old + 1, AcqRel, Relaxed), Ok(old));
        }
    }
    let cells = [P::U32::zeroed(), P::U32::zeroed()];
    threads.run(cells, &[|cells| count_up(&cells[0]), |cells| count_up(&cells[1])], nothing_more);
}

pub fn fetch_operations_return_the_value_before<P: CommonPlatform, T: Threads>(threads: &T) {
    macro_rules! check {
        ($cell:expr, $int:ty) => {
            assert_eq!($cell.fetch_sub(1, AcqRel), 0);
            assert_eq!($cell.fetch_add(2, AcqRel), <$int>::MAX, "zero minus one wraps around");
            assert_eq!($cell.fetch_or(6, AcqRel), 1, "the greatest value plus two wraps around");
            assert_eq!($cell.fetch_and(!3, AcqRel), 7);
            assert_eq!($cell.load(Relaxed), 4);
        };
    }
    alone(threads, EveryKind::<P>::new(), |cells| {
        check!(cells.small, u32);
        check!(cells.large, u64);
        check!(cells.word, u32);
    });
}

pub fn no_read_modify_write_is_lost<P: CommonPlatform, T: Threads>(threads: &T) {
    fn body<P: CommonPlatform>(cells: &EveryKind<P>, bit: u64) {
        cells.small.fetch_add(1, Relaxed);
        cells.large.fetch_or(bit, Relaxed);
    }
    fn finish<P: CommonPlatform>(cells: &EveryKind<P>) {
        assert_eq!(cells.small.load(Relaxed), 2);
        assert_eq!(cells.large.load(Relaxed), 1 << 63 | 1);
    }
    let bodies: [fn(&EveryKind<P>); 2] = [|cells| body(cells, 1), |cells| body(cells, 1 << 63)];
    threads.run(EveryKind::<P>::new(), &bodies, finish);
}

/// A message and the flag that announces it.
struct Message<P: CommonPlatform> {
    text: Guarded<P, u64>,
    number: P::U64,
    flag: P::U32,
}

const TEXT: u64 = 0x5eed;

impl<P: CommonPlatform> Message<P> {
    fn new() -> Self {
        let text = Guarded::new(0);
        Self { text, number: Zeroed::zeroed(), flag: Zeroed::zeroed() }
    }
    fn write(&self) {
        self.number.store(TEXT, Relaxed);
        // SAFETY: no thread reads before the flag is set, which comes after this.
        unsafe { self.text.set(TEXT) };
    }
    fn read(&self) {
        assert_eq!(self.number.load(Relaxed), TEXT, "the flag arrived before the message");
        // SAFETY: the flag was seen set, and no thread writes after that.
        assert_eq!(unsafe { self.text.get() }, TEXT);
    }
}

pub fn a_release_store_publishes_to_an_acquire_load<P: CommonPlatform, T: Threads>(threads: &T) {
    fn write<P: CommonPlatform>(message: &Message<P>) {
        message.write();
        message.flag.store(1, Release);
    }
    fn read<P: CommonPlatform>(message: &Message<P>) {
        if message.flag.load(Acquire) == 1 {
            message.read();
        }
    }
    threads.run(Message::<P>::new(), &[write, read], nothing_more);
}

pub fn a_release_swap_publishes_to_an_acquire_compare_exchange<P: CommonPlatform, T: Threads>(
    threads: &T,
) {
    fn write<P: CommonPlatform>(message: &Message<P>) {
        message.write();
        message.flag.swap(1, Release);
    }
    fn read<P: CommonPlatform>(message: &Message<P>) {
        if message.flag.compare_exchange(1, 2, Acquire, Relaxed).is_ok() {
            message.read();
        }
    }
    threads.run(Message::<P>::new(), &[write, read], nothing_more);
}

pub fn a_read_modify_write_continues_a_release<P: CommonPlatform, T: Threads>(threads: &T) {
    fn write<P: CommonPlatform>(message: &Message<P>) {
        message.write();
        message.flag.fetch_or(1, Release);
    }
    // Orders nothing itself, but what the writer released is still there to be acquired.
    fn between<P: CommonPlatform>(message: &Message<P>) {
        message.flag.fetch_or(2, Relaxed);
    }
    fn read<P: CommonPlatform>(message: &Message<P>) {
        if message.flag.load(Acquire) & 1 == 1 {
            message.read();
        }
    }
    fn finish<P: CommonPlatform>(message: &Message<P>) {
        assert_eq!(message.flag.load(Relaxed), 3);
    }
    threads.run(Message::<P>::new(), &[write, between, read], finish);
}

pub fn one_cell_never_goes_backwards<P: CommonPlatform, T: Threads>(threads: &T) {
    struct State<P: CommonPlatform> {
        cell: P::U32,
        seen: [Note; 2],
    }
    fn write<P: CommonPlatform>(state: &State<P>) {
        state.cell.store(1, Relaxed);
        state.cell.store(2, Relaxed);
    }
    fn read<P: CommonPlatform>(state: &State<P>) {
        for seen in &state.seen {
            seen.write(state.cell.load(Relaxed));
        }
    }
    fn finish<P: CommonPlatform>(state: &State<P>) {
        let [first, second] = &state.seen;
        assert!(first.read() <= second.read(), "a later load returned an older value");
    }
    let state = State::<P> { cell: Zeroed::zeroed(), seen: Default::default() };
    threads.run(state, &[write, read], finish);
}

pub fn a_guarded_field_holds_what_was_set<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, Guarded::<P, u64>::new(7), |field| {
        // SAFETY: no other thread knows the field.
        assert_eq!(unsafe { field.get() }, 7);
        // SAFETY: as above.
        unsafe { field.set(8) };
        // SAFETY: as above.
        assert_eq!(unsafe { field.get() }, 8);
    });
}
