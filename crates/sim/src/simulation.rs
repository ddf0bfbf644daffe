//! A run, from its program to its report.

use crate::arena::{Arena, LINE_BYTES};
use crate::checker::stuck_threads;
use crate::claims::Claims;
use crate::config::{Config, NodesMode};
use crate::engine::{Engine, Exploration, Thread, queue::QueuedEvent};
use crate::explore::{Limits, Move, SchedulePolicy};
use crate::machine::Machine;
use crate::memory::{CORES_MAX, CoreSite, CostTable, Memory};
use crate::metadata::{ENTRIES, MetadataMemory, MetadataTable};
use crate::nodes::{LockHashTable, NodeTable};
use crate::park::{BUCKETS, SleepMemory, SleepSlots};
use crate::platform::{Sim, begin_lock_numbers};
use crate::report::{Ending, Failure, FailureKind, RunReport};
use crate::scheduling::{self, Numa};
use crate::suspender::Suspender;
use crate::switch::Here;
use crate::tables::LockTables;
use core::any::Any;
use core::ptr::NonNull;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use lockwright::percpu_rwlock::ReaderSlot;
use lockwright_core::held::HeldTable;
use lockwright_core::park::{Bucket, Waiter};
use lockwright_core::platform::{Cells, ReadList, Zeroed};
use lockwright_core::queue::QNode;
use lockwright_linux::hq::{Entry, NumaQueue};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

type Body<'a> = Box<dyn FnOnce() + 'a>;
type Stackful = Coroutine<(), (), ()>;

/// Between the starts of two threads, in picoseconds.
const START_STAGGER_PS: u64 = 100;

/// A machine with a program, ready to run.
///
/// ```
/// use lockwright_core::platform::{Atomic, AtomicInt, Cells, Zeroed};
/// use lockwright_sim::{Arena, Config, Sim, Simulation, machine::Machine};
/// use std::sync::atomic::Ordering::Relaxed;
///
/// fn increments(machine: &Machine) -> u32 {
///     let mut arena = Arena::default();
///     let mut simulation = Simulation::new(machine, &mut arena, 1, Config::default());
///     let counter = simulation.alloc(<Sim as Cells>::U32::zeroed());
///     for cpu in 0..4 {
///         simulation.spawn(cpu, move || {
///             counter.fetch_add(1, Relaxed);
///         });
///     }
///     let report = simulation.run();
///     assert!(report.failures.is_empty());
///     counter.load(Relaxed)
/// }
/// ```
pub struct Simulation<'a> {
    machine: Machine,
    seed: u64,
    config: Config,
    arena: &'a Arena,
    nodes: &'a [QNode<Sim>],
    hash: &'a [<Sim as Cells>::U64],
    sleepers: SleepMemory<'a>,
    metadata: MetadataMemory<'a>,
    /// The socket whose memory each line is in.
    homes: Vec<u16>,
    bodies: Vec<(u32, Body<'a>)>,
}

impl<'a> Simulation<'a> {
    /// An empty program on `machine`. What the arena held is dropped. Locks are made after this.
    ///
    /// # Panics
    /// If the machine has more than 256 cores, or distances without costs; if
    /// [`Config::scheduling`] is set and the machine has no scheduler, the CPUs are taken away by
    /// [`Config::preemption`] as well, or a program's threads, which move, were to use queue nodes of
    /// their CPUs.
    pub fn new(machine: &Machine, arena: &'a mut Arena, seed: u64, config: Config) -> Self {
        arena.clear();
        begin_lock_numbers();
        let topology = &machine.topology;
        assert!(topology.cores() <= CORES_MAX, "more than {CORES_MAX} cores");
        let farthest = topology.distance.iter().flatten().max().copied().unwrap_or(0);
        assert!(
            farthest as usize <= machine.costs.transfer_remote_ns.len(),
            "distance class {farthest} has no transfer cost"
        );
        scheduling::check(machine, &config);
        let mut simulation = Self {
            machine: machine.clone(),
            seed,
            arena,
            nodes: &[],
            hash: &[],
            sleepers: SleepMemory::NONE,
            metadata: MetadataMemory::default(),
            homes: Vec::new(),
            bodies: Vec::new(),
            config,
        };
        if !simulation.has_nodes_of_vcpus() {
            let cpus = simulation.machine.topology.cpus();
            simulation.make_nodes(cpus);
        }
        simulation
    }
    /// Returns true if queue nodes are per vCPU. How many vCPUs there are is known only when the run begins.
    fn has_nodes_of_vcpus(&self) -> bool {
        self.config.scheduling.is_some() && self.config.nodes == NodesMode::PerCpu
    }
    fn make_nodes(&mut self, cpus: u32) {
        let count = NodeTable::count(self.config.nodes, cpus);
        let first_line = self.homes.len();
        // SAFETY: this is the storage of the platform.
        self.nodes = self.alloc_slice_at(0, count, |_| unsafe { QNode::new() });
        if self.config.nodes == NodesMode::PerCpu {
            let topology = &self.machine.topology;
            let per_cpu = (count / cpus as usize).max(1);
            for (line, home) in self.homes[first_line..].iter_mut().enumerate() {
                let cpu = (line / per_cpu) as u32;
                *home = match self.config.scheduling {
                    Some(_) => cpu % topology.sockets,
                    None => topology.socket_of(cpu),
                } as u16;
            }
        }
    }

    /// Behind everything else, so that a program's lines have the numbers they have without it.
    fn make_tables(&mut self) {
        let cpus = self.machine.topology.cpus().max(self.bodies.len() as u32);
        let count = LockHashTable::count(cpus);
        self.hash = self.alloc_slice_at(0, count, |_| Zeroed::zeroed());
        self.sleepers = SleepMemory {
            buckets: self.alloc_slice_at(0, BUCKETS, |_| Bucket::new()),
            marks: self.alloc_slice_at(0, BUCKETS, |_| Zeroed::zeroed()),
            waiters: self.alloc_slice_at(0, self.nodes.len(), |_| Waiter::new()),
            reader_slots: self.alloc_slice_at(0, self.bodies.len() + 1, |_| ReaderSlot::new()),
            counting_marks: self.alloc_slice_at(0, BUCKETS, |_| Zeroed::zeroed()),
            held: self.alloc_slice_at(0, self.bodies.len(), |_| HeldTable::new()),
            reads: &[],
        };
        self.metadata.entries = self.alloc_slice_at(0, ENTRIES, |_| Entry::new());
        let per_node = self.machine.topology.sockets_per_node;
        for node in 0..self.machine.topology.nodes() {
            let queues = self.alloc_slice_at(node * per_node, ENTRIES, |_| NumaQueue::new());
            self.metadata.queues.push(queues);
        }
        self.sleepers.reads = self.alloc_slice_at(0, self.bodies.len(), |_| ReadList::EMPTY);
    }

    /// Places an object on lines of its own, in the memory of socket 0.
    ///
    /// The cells in it must lie in place; a cell elsewhere on the heap does not belong to the machine.
    pub fn alloc<T: 'static>(&mut self, value: T) -> &'a T {
        self.alloc_at(0, value)
    }
    /// As [`alloc`](Self::alloc), in the memory of `socket`.
    pub fn alloc_at<T: 'static>(&mut self, socket: u32, value: T) -> &'a T {
        let mut value = Some(value);
        &self.alloc_slice_at(socket, 1, |_| match value.take() {
            Some(value) => value,
            None => unreachable!("one element is made once"),
        })[0]
    }
    /// Places `len` objects in a row, in the memory of `socket`. Small ones share lines, unless
    /// their type is aligned to 64 bytes.
    pub fn alloc_slice_at<T: 'static>(
        &mut self,
        socket: u32,
        len: usize,
        value: impl FnMut(usize) -> T,
    ) -> &'a [T] {
        assert!(socket < self.machine.topology.sockets, "there is no socket {socket}");
        let slice = self.arena.alloc_slice(len, value);
        self.homes.resize(self.arena.used() / LINE_BYTES, socket as u16);
        slice
    }

    /// Adds a thread on `cpu`; returns its number. Threads are pinned, one to a CPU.
    ///
    /// What is on the stack of a thread that does not finish (because the run fails) is not
    /// dropped, and its memory is not given back.
    ///
    /// # Panics
    /// If there is no such CPU or it has a thread, or if the run has a scheduler.
    pub fn spawn(&mut self, cpu: u32, body: impl FnOnce() + 'a) -> usize {
        self.spawn_boxed(cpu, Box::new(body))
    }
    fn spawn_boxed(&mut self, cpu: u32, body: Body<'a>) -> usize {
        assert!(
            self.config.scheduling.is_none(),
            "no thread is pinned in a run with a scheduler: use spawn_scheduled"
        );
        let cpus = self.machine.topology.cpus();
        assert!(cpu < cpus, "there is no CPU {cpu}: the machine has {cpus}");
        assert!(
            self.bodies.iter().all(|(other, _)| *other != cpu),
            "CPU {cpu} has a thread already: threads are pinned, one to a CPU"
        );
        self.bodies.push((cpu, body));
        self.bodies.len() - 1
    }

    /// Adds a thread that is not pinned; returns its number. There may be more than CPUs.
    ///
    /// # Panics
    /// Without [`Config::scheduling`].
    pub fn spawn_scheduled(&mut self, body: impl FnOnce() + 'a) -> usize {
        self.spawn_scheduled_boxed(Box::new(body))
    }
    fn spawn_scheduled_boxed(&mut self, body: Body<'a>) -> usize {
        assert!(
            self.config.scheduling.is_some(),
            "the run has no scheduler: see Config::scheduling"
        );
        let number = self.bodies.len();
        self.bodies.push((number as u32, body));
        number
    }

    /// Runs the program to its end, or until it fails.
    ///
    /// # Panics
    /// In a destructor that runs because of a panic: threads could not tell theirs from that one.
    pub fn run(mut self) -> RunReport {
        if self.has_nodes_of_vcpus() {
            self.make_nodes(self.bodies.len().max(1) as u32);
        }
        self.make_tables();
        let mut engine = self.engine();
        self.run_in(&mut engine, &mut Vec::new());
        report(*engine)
    }

    /// Runs the program in the order that `policy` picks; returns the policy and what it picked.
    /// `stacks` lends stacks and gets more back. With `is_traced` the report says what each move did.
    pub(crate) fn explore(
        mut self,
        policy: Box<dyn SchedulePolicy>,
        limits: Limits,
        stacks: &mut Vec<DefaultStack>,
        is_traced: bool,
    ) -> (RunReport, Box<dyn SchedulePolicy>, Vec<Move>) {
        assert!(self.config.scheduling.is_none(), "what a scheduler does cannot be explored");
        self.make_tables();
        let mut engine = self.engine();
        let exploration = Exploration::new(policy, limits, self.bodies.len());
        engine.explore_with(if is_traced { exploration.traced() } else { exploration });
        self.run_in(&mut engine, stacks);
        let exploration = engine.take_exploration();
        let Some((policy, taken, trace)) = exploration.map(Exploration::into_parts) else {
            unreachable!("an exploration stays one to its end")
        };
        (RunReport { trace, ..report(*engine) }, policy, taken)
    }

    fn run_in(self, engine: &mut Engine, stacks: &mut Vec<DefaultStack>) {
        assert!(!std::thread::panicking(), "a simulation cannot run while a panic unwinds");
        // SAFETY: the engine is not used directly until `here` and all its copies are out of use.
        let here = unsafe { Here::of(NonNull::from(&mut *engine)) };
        let mut threads = Vec::with_capacity(self.bodies.len());
        for (number, (_, body)) in self.bodies.into_iter().enumerate() {
            let stack = stacks.pop().unwrap_or_else(|| stack(self.config.stack_bytes, number));
            threads.push(coroutine(here, number, stack, body));
        }
        run_threads(here, &mut threads);
        let survivor = here.with(|engine| engine.survivor);
        for (number, mut thread) in threads.into_iter().enumerate() {
            if thread.started() && survivor.is_some_and(|survivor| survivor != number) {
                // SAFETY: by the contract of `thread::fork_point` nothing on the stack needs to be dropped.
                unsafe { thread.force_reset() };
            }
            if thread.done() {
                stacks.push(thread.into_stack());
            } else if thread.started() {
                // Unwinding would run destructors of a program that has failed; see `spawn`.
                core::mem::forget(thread);
            }
        }
    }

    fn engine(&self) -> Box<Engine> {
        let bodies = &self.bodies[..];
        let topology = &self.machine.topology;
        let scheduling = self.config.scheduling;
        let active = bodies.len().min(topology.cpus() as usize);
        let mut costs = CostTable::new(&self.machine, active);
        if let Some((scheduling, scheduler)) = scheduling.zip(self.machine.scheduler.as_ref()) {
            scheduling.charge(&mut costs, scheduler);
        }
        let mut memory = Memory::new(costs.transfer.len());
        for &home in &self.homes {
            memory.register(1, home);
        }
        let sleepers = SleepSlots::new(self.sleepers);
        let tables = LockTables {
            nodes: NodeTable::new(self.config.nodes, self.nodes, bodies.len()),
            hash: LockHashTable::new(self.hash),
            claims: Rc::new(Claims::new(&sleepers, self.config.reader_slots)),
            sleepers,
            metadata: MetadataTable::new(&self.metadata),
            readers: self.config.reader_slots,
        };
        let region = self.arena.region();
        let mut engine = Box::new(Engine::new(&self.config, costs, memory, tables, region));
        engine.numa = Numa::seen(scheduling, topology, bodies.len());
        engine.checkers.expect_threads(bodies.len());
        engine.live = bodies.len();
        if bodies.is_empty() {
            engine.ending = Some(Ending::Done);
        }
        for (number, &(cpu, _)) in bodies.iter().enumerate() {
            let core = topology.core_of(cpu) as u16;
            let site = CoreSite { core, socket: topology.socket_of(cpu) as u16 };
            engine.threads.push(Thread::new(cpu, site, self.seed, number));
            if scheduling.is_none() {
                engine.busy_on_core[usize::from(core)] += 1;
                engine.start(number, number as u64 * START_STAGGER_PS);
            }
        }
        if let Some((scheduling, scheduler)) = scheduling.zip(self.machine.scheduler.as_ref()) {
            engine.schedule_on(&self.machine, scheduler, scheduling, self.seed);
        }
        engine
    }
}

fn stack(bytes: usize, thread: usize) -> DefaultStack {
    match DefaultStack::new(bytes) {
        Ok(stack) => stack,
        Err(error) => panic!("no memory for the stack of thread {thread}: {error}"),
    }
}

/// The coroutine of one thread.
fn coroutine(here: Here, number: usize, stack: DefaultStack, body: Body<'_>) -> Stackful {
    let root = move |yielder: &Yielder<(), ()>, ()| {
        here.with(|engine| engine.threads[number].suspender = Suspender::new(yielder));
        if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
            here.panicked(message_of(&*payload));
        }
    };
    // SAFETY: what `body` borrows lives longer than the run, which drops the coroutine or, if it
    // has not finished, gives it up without ever resuming it again.
    unsafe { Coroutine::with_stack_unchecked(stack, root) }
}

fn run_threads(here: Here, threads: &mut [Stackful]) {
    // A thread that yields has found out which thread goes on, or that the run is over.
    let mut is_decided = false;
    loop {
        if !is_decided {
            here.drive(QueuedEvent::NEVER);
        }
        if here.with(|engine| engine.ending.is_some()) {
            return;
        }
        let next = here.with(|engine| {
            engine.current = engine.next;
            engine.switches += 1;
            engine.current
        });
        match here.enter(|| threads[next].resume(())) {
            CoroutineResult::Yield(()) => is_decided = true,
            CoroutineResult::Return(()) => {
                here.with(Engine::finish);
                is_decided = false;
            }
        }
    }
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a value that is not text".to_owned()
    }
}

fn report(mut engine: Engine) -> RunReport {
    let ending = engine.ending.take().unwrap_or(Ending::Done);
    let at_ps = engine.time.now;
    let threads = stuck_threads(&engine);
    let failure = match ending {
        Ending::Done => {
            engine.drain();
            let LockTables { hash, sleepers, metadata, .. } = &engine.tables;
            let left = if !hash.is_empty() || !sleepers.is_empty() {
                Some(FailureKind::SleeperLeft)
            } else {
                (!metadata.is_free()).then_some(FailureKind::MetadataLeft)
            };
            // A child finds what vanished threads have left there, and need not clean it.
            left.filter(|_| engine.survivor.is_none()).map(|left| (None, left))
        }
        Ending::Stuck => Some((None, FailureKind::Stuck { threads })),
        Ending::TimeLimit => Some((None, FailureKind::TimeLimit { threads })),
        Ending::EventLimit => Some((None, FailureKind::EventLimit { threads })),
        Ending::Violated => None,
        Ending::Diverged { step } => Some((None, FailureKind::Diverged { step })),
        Ending::Panicked(thread, message) => {
            Some((Some(thread), FailureKind::Panicked { message }))
        }
        Ending::WaitWhilePanicking(thread) => {
            let message = "a destructor had to wait for others while a panic unwound".to_owned();
            Some((Some(thread), FailureKind::Panicked { message }))
        }
    };
    let schedule = engine.take_schedule();
    let most_overtakes = engine.checkers.most_overtakes();
    let mut failures = engine.checkers.failures;
    let failures_total = engine.checkers.failures_total + u64::from(failure.is_some());
    failures.extend(failure.map(|(thread, kind)| Failure { at_ps, thread, kind }));
    RunReport {
        ops: engine.threads.iter().map(|thread| thread.ops).collect(),
        window_ps: engine.window.end.min(engine.time.now).saturating_sub(engine.window.start),
        end_ps: engine.time.now,
        events: engine.time.events,
        switches: engine.switches,
        digest: engine.time.digest,
        lock_events: engine.counts,
        transfers: engine.memory.transfers,
        schedule,
        preemptions: engine.preemptions.count,
        most_overtakes,
        trace: Vec::new(),
        failures,
        failures_total,
    }
}
