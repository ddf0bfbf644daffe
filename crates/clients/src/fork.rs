//! Forked children that use the locks of their parent, whatever its other threads were about to do with them.
//!
//! On machines without forks the children never exist, and what is left are threads that take a lock in several ways.

use crate::client::has_rounds;
use crate::handler::{Asks, Deadlines, GiveUpAt, Way, drawn};
use crate::shared::Twins;
use crate::{BeginInChild, Client, Fork};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::condvar::RawCondvar;
use lockwright::mutex::RawMutex;
use lockwright::semaphore::RawSemaphore;
use lockwright_catalog::capabilities::TimedLock;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::{Atomic, Zeroed};
use lockwright_core::raw::RawLock;

/// What a thread does with a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum State {
    /// Nothing.
    Away,
    /// It takes the lock or gives it back: it may hold it or not.
    Between,
    Writes,
    Reads,
}

impl State {
    const ALL: [Self; 4] = [Self::Away, Self::Between, Self::Writes, Self::Reads];

    fn of(way: Way) -> Self {
        if way.reads { Self::Reads } else { Self::Writes }
    }
}

/// As many as there is room for in one object.
const THREADS_MAX: usize = 16;

/// A lock, what it guards, and what each thread does with it.
struct Watched<P: Platform, L> {
    lock: L,
    twins: Twins<P>,
    /// Seen by the machine: a thread that is gone had come as far as what it has stored says.
    states: [P::U32; THREADS_MAX],
    fork: Fork,
}

impl<P: Platform, L: TimedLock> Watched<P, L> {
    fn new(threads: usize) -> Self {
        assert!(threads <= THREADS_MAX, "as many as there is room for");
        let states = core::array::from_fn(|_| Zeroed::zeroed());
        Self { lock: L::new(), twins: Twins::new(), states, fork: |_| false }
    }
    fn set(&self, thread: usize, state: State) {
        self.states[thread].store(state as u32, Relaxed);
    }
    fn is(&self, thread: usize) -> State {
        State::ALL[self.states[thread].load(Relaxed) as usize]
    }
    /// Forks with handlers or without. Returns true in the child, when it is done.
    fn forks(&self, child: impl FnOnce()) -> bool {
        let is_child = (self.fork)(drawn::<P>(2) == 0);
        if is_child {
            child();
        }
        is_child
    }
    /// Tries to get the lock. Returns true if it is taken.
    fn ask(&self, thread: usize, way: Way) -> bool {
        self.set(thread, State::Between);
        let is_ours = match way {
            Way { until: GiveUpAt::Ever, reads: true } => {
                self.lock.lock_shared();
                true
            }
            Way { until: GiveUpAt::Ever, reads: false } => {
                self.lock.lock();
                true
            }
            way => Deadlines::ask::<P>(&self.lock, way),
        };
        self.set(thread, if is_ours { State::of(way) } else { State::Away });
        is_ours
    }
    /// Uses what the lock guards. For who holds it.
    fn work(&self, way: Way) {
        if way.reads {
            // SAFETY: this thread reads under the lock that guards the counters.
            unsafe { self.twins.read() };
        } else {
            // SAFETY: this thread owns the lock that guards the counters.
            unsafe { self.twins.increment() };
        }
    }
    /// Gives the lock back. For who holds it.
    fn give_back(&self, thread: usize, way: Way) {
        self.set(thread, State::Between);
        if way.reads {
            // SAFETY: called by readers.
            unsafe { self.lock.unlock_shared() };
        } else {
            // SAFETY: called by the owner.
            unsafe { self.lock.unlock() };
        }
        self.set(thread, State::Away);
    }

    /// In a child whose thread does not hold the lock: asks for it. If no thread holds it, it is taken, in any way. If
    /// a thread holds it that does not exist here, it is not taken, and the wait for it ends. Returns true if it is
    /// taken.
    fn ask_in_child(&self, thread: usize, way: Way) -> bool {
        let gone =
            |state| (0..self.states.len()).any(|other| other != thread && self.is(other) == state);
        let is_unsure = gone(State::Between) || L::FORGETS_READERS && gone(State::Reads);
        let is_held = gone(State::Writes) || gone(State::Reads) && !L::FORGETS_READERS;
        let is_kept_out = gone(State::Writes) || is_held && !way.reads;
        let is_free = !self.lock.is_locked();
        assert!(is_free || is_held || is_unsure, "the lock is held, and by nobody");
        assert!(!is_free || !is_held, "the lock is free, and somebody holds it");
        let may_be_had = is_free || !is_unsure && !is_kept_out;
        if way.until == GiveUpAt::Ever && !may_be_had {
            return false;
        }
        let is_ours = self.ask(thread, way);
        assert!(is_ours || !may_be_had, "{way:?}: nobody keeps the child out, and it gets nothing");
        assert!(!is_ours || !is_kept_out, "{way:?}: the child gets what another thread holds");
        is_ours
    }
}

/// The ways a child asks in.
const UNTIL: [GiveUpAt; 5] =
    [GiveUpAt::Attempt, GiveUpAt::Past, GiveUpAt::Now, GiveUpAt::Far, GiveUpAt::Ever];

/// The ways of a lock whose readers share it, or not.
fn ways(readers_share: bool) -> impl Iterator<Item = Way> + Clone {
    let kinds: &[bool] = if readers_share { &[false, true] } else { &[false] };
    UNTIL.into_iter().flat_map(move |until| kinds.iter().map(move |&reads| Way { reads, until }))
}

/// Threads take the lock in all ways and may fork in between and while they hold it. A child that reads may read again:
/// the threads that waited to write are gone. The child gives back what its
/// thread held, and asks for the lock in all ways, beginning with any: see `Watched::ask_in_child`.
pub struct InChild<P: Platform, L> {
    watched: Watched<P, L>,
    rounds: u32,
}

impl<P: Platform, L: TimedLock> InChild<P, L> {
    fn child(&self, thread: usize, held: Option<Way>) {
        if let Some(way) = held {
            self.watched.work(way);
            if way.reads && !L::FORGETS_READERS {
                let again = self.watched.lock.try_lock_shared();
                assert!(again, "the child reads, and may not read again: only gone threads wait");
                // SAFETY: called by a reader.
                unsafe { self.watched.lock.unlock_shared() };
            }
            self.watched.give_back(thread, way);
        }
        let ways = ways(L::READERS_SHARE);
        let count = ways.clone().count();
        for way in ways.cycle().skip(drawn::<P>(count)).take(count) {
            if self.watched.ask_in_child(thread, way) {
                self.watched.work(way);
                self.watched.give_back(thread, way);
            }
        }
    }
    /// Returns true if the thread is done.
    fn forks(&self, thread: usize, held: Option<Way>) -> bool {
        self.watched.forks(|| self.child(thread, held))
    }
}

impl<P: Platform, L: TimedLock> Client for InChild<P, L> {
    const NAME: &'static str = "fork";

    fn new(threads: usize) -> Self {
        Self { watched: Watched::new(threads), rounds: 1 }
    }
    has_rounds!();
    fn set_fork(&mut self, fork: Fork) {
        self.watched.fork = fork;
    }
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            if self.forks(thread, None) {
                return;
            }
            let until =
                [GiveUpAt::Ever, GiveUpAt::Far, GiveUpAt::Attempt, GiveUpAt::Now][drawn::<P>(4)];
            let way = Way { reads: L::READERS_SHARE && thread % 2 == 1, until };
            if self.watched.ask(thread, way) {
                self.watched.work(way);
                if self.forks(thread, Some(way)) {
                    return;
                }
                self.watched.give_back(thread, way);
            }
        }
        self.forks(thread, None);
    }
    fn finish(&self) {
        let writes = Way { reads: false, until: GiveUpAt::Attempt };
        assert!(!self.watched.lock.is_locked(), "the lock is held when nobody holds it");
        assert!(self.watched.ask(0, writes), "a free lock cannot be taken when nobody competes");
        self.watched.give_back(0, writes);
    }
}

/// Threads wait on a condition variable until soon or until another one notifies, and may fork before that and with the
/// mutex held. In the child no other thread waits, although the condition variable may count some. Each wait ends at
/// its deadline with the mutex held.
pub struct Notifies<P: Platform> {
    watched: Watched<P, RawMutex<P>>,
    changed: RawCondvar<P>,
}

/// How the mutex is taken.
const OWNS: Way = Way { reads: false, until: GiveUpAt::Ever };

impl<P: Platform> Notifies<P> {
    /// Waits with the mutex held. Returns true if it was notified.
    fn wait(&self, thread: usize, deadline_ns: u64) -> bool {
        self.watched.set(thread, State::Between);
        // SAFETY: called by the owner.
        let is_notified = unsafe { self.changed.wait(&self.watched.lock, Some(deadline_ns)) };
        self.watched.set(thread, State::Writes);
        is_notified
    }
    fn child(&self, thread: usize) {
        let first = drawn::<P>(UNTIL.len());
        for at in (first..first + UNTIL.len()).map(|at| at % UNTIL.len()) {
            self.changed.notify_one();
            let until = UNTIL[at];
            if !self.watched.ask_in_child(thread, Way { until, ..OWNS }) {
                continue;
            }
            let deadline_ns = until.deadline_ns::<P>();
            assert!(!self.wait(thread, deadline_ns), "a wait ends without a notification");
            self.changed.notify_all();
            self.watched.work(OWNS);
            self.watched.give_back(thread, OWNS);
        }
    }
    /// Returns true if the thread is done.
    fn forks(&self, thread: usize, is_owner: bool) -> bool {
        self.watched.forks(|| {
            if is_owner {
                self.watched.give_back(thread, OWNS);
            }
            self.child(thread);
        })
    }
}

impl<P: Platform> Client for Notifies<P> {
    const NAME: &'static str = "condvar-fork";

    fn new(threads: usize) -> Self {
        Self { watched: Watched::new(threads), changed: RawCondvar::new() }
    }
    fn set_fork(&mut self, fork: Fork) {
        self.watched.fork = fork;
    }
    fn body(&self, thread: usize) {
        if self.forks(thread, false) {
            return;
        }
        self.watched.ask(thread, OWNS);
        if thread == 0 {
            self.changed.notify_one();
        } else {
            self.wait(thread, P::now_ns() + 1);
        }
        self.watched.work(OWNS);
        if self.forks(thread, true) {
            return;
        }
        self.watched.give_back(thread, OWNS);
        self.changed.notify_all();
        self.forks(thread, false);
    }
    fn finish(&self) {
        assert!(self.watched.lock.try_lock(), "the mutex is held when nobody holds it");
        self.watched.give_back(0, OWNS);
    }
}

/// This many threads are the parent's. The others begin in the child.
const PARENTS: usize = 2;
/// The thread that has forked has not asked for the mutex yet.
const SOON: u32 = 0;
/// It owns it.
const OWNED: u32 = 1;
/// It cannot have it.
const NEVER: u32 = 2;

/// The first threads hand a mutex over and may fork before, meanwhile and after. What they have left in the mutex keeps
/// no thread of the child out. Other threads begin in the child and sleep for the mutex. If the thread that has forked
/// gives it to one of them, no attempt takes it again before one of them has had it.
pub struct GivesInChild<P: Platform> {
    watched: Watched<P, RawMutex<P>>,
    phase: P::U32,
    /// How often a thread that began in the child has had the mutex. What no lock depends on.
    turns: AtomicU64,
    begin_in_child: BeginInChild,
}

impl<P: Platform> GivesInChild<P> {
    /// Hands the mutex over. For its owner. Returns true if it is given to a thread.
    fn give(&self, thread: usize) -> bool {
        self.watched.set(thread, State::Between);
        // SAFETY: called by the owner.
        let is_given = unsafe { self.watched.lock.unlock_fair_told() };
        self.watched.set(thread, State::Away);
        is_given
    }
    fn enter(&self, phase: u32) {
        self.phase.store(phase, Relaxed);
        P::futex_wake(&raw const self.phase, u32::MAX);
    }
    fn child(&self, thread: usize, is_owner: bool) {
        if is_owner {
            self.give(thread);
        }
        let until = UNTIL[drawn::<P>(UNTIL.len())];
        if !self.watched.ask_in_child(thread, Way { until, ..OWNS }) {
            return self.enter(NEVER);
        }
        self.enter(OWNED);
        // In a sleep that ends for no reason the thread would become one that was woken, which may take it.
        for until in [GiveUpAt::Attempt, GiveUpAt::Past] {
            // The others may fall asleep meanwhile.
            P::futex_wait(&self.phase, OWNED, Some(P::now_ns() + 1));
            let before = self.turns.load(Relaxed);
            let is_given = self.give(thread);
            if self.watched.ask(thread, Way { until, ..OWNS }) {
                let is_next = self.turns.load(Relaxed) == before;
                assert!(
                    !is_given || !is_next,
                    "{until:?}: the mutex is given, and taken by another"
                );
            } else {
                self.watched.lock.lock_asleep();
            }
            self.watched.work(OWNS);
        }
        self.give(thread);
    }
    /// Returns true if the thread is done.
    fn forks(&self, thread: usize, is_owner: bool) -> bool {
        self.watched.forks(|| self.child(thread, is_owner))
    }
    fn waits_in_child(&self) {
        while self.phase.load(Relaxed) == SOON {
            P::futex_wait(&self.phase, SOON, None);
        }
        if self.phase.load(Relaxed) == NEVER {
            return;
        }
        for _ in 0..2 {
            self.watched.lock.lock_asleep();
            self.turns.fetch_add(1, Relaxed);
            self.watched.work(OWNS);
            // SAFETY: taken above.
            unsafe { self.watched.lock.unlock() };
        }
    }
}

impl<P: Platform> Client for GivesInChild<P> {
    const NAME: &'static str = "mutex-fork";

    fn new(threads: usize) -> Self {
        Self {
            watched: Watched::new(threads),
            phase: Zeroed::zeroed(),
            turns: AtomicU64::new(0),
            begin_in_child: || false,
        }
    }
    fn set_fork(&mut self, fork: Fork) {
        self.watched.fork = fork;
    }
    fn set_begin_in_child(&mut self, begin: BeginInChild) {
        self.begin_in_child = begin;
    }
    fn body(&self, thread: usize) {
        if thread >= PARENTS {
            if (self.begin_in_child)() {
                self.waits_in_child();
            }
            return;
        }
        if self.forks(thread, false) {
            return;
        }
        self.watched.set(thread, State::Between);
        self.watched.lock.lock_asleep();
        self.watched.set(thread, State::Writes);
        self.watched.work(OWNS);
        if self.forks(thread, true) {
            return;
        }
        self.give(thread);
        self.forks(thread, false);
    }
    fn finish(&self) {
        assert!(self.watched.lock.try_lock(), "the mutex is held when nobody holds it");
        self.watched.give_back(0, OWNS);
    }
}

/// Threads want one or all of a few permits. In the child those permits are available that no thread holds or is about
/// to take. They can be acquired even if a thread of the parent waited for more of them. More permits than are
/// available cannot.
pub struct ForkedPermits<P: Platform> {
    semaphore: RawSemaphore<P, 0>,
    /// How many each thread may have.
    taken: [P::U32; THREADS_MAX],
    fork: Fork,
}

/// How many permits there are.
const ALL: u32 = 2;

impl<P: Platform> ForkedPermits<P> {
    fn ask(&self, permits: u32, until: GiveUpAt) -> bool {
        match until {
            GiveUpAt::Attempt => self.semaphore.try_acquire(permits),
            GiveUpAt::Ever => {
                self.semaphore.acquire(permits);
                true
            }
            until => self.semaphore.acquire_until(permits, until.deadline_ns::<P>()),
        }
    }
    fn give_back(&self, permits: u32) {
        let has_room = permits == 0 || self.semaphore.release(permits);
        assert!(has_room, "no room for a permit");
    }
    fn child(&self, thread: usize, held: u32) {
        self.give_back(held);
        let others = self.taken.iter().enumerate().filter(|&(other, _)| other != thread);
        let taken: u32 = others.map(|(_, taken)| taken.load(Relaxed)).sum();
        let available = self.semaphore.available();
        assert!(
            available <= ALL && available + taken >= ALL,
            "{available} available and {taken} taken"
        );
        for until in UNTIL.into_iter().cycle().skip(drawn::<P>(UNTIL.len())).take(UNTIL.len()) {
            for permits in 1..=ALL {
                let may_be_had = permits <= available;
                if until == GiveUpAt::Ever && !may_be_had {
                    continue;
                }
                let is_taken = self.ask(permits, until);
                assert_eq!(is_taken, may_be_had, "{until:?}: {permits} of {available}");
                self.give_back(if is_taken { permits } else { 0 });
            }
        }
    }
    /// Returns true if the thread is done.
    fn forks(&self, thread: usize, held: u32) -> bool {
        let is_child = (self.fork)(drawn::<P>(2) == 0);
        if is_child {
            self.child(thread, held);
        }
        is_child
    }
}

impl<P: Platform> Client for ForkedPermits<P> {
    const NAME: &'static str = "semaphore-fork";

    fn new(threads: usize) -> Self {
        assert!(threads <= THREADS_MAX, "as many as there is room for");
        let taken = core::array::from_fn(|_| Zeroed::zeroed());
        Self { semaphore: RawSemaphore::with_permits(ALL), taken, fork: |_| false }
    }
    fn set_fork(&mut self, fork: Fork) {
        self.fork = fork;
    }
    fn body(&self, thread: usize) {
        let permits = 1 + thread as u32 % ALL;
        if self.forks(thread, 0) {
            return;
        }
        self.taken[thread].store(permits, Relaxed);
        let is_taken = self.ask(permits, [GiveUpAt::Ever, GiveUpAt::Far][drawn::<P>(2)]);
        if is_taken {
            if self.forks(thread, permits) {
                return;
            }
            self.give_back(permits);
        }
        self.taken[thread].store(0, Relaxed);
        self.forks(thread, 0);
    }
    fn finish(&self) {
        assert_eq!(self.semaphore.available(), ALL, "permits were lost, or came from nowhere");
        assert!(self.semaphore.try_acquire(ALL), "somebody is said to wait, and nobody does");
    }
}
