//! What the threads of a program share, and how they go through its phases.

use crate::actor::Actor;
use crate::coverage::{self, Method, State, Use};
use crate::guards::{Held, SentGuard};
use crate::locks::LockObject;
use crate::program::{Change, Limit, LockKind, PERMITS, Program};
use crate::resilient::Holders;
use crate::rules::{Rule, rules};
use crate::watched::WatchedCondvar;
use crate::world::{Allowed, LIVES_MAX, LOCKS_MAX, THREADS_MAX, World};
use lockwright_core::platform::{Atomic, AtomicInt, Zeroed};
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize};

/// What the guards that exist say of a lock. Nothing here orders anything between threads.
#[derive(Default)]
pub struct Shadow {
    /// Writers in the upper half, readers in the lower one. Leaked guards count, and each one of an owner who has
    /// taken the lock again.
    pub users: AtomicU64,
    /// Readers that may become the writer, which is one at most. They count as readers too.
    pub upgradable: AtomicU32,
    /// The thread that became the owner last.
    pub owner: AtomicUsize,
    pub leaked: AtomicU32,
    /// Readers that are guards of each thread, or were: those of a [`LockKind::PercpuRwLock`] stay there.
    pub readers_of: [AtomicU32; THREADS_MAX],
    /// Threads in an operation that may wait.
    pub waiting: AtomicU32,
    /// Threads in a step that is about it.
    pub inside: AtomicU32,
    /// The last deadline was reached.
    pub is_late: AtomicBool,
    /// Permits that no thread has, of a semaphore.
    pub permits: AtomicI64,
}
/// One writer in [`Shadow::users`].
pub const WRITER: u64 = 1 << 32;

impl Shadow {
    fn reset(&self) {
        self.users.store(0, Relaxed);
        self.upgradable.store(0, Relaxed);
        self.leaked.store(0, Relaxed);
        self.is_late.store(false, Relaxed);
        self.permits.store(PERMITS.into(), Relaxed);
        self.readers_of.iter().for_each(|readers| readers.store(0, Relaxed));
    }
    /// True if a thread can become the owner at once, and no other thread interferes.
    pub fn is_free_for(&self, kind: LockKind, thread: usize) -> bool {
        let is_owner = kind.is_reentrant() && self.owner.load(Relaxed) == thread;
        self.users.load(Relaxed) == 0 || is_owner
    }
    /// The thread has ended, and another one is in its place: it is not the owner, and the readers that it has left in
    /// its slot are none of the new one's.
    fn forget_owner(&self, thread: usize) {
        let _ = self.owner.compare_exchange(thread, usize::MAX, Relaxed, Relaxed);
        self.readers_of[thread].store(0, Relaxed);
    }
    fn swap(&self, other: &Self) {
        let users = self.users.load(Relaxed);
        self.users.store(other.users.swap(users, Relaxed), Relaxed);
        let upgradable = self.upgradable.load(Relaxed);
        self.upgradable.store(other.upgradable.swap(upgradable, Relaxed), Relaxed);
        let owner = self.owner.load(Relaxed);
        self.owner.store(other.owner.swap(owner, Relaxed), Relaxed);
        let leaked = self.leaked.load(Relaxed);
        self.leaked.store(other.leaked.swap(leaked, Relaxed), Relaxed);
        let is_late = self.is_late.load(Relaxed);
        self.is_late.store(other.is_late.swap(is_late, Relaxed), Relaxed);
        let permits = self.permits.load(Relaxed);
        self.permits.store(other.permits.swap(permits, Relaxed), Relaxed);
        for (mine, other) in self.readers_of.iter().zip(&other.readers_of) {
            mine.store(other.swap(mine.load(Relaxed), Relaxed), Relaxed);
        }
    }
    /// In a child that `fork` has made of this thread: readers in slots of other threads do not exist there.
    pub fn keep_readers_of(&self, thread: usize) {
        let readers = self.readers_of[thread].load(Relaxed);
        self.users.store(self.users.load(Relaxed) / WRITER * WRITER + u64::from(readers), Relaxed);
    }
}

/// A lock, its condition variable, and a guard of it that is on its way.
pub struct LockSite<P: World> {
    pub object: UnsafeCell<LockObject<P>>,
    pub condvar: WatchedCondvar<P>,
    pub shadow: Shadow,
    pub sent: Mutex<Option<Sent<P>>>,
}
/// A guard of a lock in this place. It borrows from the place, for as long as the phase lasts.
pub struct Sent<P: World>(pub SentGuard<'static, P>);

/// What the threads of a program share.
pub struct Stage<P: World> {
    pub places: [LockSite<P>; LOCKS_MAX],
    spare: UnsafeCell<LockObject<P>>,
    /// Threads that have come to the end of the phase, and the phase.
    arrived: P::U32,
    phase: P::U32,
    pub program: Program,
    pub rules: Vec<Vec<Rule>>,
    pub kinds: Vec<Vec<LockKind>>,
    /// What each thread does with resilient spinlocks.
    pub holders: Holders,
    threads: usize,
    /// For each thread, how many in its place have ended. The largest number when the program is over for it.
    ended: [P::U32; THREADS_MAX],
    complaint: Mutex<Option<String>>,
    pub is_over: AtomicBool,
}
// SAFETY: locks are changed by thread 0 while the others wait for it, see `run`; the rest is made to be shared.
unsafe impl<P: World> Sync for Stage<P> {}
// SAFETY: nothing in it belongs to a thread: guards that are on their way may be sent.
unsafe impl<P: World> Send for Stage<P> {}

impl<P: World> Stage<P> {
    /// For a program that is right.
    pub fn new(program: Program) -> Self {
        let kind = |at: usize| program.locks.get(at).copied().unwrap_or(LockKind::Mutex);
        let place = |at| {
            let place = LockSite {
                object: UnsafeCell::new(LockObject::new(kind(at))),
                condvar: WatchedCondvar::new(),
                shadow: Shadow::default(),
                sent: Mutex::new(None),
            };
            place.shadow.reset();
            place
        };
        Self {
            places: std::array::from_fn(place),
            spare: UnsafeCell::new(LockObject::new(LockKind::SeqLock)),
            arrived: Zeroed::zeroed(),
            phase: Zeroed::zeroed(),
            rules: rules(&program),
            kinds: program.kinds(),
            holders: Default::default(),
            threads: program.threads(),
            ended: std::array::from_fn(|_| Zeroed::zeroed()),
            program,
            complaint: Mutex::new(None),
            is_over: AtomicBool::new(false),
        }
    }
    pub fn threads(&self) -> usize {
        self.threads
    }
    /// What was not allowed.
    pub fn complaint(&self) -> Option<String> {
        self.complaint.lock().ok()?.clone()
    }
    fn complain(&self, why: String) {
        if let Ok(mut complaint) = self.complaint.lock() {
            complaint.get_or_insert(why);
        }
        self.is_over.store(true, Relaxed);
    }

    /// How many threads do the steps of `thread`, one after the other.
    pub fn lives(&self, thread: usize) -> usize {
        self.program.lives(thread).min(LIVES_MAX)
    }
    /// Waits until as many threads have ended in the place of `thread`. Returns false if these have done all there is.
    fn waits_for_turn(&self, thread: usize, life: u32) -> bool {
        if life == 0 {
            return true;
        }
        let ended = &self.ended[thread];
        loop {
            let seen = ended.load(Acquire);
            if seen >= life {
                return seen == life;
            }
            P::futex_wait(ended, seen, None);
        }
    }
    /// Lets the next thread begin in the place of `thread`.
    fn give_turn(&self, thread: usize, life: u32) {
        if self.lives(thread) > 1 {
            self.ended[thread].store(life, Release);
            P::full_barrier(&self.ended[thread]);
            P::futex_wake(&self.ended[thread], u32::MAX);
        }
    }

    /// What thread `thread` does, from the first phase to the last: that of it which comes after the end of `life`
    /// threads in its place, and before the next such end.
    pub fn run(&self, thread: usize, life: usize) {
        if !self.waits_for_turn(thread, life as u32) {
            return;
        }
        let (first, mut step) = self.program.begin_of(thread, life);
        if life > 0 {
            self.places.iter().for_each(|place| place.shadow.forget_owner(thread));
        } else if thread == 0 {
            for place in &self.places {
                // SAFETY: no thread uses a lock before all of them have met.
                if !unsafe { &*place.object.get() }.begin() {
                    self.complain("a new semaphore takes no permits".into());
                }
            }
        }
        for (number, phase) in self.program.phases.iter().enumerate().skip(first) {
            let is_begun = step > 0;
            if thread == 0
                && !is_begun
                && !self.is_over.load(Relaxed)
                && let Err(why) = phase.changes.iter().try_for_each(|change| self.change(*change))
            {
                self.complain(why);
            }
            if !is_begun {
                self.meet(2 * number as u32 + 1);
            }
            let mut actor = Actor::new(self, thread, life, number);
            let nothing = Vec::new();
            let ops = phase.threads.get(thread).unwrap_or(&nothing);
            match actor.ops(ops, std::mem::take(&mut step)) {
                Ok(false) => {}
                Ok(true) => return self.give_turn(thread, life as u32 + 1),
                Err(why) => self.complain(format!("phase {number}, thread {thread}: {why}")),
            }
            actor.end();
            self.meet(2 * number as u32 + 2);
            if thread == 0 {
                for place in &self.places {
                    self.drop_sent(place);
                }
            }
        }
        self.give_turn(thread, u32::MAX);
    }
    fn drop_sent(&self, place: &LockSite<P>) {
        let sent = place.sent.lock().ok().and_then(|mut sent| sent.take());
        if let Some(Sent(guard)) = sent {
            place.left(&*guard);
        }
    }

    /// Waits for all threads; they have met `times` times then.
    fn meet(&self, times: u32) {
        if self.arrived.fetch_add(1, AcqRel) + 1 == self.threads as u32 * times {
            self.phase.store(times, Release);
            P::full_barrier(&self.phase);
            P::futex_wake(&self.phase, u32::MAX);
            return;
        }
        loop {
            let seen = self.phase.load(Acquire);
            if seen >= times {
                return;
            }
            P::futex_wait(&self.phase, seen, None);
        }
    }

    /// A change, by thread 0, before the others go on.
    fn change(&self, change: Change) -> Allowed {
        // What this thread has written is in place before locks are moved as bytes.
        P::full_barrier(&self.phase);
        let place = |lock: usize| &self.places[lock];
        let (Change::New(lock, _) | Change::Move(lock) | Change::Swap(lock, _)) = change else {
            return self.change_inside(change);
        };
        // SAFETY: no other thread uses a lock now, and no guard is alive: thread 0 alone is between two phases.
        let object = unsafe { &mut *place(lock).object.get() };
        place(lock).cover(
            object.kind(),
            match change {
                Change::New(..) => Method::Drop,
                Change::Move(_) => Method::Move,
                _ => Method::Swap,
            },
        );
        match change {
            Change::New(_, kind) => {
                *object = LockObject::new(kind);
                if !object.begin() {
                    return Err("a new semaphore takes no permits".into());
                }
                place(lock).shadow.reset();
                place(lock).cover(kind, Method::New);
            }
            Change::Swap(_, other) => {
                // SAFETY: as above; it is another lock.
                std::mem::swap(object, unsafe { &mut *place(other).object.get() });
                place(lock).shadow.swap(&place(other).shadow);
            }
            _ => {
                // SAFETY: as above.
                let spare = unsafe { &mut *self.spare.get() };
                std::mem::swap(object, spare);
                let is_free = place(lock).shadow.is_free_for(spare.kind(), 0);
                let guard = spare.lock().exclusive(Limit::Attempt);
                if guard.is_some() != is_free
                    && (spare.kind().is_mutex() || spare.kind().has_readers())
                {
                    return Err(format!(
                        "{:?} was moved, free: {is_free}, and then taken: {}",
                        spare.kind(),
                        !is_free
                    ));
                }
                drop(guard);
                P::full_barrier(&self.phase);
                std::mem::swap(object, spare);
            }
        }
        Ok(())
    }
    fn change_inside(&self, change: Change) -> Allowed {
        let (Change::IntoInner(lock) | Change::GetMut(lock)) = change else { return Ok(()) };
        let place = &self.places[lock];
        // SAFETY: as in `change`.
        let object = unsafe { &mut *place.object.get() };
        if let Change::GetMut(_) = change {
            place.cover(object.kind(), Method::GetMut);
            if let Some(data) = object.lock_mut().get_mut() {
                data.phases += 0;
            }
            return Ok(());
        }
        place.cover(object.kind(), Method::IntoInner);
        let old = std::mem::replace(object, LockObject::new(LockKind::SeqLock));
        *object = old.renewed();
        place.shadow.reset();
        Ok(())
    }
}

impl<P: World> LockSite<P> {
    fn is_taken(&self, kind: LockKind) -> bool {
        match kind {
            LockKind::Semaphore => self.shadow.permits.load(Relaxed) < PERMITS.into(),
            _ => self.shadow.users.load(Relaxed) > 0,
        }
    }
    /// The calling thread ends, and `is_kept` is true if it leaves a guard of the lock to a destructor.
    pub fn cover_end(&self, kind: LockKind, is_held: bool, is_kept: bool) {
        let is_leaked = self.shadow.leaked.load(Relaxed) > 0;
        let is_taken = self.is_taken(kind) && !is_leaked && !is_held;
        if is_taken || self.shadow.inside.load(Relaxed) > 0 {
            coverage::count_use(kind, Use::Ended);
        }
        if is_kept {
            coverage::count_use(kind, Use::Kept);
        }
    }
    /// Counts a call of a method.
    pub fn cover(&self, kind: LockKind, method: Method) {
        let shadow = &self.shadow;
        let is_taken = self.is_taken(kind);
        let state = if P::is_child() {
            State::Forked
        } else if shadow.waiting.load(Relaxed) > 0 {
            State::Contended
        } else if shadow.leaked.load(Relaxed) > 0 {
            State::Leaked
        } else if shadow.is_late.load(Relaxed) {
            State::TimedOut
        } else if is_taken {
            State::Held
        } else {
            State::Free
        };
        coverage::count(kind, method, state);
    }
    /// A guard is about to be dropped.
    pub fn left(&self, guard: &(impl Held<'static, P> + ?Sized)) {
        self.left_guard(0, guard);
    }
    /// The same, of a guard that a thread has.
    pub fn left_guard<'a>(&self, thread: usize, guard: &(impl Held<'a, P> + ?Sized)) {
        self.shadow.upgradable.fetch_sub(guard.is_upgradable().into(), Relaxed);
        self.left_by(thread, guard.permits(), guard.is_shared());
    }
    pub fn left_by(&self, thread: usize, permits: u32, is_shared: bool) {
        if permits > 0 {
            self.shadow.permits.fetch_add(permits.into(), Relaxed);
        } else {
            self.shadow.users.fetch_sub(if is_shared { 1 } else { WRITER }, Relaxed);
            self.shadow.readers_of[thread].fetch_sub(is_shared.into(), Relaxed);
        }
    }
    /// A thread has become the one reader that may become the writer.
    pub fn entered_upgradable(&self) -> Allowed {
        match self.shadow.upgradable.fetch_add(1, Relaxed) {
            0 => Ok(()),
            others => Err(format!("an upgradable reader next to {others} of its kind")),
        }
    }
    /// That reader has become the writer.
    pub fn upgraded(&self, thread: usize) -> Allowed {
        self.shadow.upgradable.fetch_sub(1, Relaxed);
        self.shadow.readers_of[thread].fetch_sub(1, Relaxed);
        let before = self.shadow.users.fetch_add(WRITER - 1, Relaxed);
        let (writers, readers) = (before / WRITER, before % WRITER);
        if (writers, readers) == (0, 1) {
            return Ok(());
        }
        Err(format!(
            "an upgraded owner next to {writers} owners and {} readers",
            readers.wrapping_sub(1)
        ))
    }
    /// A thread has got a lock that its owner may take again.
    pub fn entered_again(&self, thread: usize) -> Allowed {
        let before = self.shadow.users.fetch_add(WRITER, Relaxed) / WRITER;
        let owner = self.shadow.owner.swap(thread, Relaxed);
        if before == 0 || owner == thread {
            return Ok(());
        }
        Err(format!("an owner next to thread {owner}, which has taken it {before} times"))
    }
    /// A thread has got it.
    pub fn entered(&self, thread: usize, is_shared: bool) -> Allowed {
        self.shadow.readers_of[thread].fetch_add(is_shared.into(), Relaxed);
        let add = if is_shared { 1 } else { WRITER };
        let before = self.shadow.users.fetch_add(add, Relaxed);
        let (writers, readers) = (before / WRITER, before % WRITER);
        if writers == 0 && (is_shared || readers == 0) {
            return Ok(());
        }
        let who = if is_shared { "a reader" } else { "an owner" };
        Err(format!("{who} next to {writers} owners and {readers} readers"))
    }
}
