//! One seed gives one history.

use crate::machines::machine;
use lockwright::events::Event;
use lockwright::mcs::McsLock;
use lockwright::platform::{Atomic, Cells, Zeroed};
use lockwright::raw::RawLock;
use lockwright::registry::{LOCKS, LockClass, LockRow, LockVisitor, visit};
use lockwright::ticket::TicketLock;
use lockwright::tunables::Tunable;
use lockwright::unfair::UnfairLock;
use lockwright_sim::{Arena, Config, RunReport, Sim, Simulation, thread};
use std::sync::atomic::Ordering::Relaxed;

fn torture<L: RawLock>(seed: u64) -> RunReport {
    torture_with::<L>(seed, Config::window(5_000, 100_000))
}

fn torture_with<L: RawLock>(seed: u64, config: Config) -> RunReport {
    let mut arena = Arena::new(1 << 20);
    let mut simulation = Simulation::new(&machine(4, 4, 2), &mut arena, seed, config);
    let lock = simulation.alloc(L::new());
    let counter = simulation.alloc_at(1, <Sim as Cells>::U64::zeroed());
    for cpu in 0..24 {
        simulation.spawn(cpu, move || {
            while !thread::is_over() {
                thread::work_ns(50 + thread::random() % 100);
                lock.lock();
                counter.store(counter.load(Relaxed) + 1, Relaxed);
                // SAFETY: taken above.
                unsafe { lock.unlock() };
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
    let (one, same, other) =
        (torture::<McsLock<Sim>>(1), torture::<McsLock<Sim>>(1), torture::<McsLock<Sim>>(2));
    assert_eq!(one.digest, same.digest);
    assert_eq!((one.events, one.switches, &one.ops), (same.events, same.switches, &same.ops));
    assert_ne!(one.digest, other.digest);
    assert_ne!(one.events, other.events);
}

#[test]
fn runs_on_several_host_threads_do_not_disturb_each_other() {
    let serial: Vec<_> = (0..4).map(|seed| torture::<UnfairLock<Sim>>(seed).digest).collect();
    let parallel: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|seed| scope.spawn(move || torture::<UnfairLock<Sim>>(seed).digest))
            .collect();
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
    assert_eq!(
        history(torture::<McsLock<Sim>>(1)),
        golden("b06730e9913e31c54274683892cf938f", 4200, 149)
    );
    assert_eq!(
        history(torture::<TicketLock<Sim>>(1)),
        golden("e4d6819b940d71ff4f2bdd569965065a", 8921, 90)
    );
    assert_eq!(
        history(torture::<UnfairLock<Sim>>(1)),
        golden("2671245f98aa5c6ba3bd00a2a1f571ae", 5777, 89)
    );
}

/// A run in which the waiters that CNA sets aside become due many times.
struct SmallThresholds {
    window_ns: u64,
}

impl SmallThresholds {
    /// Where newcomers take the lock past the queue, queues have their turns less often.
    fn of(name: &str) -> Self {
        Self { window_ns: if name.ends_with("hybrid-bounded") { 8_000_000 } else { 1_000_000 } }
    }
}

impl LockVisitor<Sim> for SmallThresholds {
    type Output = RunReport;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> RunReport {
        let tunables = vec![
            (Tunable::numa_spinlock_threshold, 3),
            (Tunable::numa_spinlock_threshold_ns, 3_000),
        ];
        torture_with::<L>(1, Config { tunables, ..Config::window(5_000, self.window_ns) })
    }
}

/// A lock of the registry, and what its run comes to: digest, events, operations.
type Golden = (&'static str, &'static str, u64, u64);

/// The limited scan of `cna-v10_limited` is long enough for these runs, so its histories are `cna`'s.
const GOLDEN: &[Golden] = &[
    ("qspinlock", "54f44a08286378d46f9a5fb9ec7e4d83", 52518, 1734),
    ("cna", "95b1a5c98018131336ed9eee033ee343", 85429, 1992),
    ("cna-v10_time", "f046d0b4395c7ca2cfdd5eede8de1cc5", 103568, 2504),
    ("cna-v10_limited", "95b1a5c98018131336ed9eee033ee343", 85429, 1992),
    ("cna-v11", "8bd07bf5344186fc5fd4146ec971dea0", 76971, 1547),
    ("cna-v15", "6293cef4647177cd0df77d780d2d17ab", 63953, 1754),
    ("park", "8e0e0d721ca90fccbd3c73c035706f3c", 80108, 889),
    ("hybrid", "d9a9783baa69a11fd35e9edf2545825c", 78280, 785),
    ("hybrid-bounded", "6d26986d17cc5760feb631f97748ee7c", 239757, 18327),
    ("cna-park", "0a4dc585175ad306bcb456736c63a2f9", 119867, 1470),
    ("cna-hybrid", "68cb0a58fcd01f6dadf19f1c11d02818", 125216, 2774),
    ("cna-hybrid-bounded", "1a9ef726ffa8b3777a784194bfdc2bb5", 321039, 21432),
    ("cna-v10_time-park", "36d204baa20ec52dd2f6fd9f6c29603b", 123474, 1578),
    ("cna-v10_time-hybrid", "c6e9294fd6e3ea5c9185140e1e018513", 124407, 2779),
    ("cna-v10_time-hybrid-bounded", "dea67a997952212cf853f948ab65b4ed", 257920, 18231),
    ("cna-v10_limited-park", "0a4dc585175ad306bcb456736c63a2f9", 119867, 1470),
    ("cna-v10_limited-hybrid", "68cb0a58fcd01f6dadf19f1c11d02818", 125216, 2774),
    ("cna-v10_limited-hybrid-bounded", "1a9ef726ffa8b3777a784194bfdc2bb5", 321039, 21432),
    ("cna-v11-park", "899f74530ebe231a9ce17aed7b4d35e6", 101486, 995),
    ("cna-v11-hybrid", "fb4c2027d8559ae91a0f351695ffe624", 91699, 1022),
    ("cna-v11-hybrid-bounded", "79dee4dc0c14c6a298ba77e065f91506", 251523, 18279),
    ("cna-v15-park", "41bffbe342fae85f839cf58a7d021d44", 84057, 855),
    ("cna-v15-hybrid", "a4b634776423ab6b659fcdb2e55188c6", 80440, 924),
    ("cna-v15-hybrid-bounded", "a8b0d4ce736e239d6263cdb4452d23cb", 247328, 18096),
    ("mutex", "1dd5e7ef592a8a5da489e7a764335d02", 107545, 6365),
    ("unfair-backoff", "d3f8b5520ff1a7ce0a6fa20a75b45547", 62568, 1565),
    ("clh", "50f412797d8853793f7334c380c90370", 29430, 1609),
];

/// As above, for the locks that are chosen by name. The digests hold in dev and release builds.
#[test]
fn the_golden_runs_of_the_registry_have_their_digests() {
    let mut differing = Vec::new();
    for &(name, digest, events, ops) in GOLDEN {
        let report = visit(name, SmallThresholds::of(name)).expect("a lock of the registry");
        for event in [Event::cna_set_aside, Event::cna_flush, Event::cna_flush_threshold] {
            let reached = report.count_of(event) > 0;
            let is_grouped = name.starts_with("cna") || name == "mutex";
            assert_eq!(reached, is_grouped, "{name}: {}", event.name());
        }
        let found = (report.digest.to_string(), report.events, report.ops_total());
        if found != (digest.to_owned(), events, ops) {
            differing.push((name, found));
        }
    }
    assert!(differing.is_empty(), "other histories: {differing:#?}");
}

#[test]
fn every_product_of_the_registry_has_a_golden_run() {
    for row in LOCKS.iter().filter(|row| row.class == LockClass::Product) {
        assert!(GOLDEN.iter().any(|&(name, ..)| name == row.name), "{} has none", row.name);
    }
}
