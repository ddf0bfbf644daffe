//! What tells the presets from each other, event by event.
//!
//! Some events cannot happen under some values of a knob ([`POSSIBLE`]); they tell most presets from each
//! other. Between the others it is how often something happens ([`AMOUNTS`]), and there the knob alone is
//! shown to make the difference.

use super::{Length, Load, PRESETS, Preset};
use lockwright_core::events::Event;
use lockwright_linux::rwsem::{
    self, Handoff, OwnerWord, Policy, ReaderSpin, ReaderSteal, RwSemPolicy, WriterSpin,
};
use std::marker::PhantomData;
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
/// Two read and write short sections, a CPU each, so that a lock is often free again when a thread has queued.
const BRIEF: Load = Load {
    cpus: 2,
    tasks: 2,
    readers: 2,
    read_percent: 50,
    section_ns: 150,
    outside_ns: 200,
    length: Length::Rounds(4_000),
    ..WRITERS
};
const LOADS: [Load; 4] = [WRITERS, MIXED, super::starvation::A_CPU_EACH, BRIEF];

/// The loads by name.
#[derive(Clone, Copy, Debug)]
enum Under {
    Writers,
    Mixed,
    Starving,
    Brief,
}

impl Under {
    const fn load(self) -> Load {
        LOADS[self as usize]
    }
}

/// The knobs that are the reasons for differences, by the fields of a policy.
macro_rules! knobs {
    ($($knob:ident $field:ident;)+) => {
        /// A knob that is the reason for a difference.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Knob {
            $($knob,)+
        }

        impl Knob {
            const ALL: &[Self] = &[$(Self::$knob),+];

            /// `policy` with this knob as in `other`.
            const fn as_in(self, other: &Policy, policy: Policy) -> Policy {
                match self {
                    $(Self::$knob => Policy { $field: other.$field, ..policy },)+
                }
            }
        }
    };
}
knobs! {
    Format format;
    WriterSpin writer_spin;
    ReaderSpin reader_spin;
    ReaderSteal reader_steal;
    ReaderBatch reader_batch;
    EntersIfAlone enters_if_alone;
    JoinsQueue joins_queue;
    Handoff handoff;
    Owner owner;
    UnlockWake unlock_wake;
    QueuerWakes queuer_wakes;
    GrantsPastWriter grants_past_writer;
}

/// `More` with a knob, by its number, as in `Less`.
struct With<Less, More, const KNOB: usize>(PhantomData<fn() -> (Less, More)>);

impl<Less: RwSemPolicy, More: RwSemPolicy, const KNOB: usize> RwSemPolicy
    for With<Less, More, KNOB>
{
    const POLICY: Policy = Knob::ALL[KNOB].as_in(&Less::POLICY, More::POLICY);
}

impl Knob {
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
    // Under this load only: where readers leave their names in the owner word, it does not come to that.
    'f' EntersIfAlone under Brief: [rwsem_rlock_fast]
        if |policy| policy.enters_if_alone && policy.owner == OwnerWord::WriterOrReaders;
    'o' Owner under Mixed: [rwsem_opt_lock]
        if |policy| policy.owner == OwnerWord::OneFlag && policy.reader_spin == ReaderSpin::No;
};

/// An event that happens less often under one preset than under another because of a knob.
struct Amount {
    letter: char,
    knob: Knob,
    event: Event,
    under: Under,
    less: Preset,
    more: Preset,
    /// The second preset with the knob of the first.
    with_it: Preset,
}

macro_rules! amounts {
    ($($letter:literal $knob:ident under $under:ident: $event:ident of $($less:ident)|+ < $more:ident;)+) => {
        &[$($(Amount {
            letter: $letter,
            knob: Knob::$knob,
            event: Event::$event,
            under: Under::$under,
            less: Preset::of::<rwsem::$less>(stringify!($less)),
            more: Preset::of::<rwsem::$more>(stringify!($more)),
            with_it: Preset::of::<With<rwsem::$less, rwsem::$more, { Knob::$knob as usize }>>(
                concat!(stringify!($more), " with a knob of ", stringify!($less)),
            ),
        },)+)+]
    };
}
const AMOUNTS: &[Amount] = amounts! {
    // A release that sees the flag wakes no waiter. As posted the flag is up for longer, and also where no waiter will
    // be woken.
    'F' UnlockWake under Writers: rwsem_wake_writer of V3_12WakeFlag | V3_12WakeFlagAsPosted < V3_12;
    'P' UnlockWake under Writers: rwsem_wake_writer of V3_12WakeFlagAsPosted < V3_12WakeFlag;
    'F' UnlockWake under Writers: rwsem_wake_writer
        of V3_12SeriesWakeFlag | V3_12SeriesWakeFlagAsPosted < V3_12Series;
    // Where writers spin, it is the other way round.
    'P' UnlockWake under Writers: rwsem_wake_writer of V3_12SeriesWakeFlag < V3_12SeriesWakeFlagAsPosted;
    // A writer that spins anew for each look (`PerTurn`) gives up and queues when it does not see an owner at once.
    'T' WriterSpin under Writers: rwsem_opt_fail of V4_14 | V4_14Bits < V3_12Series;
    'T' WriterSpin under Writers: rwsem_opt_fail of V4_14 | V4_14Bits < V3_12SeriesWakeFlag;
    'T' WriterSpin under Writers: rwsem_opt_fail of V4_14 | V4_14Bits < V3_12SeriesWakeFlagAsPosted;
    // In the biased count the fast path of a writer takes a free lock past waiters.
    'B' Format under Mixed: rwsem_opt_wlock of V4_14 < V4_14Bits;
    // A writer that queues and finds the lock free wakes the first.
    'Q' QueuerWakes under Mixed: rwsem_wake_writer of V4_14HandoffAsPosted < V4_14Handoff;
    // Readers with writers between them are granted together.
    'A' ReaderBatch under Mixed: rwsem_wake_reader of V5_2AllReaders < V5_2Handoff;
    // A reader that finds several readers does not spin.
    'J' JoinsQueue under Mixed: rwsem_opt_rlock of V5_10Starvation < V5_10;
    'J' JoinsQueue under Mixed: rwsem_opt_rlock of V5_10Starvation < V5_10AsPosted;
    // Of the readers that would spin one does.
    'O' ReaderSpin under Mixed: rwsem_opt_rlock of V5_10LimitRspin < V5_10Before;
    // A reader steals also while threads spin.
    'S' ReaderSteal under Mixed: rwsem_rlock_steal of V5_10Stealing < V5_10NoRspin;
    // A reader that steals takes along the readers that wait behind a writer.
    'G' GrantsPastWriter under Mixed: rwsem_wake_reader of V5_10Stealing < V5_10Before;
    'G' GrantsPastWriter under Mixed: rwsem_wake_reader of V5_10Stealing < V5_10LimitRspin;
    'G' GrantsPastWriter under Mixed: rwsem_wake_reader of V5_11 | V5_16 | V5_19 | Current < V5_10NoRspin;
};

/// Pairs that differ in no event under these loads. Schedules tell them apart: in [`super::posted`] and
/// [`super::current`], and where the lab's tests look for the wake-ups that the first one loses.
const BY_SCHEDULES: [[Policy; 2]; 7] = [
    [rwsem::V5_11::POLICY, rwsem::V5_16::POLICY],
    [rwsem::V5_11::POLICY, rwsem::V5_19::POLICY],
    [rwsem::V5_11::POLICY, rwsem::Current::POLICY],
    [rwsem::V5_16::POLICY, rwsem::V5_19::POLICY],
    [rwsem::V5_16::POLICY, rwsem::Current::POLICY],
    [rwsem::V5_19::POLICY, rwsem::Current::POLICY],
    [rwsem::V5_10AsPosted::POLICY, rwsem::V5_10::POLICY],
];

/// Why the presets of a row and of a column differ: the letter of the first of [`POSSIBLE`] or, if there is none,
/// of the one of [`AMOUNTS`]; `c` for [`BY_SCHEDULES`]. The columns are the presets in the same order, from
/// [`PRESETS`]' first on.
const WHY: &str = "
rwsem-v3_12_series                     w
rwsem-v3_12_wake_flag_as_posted        Fw
rwsem-v3_12_wake_flag                  FwP
rwsem-v3_12_series_wake_flag_as_posted wFww
rwsem-v3_12_series_wake_flag           wFwwP
rwsem-v4_14                            wTwwTT
rwsem-v4_14_bits                       wTwwTTB
rwsem-v4_14_handoff_as_posted          whwwhhhh
rwsem-v4_14_handoff                    whwwhhhhQ
rwsem-v5_2_new_count                   wfwwffffhh
rwsem-v5_2_handoff                     whwwhhhhffh
rwsem-v5_2_all_readers                 whwwhhhhffhA
rwsem-v5_2_reader_spin                 whwwhhhhrrhrr
rwsem-v5_2_timed_spin                  whwwhhhhtthttt
rwsem-v5_10_as_posted                  whwwhhhhtthttto
rwsem-v5_10                            whwwhhhhtthtttoc
rwsem-v5_10_starvation                 whwwhhhhtthtttoJJ
rwsem-v5_10_stealing                   whwwhhhhtthtttssss
rwsem-v5_10_before                     whwwhhhhtthtttssssG
rwsem-v5_10_limit_rspin                whwwhhhhtthtttssssGO
rwsem-v5_10_no_rspin                   whwwhhhhtthtttrrrrrrr
rwsem-v5_11                            whwwhhhhtthtttrrrrrrrG
rwsem-v5_16                            whwwhhhhtthtttrrrrrrrGc
rwsem-v5_19                            whwwhhhhtthtttrrrrrrrGcc
rwsem-current                          whwwhhhhtthtttrrrrrrrGccc
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
        None if BY_SCHEDULES.contains(&[right.policy, left.policy]) => return 'c',
        None => {
            let pair = [left.policy, right.policy];
            let is_this =
                |of: &&Amount| pair.contains(&of.less.policy) && pair.contains(&of.more.policy);
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
        found += &format!("{:38} {letters}\n", preset.name);
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
        for seed in 1..=3 {
            let load = of.under.load().with_seed(seed);
            let counted = |preset: &Preset| (preset.run)(load).report.count_of(of.event);
            let [less, with_it, more] = [&of.less, &of.with_it, &of.more].map(counted);
            let is_less = is_clearly_less(less, more) && is_clearly_less(with_it, more);
            let name = of.with_it.name;
            assert!(is_less, "{:?} {name}: {less} {with_it} {more}, seed {seed}", of.event);
        }
    }
}

/// By one of [`AMOUNTS`], by its letter: the preset with more, with the knob and without.
fn one_is_clearly_less(letter: char) {
    let of = AMOUNTS.iter().find(|of| of.letter == letter).expect("it is among them");
    let [less, more] = [&of.with_it, &of.more]
        .map(|preset| (preset.run)(of.under.load()).report.count_of(of.event));
    assert!(is_clearly_less(less, more), "{less} {more}");
}

#[test]
fn a_release_that_finds_the_flag_wakes_no_waiter() {
    one_is_clearly_less('F');
}

#[test]
fn a_reader_steals_more_often_where_spinners_do_not_count() {
    one_is_clearly_less('S');
}

#[test]
fn a_reader_that_has_spun_without_success_joins_other_readers_where_the_owner_word_has_two_flags() {
    for (number, preset) in PRESETS.iter().enumerate() {
        let counted = count(Under::Mixed, number, &[Event::rwsem_opt_rlock2]);
        let Policy { owner, reader_spin, .. } = preset.policy;
        let joins = owner == OwnerWord::TwoFlags && reader_spin == ReaderSpin::Any;
        assert_eq!(counted > 0, joins, "{}: {counted}", preset.name);
    }
}
