//! A deterministic simulator of cache-coherent machines, as a platform for the locks.
//!
//! A [`Simulation`] is a program on a [`machine`]: objects in an [`Arena`], and threads, each on a CPU
//! of its own or [scheduled](#the-scheduler), which are ordinary Rust closures that use locks generic over
//! the traits of [`lockwright_core::platform`] with [`Sim`]. Every access to a cell costs
//! simulated time. One seed gives one history, on any host: the [`Digest`] of a run is a golden
//! value. A thread uses the platform and the functions in [`thread`]; [`watch`] tells the checkers what it does.
//!
//! # What an access costs
//!
//! Memory is cache lines of 64 bytes. A line knows its *owner* (the core that has it modified or
//! exclusive) or its *sharers*, until when it is busy, when its last transfer completes, and which
//! core it was last taken from. Caches belong to cores, so SMT siblings share them. The rules:
//!
//! 1. **The state moves when an access is issued, the value is read or written when it completes.**
//!    What happens in between sees the new owner and the old value.
//! 2. **Hit**: the core owns the line, or reads a line it shares: `load_hit` (a store:
//!    `store_issue`). A hit occupies nothing.
//! 3. **Miss**: by who has the line.
//!
//!    | the line is | a read costs | a write or read-modify-write costs |
//!    |---|---|---|
//!    | owned by another core | the transfer of its distance class | the same |
//!    | shared | `shared_load` if a sharer is in this socket, else the transfer from the nearest | the upgrade of the farthest sharer's class; `load_hit` if there is no other |
//!    | nowhere (first touch) | memory, local or remote to the line's home | the same |
//!
//!    A machine may let lines *migrate*: with the chance `migratory` a read of a line that its owner has
//!    written takes it away, so that the reader owns it and may write it at no more cost. Off if its
//!    file says nothing of it, as are `rmw_shield`, `width_mismatch`, `wake_local` and `steal_after` below.
//! 4. **First come, first served**: a miss starts when the line is free. Transfers occupy the line
//!    until they arrive; reads of clean lines for a quarter of their time, because they pipeline.
//! 5. **Retention**: the old owner still hits during the first part (`owner_retention`) of the
//!    transfer that takes the line away, because the snoop has not reached it yet. Without this
//!    the releasing core of an unfair lock could never win. The core that has just got the line to write it still hits
//!    for that part of a local transfer, however many others wait for it. So a compare-exchange that failed and is
//!    tried again at once succeeds: many threads that do so are slow, but they do not stand still.
//!    *Arbitration* is the other half: a read-modify-write of a core that comes back to a line which
//!    others want, within the retention or while its own store to it is on its way, is served after
//!    them with this chance. Then a spinner is drawn that is woken before the others; one in another
//!    socket than the line's home weighs `arbitration_remote` of one in that socket.
//!    With `rmw_shield` up to that part of a read-modify-write may be left when the snoop arrives: one
//!    that has begun is completed, because a locked instruction keeps its line, and it is completed
//!    before a slice ends or noise begins. A spinner that reads now and then finds a lock that is taken all
//!    the time nearly always taken: what the owner does next after its release has begun by then.
//! 6. **Read-modify-writes** add `rmw_extra` and first drain the store buffer. One that fails (a
//!    compare-exchange) has moved the line all the same. On a machine with `width_mismatch`, it begins that long after
//!    its thread's last store has committed, if that store wrote some of the bytes that it reads and not all of them: a
//!    store of 8 bits cannot answer a compare-exchange of 32. If it begins later anyway, it does not wait.
//! 7. **Store buffers**: a store asks for its line when it is issued and commits in order, at the
//!    earliest a picosecond after the one before; the thread goes on after `store_issue`. A load
//!    of the same cell sees the thread's own pending stores. So memory is TSO: sequential
//!    consistency plus store buffers of 56 entries.
//! 8. **Spinning** takes no events. A spinner that does not find the value it waits for sleeps on the line until the
//!    line is *invalidated*, which is when a write to it is issued. It reacts `spin_reaction` later and reads again; so
//!    it queues behind that write and in front of any access that comes later. It is woken a second time when the value
//!    changes, if that is later.
//! 9. **Noise**: transfers vary by `transfer_jitter`, software work by `work_jitter`, both uniformly
//!    and from the seed. Without it, deterministic costs lock threads into step.
//! 10. **Load**: remote latencies grow by `remote_inflation` times the fraction of CPUs in use;
//!     work takes `smt_factor` as long while the core's other thread is busy.
//!
//! Barriers wait for the store buffer. A heavy barrier costs `heavy_barrier` plus
//! `heavy_barrier_per_cpu` for each other running thread, each of which loses that time too.
//! Sleeping and waking cost their calls, and a woken thread runs `wake_latency` later. Where a
//! thread is, queue nodes, counters and the clock cost nothing.
//!
//! # What is not modelled
//!
//! Memory orders weaker than TSO; capacity and conflict misses (a line stays where it was); bandwidth
//! of links and of memory; remote costs that depend on a line's home; prefetchers and everything
//! else that overlaps, unless the program says so ([`thread::prefetch_for_write`]); failed store
//! forwarding to plain loads; clock frequency; instructions other than accesses, which are for the program to add
//! ([`thread::work_ps`]); reading the clock. A [`Preemption`] is a fault and no scheduler.
//!
//! # The scheduler
//!
//! With [`Config::scheduling`] there may be more threads than CPUs: the vCPUs of a guest on its host, or
//! the threads of a program under a kernel ([`ScheduledKind`]). All numbers are in the section
//! `[scheduler]` of the machine ([`machine::Scheduler`]). The rules:
//!
//! 1. **A thread runs, waits in the run queue of a CPU, or sleeps.** It runs for a `slice`; then it goes
//!    to the end of the queue, and the first in it gets the CPU a `context_switch` later. While the
//!    queue is empty, one slice follows another.
//! 2. **Idle stealing.** A CPU with nothing to do takes the first thread of the longest run queue, of the nearest if
//!    there are several. So no thread waits while a CPU is idle; queues of different lengths are not evened out as long
//!    as none is. With `steal_after`, no CPU takes a thread that had one less than that time ago.
//! 3. **Waking up.** A thread that is woken (`kick_latency` after the kick of a vCPU, `wake_latency`
//!    after the wake-up of a thread, at once at its own deadline) gets its last CPU if that is idle;
//!    otherwise any idle one, those of the same socket first; otherwise the one with the fewest threads
//!    and other things on it, its last one if it is among these. On an idle CPU it runs at once.
//!    Otherwise it *preempts* the thread there, which goes to the front of the queue with what is
//!    left of its slice; unless that has had the CPU for less than `wake_granularity`, in which case it
//!    waits at the end of the queue. So two threads that wake each other do not keep a third from
//!    getting anything done.
//!    With `wake_local` a thread of a program gets its last CPU with this chance although that is busy
//!    and another one idle, at once, and a wake-up costs `wake_local_call` unless it interrupts
//!    another CPU: then it costs `wake_call` and takes `wake_latency` besides. Threads wait in the run
//!    queues of busy CPUs then while others are idle, which look for them when they fall idle and when a
//!    slice ends.
//! 4. **Sleeping.** A vCPU that sleeps pays `halt_exit`, and the vCPU that wakes it pays `kick_call`; the threads of a
//!    program pay the machine's `sleep_call` and `wake_call`. One that yields its CPU pays the same as one that sleeps,
//!    and goes to the end of the queue, if a thread waits there.
//! 5. **Noise.** In each period of a slice, each CPU does something else for `noise`, from a random
//!    moment on. The thread there waits at the front of the queue with the rest of its slice, and idle
//!    CPUs may take it over; the noise includes the switches to it and back.
//! 6. **Pause-loop exiting**, guests only and off when `pause_loop_window` is 0: a vCPU that has spun for that long in
//!    one go (spins no farther apart than `pause_loop_gap` are one go, and a read of the line that takes longer begins
//!    another) goes to the end of the queue, if a thread waits there. Exits that find no waiting thread cost nothing
//!    and are not counted.
//! 7. **A thread without a CPU does nothing**: it issues no access and looks at no line. What it was at
//!    goes on with what was left of it, an access as well as work; only its store buffer drains
//!    meanwhile. A spinner looks again, and asks its stop condition, when it gets a CPU. Looks of a
//!    bounded spin are counted only on a CPU; a deadline in nanoseconds passes in any case, and is
//!    noticed on a CPU.
//! 8. **Moving** costs nothing but cold caches: from then on the thread's accesses come from another
//!    core.
//! 9. **Tasks of a kernel** ([`ScheduledKind::Kernel`]) keep their CPU where a program would lose it: at the end of a
//!    slice, and for one that wakes up and goes to the front of the queue, they are only asked (`need_resched`). They
//!    give way in user mode ([`thread::user_ns`]), where they ask for it ([`thread::may_reschedule`]), or by sleeping.
//!    So no task waits for an owner of a spinlock that has no CPU. A task that spins for a task without a CPU, and does
//!    not look at `need_resched`, spins for ever, as in such a kernel. There is no noise, and a wake-up that finds no
//!    sleeper costs `wake_local_call`.
//! 10. **The end.** When all threads sleep or spin for ever the run is stuck, whatever slices and noise
//!     might follow: at once if all sleep, within a slice if one spins.
//!
//! The start ([`StartState`]) matters: an overcommitted machine is metastable, and may stay for long in
//! what it began with. What the scheduler did is in [`RunReport::schedule`].
//!
//! Not modelled: priorities and virtual run time, balancing between busy CPUs, preference for cores
//! with two idle hardware threads, deep idle states, and a scheduler inside of the guest, whose
//! vCPUs have one thread each.
//!
//! # Time
//!
//! Picoseconds in 64 bits. Costs are converted when a run begins; the event loop knows no floating
//! point. Events are ordered by time, then by age. Line numbers follow the order of allocation and
//! never depend on host addresses.
//!
//! # How it runs
//!
//! Threads are stackful coroutines on one host thread, so lock code is the same synchronous code as
//! everywhere. Runs share nothing: several may go on in parallel, each on a host thread of its
//! own. A run ends when all threads have returned, when nothing can happen any more (the threads
//! that still wait are reported, see [`FailureKind::Stuck`]), when a thread panics, or at a limit.
//!
//! # Exploration
//!
//! All of the above is one history. [`explore`] runs a program in many others, in which a policy
//! and not the time decides what happens next.
#![warn(missing_docs)]

pub mod machine;

pub mod any_lock;
mod arena;
mod checker;
mod claims;
mod config;
mod digest;
mod engine;
pub mod explore;
mod memory;
mod metadata;
mod nodes;
mod park;
mod platform;
mod report;
mod rng;
mod scheduling;
mod simulation;
mod suspender;
mod switch;
mod tables;
pub mod thread;
pub mod watch;

pub use arena::Arena;
pub use config::{Checks, Config, NodesMode, Preemption};
pub use digest::Digest;
pub use memory::Transfers;
pub use platform::{Sim, SimCell, Storage, Tracker};
pub use report::{Failure, FailureKind, RunReport, StuckThread, WaitKind};
pub use scheduling::{ScheduleReport, ScheduledKind, Scheduling, StartState};
pub use simulation::Simulation;
