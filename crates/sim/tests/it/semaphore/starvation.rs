//! The longest wait where others come again and again and take the lock past the waiters.

use super::{IN_PROGRAMS, Length, Load, Longest, Outcome, Preset, SLICE_NS};
use lockwright_linux::rwsem::CurrentInPrograms;

const WINDOW_NS: u64 = 30_000_000;

/// Four readers and four writers with a CPU each, none of which is away for as long as a sleeper needs to
/// come back.
pub const A_CPU_EACH: Load = Load {
    seed: 1,
    cpus: 8,
    tasks: 8,
    readers: 4,
    read_percent: 100,
    section_ns: 2_000,
    sleep_percent: 0,
    outside_ns: 50,
    length: Length::Nanoseconds(WINDOW_NS),
};
/// The same with two to a CPU.
const TWO_TO_A_CPU: Load = Load { tasks: 16, readers: 8, ..A_CPU_EACH };

const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

/// What one task that waits in front needs at most: its wake-up (a call of 0.5 us, a latency of 2 us, a
/// switch of 2 us), its section, and the work at the list.
const TURN_NS: u64 = 10_000;

/// How long a waiter waits at most if the lock is kept for it after `patience_ns`: all others are in front of
/// it, and as long as it waited, so each has the lock as soon as it runs.
const fn bound_ns(load: &Load, patience_ns: u64) -> u64 {
    // A task that has its CPU gives it up at the end of its slice.
    let cpu_ns = if load.tasks > load.cpus as usize { SLICE_NS } else { 0 };
    patience_ns + load.tasks as u64 * (TURN_NS + cpu_ns)
}

fn longest(load: Load, preset: &Preset, seed: u64) -> Longest {
    let Outcome { report, longest } = (preset.run)(load.with_seed(seed));
    assert!(report.ops_total() > 5_000, "{}: others do not go on", preset.name);
    longest
}

/// Both waits are longer than the first time and shorter than the second, under both loads and all seeds.
fn all_waits_are_between(preset: &Preset, least_ns: u64, most_ns: impl Fn(&Load) -> u64) {
    for load in [A_CPU_EACH, TWO_TO_A_CPU] {
        for seed in SEEDS {
            let Longest { write_ns, read_ns } = longest(load, preset, seed);
            for waited_ns in [write_ns, read_ns] {
                let is_between = waited_ns > least_ns && waited_ns < most_ns(&load);
                assert!(is_between, "{}: {waited_ns} ns, seed {seed}, {load:?}", preset.name);
            }
        }
    }
}

#[test]
fn with_a_handoff_nobody_waits_longer_than_for_it_and_for_a_turn_of_each_other_task() {
    for (name, patience_ns) in [
        ("rwsem-v4_14_handoff", 10_000_000),
        ("rwsem-v5_10_before", 4_000_000),
        ("rwsem-v5_10_limit_rspin", 4_000_000),
        ("rwsem-v5_10_stealing", 4_000_000),
        ("rwsem-v5_2_handoff", 4_000_000),
        ("rwsem-v5_2_all_readers", 4_000_000),
        ("rwsem-v5_10_no_rspin", 4_000_000),
        ("rwsem-v5_11", 4_000_000),
        ("rwsem-current", 4_000_000),
    ] {
        // Longer than for the handoff, too: until then a waiter is overtaken.
        all_waits_are_between(Preset::named(name), patience_ns, |load| bound_ns(load, patience_ns));
    }
    // There it is kept for the first waiter that is awake.
    let in_programs = Preset::of::<CurrentInPrograms>(IN_PROGRAMS);
    all_waits_are_between(&in_programs, 0, |_| 400_000);
}

#[test]
fn without_a_handoff_readers_and_writers_wait_for_as_long_as_others_take_the_lock() {
    for name in [
        "rwsem-v3_12",
        "rwsem-v3_12_series",
        "rwsem-v3_12_wake_flag",
        "rwsem-v3_12_series_wake_flag",
        "rwsem-v4_14",
        "rwsem-v4_14_bits",
        "rwsem-v5_2_new_count",
    ] {
        // More than twice as long as the most patient handoff allows.
        all_waits_are_between(Preset::named(name), WINDOW_NS * 9 / 10, |_| u64::MAX);
    }
}

/// From the fourteenth patch of 2019 on readers spin past readers. The flags end that when a writer has spun without
/// success, but in that patch only until another reader is named. The fifteenth keeps the flag about readers: now it
/// depends on when the writers spin. Only when readers queue behind readers is the wait bounded.
#[test]
fn readers_that_spin_past_readers_starve_a_writer_in_spite_of_the_handoff_until_they_queue() {
    let write_ns =
        |load, name| SEEDS.map(move |seed| longest(load, Preset::named(name), seed).write_ns);
    let starves = |waited_ns: u64| waited_ns > WINDOW_NS * 9 / 10;
    let one_writer = Load { readers: 15, ..TWO_TO_A_CPU };
    assert!(write_ns(one_writer, "rwsem-v5_2_timed_spin").all(starves));
    assert!(write_ns(TWO_TO_A_CPU, "rwsem-v5_10").any(starves));
    let queueing = Preset::named("rwsem-v5_10_starvation");
    all_waits_are_between(queueing, 0, |load| bound_ns(load, queueing.policy.patience_ns()));
}
