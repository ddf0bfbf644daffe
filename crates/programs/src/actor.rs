//! A thread of a program in a phase: does its steps, and holds what happens against what is allowed.

mod life;

use crate::coverage::{Method, Take, method, method_of, told};
use crate::guards::{ActResult, Guard, SentGuard};
use crate::locks::LockObject;
use crate::once::Closure;
use crate::program::{Act, Limit, LockKind, OnceCall, Op, Priority, Time};
use crate::resilient::Acquisition;
use crate::rules::awaits;
use crate::stage::{LockSite, Sent, Stage, WRITER};
use crate::world::{Allowed, THREADS_MAX, World};
use std::sync::atomic::Ordering::Relaxed;

/// A thread in a phase.
pub struct Actor<'a, P: World> {
    stage: &'a Stage<P>,
    thread: usize,
    /// The number of its [`Holder`](crate::resilient::Holder).
    holder: usize,
    number: usize,
    raised: Option<(Priority, P::Raised)>,
    /// Its guards, each with its lock.
    guards: Vec<(usize, Guard<'a, P>)>,
}

impl<'a, P: World> Actor<'a, P> {
    /// `life` threads have ended in its place.
    pub fn new(stage: &'a Stage<P>, thread: usize, life: usize, number: usize) -> Self {
        let holder = life * THREADS_MAX + thread;
        Self { stage, thread, holder, number, raised: None, guards: Vec::new() }
    }
    fn place(&self, lock: usize) -> &'a LockSite<P> {
        &self.stage.places[lock]
    }
    fn object(&self, lock: usize) -> &'a LockObject<P> {
        // SAFETY: no thread changes it during a phase.
        unsafe { &*self.place(lock).object.get() }
    }
    fn kind(&self, lock: usize) -> LockKind {
        self.stage.kinds[self.number][lock]
    }
    /// True if only this thread can influence what the lock answers.
    fn is_exact(&self, lock: usize) -> bool {
        // A reader that was leaked in a slot of a thread is not there in a child, one beneath is.
        let is_leaked = self.place(lock).shadow.leaked.load(Relaxed) > 0;
        if P::is_child() && is_leaked && self.kind(lock) == LockKind::PercpuRwLock {
            return false;
        }
        self.stage.rules[self.number][lock].only == Some(self.thread)
    }

    /// Does the steps from `first` on. Returns true if the thread ends before the last one.
    pub fn ops(&mut self, ops: &[Op], first: usize) -> Result<bool, String> {
        for (at, op) in ops.iter().enumerate().skip(first) {
            if self.stage.is_over.load(Relaxed) {
                break;
            }
            if let Op::End(left) = *op {
                self.leave(left);
                return Ok(true);
            }
            let kind = op.lock().map_or(String::new(), |lock| format!(" of {:?}", self.kind(lock)));
            self.step(op).map_err(|why| format!("step {at}, {op:?}{kind}: {why}"))?;
        }
        Ok(false)
    }

    fn op(&mut self, op: &Op) -> Allowed {
        match *op {
            Op::Exclusive(lock, wait) if self.kind(lock).is_resilient() => self.acquire(lock, wait),
            Op::Exclusive(lock, wait) => self.take(lock, Take::Exclusive, wait),
            Op::Shared(lock, wait) => self.take(lock, Take::Shared, wait),
            Op::Upgradable(lock, wait) => self.take(lock, Take::Upgradable, wait),
            Op::Acquire(lock, permits, wait) => self.take(lock, Take::Permits(permits), wait),
            Op::Release(..) | Op::Available(_) => self.semaphore(op),
            Op::Call(..) | Op::IsCompleted(_) => self.once(op),
            Op::Copy(..) | Op::Put(_) | Op::Update(_) => self.sequence(op),
            Op::IsLocked(_) | Op::IsLockedExclusive(_) | Op::Debug(_) => self.look(op),
            Op::ReadMany(lock, times) => (0..times).try_for_each(|_| self.read_once(lock)),
            Op::ForgetMany(lock, times) => (0..times).try_for_each(|_| self.forget_one(lock)),
            Op::Act(lock, act) => self.act(lock, act),
            Op::Receive(lock) => self.receive(lock),
            Op::NotifyOne(lock) => {
                self.cover(lock, Method::NotifyOne);
                self.place(lock).condvar.notify_one();
                Ok(())
            }
            Op::NotifyAll(lock) => {
                self.cover(lock, Method::NotifyAll);
                self.place(lock).condvar.notify_all();
                Ok(())
            }
            Op::Priority(priority) => {
                self.raise(priority);
                Ok(())
            }
            Op::End(_) => Ok(()),
            Op::Fork(ref ops) => P::fork(|| {
                for lock in 0..self.stage.program.locks.len() {
                    if self.kind(lock) == LockKind::PercpuRwLock {
                        self.place(lock).shadow.keep_readers_of(self.thread);
                    }
                }
                self.ops(ops, 0)?;
                self.free_locks_can_be_had()
            })
            .map_err(|why| format!("in the child, {why}")),
        }
    }
    fn semaphore(&self, op: &Op) -> Allowed {
        match *op {
            Op::Release(lock, permits) => {
                self.cover(lock, Method::Release);
                let LockObject::Semaphore(semaphore) = self.object(lock) else { return Ok(()) };
                self.place(lock).shadow.permits.fetch_add(permits.into(), Relaxed);
                let is_added = semaphore.add_permits(permits);
                expect(is_added, || "there was no room for some permits".into())
            }
            Op::Available(lock) => {
                self.cover(lock, Method::Available);
                let LockObject::Semaphore(semaphore) = self.object(lock) else { return Ok(()) };
                let (found, right) =
                    (semaphore.available_permits(), self.place(lock).shadow.permits.load(Relaxed));
                let is_right = !self.is_exact(lock) || i64::from(found) == right;
                expect(is_right, || format!("{found} permits and not {right}"))
            }
            _ => Ok(()),
        }
    }
    fn once(&self, op: &Op) -> Allowed {
        let lock = op.lock().unwrap_or_default();
        let LockObject::Once(once) = self.object(lock) else { return Ok(()) };
        let Op::Call(_, how) = *op else {
            self.cover(lock, Method::IsCompleted);
            return once.is_completed(self.is_exact(lock));
        };
        self.cover(
            lock,
            match how {
                OnceCall::Once => Method::CallOnce,
                OnceCall::Force => Method::CallForce,
                OnceCall::Fail => Method::CallFail,
                OnceCall::Wait => Method::WaitForce,
            },
        );
        let place = self.place(lock);
        place.shadow.waiting.fetch_add(1, Relaxed);
        let closure = Closure {
            begins: || place.entered(self.thread, false),
            ends: || place.left_by(self.thread, 0, false),
        };
        let outcome = once.call(how, self.is_exact(lock), closure);
        place.shadow.waiting.fetch_sub(1, Relaxed);
        outcome
    }
    fn sequence(&self, op: &Op) -> Allowed {
        match *op {
            Op::Copy(lock, wait) => {
                let is_attempt = wait == Limit::Attempt;
                self.cover(lock, if is_attempt { Method::TryRead } else { Method::Read });
                let LockObject::SeqLock(seq) = self.object(lock) else { return Ok(()) };
                let copy = if is_attempt { seq.try_read() } else { Some(seq.read()) };
                let is_right = copy.is_none_or(|[one, other]| one == other);
                let is_there = copy.is_some() || !self.is_exact(lock);
                expect(is_right && is_there, || format!("a copy is {copy:?}"))
            }
            Op::Put(lock) => {
                self.cover(lock, Method::Put);
                let LockObject::SeqLock(lock) = self.object(lock) else { return Ok(()) };
                lock.write([self.thread as u64; 2]);
                Ok(())
            }
            Op::Update(lock) => {
                self.cover(lock, Method::Update);
                let LockObject::SeqLock(lock) = self.object(lock) else { return Ok(()) };
                let mut is_right = true;
                lock.update(|[one, other]| {
                    is_right = one == other;
                    P::pause();
                    [one + 1, other + 1]
                });
                expect(is_right, || "an update finds different numbers".into())
            }
            _ => Ok(()),
        }
    }
    fn look(&self, op: &Op) -> Allowed {
        match *op {
            Op::IsLocked(lock) => {
                self.cover(lock, Method::IsLocked);
                let found = self.object(lock).lock().is_locked();
                let is_held = self.place(lock).shadow.users.load(Relaxed) > 0;
                let is_right = !self.is_exact(lock) || found == is_held;
                expect(is_right, || format!("it says {found}"))
            }
            Op::IsLockedExclusive(lock) => {
                self.cover(lock, Method::IsLockedExclusive);
                let found = self.object(lock).lock().is_locked_exclusive();
                let is_held = self.place(lock).shadow.users.load(Relaxed) >= WRITER;
                let is_right = !self.is_exact(lock) || found == is_held;
                expect(is_right, || format!("it says {found}"))
            }
            Op::Debug(lock) => {
                self.cover(lock, Method::Debug);
                expect(!self.object(lock).debug().is_empty(), || "it prints nothing".into())
            }
            _ => Ok(()),
        }
    }
    fn read_once(&self, lock: usize) -> Allowed {
        let guard = self.object(lock).lock().shared(Limit::Forever);
        self.place(lock).entered(self.thread, true)?;
        self.place(lock).left_by(self.thread, 0, true);
        drop(guard);
        Ok(())
    }
    fn forget_one(&self, lock: usize) -> Allowed {
        if let Some(guard) = self.object(lock).lock().shared(Limit::Attempt) {
            self.place(lock).entered(self.thread, true)?;
            self.place(lock).shadow.leaked.fetch_add(1, Relaxed);
            guard.forget();
        }
        Ok(())
    }
    fn receive(&mut self, lock: usize) -> Allowed {
        let mut sent = self.place(lock).sent.lock().map_err(|_| "a thread has panicked")?;
        if let Some(Sent(guard)) = sent.take() {
            // SAFETY: as in `send`; it was made in this phase.
            let guard =
                unsafe { std::mem::transmute::<SentGuard<'static, P>, SentGuard<'a, P>>(guard) };
            self.guards.push((lock, guard));
        }
        Ok(())
    }
    fn cover(&self, lock: usize, method: Method) {
        self.place(lock).cover(self.kind(lock), method);
    }

    /// In a child, which has one thread: what no thread holds can be had by an attempt.
    fn free_locks_can_be_had(&mut self) -> Allowed {
        for lock in 0..self.stage.program.locks.len() {
            let kind = self.kind(lock);
            if !kind.survives_forks() || kind == LockKind::Semaphore {
                continue;
            }
            let object = self.object(lock).lock();
            let is_free = !object.is_locked();
            let may_read = kind.has_readers() && !object.is_locked_exclusive();
            let has = object.exclusive(Limit::Attempt).is_some();
            expect(has || !is_free, || {
                format!("an attempt does not get {kind:?} {lock}, which is free")
            })?;
            let has = object.shared(Limit::Attempt).is_some();
            expect(has || !may_read, || {
                format!("an attempt to read {kind:?} {lock} fails without a writer")
            })?;
        }
        Ok(())
    }

    /// Takes a lock, or permits of it.
    fn take(&mut self, lock: usize, take: Take, wait: Limit) -> Allowed {
        let wait = match wait {
            Limit::Until(time) if is_near::<P>(time) => Limit::For(time),
            _ => wait,
        };
        let place = self.place(lock);
        self.cover(lock, method(self.kind(lock), take, wait));
        let shadow = &place.shadow;
        let expected = self.is_exact(lock).then(|| match take {
            Take::Exclusive => shadow.is_free_for(self.kind(lock), self.thread),
            Take::Shared => shadow.users.load(Relaxed) < WRITER,
            Take::Upgradable => {
                shadow.users.load(Relaxed) < WRITER && shadow.upgradable.load(Relaxed) == 0
            }
            Take::Permits(permits) => shadow.permits.load(Relaxed) >= permits.into(),
        });
        let object = self.object(lock).lock();
        let begin_ns = P::now_ns();
        shadow.waiting.fetch_add(1, Relaxed);
        let guard = match take {
            Take::Exclusive => object.exclusive(wait),
            Take::Shared => object.shared(wait),
            Take::Upgradable => object.upgradable(wait),
            Take::Permits(permits) => object.acquire(permits, wait),
        };
        shadow.waiting.fetch_sub(1, Relaxed);
        let passed_ns = P::now_ns().saturating_sub(begin_ns);
        let is_timed = matches!(wait, Limit::For(_) | Limit::Until(_));
        if is_timed {
            shadow.is_late.store(guard.is_none(), Relaxed);
        }
        if let Some(expected) = expected {
            expect(guard.is_some() == expected, || {
                format!(
                    "it {} although nobody else uses it",
                    if expected { "fails" } else { "succeeds" }
                )
            })?;
        }
        let Some(guard) = guard else {
            let least_ns = match wait {
                Limit::For(time) | Limit::Until(time) => time.least_ns(),
                _ => 0,
            };
            return expect(passed_ns >= least_ns && !wait.is_long(), || {
                format!("it gave up after {passed_ns} ns")
            });
        };
        if let Take::Permits(permits) = take {
            let left = shadow.permits.fetch_sub(permits.into(), Relaxed) - i64::from(permits);
            expect(left >= 0, || format!("{} permits too many are out", -left))?;
            // There is nothing to look at meanwhile.
            P::pause();
        } else if guard.is_reentrant() {
            place.entered_again(self.thread)?;
        } else {
            place.entered(self.thread, take != Take::Exclusive)?;
            if take == Take::Upgradable {
                place.entered_upgradable()?;
            }
        }
        self.guards.push((lock, guard));
        Ok(())
    }

    /// Takes a resilient spinlock, or is told why it is not taken.
    fn acquire(&mut self, lock: usize, wait: Limit) -> Allowed {
        let LockObject::ResilientSpinLock(site) = self.object(lock) else { return Ok(()) };
        let place = self.place(lock);
        let shadow = &place.shadow;
        self.cover(lock, method(self.kind(lock), Take::Exclusive, wait));
        let expected = self.is_exact(lock).then(|| shadow.users.load(Relaxed) == 0);
        let guards =
            std::array::from_fn(|lock| self.guards.iter().any(|(guarded, _)| *guarded == lock));
        let acquisition = Acquisition::begin::<P>(&self.stage.holders, self.holder, lock, guards);
        shadow.waiting.fetch_add(1, Relaxed);
        let outcome = site.acquire(wait);
        let error = outcome.as_ref().err().copied().flatten();
        if let Some(error) = error {
            self.cover(lock, told(error));
        }
        let has_waiters = shadow.waiting.fetch_sub(1, Relaxed) > 1;
        if matches!(wait, Limit::For(_)) {
            shadow.is_late.store(outcome.is_err(), Relaxed);
        }
        let name = |at| match self.object(at) {
            LockObject::ResilientSpinLock(site) => Some(site.name()),
            _ => None,
        };
        acquisition.end::<P>(wait, error, name, has_waiters)?;
        if let Some(expected) = expected {
            let is_right = outcome.is_ok() == expected;
            expect(is_right, || format!("taken: {}, although nobody else uses it", !expected))?;
        }
        let Ok(guard) = outcome else { return Ok(()) };
        place.entered(self.thread, false)?;
        self.guards.push((lock, Box::new(guard)));
        Ok(())
    }

    fn act(&mut self, lock: usize, act: Act) -> Allowed {
        let act = match act {
            Act::WaitUntil(time) if is_near::<P>(time) => Act::WaitFor(time),
            Act::WaitWhileUntil(time) if is_near::<P>(time) => Act::WaitWhileFor(time),
            Act::Upgrade(Limit::Until(time)) if is_near::<P>(time) => {
                Act::Upgrade(Limit::For(time))
            }
            Act::WithUpgraded(Limit::Until(time)) if is_near::<P>(time) => {
                Act::WithUpgraded(Limit::For(time))
            }
            _ => act,
        };
        let is_it = |(of, _): &(usize, Guard<'a, P>)| *of == lock;
        let found = match act {
            Act::DropOldest => self.guards.iter().position(is_it),
            _ => self.guards.iter().rposition(is_it),
        };
        let Some(at) = found else { return Ok(()) };
        let place = self.place(lock);
        self.cover(lock, method_of(act));
        let (_, mut guard) = self.guards.remove(at);
        match act {
            Act::Touch => {
                let touched = guard.touch();
                self.guards.insert(at, (lock, guard));
                return touched;
            }
            Act::Drop | Act::DropOldest => {
                place.left_guard(self.thread, &*guard);
                drop(guard);
                return Ok(());
            }
            Act::Forget => {
                place.shadow.leaked.fetch_add(1, Relaxed);
                self.stage.holders[self.holder].forgotten[lock].fetch_add(1, Relaxed);
                guard.forget();
                return Ok(());
            }
            Act::Send => {
                return guard.send().map_or(Ok(()), |guard| send(place, guard));
            }
            _ => {}
        }
        let (left, outcome) = match act {
            Act::Upgrade(wait) | Act::WithUpgraded(wait) if guard.is_upgradable() => {
                let (guard, outcome) = self.upgrade(lock, guard, act, wait);
                (Some(guard), outcome)
            }
            _ => self.transform(place, guard, act),
        };
        if let Some(guard) = left {
            self.guards.insert(at, (lock, guard));
        }
        outcome
    }
    /// Does what makes another guard of a guard, or gives the lock back and takes it again.
    fn transform(
        &self,
        place: &'a LockSite<P>,
        guard: Guard<'a, P>,
        act: Act,
    ) -> (Option<Guard<'a, P>>, Allowed) {
        let (is_shared, is_upgradable) = (guard.is_shared(), guard.is_upgradable());
        let comes_back = comes_back(act);
        if comes_back || act == Act::UnlockFair {
            place.left_guard(self.thread, &*guard);
        }
        // Readers may come as soon as it is done.
        let is_downgrade = matches!(act, Act::Downgrade | Act::DowngradeToUpgradable) && !is_shared;
        let becomes_upgradable = act == Act::DowngradeToUpgradable && !is_shared;
        if is_downgrade {
            place.shadow.users.fetch_sub(WRITER - 1, Relaxed);
            place.shadow.readers_of[self.thread].fetch_add(1, Relaxed);
            place.shadow.upgradable.fetch_add(becomes_upgradable.into(), Relaxed);
        } else if act == Act::Downgrade {
            place.shadow.upgradable.fetch_sub(is_upgradable.into(), Relaxed);
        }
        let waits = u32::from(comes_back);
        place.shadow.waiting.fetch_add(waits, Relaxed);
        let begin_ns = P::now_ns();
        let left = guard.act(act, &place.condvar, self.number);
        let passed_ns = P::now_ns().saturating_sub(begin_ns);
        place.shadow.waiting.fetch_sub(waits, Relaxed);
        let (guard, is_late) = match left {
            ActResult::Held(guard) | ActResult::Upgraded(guard, ..) => (guard, false),
            ActResult::Waited(guard, is_late) => (guard, is_late),
            ActResult::Gone => {
                place.shadow.leaked.fetch_add((act == Act::Leak).into(), Relaxed);
                return (None, Ok(()));
            }
        };
        // The guard of a part cannot be downgraded.
        if is_downgrade && !guard.is_shared() {
            place.shadow.upgradable.fetch_sub(becomes_upgradable.into(), Relaxed);
            place.shadow.users.fetch_add(WRITER - 1, Relaxed);
            place.shadow.readers_of[self.thread].fetch_sub(1, Relaxed);
        }
        let mut outcome = match comes_back {
            true if guard.is_reentrant() => place.entered_again(self.thread),
            true => place.entered(self.thread, is_shared),
            false => Ok(()),
        };
        let keeps_promise = place.condvar.keeps_its_promise();
        let says = || "a wait ended without a notification".into();
        outcome = outcome.and_then(|()| expect(keeps_promise, says));
        if comes_back && is_upgradable {
            outcome = outcome.and_then(|()| place.entered_upgradable());
        }
        if is_late {
            place.shadow.is_late.store(true, Relaxed);
            let (Act::WaitFor(time)
            | Act::WaitUntil(time)
            | Act::WaitWhileFor(time)
            | Act::WaitWhileUntil(time)) = act
            else {
                return (Some(guard), Err("a wait without a deadline timed out".into()));
            };
            let is_right = passed_ns >= time.least_ns();
            outcome = outcome
                .and_then(|()| expect(is_right, || format!("it gave up after {passed_ns} ns")));
        }
        (Some(guard), outcome)
    }

    /// Makes the writer of the reader that may become it, as long as it takes or as long as `wait` says.
    fn upgrade(
        &self,
        lock: usize,
        guard: Guard<'a, P>,
        act: Act,
        wait: Limit,
    ) -> (Guard<'a, P>, Allowed) {
        let place = self.place(lock);
        let shadow = &place.shadow;
        let expected = self.is_exact(lock).then(|| shadow.users.load(Relaxed) == 1);
        shadow.waiting.fetch_add(1, Relaxed);
        let begin_ns = P::now_ns();
        let left = guard.act(act, &place.condvar, self.number);
        let passed_ns = P::now_ns().saturating_sub(begin_ns);
        shadow.waiting.fetch_sub(1, Relaxed);
        let (guard, is_upgraded, outcome) = match left {
            ActResult::Held(guard) if guard.is_shared() => (guard, false, Ok(())),
            ActResult::Held(guard) => (guard, true, place.upgraded(self.thread)),
            ActResult::Upgraded(guard, is_upgraded, outcome) => (guard, is_upgraded, outcome),
            ActResult::Waited(guard, _) => (guard, false, Ok(())),
            ActResult::Gone => unreachable!("an upgrade leaves a guard"),
        };
        if matches!(wait, Limit::For(_) | Limit::Until(_)) {
            shadow.is_late.store(!is_upgraded, Relaxed);
        }
        let least_ns = match wait {
            Limit::For(time) | Limit::Until(time) => time.least_ns(),
            _ => 0,
        };
        let outcome = outcome
            .and_then(|()| {
                expect(expected.is_none_or(|expected| expected == is_upgraded), || {
                    format!("upgraded: {is_upgraded}, although nobody else uses it")
                })
            })
            .and_then(|()| {
                expect(is_upgraded || passed_ns >= least_ns && !wait.is_long(), || {
                    format!("it gave up after {passed_ns} ns")
                })
            });
        (guard, outcome)
    }

    /// Drops what it still has; as thread 0, lets go who waits for that.
    pub fn end(&mut self) {
        for (lock, guard) in self.guards.drain(..).rev() {
            self.stage.places[lock].left_guard(self.thread, &*guard);
        }
        self.raised = None;
        if self.thread > 0 {
            return;
        }
        let threads = &self.stage.program.phases[self.number].threads;
        for lock in 0..self.stage.program.locks.len() {
            if !threads.iter().any(|ops| awaits(ops, lock)) {
                continue;
            }
            if let LockObject::Once(once) = self.object(lock) {
                once.end();
            }
            if let LockObject::Mutex(mutex) = self.object(lock) {
                mutex.lock().phases = self.number + 1;
                self.place(lock).condvar.notify_all();
            }
        }
    }
}

/// Puts a guard where another thread can take it.
fn send<'a, P: World>(place: &'a LockSite<P>, guard: SentGuard<'a, P>) -> Allowed {
    // SAFETY: it is taken out again before the lock can be changed: `Stage::run` drops what is left at the end of the
    // phase.
    let guard = unsafe { std::mem::transmute::<SentGuard<'a, P>, SentGuard<'static, P>>(guard) };
    let before = place.sent.lock().map_err(|_| "a thread has panicked")?.replace(Sent(guard));
    if let Some(Sent(guard)) = before {
        place.left(&*guard);
    }
    Ok(())
}

/// True if an act gives the lock back and takes it again.
fn comes_back(act: Act) -> bool {
    matches!(
        act,
        Act::Unlocked
            | Act::UnlockedFair
            | Act::Bump
            | Act::WaitFor(_)
            | Act::WaitUntil(_)
            | Act::WaitWhileFor(_)
            | Act::WaitWhileUntil(_)
            | Act::Wait
            | Act::WaitWhile
    )
}

fn expect(is_right: bool, why: impl FnOnce() -> String) -> Allowed {
    if is_right { Ok(()) } else { Err(why()) }
}

/// True if an instant is too near to be given as one here.
fn is_near<P: World>(time: Time) -> bool {
    !P::KNOWS_INSTANTS && matches!(time, Time::Now | Time::Micros(_))
}
