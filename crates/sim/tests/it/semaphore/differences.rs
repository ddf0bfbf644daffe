//! What tells the presets from each other, event by event.
//!
//! Some events cannot happen under some values of a knob ([`POSSIBLE`]); they tell most presets from each
//! other. Between the others it is how often something happens ([`AMOUNTS`]), and there the knob alone is
//! shown to make the difference.

use super::{Length, Load, PRESETS, Preset};
use lockwright::events::Event;
use lockwright::rwsem::{
    Handoff, OwnerWord, Policy, ReaderSpin, ReaderSteal, RwSemPolicy, V3_12Series, V5_10NoRspin,
    WriterSpin,
};
use std::sync::LazyLock;

/// Short sections of writers only, a CPU each.
const WRITERS: Load = Load {
    seed: 1,
    cpus: 8,
    tasks: 8,
    readers: 0,
    read_percent: 0,
    section_ns: 100,
    sleep_percent: 0,
    outside_ns: 500,
    length: Length::Rounds(1_000),
};
/// All read and write, two to a CPU; some owners sleep.
const MIXED: Load = Load {
    seed: 1,
    cpus: 4,
    tasks: 8,
    readers: 8,
    read_percent: 50,
    section_ns: 1_000,
    sleep_percent: 10,
    outside_ns: 1_000,
    length: Length::Rounds(300),
};
const LOADS: [Load; 3] = [WRITERS, MIXED, super::starvation::A_CPU_EACH];

/// The loads by name.
#[derive(Clone, Copy, Debug)]
enum Under {
    Writers,
    Mixed,
    Starving,
}

impl Under {
    const fn load(self) -> Load {
        LOADS[self as usize]
    }
}

/// A knob that is the reason for a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knob {
    WriterSpin,
    ReaderSpin,
    ReaderSteal,
    Handoff,
    Owner,
    UnlockWake,
    QueuerWakes,
    GrantsPastWriter,
}

impl Knob {
    /// `policy` with this knob as in `other`.
    const fn as_in(self, other: &Policy, policy: Policy) -> Policy {
        match self {
            Self::WriterSpin => Policy { writer_spin: other.writer_spin, ..policy },
            Self::ReaderSpin => Policy { reader_spin: other.reader_spin, ..policy },
            Self::ReaderSteal => Policy { reader_steal: other.reader_steal, ..policy },
            Self::Handoff => Policy { handoff: other.handoff, ..policy },
            Self::Owner => Policy { owner: other.owner, ..policy },
            Self::UnlockWake => Policy { unlock_wake: other.unlock_wake, ..policy },
            Self::QueuerWakes => Policy { queuer_wakes: other.queuer_wakes, ..policy },
            Self::GrantsPastWriter => {
                Policy { grants_past_writer: other.grants_past_writer, ..policy }
            }
        }
    }
    fn differs(self, a: &Policy, b: &Policy) -> bool {
        self.as_in(b, *a) != *a
    }
}

/// Events that happen under a load if and only if a knob allows them.
struct Possible {
    letter: char,
    knob: Knob,
    allows: fn(&Policy) -> bool,
    events: &'static [Event],
    under: Under,
}

macro_rules! possible {
    ($($letter:literal $knob:ident under $under:ident: [$($event:ident),+] if $allows:expr;)+) => {
        &[$(Possible {
            letter: $letter,
            knob: Knob::$knob,
            allows: $allows,
            events: &[$(Event::$event),+],
            under: Under::$under,
        }),+]
    };
}
const POSSIBLE: &[Possible] = possible! {
    'w' WriterSpin under Mixed: [rwsem_opt_lock, rwsem_opt_wlock]
        if |policy| policy.writer_spin != WriterSpin::No;
    'h' Handoff under Starving: [rwsem_wlock_handoff] if |policy| policy.handoff != Handoff::Never;
    't' WriterSpin under Mixed: [rwsem_opt_nospin]
        if |policy| policy.writer_spin == WriterSpin::TimedOnReaders;
    'r' ReaderSpin under Mixed: [rwsem_opt_rlock] if |policy| policy.reader_spin != ReaderSpin::No;
    's' ReaderSteal under Mixed: [rwsem_rlock_steal]
        if |policy| policy.reader_steal != ReaderSteal::No;
    // What else tells of the owner word; no pair needs it.
    'o' Owner under Mixed: [rwsem_opt_norspin] if |policy| policy.owner == OwnerWord::TwoFlags;
    'o' Owner under Mixed: [rwsem_opt_lock] if |policy| policy.owner == OwnerWord::OneFlag;
};

/// An event that happens less often under one preset than under another because of a knob.
struct Amount {
    letter: char,
    knob: Knob,
    event: Event,
    under: Under,
    less: &'static str,
    more: &'static str,
    /// The second preset with the knob of the first, if that is not the first.
    alone: &'static [Preset],
}

macro_rules! amounts {
    ($($letter:literal $knob:ident under $under:ident: $event:ident of $less:literal < $more:literal
       $(alone $type:ident $alone:literal)?;)+) => {
        &[$(Amount {
            letter: $letter,
            knob: Knob::$knob,
            event: Event::$event,
            under: Under::$under,
            less: $less,
            more: $more,
            alone: &[$(Preset::of::<$type>($alone))?],
        }),+]
    };
}
const AMOUNTS: &[Amount] = amounts! {
    // A release that sees the flag wakes no waiter. As posted the flag is up for longer, and also where no waiter will
    // be woken.
    'F' UnlockWake under Writers: rwsem_wake_writer of "rwsem-v3_12_wake_flag" < "rwsem-v3_12";
    'F' UnlockWake under Writers: rwsem_wake_writer of "rwsem-v3_12_wake_flag_as_posted" < "rwsem-v3_12";
    'P' UnlockWake under Writers: rwsem_wake_writer
        of "rwsem-v3_12_wake_flag_as_posted" < "rwsem-v3_12_wake_flag";
    // A writer that spins anew for each look (`PerTurn`) gives up and queues when it does not see an owner at once.
    'T' WriterSpin under Writers: rwsem_opt_fail of "rwsem-v4_14" < "rwsem-v3_12_series"
        alone SeriesUntilReaders "the series, spinning as in 4.14";
    // A writer that queues and finds the lock free wakes the first.
    'Q' QueuerWakes under Mixed: rwsem_wake_writer of "rwsem-v4_14_handoff_as_posted" < "rwsem-v4_14_handoff";
    // Of the readers that would spin one does.
    'O' ReaderSpin under Mixed: rwsem_opt_rlock of "rwsem-v5_10_limit_rspin" < "rwsem-v5_10_before";
    // A reader that steals takes along the readers that wait behind a writer.
    'G' GrantsPastWriter under Mixed: rwsem_wake_reader of "rwsem-current" < "rwsem-v5_10_no_rspin"
        alone NotPastWriter "no_rspin, not past a writer";
};

enum SeriesUntilReaders {}
impl RwSemPolicy for SeriesUntilReaders {
    const POLICY: Policy = Policy { writer_spin: WriterSpin::UntilReaders, ..V3_12Series::POLICY };
}
enum NotPastWriter {}
impl RwSemPolicy for NotPastWriter {
    const POLICY: Policy = Policy { grants_past_writer: false, ..V5_10NoRspin::POLICY };
}

/// Why the presets of a row and of a column differ: the letter of the first of [`POSSIBLE`] or, if there is none,
/// of the one of [`AMOUNTS`]. The columns are the presets in the same order, from [`PRESETS`]' first on.
const WHY: &str = "
rwsem-v3_12_series              w
rwsem-v3_12_wake_flag_as_posted Fw
rwsem-v3_12_wake_flag           FwP
rwsem-v4_14                     wTww
rwsem-v4_14_handoff_as_posted   whwwh
rwsem-v4_14_handoff             whwwhQ
rwsem-v5_10                     whwwhtt
rwsem-v5_10_before              whwwhtts
rwsem-v5_10_limit_rspin         whwwhttsO
rwsem-v5_10_no_rspin            whwwhttrrr
rwsem-current                   whwwhttrrrG
";

/// Events by load and preset, all with one seed.
static COUNTS: LazyLock<Vec<Vec<Vec<u64>>>> = LazyLock::new(|| {
    let counts =
        |load| PRESETS.iter().map(|preset| (preset.run)(load).report.lock_events).collect();
    LOADS.into_iter().map(counts).collect()
});

fn count(under: Under, preset: usize, events: &[Event]) -> u64 {
    let counts = &COUNTS[under as usize][preset];
    events.iter().map(|&event| counts[event as usize]).sum()
}

/// The first reason why two presets, by their numbers, differ.
fn why(a: usize, b: usize) -> char {
    let (left, right) = (&PRESETS[a], &PRESETS[b]);
    let is_known = |of: &&Possible| (of.allows)(&left.policy) != (of.allows)(&right.policy);
    let (letter, knob, under, events) = match POSSIBLE.iter().find(is_known) {
        Some(of) => (of.letter, of.knob, of.under, of.events),
        None => {
            let pair = [left.name, right.name];
            let is_this = |of: &&Amount| pair.contains(&of.less) && pair.contains(&of.more);
            let Some(of) = AMOUNTS.iter().find(is_this) else { return '?' };
            (of.letter, of.knob, of.under, std::slice::from_ref(&of.event))
        }
    };
    assert!(knob.differs(&left.policy, &right.policy), "{} {}: {knob:?}", left.name, right.name);
    let counts = (count(under, a, events), count(under, b, events));
    assert_ne!(counts.0, counts.1, "{} {}: {events:?}", left.name, right.name);
    letter
}

#[test]
fn each_pair_of_presets_differs_in_the_count_of_an_event_that_a_knob_explains() {
    let mut found = String::from("\n");
    for (row, preset) in PRESETS.iter().enumerate().skip(1) {
        let letters: String = (0..row).map(|column| why(row, column)).collect();
        found += &format!("{:31} {letters}\n", preset.name);
    }
    assert!(!found.contains('?'), "no reason is known: {found}");
    assert_eq!(found, WHY, "other reasons: {found}");
}

#[test]
fn an_event_happens_under_the_presets_whose_knob_allows_it_and_under_no_other() {
    for of in POSSIBLE {
        for (number, preset) in PRESETS.iter().enumerate() {
            let counted = count(of.under, number, of.events);
            let allows = (of.allows)(&preset.policy);
            assert_eq!(counted > 0, allows, "{}: {counted} {:?}", preset.name, of.events);
        }
    }
}

/// By more than a twentieth.
const fn is_clearly_less(less: u64, more: u64) -> bool {
    less + more / 20 < more
}

#[test]
fn where_all_events_are_possible_one_knob_alone_makes_the_difference() {
    for of in AMOUNTS {
        let (less, more) = (Preset::named(of.less), Preset::named(of.more));
        let changed = of.knob.as_in(&less.policy, more.policy);
        let with_it = of.alone.first().unwrap_or(less);
        assert!(with_it.policy == changed, "{} differs in more than {:?}", with_it.name, of.knob);
        for seed in 1..=3 {
            let load = of.under.load().with_seed(seed);
            let counted = |preset: &Preset| (preset.run)(load).report.count_of(of.event);
            let (count, with_it, more) = (counted(less), counted(with_it), counted(more));
            let is_less = is_clearly_less(count, more) && is_clearly_less(with_it, more);
            assert!(is_less, "{:?} {}: {count} {with_it} {more}, seed {seed}", of.event, of.less);
        }
    }
}
