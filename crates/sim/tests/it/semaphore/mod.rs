//! The presets of the reader-writer semaphore against each other, with tasks of a kernel as its users.

mod current;
mod differences;
mod posted;
mod starvation;

use crate::machines::machine;
use lockwright_catalog::registry::{LOCKS, RwSemVisitor, visit_rwsem};
use lockwright_core::platform::{Cells, Clock, Sleeping, Zeroed};
use lockwright_core::raw::RawLock;
use lockwright_linux::rwsem::{self, Policy, RwSem, RwSemPolicy};
use lockwright_sim::{
    Arena, Config, NodesMode, RunReport, ScheduledKind, Scheduling, Sim, Simulation, StartState,
    thread,
};
use std::cell::Cell;

/// How long a task keeps its CPU if another one wants it.
const SLICE_NS: u64 = 100_000;
/// The name of what programs have, which is compared in [`starvation`] alone.
const IN_PROGRAMS: &str = "rwsem-current_in_programs";
/// What differs from another preset in the greatest number of readers alone.
const NARROW: &str = "rwsem-v3_12_on_32_bits";

/// When the tasks of a run are done.
#[derive(Clone, Copy, Debug)]
enum Length {
    /// After this number of critical sections of each.
    Rounds(u64),
    /// After this time.
    Nanoseconds(u64),
}

/// What the tasks of a run do.
#[derive(Clone, Copy, Debug)]
struct Load {
    seed: u64,
    /// CPUs of the machine, an even number.
    cpus: u32,
    tasks: usize,
    /// How many of the tasks read.
    readers: usize,
    /// How many of a hundred critical sections of such a task read. The others write.
    read_percent: u64,
    section_ns: u64,
    /// In how many of a hundred critical sections the owner sleeps.
    sleep_percent: u64,
    /// User mode between two sections.
    outside_ns: u64,
    length: Length,
}

/// The longest waits of a run, in simulated nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Longest {
    write_ns: u64,
    read_ns: u64,
}

struct Outcome {
    report: RunReport,
    longest: Longest,
}

impl Load {
    const fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    fn run<L: RawLock>(self) -> Outcome {
        let mut described = machine(2, self.cpus / 2, 1);
        described.scheduler.iter_mut().for_each(|with| with.slice_ns = SLICE_NS as f64);
        let length = match self.length {
            Length::Rounds(_) => Config::default(),
            Length::Nanoseconds(window_ns) => Config::window(0, window_ns),
        };
        let (kind, start) = (ScheduledKind::Kernel, StartState::Running);
        let scheduling = Some(Scheduling { kind, start });
        let config = Config { nodes: NodesMode::Pool(64), scheduling, ..length };
        let mut arena = Arena::default();
        let mut simulation = Simulation::new(&described, &mut arena, self.seed, config);
        let lock = simulation.alloc(L::new());
        let bed = simulation.alloc(<Sim as Cells>::U32::zeroed());
        let longest = Cell::new(Longest::default());
        for task in 0..self.tasks {
            let (load, longest) = (&self, &longest);
            simulation.spawn_scheduled(move || {
                let mut round = 0;
                while !load.is_done(round) {
                    round += 1;
                    load.section(task, lock, bed, longest);
                    thread::op_done();
                    thread::may_reschedule();
                    thread::user_ns(load.outside_ns);
                }
            });
        }
        let report = simulation.run();
        assert_eq!(report.failures, [], "{self:?}");
        Outcome { report, longest: longest.get() }
    }

    fn is_done(&self, round: u64) -> bool {
        match self.length {
            Length::Rounds(rounds) => round == rounds,
            Length::Nanoseconds(_) => thread::is_over(),
        }
    }

    fn section<L: RawLock>(
        &self,
        task: usize,
        lock: &L,
        bed: &<Sim as Cells>::U32,
        longest: &Cell<Longest>,
    ) {
        let reads = task < self.readers && thread::random() % 100 < self.read_percent;
        let came_ns = Sim::now_ns();
        if reads {
            lock.lock_shared();
        } else {
            lock.lock();
        }
        let waited_ns = Sim::now_ns() - came_ns;
        let Longest { write_ns, read_ns } = longest.get();
        longest.set(match reads {
            true => Longest { write_ns, read_ns: read_ns.max(waited_ns) },
            false => Longest { write_ns: write_ns.max(waited_ns), read_ns },
        });
        if thread::random() % 100 < self.sleep_percent {
            Sim::futex_wait(bed, 0, Some(Sim::now_ns() + self.section_ns));
        } else {
            thread::work_ns(self.section_ns);
        }
        if reads {
            // SAFETY: taken above.
            unsafe { lock.unlock_shared() };
        } else {
            // SAFETY: taken above.
            unsafe { lock.unlock() };
        }
    }
}

/// A preset, and how to run a load with it.
struct Preset {
    name: &'static str,
    policy: Policy,
    run: fn(Load) -> Outcome,
}

impl Preset {
    const fn of<C: RwSemPolicy>(name: &'static str) -> Self {
        Self { name, policy: C::POLICY, run: Load::run::<RwSem<Sim, C>> }
    }
    fn named(name: &str) -> &'static Self {
        PRESETS.iter().find(|preset| preset.name == name).expect("a preset")
    }
}

/// All presets, in the order in which they came.
const PRESETS: &[Preset] = &[
    Preset::of::<rwsem::V3_12>("rwsem-v3_12"),
    Preset::of::<rwsem::V3_12Series>("rwsem-v3_12_series"),
    Preset::of::<rwsem::V3_12WakeFlagAsPosted>("rwsem-v3_12_wake_flag_as_posted"),
    Preset::of::<rwsem::V3_12WakeFlag>("rwsem-v3_12_wake_flag"),
    Preset::of::<rwsem::V3_12SeriesWakeFlagAsPosted>("rwsem-v3_12_series_wake_flag_as_posted"),
    Preset::of::<rwsem::V3_12SeriesWakeFlag>("rwsem-v3_12_series_wake_flag"),
    Preset::of::<rwsem::V4_14>("rwsem-v4_14"),
    Preset::of::<rwsem::V4_14Bits>("rwsem-v4_14_bits"),
    Preset::of::<rwsem::V4_14HandoffAsPosted>("rwsem-v4_14_handoff_as_posted"),
    Preset::of::<rwsem::V4_14Handoff>("rwsem-v4_14_handoff"),
    Preset::of::<rwsem::V5_2NewCount>("rwsem-v5_2_new_count"),
    Preset::of::<rwsem::V5_2Handoff>("rwsem-v5_2_handoff"),
    Preset::of::<rwsem::V5_2AllReaders>("rwsem-v5_2_all_readers"),
    Preset::of::<rwsem::V5_2ReaderSpin>("rwsem-v5_2_reader_spin"),
    Preset::of::<rwsem::V5_2TimedSpin>("rwsem-v5_2_timed_spin"),
    Preset::of::<rwsem::V5_10AsPosted>("rwsem-v5_10_as_posted"),
    Preset::of::<rwsem::V5_10>("rwsem-v5_10"),
    Preset::of::<rwsem::V5_10Starvation>("rwsem-v5_10_starvation"),
    Preset::of::<rwsem::V5_10Stealing>("rwsem-v5_10_stealing"),
    Preset::of::<rwsem::V5_10Before>("rwsem-v5_10_before"),
    Preset::of::<rwsem::V5_10LimitRspin>("rwsem-v5_10_limit_rspin"),
    Preset::of::<rwsem::V5_10NoRspin>("rwsem-v5_10_no_rspin"),
    Preset::of::<rwsem::V5_11>("rwsem-v5_11"),
    Preset::of::<rwsem::V5_16>("rwsem-v5_16"),
    Preset::of::<rwsem::V5_19>("rwsem-v5_19"),
    Preset::of::<rwsem::Current>("rwsem-current"),
];

struct IsOne;

impl RwSemVisitor for IsOne {
    type Output = ();
    fn visit<C: RwSemPolicy>(self) {}
}

#[test]
fn every_preset_of_the_registry_is_among_those_that_are_compared() {
    let registered =
        LOCKS.iter().filter(|row| visit_rwsem(row, IsOne).is_some()).map(|row| row.name);
    let mut registered: Vec<_> =
        registered.filter(|name| ![IN_PROGRAMS, NARROW].contains(name)).collect();
    let mut compared: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    registered.sort_unstable();
    compared.sort_unstable();
    assert_eq!(registered, compared);
}
