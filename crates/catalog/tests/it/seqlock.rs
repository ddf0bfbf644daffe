//! The sequence lock as programs use it.

use super::{Over, alone};
use lockwright::seqlock::RawSeqLock;
use lockwright::{Record, SeqLock};
use lockwright_core::native::Native;
use lockwright_core::raw::RawLock;
use std::mem::size_of;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

static POSITION: SeqLock<(i64, i64)> = SeqLock::new((1, -1));

#[test]
fn it_lives_in_a_static_and_begins_with_the_value_it_is_given() {
    assert_eq!(size_of::<RawSeqLock<Native, 2>>(), 32);
    assert_eq!(size_of::<SeqLock<(i64, i64)>>(), 48);
    assert_eq!((POSITION.read(), POSITION.try_read()), ((1, -1), Some((1, -1))));
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
    impl Record for Span {
        type Words = [u64; 2];

        fn to_words(self) -> [u64; 2] {
            (self.from, self.to).to_words()
        }
        fn from_words(words: [u64; 2]) -> Self {
            let (from, to) = Record::from_words(words);
            Self { from, to }
        }
    }
    let lock = SeqLock::new(Span { from: -0.5, to: 2.5 });
    lock.update(|Span { from, to }| Span { from: from - 1.0, to });
    assert_eq!(lock.read(), Span { from: -1.5, to: 2.5 });
}

#[test]
fn every_record_comes_back_as_it_was() {
    fn comes_back<T: Record + PartialEq + std::fmt::Debug>(first: T, then: T) {
        let lock = SeqLock::new(first);
        assert_eq!(lock.read(), first);
        lock.update(|value| {
            assert_eq!(value, first);
            then
        });
        assert_eq!((lock.read(), lock.try_read()), (then, Some(then)));
    }
    macro_rules! integers {
        ($($integer:ty),+) => {$(
            comes_back(<$integer>::MIN, <$integer>::MAX);
            comes_back(<$integer>::MAX, <$integer>::MAX / 3);
        )+};
    }
    integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);
    comes_back(-0.5_f32, f32::INFINITY);
    comes_back(f64::MIN_POSITIVE, -1e300);
    comes_back(true, false);
    comes_back('\0', char::MAX);
    comes_back(Duration::MAX, Duration::from_nanos(1_000_000_001));
    comes_back([true; 3], [false, true, false]);
    comes_back((1_u8,), (u8::MAX,));
    comes_back((-1_i16, 'a', 0.5_f32, true), (i16::MIN, 'z', -2.0, false));
    comes_back(
        (1_u8, 2_i16, 3_u32, 4_i64, 5_usize, 6.0_f32, 7.0, 'h'),
        (8, -7, 6, -5, 4, 3.0, 2.0, 'a'),
    );
}

#[test]
fn it_is_made_from_a_value_and_shows_it() {
    assert_eq!(SeqLock::<(u32, bool)>::default().read(), (0, false));
    let lock = SeqLock::from(7_u8);
    assert_eq!(format!("{lock:?}"), "SeqLock { value: 7 }");
    lock.update(|value| {
        assert_eq!((lock.read(), value), (7, 7), "readers go on");
        8
    });
    assert_eq!(format!("{lock:?}"), "SeqLock { value: 8 }");
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
    let lock = SeqLock::new([5]);
    let change = || lock.update(|_| panic!("no value"));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(change)).expect_err("a panic");
    lock.update(|[five]| [five + 1]);
    assert_eq!(lock.read(), [6]);
}

#[test]
fn nobody_reads_half_of_a_write() {
    let _alone = alone();
    let (lock, is_over) = (SeqLock::new([0_u64; 4]), AtomicBool::new(false));
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
