//! What a cache line costs that another core has.

use super::own::Chain;
use super::pair::{PaddedWord, relay, together};
use super::samples::each_ns;
use super::topology::Couple;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Lines of a round: enough to time them with a clock, too few to leave the nearest cache.
pub const LINES: usize = 64;

/// What passes between two cores, in nanoseconds of a line, a number for each round.
#[derive(Clone, Debug, Default)]
pub struct PairCosts {
    /// Which cores.
    pub couple: Couple,
    /// A load of a line that the other core has written.
    pub transfer: Vec<f64>,
    /// A read-modify-write of a line that the other core has written.
    pub rmw_of_dirty: Vec<f64>,
    /// A load of a line that the other core has read since this one wrote it.
    pub load_again: Vec<f64>,
    /// A read-modify-write of a line that this core has read since the other one wrote it.
    pub rmw_of_read: Vec<f64>,
    /// A read-modify-write of a line that both have read since one wrote it, this one last.
    pub rmw_of_shared: Vec<f64>,
    /// One way of a value that goes back and forth on one line.
    pub hop: Vec<f64>,
}

impl PairCosts {
    /// Measures a pair for some rounds more.
    pub fn measure(&mut self, rounds: usize) {
        let cpus = self.couple.cpus;
        let chain = Chain::new(LINES, 3);
        // ordering: Relaxed; the turns of the relay order everything.
        let take_one =
            |word: &AtomicU32| next(word.fetch_add(1 << Chain::LINK_BITS, Ordering::Relaxed));
        let dirty = || chain.words().map(take_one).map(f64::from).sum::<f64>();
        // ordering: Relaxed; as above.
        let read = || chain.walk(|word| next(word.load(Ordering::Relaxed)));
        let take = || chain.walk(take_one);
        let read_and_take = || {
            read();
            take()
        };
        self.transfer.extend(relay(cpus, rounds, || _ = dirty(), read));
        self.rmw_of_dirty.extend(relay(cpus, rounds, || _ = dirty(), take));
        self.rmw_of_read.extend(relay(cpus, rounds, || _ = dirty(), read_and_take));
        let again = relay(cpus, rounds * 2, || _ = read(), in_turns(dirty, read));
        self.load_again.extend(every_second(again));
        let mut dirty_or_read = in_turns(dirty, read);
        let (first, second) = (move || _ = dirty_or_read(), in_turns(read, read_and_take));
        self.rmw_of_shared.extend(every_second(relay(cpus, rounds * 2, first, second)));
        self.hop.extend((0..rounds.div_ceil(8)).flat_map(|_| hop(cpus)));
    }
}

/// Does one thing and the other in turns.
fn in_turns(odd: impl Fn() -> f64, even: impl Fn() -> f64) -> impl FnMut() -> f64 {
    let mut turn = 0;
    move || {
        turn += 1;
        if turn % 2 == 1 { odd() } else { even() }
    }
}

/// The results of the even turns.
fn every_second(results: Vec<f64>) -> impl Iterator<Item = f64> {
    results.into_iter().skip(1).step_by(2)
}

/// Where a chain goes on from a line that holds this: the rest counts read-modify-writes, because a
/// compiler may turn one that changes nothing into a load.
fn next(holds: u32) -> u32 {
    holds & ((1 << Chain::LINK_BITS) - 1)
}

/// One way of a value on one line.
fn hop(cpus: [usize; 2]) -> Option<f64> {
    const BACK_AND_FORTH: u32 = 200;
    let line = PaddedWord::default();
    let play = |mine: u32| {
        let mut wanted = mine;
        each_ns(BACK_AND_FORTH, || {
            // ordering: Relaxed; the value is all there is.
            while line.0.load(Ordering::Relaxed) != wanted {
                std::hint::spin_loop();
            }
            // ordering: Relaxed; as above.
            line.0.store(wanted + 1, Ordering::Relaxed);
            wanted += 2;
        }) / 2.0
    };
    together(&cpus, Duration::ZERO, |index, _| play(index as u32)).into_iter().next()
}

/// Two cores that want one line all the time.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineContest {
    /// How many operations in a row are of one core.
    pub run_length: f64,
    /// Nanoseconds of an operation, of both together.
    pub each_ns: f64,
}

/// Both cores do read-modify-writes of one line and nothing else.
pub fn hammer(cpus: [usize; 2], time: Duration) -> LineContest {
    let line = PaddedWord::default();
    contest(cpus, time, || {
        // ordering: Relaxed; the value is all there is.
        line.0.fetch_add(1, Ordering::Relaxed)
    })
}

/// Both cores take a word, write another line and give the word back; a core that finds it taken
/// waits until it reads that it is free. A core that gives it back wants it again at once.
pub fn take_turns(cpus: [usize; 2], time: Duration) -> LineContest {
    let (taken, count) = (PaddedWord::default(), PaddedWord::default());
    contest(cpus, time, || {
        loop {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let is_free = || taken.0.load(Ordering::Relaxed) == 0;
            // ordering: Acquire; with the release below.
            let take = || taken.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
            if is_free() && take().is_ok() {
                break;
            }
            while !is_free() {
                std::hint::spin_loop();
            }
        }
        // ordering: Relaxed; the core that has the word is alone.
        let number = count.0.load(Ordering::Relaxed);
        std::hint::spin_loop();
        // ordering: Relaxed; as above.
        count.0.store(number.wrapping_add(1), Ordering::Relaxed);
        // ordering: Release; with the acquire above.
        taken.0.store(0, Ordering::Release);
        number
    })
}

/// Lets two cores do `operation`, which returns its number in the order of all.
fn contest(cpus: [usize; 2], time: Duration, operation: impl Fn() -> u32 + Sync) -> LineContest {
    let start = Instant::now();
    let body = |_, is_over: &AtomicBool| {
        let (mut operations, mut in_a_row) = (0_u64, 0_u64);
        let mut last = u32::MAX - 1;
        // ordering: Relaxed; nothing is read through it.
        while !is_over.load(Ordering::Relaxed) {
            let number = operation();
            operations += 1;
            in_a_row += u64::from(number == last.wrapping_add(1));
            last = number;
        }
        (operations, in_a_row)
    };
    let counts = together(&cpus, time, body);
    let took_ns = start.elapsed().as_nanos() as f64;
    let operations: u64 = counts.iter().map(|(operations, _)| operations).sum();
    let in_a_row: u64 = counts.iter().map(|(_, in_a_row)| in_a_row).sum();
    LineContest {
        run_length: operations as f64 / (operations - in_a_row).max(1) as f64,
        each_ns: took_ns / operations.max(1) as f64,
    }
}
