//! What tells the presets from their near misses: the order of the owners, and the numbers of the counters. Each task
//! has a CPU of its own, and loses it only while it sleeps.

use crate::machines::{machine, quiet};
use lockwright_core::events::Event;
use lockwright_core::platform::{Atomic, AtomicInt, Cells, Clock, Sleeping, Zeroed};
use lockwright_core::raw::RawLock;
use lockwright_linux::rwsem::{self, RwSem, RwSemPolicy, Until};
use lockwright_sim::explore::{Explorer, Limits, Plan, PolicyKind, Traced};
use lockwright_sim::{
    Arena, Config, FailureKind, NodesMode, RunReport, ScheduledKind, Scheduling, Sim, Simulation,
    StartState, thread,
};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

/// A part of a critical section, in nanoseconds.
#[derive(Clone, Copy)]
enum Part {
    Work(u64),
    /// The owner has no CPU.
    Sleep(u64),
}
use Part::{Sleep, Work};

/// A task that comes once for the lock.
#[derive(Clone, Copy)]
struct Task {
    comes_ns: u64,
    reads: bool,
    holds: &'static [Part],
    gives_up_ns: Option<u64>,
    is_urgent: bool,
}

const fn writer(comes_ns: u64, holds: &'static [Part]) -> Task {
    Task { comes_ns, reads: false, holds, gives_up_ns: None, is_urgent: false }
}
const fn reader(comes_ns: u64, holds: &'static [Part]) -> Task {
    Task { reads: true, ..writer(comes_ns, holds) }
}

impl Task {
    const fn until(self, gives_up_ns: u64) -> Self {
        Self { gives_up_ns: Some(gives_up_ns), ..self }
    }
    const fn urgent(self) -> Self {
        Self { is_urgent: true, ..self }
    }
    /// Returns `true` if it had the lock.
    fn run<C: RwSemPolicy>(
        &self,
        lock: &RwSem<Sim, C>,
        bed: &<Sim as Cells>::U32,
        owns: impl FnOnce(),
    ) {
        thread::set_urgent(self.is_urgent);
        thread::work_ns(self.comes_ns.saturating_sub(Sim::now_ns()));
        let until = self.gives_up_ns.map_or(Until::FOREVER, Until::deadline);
        let is_ours =
            if self.reads { lock.lock_shared_within(until) } else { lock.lock_within(until) };
        if !is_ours {
            return;
        }
        owns();
        for part in self.holds {
            match *part {
                Work(ns) => thread::work_ns(ns),
                Sleep(ns) => Sim::futex_wait(bed, 0, Some(Sim::now_ns() + ns)),
            }
        }
        if self.reads {
            // SAFETY: taken above.
            unsafe { lock.unlock_shared() };
        } else {
            // SAFETY: taken above.
            unsafe { lock.unlock() };
        }
    }
}

/// Runs the tasks. Returns the order in which they get the lock.
fn run<C: RwSemPolicy>(tasks: &[Task]) -> (Vec<usize>, RunReport) {
    let order = RefCell::new(Vec::new());
    let (kind, start) = (ScheduledKind::Kernel, StartState::Running);
    let scheduling = Some(Scheduling { kind, start });
    let config = Config { nodes: NodesMode::Pool(64), scheduling, ..Config::default() };
    let machine = quiet(machine(1, 8, 1));
    let mut arena = Arena::default();
    let mut simulation = Simulation::new(&machine, &mut arena, 1, config);
    let lock = simulation.alloc(<RwSem<Sim, C> as RawLock>::new());
    let bed = simulation.alloc(<Sim as Cells>::U32::zeroed());
    let order = &order;
    for (number, task) in tasks.iter().copied().enumerate() {
        simulation.spawn_scheduled(move || task.run(lock, bed, || order.borrow_mut().push(number)));
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    (order.take(), report)
}

/// The tasks get the lock in this order, and the events are as many.
fn told_apart<C: RwSemPolicy, const N: usize>(
    tasks: &[Task],
    events: [Event; N],
    owners: impl AsRef<[usize]>,
    as_many: [u64; N],
) {
    let (order, report) = run::<C>(tasks);
    let name = core::any::type_name::<C>();
    assert_eq!(order, owners.as_ref(), "{name}");
    assert_eq!(events.map(|event| report.count_of(event)), as_many, "{name}: {events:?}");
}

const MS: u64 = 1_000_000;
const US: u64 = 1_000;
const BRIEF: &[Part] = &[Work(US)];

/// Writer 1 sleeps while the owner does, which then runs for a while. Meanwhile writer 2 comes and spins, and takes the
/// lock before writer 1 is awake. Writer 1 has waited long enough and asks for the handoff. Writer 3 comes while
/// writer 2 runs.
const ROBBED: [Task; 4] = [
    writer(0, &[Sleep(9 * MS), Work(MS)]),
    writer(10 * US, BRIEF),
    writer(9 * MS + 500 * US, &[Work(MS)]),
    writer(10 * MS + 500 * US, BRIEF),
];

/// In the series of 2019 a writer sleeps after it has asked for the handoff, and spinners on a writer stop. From 5.4 on
/// it spins on the owner, and so do they: writer 3 has the lock when writer 1 has had it, and never sleeps.
#[test]
fn a_writer_that_asks_for_the_handoff_sleeps_until_5_3_and_spins_from_5_4() {
    let events = [Event::rwsem_wlock_handoff, Event::rwsem_sleep_writer, Event::rwsem_opt_fail];
    // Writer 1 sleeps twice, and writer 3 sleeps. Neither may spin.
    told_apart::<rwsem::V5_2Handoff, 3>(&ROBBED, events, [0, 2, 1, 3], [1, 3, 2]);
    told_apart::<rwsem::V5_2TimedSpin, 3>(&ROBBED, events, [0, 2, 1, 3], [1, 3, 2]);
    told_apart::<rwsem::V5_10AsPosted, 3>(&ROBBED, events, [0, 2, 1, 3], [1, 1, 1]);
    told_apart::<rwsem::V5_11, 3>(&ROBBED, events, [0, 2, 1, 3], [1, 1, 1]);
    told_apart::<rwsem::V5_16, 3>(&ROBBED, events, [0, 2, 1, 3], [1, 1, 1]);
    told_apart::<rwsem::Current, 3>(&ROBBED, events, [0, 2, 1, 3], [1, 1, 1]);
}

/// Readers 0 and 4 have the lock for longer than a writer spins on readers. Writer 1 gives up spinning, sets both flags
/// and queues. When it has the lock, it says in the owner word that no reader should spin, for it found a flag. Readers
/// 2 and 3 find that one and queue.
#[test]
fn the_flag_about_readers_is_set_again_once_for_all_readers_that_are_granted_together() {
    let tasks = [
        reader(0, &[Work(100 * US)]),
        writer(5 * US, &[Work(MS)]),
        reader(500 * US, BRIEF),
        reader(501 * US, BRIEF),
    ];
    let events = [Event::rwsem_opt_nospin, Event::rwsem_opt_norspin, Event::rwsem_opt_fail];
    told_apart::<rwsem::V5_10AsPosted, 3>(&tasks, events, [0, 1, 2, 3], [1, 2, 3]);
    told_apart::<rwsem::V5_10NoRspin, 3>(&tasks, events, [0, 1, 2, 3], [1, 0, 1]);
}

/// Writer 1 gives up spinning on reader 0, sets both flags and queues. Writer 2 comes just before the reader is done,
/// finds a flag, and takes the lock as it queues. So its name has the flag about readers. Writer 1, which the reader
/// has woken, asks for the handoff. It sleeps, and does not spin on an owner whose word has a flag. If writer 2 comes
/// after the reader, it spins, its word has no flag, and writer 1 spins, too.
#[test]
fn a_writer_that_asked_for_the_handoff_does_not_spin_on_an_owner_with_a_flag() {
    let mut seen = [0, 0];
    for comes_ns in (5_999 * US..6_002 * US).step_by(20) {
        let tasks =
            [reader(0, &[Work(6 * MS)]), writer(5 * US, BRIEF), writer(comes_ns, &[Work(MS)])];
        let (order, report) = run::<rwsem::V5_10AsPosted>(&tasks);
        if order == [0, 2, 1] {
            let spun = report.count_of(Event::rwsem_opt_wlock);
            assert_eq!(report.count_of(Event::rwsem_wlock_handoff), 1, "{comes_ns}");
            assert_eq!(report.count_of(Event::rwsem_sleep_writer), 2 - spun, "{comes_ns}");
            seen[spun as usize] += 1;
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

/// Writer 1 gives up spinning on reader 0, sets both flags, queues and leaves. Reader 2 comes. In the fourteenth patch
/// it clears both flags as it names itself, in 5.10 only the one about writers. So writer 3 gives up spinning, too, and
/// sets both flags, or none because one is there. Writer 4 may spin or not.
#[test]
fn a_reader_that_is_named_clears_both_flags_in_the_patch_that_brought_them() {
    let tasks = [
        reader(0, &[Work(100 * US)]),
        writer(5 * US, BRIEF).until(60 * US),
        reader(80 * US, &[Work(MS)]),
        writer(90 * US, BRIEF),
        writer(200 * US, BRIEF),
    ];
    let events = [Event::rwsem_opt_nospin, Event::rwsem_opt_norspin];
    told_apart::<rwsem::V5_2TimedSpin, 2>(&tasks, events, [0, 2, 3, 4], [2, 0]);
    told_apart::<rwsem::V5_10AsPosted, 2>(&tasks, events, [0, 2, 3, 4], [3, 2]);
}

/// In the fourteenth patch a thread does not spin if the reader that is named has no CPU. From 5.3 on it does.
#[test]
fn the_last_reader_has_to_run_in_the_patch_that_brought_spinning_on_readers() {
    let tasks = [reader(0, &[Sleep(100 * US)]), writer(5 * US, BRIEF)];
    let events = [Event::rwsem_opt_nospin, Event::rwsem_opt_fail];
    told_apart::<rwsem::V5_2TimedSpin, 2>(&tasks, events, [0, 1], [0, 1]);
    told_apart::<rwsem::V5_10AsPosted, 2>(&tasks, events, [0, 1], [1, 1]);
}

/// An urgent writer that finds readers gives up at once, and does not spin until its time is over.
#[test]
fn an_urgent_writer_does_not_spin_on_readers() {
    let events = [Event::rwsem_opt_nospin, Event::rwsem_opt_fail];
    let usual = [reader(0, &[Work(100 * US)]), writer(5 * US, BRIEF)];
    told_apart::<rwsem::V5_10AsPosted, 2>(&usual, events, [0, 1], [1, 1]);
    let urgent = [usual[0], usual[1].urgent()];
    told_apart::<rwsem::V5_10AsPosted, 2>(&urgent, events, [0, 1], [0, 1]);
    told_apart::<rwsem::Current, 2>(&urgent, events, [0, 1], [0, 1]);
}

/// A waiter gives up while the owner sleeps: reader 1, which was the first, or writer 2, which was not. Until 5.18 a
/// writer wakes the first waiter then, and a reader wakes none. From 5.19 on the waiter that was the first does.
#[test]
fn a_waiter_that_gives_up_wakes_another_one_by_its_kind_until_5_18_and_by_its_place_from_5_19() {
    let events = [Event::rwsem_wake_writer, Event::rwsem_sleep_writer];
    let owner = writer(0, &[Sleep(MS)]);
    let first = [owner, reader(10 * US, BRIEF).until(100 * US), writer(50 * US, BRIEF)];
    told_apart::<rwsem::V4_14HandoffAsPosted, 2>(&first, events, [0, 2], [1, 1]);
    told_apart::<rwsem::V5_10AsPosted, 2>(&first, events, [0, 2], [1, 1]);
    told_apart::<rwsem::V5_16, 2>(&first, events, [0, 2], [1, 1]);
    told_apart::<rwsem::V5_19, 2>(&first, events, [0, 2], [2, 2]);
    told_apart::<rwsem::Current, 2>(&first, events, [0, 2], [2, 2]);
    let second = [owner, writer(10 * US, BRIEF), writer(50 * US, BRIEF).until(100 * US)];
    told_apart::<rwsem::V4_14, 2>(&second, events, [0, 1], [2, 3]);
    told_apart::<rwsem::V5_10AsPosted, 2>(&second, events, [0, 1], [2, 3]);
    told_apart::<rwsem::V5_16, 2>(&second, events, [0, 1], [2, 3]);
    told_apart::<rwsem::V5_19, 2>(&second, events, [0, 1], [1, 2]);
    told_apart::<rwsem::Current, 2>(&second, events, [0, 1], [1, 2]);
}

/// As [`ROBBED`], but writer 1 gives up after it has asked for the handoff, and writer 4 waits behind it. Until 5.15
/// writer 1 takes its request back, so writer 3, which spins, is faster than writer 4. From 5.16 on the bit stays.
#[test]
fn a_writer_that_gives_up_takes_its_handoff_back_until_5_15() {
    let [owner, first, thief, late] = ROBBED;
    let tasks =
        [owner, first.until(10 * MS + 700 * US), thief, late, writer(9 * MS - 200 * US, BRIEF)];
    let events = [Event::rwsem_wlock_fail];
    told_apart::<rwsem::V5_10AsPosted, 1>(&tasks, events, [0, 2, 3, 4], [1]);
    told_apart::<rwsem::V5_11, 1>(&tasks, events, [0, 2, 3, 4], [1]);
    told_apart::<rwsem::V5_16, 1>(&tasks, events, [0, 2, 4, 3], [1]);
    told_apart::<rwsem::V5_19, 1>(&tasks, events, [0, 2, 4, 3], [1]);
    told_apart::<rwsem::Current, 1>(&tasks, events, [0, 2, 4, 3], [1]);
}

/// Writer 2 is urgent and queues behind writer 1. From 5.16 on it asks for the handoff in its first attempt, before it
/// sleeps, although it is not the first. So writer 3, which spins, does not get past writer 1.
#[test]
fn a_writer_that_is_not_the_first_asks_for_the_handoff_from_5_16() {
    let tasks = [
        writer(0, &[Sleep(500 * US), Work(500 * US)]),
        writer(10 * US, BRIEF),
        writer(20 * US, BRIEF).urgent(),
        writer(800 * US, BRIEF),
    ];
    let events = [Event::rwsem_wlock_handoff];
    told_apart::<rwsem::V5_10AsPosted, 1>(&tasks, events, [0, 3, 1, 2], [0]);
    told_apart::<rwsem::V5_11, 1>(&tasks, events, [0, 3, 1, 2], [0]);
    for preset in [
        told_apart::<rwsem::V5_16, 1>,
        told_apart::<rwsem::V5_19, 1>,
        told_apart::<rwsem::Current, 1>,
    ] {
        preset(&tasks, events, [0, 1, 3, 2], [1]);
    }
}

/// Writer 2 is urgent and has asked for the handoff. Writer 1 is the first and sleeps. Writer 3 queues as the reader
/// releases the lock. Until 5.18 it yields in any case. From 5.19 to 6.2 it yields only if the first waiter has asked,
/// so it takes the lock. From 6.3 on writer 2 has asked on behalf of writer 1.
#[test]
fn the_handoff_binds_others_if_it_is_the_first_waiters_from_5_19() {
    let second = |comes_ns| {
        let tasks = [
            reader(0, &[Work(MS)]),
            writer(5 * US, BRIEF),
            writer(50 * US, BRIEF).urgent(),
            writer(comes_ns, BRIEF),
        ];
        let second_owner = |(order, _): (Vec<usize>, _)| order[1];
        [
            second_owner(run::<rwsem::V5_16>(&tasks)),
            second_owner(run::<rwsem::V5_19>(&tasks)),
            second_owner(run::<rwsem::Current>(&tasks)),
        ]
    };
    let owners: Vec<_> = (999 * US..1_002 * US).step_by(20).map(second).collect();
    assert!(owners.iter().all(|owner| [owner[0], owner[2]] == [1, 1]), "{owners:?}");
    assert!(owners.contains(&[1, 3, 1]) && owners.contains(&[1, 1, 1]), "{owners:?}");
}

/// Writer 1 is urgent, asks for the handoff and gives up. Writer 2 wakes up and finds the bit. From 5.16 to 6.2 the
/// handoff is its own, so it spins on the owner. From 6.3 on it sleeps again.
#[test]
fn a_first_waiter_inherits_the_handoff_until_6_2() {
    let tasks = [
        writer(0, &[Sleep(MS), Work(2 * MS)]),
        writer(10 * US, BRIEF).until(2 * MS).urgent(),
        writer(20 * US, BRIEF),
    ];
    let events = [Event::rwsem_wlock_handoff, Event::rwsem_sleep_writer];
    told_apart::<rwsem::V5_16, 2>(&tasks, events, [0, 2], [1, 2]);
    told_apart::<rwsem::V5_19, 2>(&tasks, events, [0, 2], [1, 2]);
    told_apart::<rwsem::Current, 2>(&tasks, events, [0, 2], [1, 3]);
}

/// Writer 0 has the lock when readers 1 and 2 come. Each of them, when it has the lock, waits until the other one has
/// it, too. A reader that spins joins readers, so that happens under each schedule.
#[test]
fn a_reader_that_spins_joins_the_readers_that_have_the_lock() {
    fn meet<C: RwSemPolicy>(simulation: &mut Simulation<'_>) {
        let lock = simulation.alloc(<RwSem<Sim, C> as RawLock>::new());
        let inside = simulation.alloc(<Sim as Cells>::U32::zeroed());
        simulation.spawn(0, || {
            lock.lock();
            inside.store(1, Relaxed);
            // SAFETY: taken above.
            unsafe { lock.unlock() };
        });
        for cpu in [1, 2] {
            simulation.spawn(cpu, || {
                inside.cond_load(Relaxed, |inside| inside > 0);
                lock.lock_shared();
                inside.fetch_add(1, Relaxed);
                inside.cond_load(Relaxed, |inside| inside == 3);
                // SAFETY: taken above.
                unsafe { lock.unlock_shared() };
            });
        }
    }
    let machine = machine(1, 4, 1);
    let policies = vec![PolicyKind::Random, PolicyKind::Pct(3), PolicyKind::Pos];
    let plan = Plan { policies, schedules: 6_000, limits: Limits::default() };
    for program in [meet::<rwsem::V5_10AsPosted>, meet::<rwsem::V5_2ReaderSpin>] {
        let findings =
            Explorer::new(&machine, 1, Config::default(), &program).explore(&plan, |_| true);
        assert!(findings.failure.is_none(), "{findings:?}");
    }
}

/// A schedule of writer 0, reader 1 and writer 2, once each.
struct Schedule(String);

impl Schedule {
    /// Runs it. Returns the order of the owners and what happened until its end, or `None` if a move is impossible.
    fn run<C: RwSemPolicy>(&self) -> Option<(Vec<usize>, Vec<Traced>)> {
        let order = Rc::new(RefCell::new(Vec::new()));
        let program = |simulation: &mut Simulation<'_>| {
            let lock = simulation.alloc(<RwSem<Sim, C> as RawLock>::new());
            let bed = simulation.alloc(<Sim as Cells>::U32::zeroed());
            for number in 0..3 {
                let order = Rc::clone(&order);
                simulation.spawn(number, move || {
                    let task = Task { reads: number == 1, ..writer(0, &[]) };
                    task.run(lock, bed, || order.borrow_mut().push(number as usize));
                });
            }
        };
        let machine = machine(1, 4, 1);
        let mut explorer = Explorer::new(&machine, 1, Config::default(), &program);
        let schedule = format!("0:{}", self.0).parse().expect("a schedule");
        let (failure, mut trace) = explorer.replay_traced(&schedule, Limits::default());
        trace.retain(|traced| traced.number <= self.0.len() as u64);
        match failure.map(|failure| failure.kind) {
            None => Some((order.take(), trace)),
            Some(FailureKind::Diverged { .. }) => None,
            Some(kind) => panic!("{kind:?}"),
        }
    }
    /// Goes on with moves of `thread`, whose stores become visible at once, until it waits or `ends`.
    fn go_on<C: RwSemPolicy>(mut self, thread: char, ends: impl Fn(&[Traced]) -> bool) -> Self {
        while !self.run::<C>().is_some_and(|(_, trace)| ends(&trace)) {
            let moves = [thread.to_ascii_uppercase(), thread];
            let longer = moves.map(|next| Self(format!("{}{next}", self.0)));
            let Some(longer) = longer.into_iter().find(|longer| longer.run::<C>().is_some()) else {
                break;
            };
            self = longer;
        }
        self
    }
}

/// Writer 0 waits for reader 1. Writer 2 queues, and reads in the count that the reader is there. Then the reader
/// leaves, and writer 2 tries: with the count that it has read, so it sleeps, and writer 0 is the next owner.
fn tries_with_the_count_that_it_has_read_before<C: RwSemPolicy>() {
    let is_at = |traced: &Traced, thread, what: &str, place: &str| {
        (traced.thread, &traced.what[..], &traced.place[..]) == (thread, what, place)
    };
    let is_owned = |trace: &[Traced]| {
        trace.iter().any(|at| is_at(at, 1, "store becomes visible", "RwSem byte 8"))
    };
    let before = Schedule(String::new()).go_on::<C>('b', is_owned).go_on::<C>('a', |_| false);
    let begun = before.0.len();
    let queues = before.go_on::<C>('c', |_| false).0;
    let mut tried = 0;
    for end in begun..=queues.len() {
        let begins = Schedule(queues[..end].into());
        let (_, trace) = begins.run::<C>().expect("it is the beginning of one that runs");
        if !trace.iter().any(|at| is_at(at, 2, "load", "RwSem byte 0")) {
            continue;
        }
        let leaves = begins.go_on::<C>('b', |_| false).go_on::<C>('c', |_| false);
        let (order, _) = leaves.run::<C>().expect("it was run");
        assert_eq!(order, [1, 0, 2], "{}", leaves.0);
        tried += 1;
    }
    assert!(tried > 3, "{tried}");
}

#[test]
fn a_writer_that_queues_tries_with_the_count_that_it_has_read_before() {
    tries_with_the_count_that_it_has_read_before::<rwsem::V4_14Bits>();
    tries_with_the_count_that_it_has_read_before::<rwsem::V4_14HandoffAsPosted>();
    tries_with_the_count_that_it_has_read_before::<rwsem::V5_2NewCount>();
}

/// Writer 1 sleeps in the list. Writer 2 comes as the owner releases the lock. Until 4.14 the fast path of a writer
/// takes a lock that has waiters, if no thread holds it or tries to. With the new count writer 2 has to spin for that.
#[test]
fn the_fast_path_of_a_writer_takes_the_lock_past_waiters_until_4_14() {
    fn overtakes<C: RwSemPolicy>() -> Vec<u64> {
        let spun = |comes_ns| {
            let tasks = [
                writer(0, &[Sleep(90 * US), Work(10 * US)]),
                writer(10 * US, BRIEF),
                writer(comes_ns, BRIEF),
            ];
            let (order, report) = run::<C>(&tasks);
            (order == [0, 2, 1]).then(|| report.count_of(Event::rwsem_opt_wlock))
        };
        (100 * US..110 * US).step_by(100).filter_map(spun).collect()
    }
    assert!(overtakes::<rwsem::V3_12>().contains(&0));
    assert!(overtakes::<rwsem::V4_14>().contains(&0));
    let spun = overtakes::<rwsem::V4_14Bits>();
    assert!(!spun.is_empty() && !spun.contains(&0), "{spun:?}");
}

/// Reader 1 waits in the list and gets the lock from writer 0. Writer 2, which spins, goes on while no owner is named,
/// and so it spins until the reader is done.
#[test]
fn a_spinner_of_2013_goes_on_while_readers_have_the_lock() {
    let tasks =
        [writer(0, &[Work(50 * US)]), reader(10 * US, &[Work(50 * US)]), writer(20 * US, BRIEF)];
    let events = [Event::rwsem_opt_wlock, Event::rwsem_opt_fail, Event::rwsem_sleep_writer];
    told_apart::<rwsem::V3_12Series, 3>(&tasks, events, [0, 1, 2], [1, 0, 0]);
}

/// A release raises the flag, wakes the first waiter, a writer, and lowers the flag after that. Meanwhile a thief comes
/// and goes and sees the flag, and the writer has seen the thief. So no thread wakes the writer, under some schedule.
#[test]
fn the_flag_of_2013_is_lowered_after_the_first_writer_is_woken() {
    fn come_once<C: RwSemPolicy>(simulation: &mut Simulation<'_>) {
        let lock = simulation.alloc(<RwSem<Sim, C> as RawLock>::new());
        for cpu in 0..3 {
            simulation.spawn(cpu, || {
                lock.lock();
                // SAFETY: taken above.
                unsafe { lock.unlock() };
            });
        }
    }
    fn loses_a_wake_up<C: RwSemPolicy>() -> bool {
        let machine = machine(1, 4, 1);
        let policies = vec![PolicyKind::Random, PolicyKind::Pct(3), PolicyKind::Pos];
        let plan = Plan { policies, schedules: 20_000, limits: Limits::default() };
        let program = come_once::<C>;
        let mut explorer = Explorer::new(&machine, 1, Config::default(), &program);
        explorer.explore(&plan, |_| true).failure.is_some()
    }
    assert!(loses_a_wake_up::<rwsem::V3_12WakeFlagAsPosted>());
    assert!(!loses_a_wake_up::<rwsem::V3_12WakeFlag>());
}

/// Reader 3 waits behind writer 2, and reader 1 in front of it.
#[test]
fn the_readers_of_the_whole_list_are_granted_together_from_the_tenth_patch_of_2019() {
    let tasks = [
        writer(0, &[Sleep(100 * US)]),
        reader(10 * US, BRIEF),
        writer(20 * US, BRIEF),
        reader(30 * US, BRIEF),
    ];
    let events = [Event::rwsem_wake_reader];
    told_apart::<rwsem::V4_14, 1>(&tasks, events, [0, 1, 2, 3], [2]);
    told_apart::<rwsem::V5_2Handoff, 1>(&tasks, events, [0, 1, 2, 3], [2]);
    told_apart::<rwsem::V5_2AllReaders, 1>(&tasks, events, [0, 1, 3, 2], [1]);
    told_apart::<rwsem::V5_10AsPosted, 1>(&tasks, events, [0, 1, 3, 2], [1]);
    told_apart::<rwsem::Current, 1>(&tasks, events, [0, 1, 3, 2], [1]);
}

/// Reader 2 waits behind writer 1. The owner wakes writer 1. Before it runs, reader 3 takes the lock in front of the
/// waiters. With the fourth patch of 2020 it takes reader 2 along.
#[test]
fn a_reader_takes_those_behind_a_writer_along_in_the_fourth_patch_of_2020() {
    fn orders<C: RwSemPolicy>() -> BTreeSet<Vec<usize>> {
        let order = |comes_ns| {
            let tasks = [
                writer(0, &[Sleep(90 * US), Work(10 * US)]),
                writer(10 * US, BRIEF),
                reader(20 * US, BRIEF),
                reader(comes_ns, &[Work(50 * US)]),
            ];
            run::<C>(&tasks).0
        };
        (100 * US..110 * US).step_by(100).map(order).collect()
    }
    let (along, behind) = (vec![0, 3, 2, 1], vec![0, 3, 1, 2]);
    for with in [orders::<rwsem::V5_10Before>(), orders::<rwsem::V5_10NoRspin>()] {
        assert!(with.contains(&along) && !with.contains(&behind), "{with:?}");
    }
    for without in [orders::<rwsem::V5_10Stealing>(), orders::<rwsem::V5_11>()] {
        assert!(!without.contains(&along) && without.contains(&behind), "{without:?}");
    }
}
