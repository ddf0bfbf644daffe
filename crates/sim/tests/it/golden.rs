//! One seed gives one history.

use crate::machines::machine;
use crate::programs::hold;
use lockwright::linux::RawCnaMutex;
use lockwright_catalog::registry::LOCKS;
use lockwright_core::events::Event;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_core::tunables::Tunable;
use lockwright_linux::hq::HqSpinlock;
use lockwright_linux::qspinlock::{QSpinlock, TwoLevel};
use lockwright_sim::any_lock::AnyLock;
use lockwright_sim::{Arena, Config, RunReport, Sim, Simulation, thread};
use std::any::TypeId;
use std::sync::atomic::Ordering::Relaxed;

fn torture(name: &str, seed: u64) -> RunReport {
    torture_with(&AnyLock::named(name), seed, Config::window(5_000, 100_000))
}

fn torture_with(lock: &AnyLock, seed: u64, config: Config) -> RunReport {
    let mut arena = Arena::new(1 << 20);
    let mut simulation = Simulation::new(&machine(4, 4, 2), &mut arena, seed, config);
    let lock = (lock.alloc)(&mut simulation);
    let counter = simulation.alloc_at(1, <Sim as Cells>::U64::zeroed());
    for cpu in 0..24 {
        simulation.spawn(cpu, move || {
            while !thread::is_over() {
                thread::work_ns(50 + thread::random() % 100);
                hold(lock, || counter.store(counter.load(Relaxed) + 1, Relaxed));
                thread::op_done();
            }
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    report
}

#[test]
fn one_seed_gives_one_history_and_another_seed_another() {
    let (one, same, other) = (torture("mcs", 1), torture("mcs", 1), torture("mcs", 2));
    assert_eq!(one.digest, same.digest);
    assert_eq!((one.events, one.switches, &one.ops), (same.events, same.switches, &same.ops));
    assert_ne!(one.digest, other.digest);
    assert_ne!(one.events, other.events);
}

#[test]
fn runs_on_several_host_threads_do_not_disturb_each_other() {
    let serial: Vec<_> = (0..4).map(|seed| torture("unfair", seed).digest).collect();
    let parallel: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> =
            (0..4).map(|seed| scope.spawn(move || torture("unfair", seed).digest)).collect();
        runs.into_iter().map(|run| run.join().expect("a run without panic")).collect()
    });
    assert_eq!(serial, parallel);
}

#[test]
fn an_arena_can_be_used_again_and_changes_nothing() {
    let mut arena = Arena::default();
    let mut run = |junk: usize| {
        if junk > 0 {
            let mut first = Simulation::new(&machine(1, 1, 1), &mut arena, 9, Config::default());
            first.alloc(vec![0u8; junk]);
            assert_eq!(first.run().failures, []);
        }
        let mut simulation = Simulation::new(&machine(1, 2, 1), &mut arena, 1, Config::default());
        let word = simulation.alloc(<Sim as Cells>::U32::zeroed());
        for cpu in 0..2 {
            simulation.spawn(cpu, move || word.store(cpu, Relaxed));
        }
        simulation.run().digest
    };
    assert_eq!(run(0), run(1000));
}

/// The history of small fixed runs. A change here is a change of the machine's behaviour, or of the
/// lock's: it belongs into a commit of its own that says why.
#[test]
fn the_golden_runs_have_their_digests() {
    let history =
        |report: RunReport| (report.digest.to_string(), report.events, report.ops_total());
    let golden = |digest: &str, events, ops| (digest.to_owned(), events, ops);
    assert_eq!(history(torture("mcs", 1)), golden("b06730e9913e31c54274683892cf938f", 4200, 149));
    assert_eq!(
        history(torture("ticket", 1)),
        golden("37ca40fa1941687192f0a13990703e66", 12947, 142)
    );
    assert_eq!(
        history(torture("unfair", 1)),
        golden("1dba3a5310ec4d05e65b12ad949a639d", 6559, 178)
    );
}

/// A run in which the waiters that CNA sets aside become due many times.
fn small_thresholds(lock: &AnyLock) -> RunReport {
    // Where newly arriving threads take the lock past the queue, queues have their turns less often.
    let window_ns = if lock.threshold.ns_per_waiter > 0 { 8_000_000 } else { 1_000_000 };
    let mut tunables =
        vec![(Tunable::numa_spinlock_threshold, 3), (Tunable::numa_spinlock_threshold_ns, 3_000)];
    // `hq` has the same knob, and its runs keep the default.
    if lock.type_id == TypeId::of::<QSpinlock<Sim, TwoLevel>>() {
        tunables.push((Tunable::hqlock_fairness_threshold, 8));
    }
    torture_with(lock, 1, Config { tunables, ..Config::window(5_000, window_ns) })
}

/// A lock of the registry, and what its run comes to: digest, events, operations.
type Golden = (&'static str, &'static str, u64, u64);

/// The threshold is set in these runs, so `cna-v15_10ms` has the history of `cna-v15`. No head of them needs what `cna`
/// forgets, so it has that of `cna-v10_as_described`. No interrupt comes that cannot be masked.
const GOLDEN: &[Golden] = &[
    ("qspinlock", "28c9723d9f4983415eab2956a1dd2035", 62769, 2066),
    ("resilient", "1d5f8c06558b7c76c487234fe23b70fa", 89430, 2095),
    ("resilient-v6_15_unmaskable", "1d5f8c06558b7c76c487234fe23b70fa", 89430, 2095),
    ("resilient-v6_19", "0ccb448e7625417441eb23bc9a189433", 103235, 2360),
    ("resilient-guest", "eb1ba478cf2f8afa62462a2b7de4137f", 74659, 1653),
    ("resilient-in_programs", "5b99864aa6b2e6776a107b5b2123fdbb", 117287, 2263),
    ("cna", "5c17e32be450d99ea6aece30c4a669ae", 85530, 1995),
    ("cna-v10_time", "3f63aa2570cf2cf693f4bc01375dd273", 60826, 1371),
    ("cna-v10_limited", "d765bd2f3fb459e70ee1ad55ecc623c0", 49654, 1146),
    ("cna-v10_as_described", "5c17e32be450d99ea6aece30c4a669ae", 85530, 1995),
    ("cna-v10_no_threshold", "1cf38a1242a3ca2db2bfa5d1506b2101", 232429, 6789),
    ("cna-v10_culling", "d4a628af09a1d76376573b40fc3d47a5", 73347, 1399),
    ("cna-v11", "13dbdb19e474a79834040ded22961143", 73959, 1459),
    ("cna-v15", "85a183957fd714abf0b3cfec9b25a5b5", 67348, 1847),
    ("cna-v13", "4032e949e5a2168bf469d0e46d4cdd61", 66613, 1796),
    ("cna-v15_unreduced", "58728167ce3f6b602935ad951295f93a", 81322, 2188),
    ("cna-v15_10ms", "85a183957fd714abf0b3cfec9b25a5b5", 67348, 1847),
    ("two-level", "d5770198d6d02ab9fdbb8db2f5f748e3", 116232, 2019),
    ("hq", "508d558314034cb37bb63ac4344c47a1", 80803, 2047),
    ("park", "0d58f428af10d3061eeb5e9d3af2a910", 96047, 1266),
    ("park-full_spin", "89be8a2093fb10402b5dfef37fbc8d3e", 60324, 1241),
    ("park-steal-full_spin", "22a8a31fc3a320e87848615a5c2199df", 80279, 1640),
    ("park-steal", "fcef110c583d8b73645a166e85e09846", 110866, 1582),
    ("hybrid", "86bcce110dc9948bc2a5a18bfdca4104", 88991, 1024),
    ("hybrid-bounded", "9296984de49cdee3b00567c16de9f8ce", 223511, 10158),
    ("cna-park", "20d462bff884dde0d9f99ae5e338b15d", 126324, 1540),
    ("cna-hybrid", "3618229d3748306ea88f924b92b6a1cb", 161515, 3250),
    ("cna-hybrid-bounded", "b76958c3c801dbffdbfa2fc4be7ab37d", 395019, 15858),
    ("mutex", "8eb127200d81d641a70b291f072bac30", 57114, 3602),
    ("cna-mutex", "2ad5f9acd509631626be13c3f19a9c65", 111868, 6270),
    ("fair-mutex", "8b5cc71305e648800ff377d47ab50889", 60014, 3571),
    ("unfair-backoff", "8b62f98afbdc7706e633f978915b9250", 58169, 1947),
    ("clh", "50f412797d8853793f7334c380c90370", 29430, 1609),
    ("rwlock", "0993c56d1e1e93ddff0e938dfc69e016", 29326, 1457),
    ("rwlock-fair", "ccff8be9768b3f463583061c9ecc69f1", 26032, 255),
    ("percpu-rwlock", "915575367f43898dfa1b43735bc76d84", 34360, 1693),
    ("percpu-rwlock-in_slots", "dde5c90f7680ce0ce8a521683fee142a", 71703, 582),
    ("rwsem-current", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-current_in_programs", "3bf96ffc7b5d6183d8b4e3d1f86a46cf", 296767, 2630),
    ("rwsem-v5_19", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v5_16", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v5_11", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v5_10_no_rspin", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v5_10_limit_rspin", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v5_10_before", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v5_10_stealing", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v5_10_starvation", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v5_10", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v5_2_timed_spin", "8a1ff9beac446a36d08549101537b883", 296238, 2634),
    ("rwsem-v5_2_reader_spin", "8a1ff9beac446a36d08549101537b883", 296238, 2634),
    ("rwsem-v5_2_all_readers", "8a1ff9beac446a36d08549101537b883", 296238, 2634),
    ("rwsem-v5_2_handoff", "8a1ff9beac446a36d08549101537b883", 296238, 2634),
    ("rwsem-v5_2_new_count", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v4_14_handoff", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v4_14_bits", "96cd1a3d1f72042e43152a2cd0dbe2ea", 295969, 2630),
    ("rwsem-v4_14", "2d8aefcedac0e5ac14260182ac91455e", 294424, 2560),
    ("rwsem-v3_12_wake_flag", "563d0cd01e80b05bd0074f774e0aca4d", 30291, 1408),
    ("rwsem-v3_12_series_wake_flag", "b6dc116a94a524adbd0a200c26468e0c", 43825, 1191),
    ("rwsem-v3_12_series", "8f44569faef91f86c6b97e948bc9d797", 61762, 654),
    ("rwsem-v3_12", "8b710494e54e1a6c2f3b3d7a301d2da3", 31075, 676),
    ("rwsem-v3_12_on_32_bits", "8b710494e54e1a6c2f3b3d7a301d2da3", 31075, 676),
    ("seqlock", "20295ac2d40380da091be80fafe95796", 75326, 2067),
    ("semaphore", "7b707e70c6d01d113ad23897abca3b66", 14010, 262),
    ("qrwlock", "fedc6fc138cd05530225301654babc69", 47599, 2698),
    ("osq", "c655a7946691e0b7448a9482e572ce69", 29100, 1239),
];

/// As above, for the locks that are chosen by name. The digests hold in dev and release builds.
#[test]
fn the_golden_runs_of_the_registry_have_their_digests() {
    let mut differing = Vec::new();
    for &(name, digest, events, ops) in GOLDEN {
        let lock = AnyLock::named(name);
        let report = small_thresholds(&lock);
        let is_by_node = lock.threshold.handoffs_per_node > 0 || lock.threshold.ns_per_node > 0;
        let is_hq = lock.type_id == TypeId::of::<HqSpinlock<Sim>>();
        // This mutex puts its spinners in that order, but its bound is another one.
        let is_cna = is_by_node && !is_hq || lock.type_id == TypeId::of::<RawCnaMutex<Sim>>();
        for event in [Event::cna_set_aside, Event::cna_flush, Event::cna_flush_threshold] {
            // Nothing ever empties the secondary queue of this one.
            let is_counted =
                is_cna || name == "cna-v10_no_threshold" && event == Event::cna_set_aside;
            assert_eq!(report.count_of(event) > 0, is_counted, "{name}: {}", event.name());
        }
        // The queue is never empty here, so that of `hq`, which has runs of its own in `hq_storm.rs`, stays the only
        // one.
        assert_eq!(report.count_of(Event::hq_mode_on), 0, "{name}");
        let found = (report.digest.to_string(), report.events, report.ops_total());
        if found != (digest.to_owned(), events, ops) {
            differing.push((name, found));
        }
    }
    assert!(differing.is_empty(), "other histories: {differing:#?}");
}

#[test]
fn every_product_of_the_registry_has_a_golden_run() {
    for row in LOCKS.iter().filter(|row| row.class.is_product()) {
        assert!(GOLDEN.iter().any(|&(name, ..)| name == row.name), "{} has none", row.name);
    }
}
