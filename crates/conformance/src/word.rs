//! Laws W: narrow accesses to a lock word.

use super::note::{alone, nothing_more};
use crate::platform::{CommonPlatform, Threads};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use lockwright_core::platform::{Atomic, Guarded, LockWordOps, Zeroed};

const START: u32 = 0x8765_4321;

fn word<P: CommonPlatform>() -> P::Word {
    let word = P::Word::zeroed();
    word.store(START, Relaxed);
    word
}

pub fn a_narrow_store_changes_its_part_only<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, word::<P>(), |word| {
        word.store_byte0(0xaa, Release);
        assert_eq!(word.load(Relaxed), 0x8765_43aa);
        word.store_byte1(0xbb, Relaxed);
        assert_eq!(word.load(Relaxed), 0x8765_bbaa);
        word.store_half0(0xdcfe, Release);
        assert_eq!(word.load(Relaxed), 0x8765_dcfe);
        word.store_half0(0, Relaxed);
        assert_eq!(word.load(Relaxed), 0x8765_0000);
    });
}

pub fn a_narrow_swap_returns_the_old_part<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, word::<P>(), |word| {
        assert_eq!(word.swap_byte0(0xff, AcqRel), 0x21);
        assert_eq!(word.load(Relaxed), 0x8765_43ff);
        assert_eq!(word.swap_half1(0x0102, AcqRel), 0x8765);
        assert_eq!(word.load(Relaxed), 0x0102_43ff);
        assert_eq!(word.swap_half1(0, Relaxed), 0x0102);
        assert_eq!(word.load(Relaxed), 0x0000_43ff);
    });
}

pub fn a_narrow_compare_exchange_looks_at_its_part_only<P: CommonPlatform, T: Threads>(
    threads: &T,
) {
    alone(threads, word::<P>(), |word| {
        assert_eq!(word.compare_exchange_byte0(0x43, 1, AcqRel, Acquire), Err(0x21));
        assert_eq!(word.compare_exchange_half0(0x21, 1, AcqRel, Acquire), Err(0x4321));
        assert_eq!(word.load(Relaxed), START, "a failed exchange changed the word");
        assert_eq!(word.compare_exchange_byte0(0x21, 0x99, AcqRel, Relaxed), Ok(0x21));
        assert_eq!(word.load(Relaxed), 0x8765_4399);
        assert_eq!(word.compare_exchange_half0(0x4399, 0x1234, Acquire, Relaxed), Ok(0x4399));
        assert_eq!(word.load(Relaxed), 0x8765_1234);
    });
}

pub fn a_narrow_compare_exchange_does_not_fail_for_the_other_part<P: CommonPlatform, T: Threads>(
    threads: &T,
) {
    fn lower(word: &impl LockWordOps) {
        assert_eq!(word.compare_exchange_half0(0x4321, 0x4300, Acquire, Relaxed), Ok(0x4321));
        assert_eq!(word.compare_exchange_byte0(0, 0x77, Acquire, Relaxed), Ok(0));
    }
    fn upper(word: &impl LockWordOps) {
        assert_eq!(word.swap_half1(0x1111, Release), 0x8765);
        assert_eq!(word.swap_half1(0x2222, Release), 0x1111);
    }
    fn finish(word: &impl LockWordOps) {
        assert_eq!(word.load(Relaxed), 0x2222_4377);
    }
    threads.run(word::<P>(), &[lower, upper], finish);
}

pub fn narrow_accesses_to_different_parts_lose_nothing<P: CommonPlatform, T: Threads>(threads: &T) {
    fn stores(word: &impl LockWordOps) {
        word.store_byte0(0xaa, Release);
        word.store_byte0(0xab, Release);
    }
    fn others(word: &impl LockWordOps) {
        assert_eq!(word.swap_half1(0x1234, AcqRel), 0x8765);
        word.fetch_or(0x0c00, Acquire);
    }
    fn finish(word: &impl LockWordOps) {
        assert_eq!(word.load(Relaxed), 0x1234_4fab);
    }
    threads.run(word::<P>(), &[stores, others], finish);
}

struct Message<P: CommonPlatform> {
    text: Guarded<P, u64>,
    word: P::Word,
}

impl<P: CommonPlatform> Message<P> {
    fn new() -> Self {
        Self { text: Guarded::new(0), word: word::<P>() }
    }
    fn write(&self) {
        // SAFETY: no thread reads before the word changes, which comes after this.
        unsafe { self.text.set(1) };
    }
    fn read(&self) {
        // SAFETY: the changed word was seen, and no thread writes after that.
        assert_eq!(unsafe { self.text.get() }, 1);
    }
}

pub fn a_narrow_release_publishes_to_a_whole_acquire<P: CommonPlatform, T: Threads>(threads: &T) {
    fn write<P: CommonPlatform>(message: &Message<P>) {
        message.write();
        message.word.store_byte0(0, Release);
    }
    fn read<P: CommonPlatform>(message: &Message<P>) {
        message.word.cond_load(Acquire, |word| word & 0xff == 0);
        message.read();
    }
    threads.run(Message::<P>::new(), &[write, read], nothing_more);
}

pub fn a_narrow_swap_publishes_to_the_next<P: CommonPlatform, T: Threads>(threads: &T) {
    fn write<P: CommonPlatform>(message: &Message<P>) {
        message.write();
        message.word.swap_half1(1, AcqRel);
    }
    fn read<P: CommonPlatform>(message: &Message<P>) {
        if message.word.swap_half1(2, AcqRel) == 1 {
            message.read();
        }
    }
    threads.run(Message::<P>::new(), &[write, read], nothing_more);
}
