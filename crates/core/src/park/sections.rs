//! The length of sections of a lock that readers share, and its phases. They are hints, kept for one lock of each
//! bucket.
//!
//! ```text
//!  63                             8 7      4 3      0
//! +--------------------------------+--------+--------+
//! |        name of the lock        | writes | reads  |   sections
//! +--------------------------------+--------+--------+
//! ```
//!
//! | reads, writes | what it says |
//! |---|---|
//! | 0 | the last section of that kind was short, or none was noted |
//! | 1 | it was long |
//! | 2 | this many or more in a row were long: a thread that has to wait sleeps at once, and is granted the lock |

use super::HoldMode;
use core::sync::atomic::AtomicU64 as Private;
use core::sync::atomic::Ordering::Relaxed;

/// The length from which on a section is long, if the tunable is not set. It costs less to put a thread to sleep and to
/// wake it.
const LONG_NS: u64 = 20_000;
/// The number of long sections in a row that is not taken for an accident.
const LONG_SECTIONS: u64 = 2;
const SCORE_BITS: u32 = 4;
const SCORE: u64 = (1 << SCORE_BITS) - 1;
const NAME_SHIFT: u32 = 2 * SCORE_BITS;

fn shift(held: HoldMode) -> u32 {
    match held {
        HoldMode::Reader => 0,
        HoldMode::Writer => SCORE_BITS,
    }
}

/// The number of sections in a row that were long, of the lock of which a section was noted last.
#[derive(Debug)]
pub struct Sections(Private);

impl Sections {
    /// The state in which no section was noted.
    #[allow(clippy::declare_interior_mutable_const)]
    pub(super) const UNKNOWN: Self = Self(Private::new(0));

    /// Returns what is known of the lock `name`: two scores.
    fn scores(&self, name: u64) -> u64 {
        // ordering: Relaxed; only a hint.
        let seen = self.0.load(Relaxed);
        if seen >> NAME_SHIFT == name { seen & (SCORE << SCORE_BITS | SCORE) } else { 0 }
    }
    /// Returns `true` if sections of the lock `name` in this mode are long. `long_ns` is the length from which on they
    /// are long, if it is set.
    pub fn are_long(&self, name: u64, held: HoldMode, long_ns: Option<u64>) -> bool {
        long_ns == Some(0) || self.scores(name) >> shift(held) & SCORE == LONG_SECTIONS
    }
    /// Notes that a section took `took_ns`. The caller holds the bucket.
    pub fn note(&self, name: u64, held: HoldMode, took_ns: u64, long_ns: Option<u64>) {
        let scores = self.scores(name);
        let score = scores >> shift(held) & SCORE;
        let next =
            if took_ns < long_ns.unwrap_or(LONG_NS) { 0 } else { (score + 1).min(LONG_SECTIONS) };
        if next != score {
            let scores = scores & !(SCORE << shift(held)) | next << shift(held);
            // ordering: Relaxed; only a hint.
            self.0.store(name << NAME_SHIFT | scores, Relaxed);
        }
    }
}

/// The last grant of a lock to readers, and the time until which other readers may join them although a writer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPhase {
    name: u64,
    until_ns: u64,
    /// The number of writers that were granted the lock since.
    writers: u32,
}

/// The time that it costs, for each thread that is woken, to change from readers to writers and back. A phase lasts as
/// long as this change, so at most half of the time goes into the change.
const WAKE_NS: u64 = 25_000;
/// The longest time that a phase lasts.
const LONGEST_NS: u64 = 3_000_000;

impl ReadPhase {
    /// The state in which no lock was granted to readers.
    pub(super) const NONE: Self = Self { name: 0, until_ns: 0, writers: 0 };

    fn of(self, name: u64) -> Self {
        if self.name == name { self } else { Self { name, ..Self::NONE } }
    }
    /// Returns the phase after a writer was granted the lock `name`.
    pub fn with_writer(self, name: u64) -> Self {
        let of = self.of(name);
        Self { writers: of.writers.saturating_add(1), ..of }
    }
    /// Returns the phase after that many readers were granted the lock `name`, now.
    pub fn with_readers(self, name: u64, readers: u32, now_ns: u64) -> Self {
        let woken = u64::from(readers) + u64::from(self.of(name).writers);
        let lasts_ns = (woken * WAKE_NS).min(LONGEST_NS);
        Self { name, until_ns: now_ns.saturating_add(lasts_ns), writers: 0 }
    }
    /// Returns `true` if readers were granted the lock `name` last, as far as is known.
    pub fn is_of_readers(self, name: u64) -> bool {
        self.name == name && self.writers == 0
    }
    /// Returns the time at which the phase is over for the lock `name`. If it is not known, that time is in the past.
    pub fn until_ns(self, name: u64) -> u64 {
        self.of(name).until_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_long_sections_in_a_row_make_a_lock_one_of_long_sections_and_a_short_one_ends_that() {
        let sections = Sections::UNKNOWN;
        let are_long =
            || [HoldMode::Reader, HoldMode::Writer].map(|held| sections.are_long(7, held, None));
        sections.note(7, HoldMode::Reader, LONG_NS, None);
        assert_eq!(are_long(), [false, false]);
        sections.note(7, HoldMode::Writer, LONG_NS, None);
        sections.note(7, HoldMode::Reader, LONG_NS, None);
        sections.note(7, HoldMode::Reader, LONG_NS, None);
        assert_eq!(are_long(), [true, false]);
        assert!(!sections.are_long(8, HoldMode::Reader, None), "another lock of the bucket");
        sections.note(7, HoldMode::Reader, LONG_NS - 1, None);
        sections.note(7, HoldMode::Writer, LONG_NS, None);
        assert_eq!(are_long(), [false, true]);
        sections.note(8, HoldMode::Reader, LONG_NS, None);
        assert_eq!(are_long(), [false, false]);
        sections.note(8, HoldMode::Reader, LONG_NS, Some(LONG_NS + 1));
        assert!(!sections.are_long(8, HoldMode::Reader, Some(LONG_NS + 1)));
        assert!(sections.are_long(8, HoldMode::Reader, Some(0)));
    }

    #[test]
    fn a_phase_lasts_as_long_as_the_wake_ups_that_it_took() {
        let phase = ReadPhase::NONE.with_writer(7).with_writer(7).with_readers(7, 3, 1_000);
        assert_eq!(phase.until_ns(7), 1_000 + 5 * WAKE_NS);
        assert_eq!(phase.until_ns(8), 0);
        assert!(phase.is_of_readers(7) && !phase.is_of_readers(8));
        assert!(!phase.with_writer(7).is_of_readers(7));
        assert_eq!(
            phase.with_readers(7, 1, 0).until_ns(7),
            WAKE_NS,
            "those writers are of the last one"
        );
        assert_eq!(phase.with_writer(8).with_readers(8, u32::MAX, 0).until_ns(8), LONGEST_NS);
    }
}
