//! The sequence lock as programs use it.

use super::{Over, alone};
use lockwright::native::Native;
use lockwright::raw::RawLock;
use lockwright::seqlock::{RawSeqLock, Record, SeqLock};
use std::mem::size_of;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

static POSITION: SeqLock<Native, (i64, i64), 2> = SeqLock::INIT;

#[test]
fn it_lives_in_a_static_and_begins_with_words_of_zero() {
    assert_eq!(size_of::<RawSeqLock<Native, 2>>(), 32);
    assert_eq!(POSITION.read(), (0, 0));
    POSITION.write((-3, 4));
    POSITION.update(|(x, y)| (x + 1, y * 2));
    assert_eq!((POSITION.read(), POSITION.try_read()), ((-2, 8), Some((-2, 8))));
}

#[test]
fn a_record_of_ones_own_comes_back_as_it_was() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Span {
        from: f64,
        to: f64,
    }
    impl Record<2> for Span {
        fn to_words(self) -> [u64; 2] {
            [self.from.to_bits(), self.to.to_bits()]
        }
        fn from_words([from, to]: [u64; 2]) -> Self {
            Self { from: f64::from_bits(from), to: f64::from_bits(to) }
        }
    }
    let lock = SeqLock::<Native, Span, 2>::new(Span { from: -0.5, to: 2.5 });
    assert_eq!(lock.read(), Span { from: -0.5, to: 2.5 });
    let mixed = SeqLock::<Native, (i64, u32), 2>::new((i64::MIN, u32::MAX));
    assert_eq!(mixed.read(), (i64::MIN, u32::MAX));
}

#[test]
fn an_attempt_to_read_fails_exactly_while_somebody_writes() {
    let lock = RawSeqLock::<Native, 1>::INIT;
    lock.lock();
    // SAFETY: taken above.
    unsafe { lock.set([7]) };
    assert_eq!(lock.try_read(), None);
    // SAFETY: taken above.
    unsafe { lock.unlock() };
    assert_eq!(lock.try_read(), Some([7]));
}

#[test]
fn a_change_that_panics_leaves_the_lock_free_and_the_value_as_it_was() {
    let lock = SeqLock::<Native, [u64; 1], 1>::new([5]);
    let change = || lock.update(|_| panic!("no value"));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(change)).expect_err("a panic");
    lock.update(|[five]| [five + 1]);
    assert_eq!(lock.read(), [6]);
}

#[test]
fn nobody_reads_half_of_a_write() {
    let _alone = alone();
    let (lock, is_over) = (SeqLock::<Native, [u64; 4], 4>::new([0; 4]), AtomicBool::new(false));
    let reads = thread::scope(|scope| {
        let over = Over(&is_over);
        let reader = scope.spawn(|| {
            let (mut reads, mut newest) = (0_u64, 0);
            while !is_over.load(Relaxed) {
                let copy = lock.read();
                assert_eq!(copy, [copy[0]; 4], "a torn copy");
                assert!(copy[0] >= newest, "an older copy");
                (reads, newest) = (reads + 1, copy[0]);
            }
            reads
        });
        let end = Instant::now() + Duration::from_millis(100);
        while Instant::now() < end {
            lock.update(|copy| [copy[0] + 1; 4]);
            // A reader needs some time without a writer.
            thread::yield_now();
        }
        drop(over);
        reader.join().expect("no panic")
    });
    assert!(reads > 0);
}
