//! A thread that waits again and again next to others that always hold the lock.
//!
//! The others have no pause between two sections, and sections differ in length, so that those of readers overlap. Each
//! section is written down: when its thread asked, when it had the lock, when it gave it back, and what it lost of that
//! time. So the waiting thread knows at the end of each wait which threads held the lock meanwhile.

use super::heap::NativeHeap;
use super::role::{PRIORITIES, StarveRole, ThreadPriority};
use super::usage::{run_delay_ns, thread_cpu_ns};
use super::{locks, priority};
use crate::erased;
use crate::latency;
use crate::peers::upgrade_of;
use crate::starved::{HeldSection, Starved, StarvedWait};
use crate::subject::Subject;
use crate::workload::facts::{Facts, Finding, Load, Needs, OwnLine, Setting, Venue, Worker};
use crate::workload::handoff::Section;
use crate::workload::params::{Domain, params};
use lockwright_catalog::capabilities::{CondvarLock, LockCondvar};
use lockwright_core::native::Native;
use lockwright_core::platform::Clock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The thread that waits: the first one.
const WAITER: usize = 0;
/// What it sleeps between two waits.
const PAUSE: Duration = Duration::from_millis(1);
/// How long it waits to be notified before it looks if the run is over.
const LOOK_EVERY_NS: u64 = 20_000_000;

params! {
    /// a thread waits again and again next to others that always hold the lock: how long, and beyond whose sections; on
    /// this computer
    "starve": StarveParams {
        /// Which thread waits: a writer or an upgrader next to threads that read, a reader next to threads that write,
        /// an owner next to owners, or one that was notified on a condition variable
        role: StarveRole = StarveRole::Writer, Domain::Choice(StarveRole::NAMES);
        /// What the others do in their sections: sleep, spin, or compute, in which only time on a CPU counts
        section: Section = Section::Sleep, Domain::Choice(Section::NAMES);
        /// How long a section is, on average; each has a half to one and a half of it
        section_ns: u64 = 1_000_000, Domain::Time(1_000, 1_000_000_000);
        /// Priority of the threads that overlap: normal, nice:10, fifo:1, rr:1 or idle
        priority: ThreadPriority = ThreadPriority::Normal, Domain::Word(PRIORITIES);
        /// Priority of the thread that waits
        waiter_priority: ThreadPriority = ThreadPriority::Normal, Domain::Word(PRIORITIES);
        /// Run in a forked child
        forked: bool = false, Domain::Truth;
    }
}

impl Facts for StarveParams {
    fn readers_and_writers(&self, threads: usize) -> (usize, usize) {
        match self.role {
            StarveRole::Writer | StarveRole::Upgrader => (threads - 1, 1),
            StarveRole::Reader => (1, threads - 1),
            StarveRole::Owner | StarveRole::Notified => (0, threads),
        }
    }
    fn runs_here_only(&self) -> Option<&'static str> {
        Some("`starve` runs on this computer only: leave out --on")
    }
    fn threads(&self) -> Option<(usize, usize, &'static str)> {
        Some((2, 65, "`starve` needs 2 to 65 threads, one that waits and the others: change"))
    }
    // One waits, eight overlap.
    fn usual_threads(&self, _cpus: usize) -> Option<usize> {
        Some(9)
    }
    // Many waits, of which some are long.
    fn usual_s(&self) -> Option<f64> {
        Some(1.0)
    }
    fn times_itself(&self) -> bool {
        true
    }
    fn settle(
        &mut self,
        _given: &dyn Fn(&str) -> bool,
        place: Option<Venue<'_>>,
    ) -> Result<(), String> {
        match place.is_some_and(|it| it.is_simulated) {
            true => Err("`starve` runs on this computer only: leave out --on".into()),
            false => {
                priority::check("--priority", self.priority)?;
                priority::check("--waiter-priority", self.waiter_priority)
            }
        }
    }
}

impl StarveParams {
    /// Says why its threads would leave no CPU to anything else, if that is so.
    ///
    /// # Errors
    /// If it is; the sentence says what to type instead.
    pub fn check_threads(&self, most: usize, cpus: usize) -> Result<(), String> {
        let others = most.saturating_sub(1);
        let takes_all = self.section != Section::Sleep && others >= cpus;
        match self.priority.is_real_time() && takes_all {
            true => Err(format!(
                "{others} threads with --priority {} that compute would leave no CPU to anything else: take fewer \
                 --threads, or --section sleep",
                self.priority
            )),
            false => Ok(()),
        }
    }
}

/// What the threads share.
pub struct Starve<L: CondvarLock> {
    lock: OwnLine<L>,
    params: StarveParams,
    /// In role `notified`.
    condvar: Option<L::Condvar>,
    /// True if the thread waits to be notified; guarded by the lock, and so is the next one.
    awaits: AtomicBool,
    notified_ns: AtomicU64,
    /// Counts owners, unless the lock is broken: then fewer.
    value: AtomicU64,
    written: AtomicU64,
    disturbed: AtomicU64,
    /// The sections of each other thread since the wait began.
    held: Vec<Mutex<Vec<HeldSection>>>,
    starved: Mutex<Starved>,
}

impl<L: CondvarLock> Load<NativeHeap, L> for StarveParams {
    type State = Starve<L>;
    type Tally = ();

    fn place(&self, setting: Setting, _heap: &mut NativeHeap) -> Starve<L> {
        Starve {
            lock: OwnLine::new(L::new()),
            params: *self,
            condvar: (self.role == StarveRole::Notified).then(L::Condvar::new),
            awaits: AtomicBool::new(false),
            notified_ns: AtomicU64::new(0),
            value: AtomicU64::new(0),
            written: AtomicU64::new(0),
            disturbed: AtomicU64::new(0),
            held: (1..setting.threads).map(|_| Mutex::default()).collect(),
            starved: Mutex::default(),
        }
    }
    fn run<K: Worker<P = Native>>(&self, starve: &Starve<L>, worker: &mut K) {
        let index = worker.index();
        // The command has tried it.
        let _ = priority::set(if index == WAITER { self.waiter_priority } else { self.priority });
        match index {
            WAITER => starve.wait_again_and_again(worker),
            other => starve.overlap(worker, &starve.held[other - 1]),
        }
    }
    fn found(&self, starve: &Starve<L>, (): &(), _ops: u64) -> Finding {
        // ordering: Relaxed; the threads have reported.
        let (written, value) = (starve.written.load(Relaxed), starve.value.load(Relaxed));
        Finding {
            // ordering: Relaxed; as above.
            fail: written.abs_diff(value) + starve.disturbed.load(Relaxed),
            starved: Some(unpoisoned(&starve.starved).clone()),
            ..Finding::default()
        }
    }
}

impl<L: CondvarLock> Starve<L> {
    /// What each of the others does.
    fn overlap(&self, worker: &mut impl Worker<P = Native>, held: &Mutex<Vec<HeldSection>>) {
        let StarveParams { role, section, section_ns, .. } = self.params;
        let reads = role.is_next_to_readers();
        let owns = !reads || !L::READERS_SHARE;
        while worker.keep_going() {
            let wanted_ns = section_ns / 2 + worker.random() % section_ns.max(1);
            let asked_ns = Native::now_ns();
            if reads {
                self.lock.lock_shared()
            } else {
                self.lock.lock()
            }
            let (start_ns, cpu_ns) = (Native::now_ns(), thread_cpu_ns());
            self.look(owns, || match section {
                Section::Sleep => std::thread::sleep(Duration::from_nanos(wanted_ns)),
                Section::Spin => worker.hold_ns(wanted_ns),
                Section::Compute => worker.compute_ns(wanted_ns),
            });
            let end_ns = Native::now_ns();
            let needed_ns = match section {
                Section::Sleep => wanted_ns,
                Section::Spin | Section::Compute => thread_cpu_ns() - cpu_ns,
            };
            let lost_ns = (end_ns - start_ns).saturating_sub(needed_ns);
            // Before the lock is given back: the next owner looks at it.
            unpoisoned(held).push(HeldSection { asked_ns, start_ns, end_ns, lost_ns, owns });
            self.notify();
            if reads {
                // SAFETY: taken above.
                unsafe { self.lock.unlock_shared() }
            } else {
                // SAFETY: taken above.
                unsafe { self.lock.unlock() }
            }
            latency::record(|waited| {
                let of_role = if owns { &mut waited.writers } else { &mut waited.readers };
                of_role.record(start_ns - asked_ns);
            });
            worker.op_done();
        }
    }

    /// A section of an owner or a reader, which notices if it was not alone.
    fn look(&self, owns: bool, section: impl FnOnce()) {
        // ordering: Relaxed; the lock orders the accesses to the counter. Not one atomic operation on purpose: a lock
        // that does not exclude loses increments.
        let before = self.value.load(Relaxed);
        section();
        if owns {
            // ordering: Relaxed; as above.
            self.value.store(before + 1, Relaxed);
            // ordering: Relaxed; read after the threads have reported.
            self.written.fetch_add(1, Relaxed);
        // ordering: Relaxed; as above.
        } else if self.value.load(Relaxed) != before {
            // ordering: Relaxed; as above.
            self.disturbed.fetch_add(1, Relaxed);
        }
    }

    /// Notifies the thread that waits for it; the caller owns the lock.
    fn notify(&self) {
        // ordering: Relaxed; guarded by the lock.
        if let Some(condvar) = self.condvar.as_ref().filter(|_| self.awaits.load(Relaxed)) {
            // ordering: Relaxed; as above.
            self.awaits.store(false, Relaxed);
            // ordering: Relaxed; as above.
            self.notified_ns.store(Native::now_ns(), Relaxed);
            condvar.notify_one();
        }
    }

    /// What the thread does that waits.
    fn wait_again_and_again(&self, worker: &mut impl Worker<P = Native>) {
        let mut starved = Starved { start_ns: Native::now_ns(), ..Starved::default() };
        worker.step_done();
        while worker.keep_going() {
            std::thread::sleep(PAUSE);
            self.held.iter().for_each(|held| unpoisoned(held).clear());
            let delay_ns = run_delay_ns();
            let Some((from_ns, to_ns)) = self.wait(worker) else { break };
            let no_cpu_ns = run_delay_ns().saturating_sub(delay_ns);
            let held: Vec<HeldSection> =
                self.held.iter().flat_map(|held| unpoisoned(held).clone()).collect();
            let wait = StarvedWait::of(from_ns, to_ns, &held);
            let is_cut = !worker.keep_going();
            starved.waits.push(StarvedWait { no_cpu_ns, is_cut, ..wait });
            latency::record(|waited| waited.of(self.params.role).record(wait.length_ns()));
            worker.op_done();
        }
        starved.end_ns = Native::now_ns();
        *unpoisoned(&self.starved) = starved;
    }

    /// Waits once: from when to when. `None` if the run is over before the thread was notified.
    fn wait(&self, worker: &mut impl Worker<P = Native>) -> Option<(u64, u64)> {
        let mut from_ns = Native::now_ns();
        match self.params.role {
            StarveRole::Writer | StarveRole::Owner => self.lock.lock(),
            StarveRole::Reader => self.lock.lock_shared(),
            StarveRole::Upgrader => {
                let upgrade = erased::upgrade().expect("a lock that cannot do it is refused");
                let place = (&raw const *self.lock).cast();
                // SAFETY: the place of the lock.
                unsafe { (upgrade.lock_upgradable)(place) };
                from_ns = Native::now_ns();
                // SAFETY: as above, taken above.
                unsafe { (upgrade.upgrade)(place) };
            }
            StarveRole::Notified => from_ns = self.await_notification(worker)?,
        }
        let to_ns = Native::now_ns();
        let reads = self.params.role == StarveRole::Reader;
        self.look(!reads || !L::READERS_SHARE, || ());
        if reads {
            // SAFETY: taken above.
            unsafe { self.lock.unlock_shared() }
        } else {
            // SAFETY: taken above.
            unsafe { self.lock.unlock() }
        }
        Some((from_ns, to_ns))
    }

    /// Takes the lock, and waits on the condition variable until the thread was notified: when that was.
    fn await_notification(&self, worker: &mut impl Worker<P = Native>) -> Option<u64> {
        let condvar = self.condvar.as_ref().expect("a lock that has none is refused");
        self.lock.lock();
        // ordering: Relaxed; guarded by the lock.
        self.awaits.store(true, Relaxed);
        // ordering: Relaxed; as above.
        while self.awaits.load(Relaxed) {
            // SAFETY: taken above.
            unsafe { condvar.wait(&self.lock, Some(Native::now_ns() + LOOK_EVERY_NS)) };
            // ordering: Relaxed; as above.
            if self.awaits.load(Relaxed) && !worker.keep_going() {
                // SAFETY: taken above.
                unsafe { self.lock.unlock() };
                return None;
            }
        }
        // ordering: Relaxed; as above.
        Some(self.notified_ns.load(Relaxed))
    }
}

/// Why a lock cannot be waited for in a role, if it cannot: a sentence.
pub fn refuses(lock: Subject, role: StarveRole) -> Option<String> {
    let name = lock.name();
    match role {
        StarveRole::Reader if !locks::readers_share(lock) => Some(format!(
            "`{name}` has no readers: leave it out, or take another --role, such as owner"
        )),
        StarveRole::Upgrader if upgrade_of(name).is_none() => {
            Some(format!("`{name}` has no readers that can become the owner: leave it out"))
        }
        StarveRole::Notified if !locks::has(lock, Needs::Condvar) => {
            Some(locks::lacks(lock, Needs::Condvar))
        }
        _ => None,
    }
}

/// Nothing panics while one of these is held.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
