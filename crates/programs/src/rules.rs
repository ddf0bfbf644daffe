//! Which programs are right: those that cannot wait for ever.
//!
//! A generator, or a shrinker, writes what comes to its mind. [`normalize`] makes a program of it that ends if the
//! locks keep their promises, by what may be held at most at each step:
//!
//! - a thread waits without a deadline only for a lock behind all that it may hold, or for the last of these if its
//!   owner may take it again, so there is no circle;
//! - no thread waits without a deadline for a lock of which a guard is leaked, or is on its way between threads;
//!   readers do if the guard is of a reader and no writer waits for ever;
//! - a thread reads again only where that is allowed, and as often as a slot counts on the machine with the smallest
//!   slots, where a forgotten guard counts, too, and waits on a condition variable only with the last of its locks;
//! - the reader that may become the writer counts as a writer, and becomes it without a deadline only where it holds
//!   nothing else of the lock and no lock behind it, and where no guard is leaked;
//! - a thread waits for a resilient spinlock in any order, because it is told of a deadlock;
//! - a child waits for nothing without a deadline, and ends only where the steps for it do;
//! - a thread has a real-time policy only where the waiters of all locks sleep.

use crate::program::{Act, Change, Limit, LockKind, OnceCall, Op, Phase, Priority, Program, Time};
use crate::world::{LIVES_MAX, THREADS_MAX};
use lockwright_core::platform::ReaderSlots;
use lockwright_sim::Sim;

/// Of a lock in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// A guard of a writer, or permits, may be leaked or on their way.
    pub is_lost: bool,
    /// The same for a guard of a reader.
    pub is_read_lost: bool,
    /// The thread that is the only one to use it; nothing if there are several.
    pub only: Option<usize>,
    /// A thread uses it.
    pub is_used: bool,
}

/// The rules of each lock in each phase.
pub fn rules(program: &Program) -> Vec<Vec<Rule>> {
    let mut lost = vec![Rule::default(); program.locks.len()];
    let mut rules = Vec::new();
    for phase in &program.phases {
        for change in &phase.changes {
            match *change {
                Change::New(lock, _) | Change::IntoInner(lock) => lost[lock] = Rule::default(),
                Change::Swap(one, other) => lost.swap(one, other),
                Change::Move(_) | Change::GetMut(_) => {}
            }
        }
        for op in phase.threads.iter().flatten() {
            match *op {
                Op::Act(lock, Act::Forget | Act::Leak | Act::Send) => {
                    lost[lock].is_lost = true;
                    lost[lock].is_read_lost = true;
                }
                Op::ForgetMany(lock, _) => lost[lock].is_read_lost = true,
                _ => {}
            }
        }
        let mut now = lost.clone();
        for (lock, rule) in now.iter_mut().enumerate() {
            let mut users = (0..phase.threads.len()).filter(|at| uses(&phase.threads[*at], lock));
            // Thread 0 ends the waits of others.
            let is_awaited = phase.threads.iter().any(|ops| awaits(ops, lock));
            rule.is_used = phase.threads.iter().any(|ops| uses(ops, lock));
            rule.only = users.next().filter(|_| users.next().is_none() && !is_awaited);
        }
        rules.push(now);
    }
    rules
}

/// True if a thread waits until thread 0 has done its part.
pub fn awaits(ops: &[Op], lock: usize) -> bool {
    let awaited = |op: &Op| match *op {
        Op::Act(at, Act::Wait | Act::WaitWhile) | Op::Call(at, OnceCall::Wait) => Some(at),
        _ => None,
    };
    ops.iter().any(|op| awaited(op) == Some(lock))
}

fn uses(ops: &[Op], lock: usize) -> bool {
    ops.iter().any(|op| match op {
        Op::Fork(ops) => uses(ops, lock),
        _ => op.lock() == Some(lock),
    })
}

/// What a thread may hold of a lock, at most.
#[derive(Clone, Copy, Default)]
struct Bound {
    exclusive: u32,
    shared: u32,
}

impl Bound {
    fn is_held(self) -> bool {
        self.exclusive + self.shared > 0
    }
}

/// Makes a program right.
pub fn normalize(program: &mut Program) {
    fix_changes(program);
    let kinds = program.kinds();
    // Which guards are lost depends on the steps, which this changes; only for the better.
    let rules = rules(program);
    let mut ends = [0; THREADS_MAX];
    let mut forgotten = vec![vec![0; program.locks.len()]; THREADS_MAX];
    for ((phase, kinds), rules) in program.phases.iter_mut().zip(kinds).zip(rules) {
        for forgotten in &mut forgotten {
            phase.changes.iter().for_each(|change| match *change {
                Change::New(lock, _) | Change::IntoInner(lock) => forgotten[lock] = 0,
                Change::Swap(one, other) => forgotten.swap(one, other),
                Change::Move(_) | Change::GetMut(_) => {}
            });
        }
        for (thread, ops) in phase.threads.iter_mut().enumerate() {
            let mut normal = Normal {
                kinds: &kinds,
                rules: &rules,
                held: vec![Bound::default(); kinds.len()],
                is_first: thread == 0,
                is_child: false,
                is_raised: false,
                ends: ends[thread],
                forgotten: &mut forgotten[thread],
            };
            normal.ops(ops);
            ends[thread] = normal.ends;
        }
    }
}

fn fix_changes(program: &mut Program) {
    let locks = program.locks.len();
    let mut kinds = program.locks.clone();
    for Phase { changes, .. } in &mut program.phases {
        changes.retain(|change| match *change {
            Change::New(lock, kind) if lock < locks => {
                kinds[lock] = kind;
                true
            }
            Change::Swap(one, other) => {
                one < locks && other < locks && one != other && kinds[one] == kinds[other]
            }
            Change::Move(lock) => lock < locks,
            Change::IntoInner(lock) | Change::GetMut(lock) => {
                let has_inner =
                    kinds.get(lock).is_some_and(|kind| kind.is_mutex() || kind.has_readers());
                lock < locks && has_inner
            }
            Change::New(..) => false,
        });
    }
}

struct Normal<'a> {
    kinds: &'a [LockKind],
    rules: &'a [Rule],
    held: Vec<Bound>,
    is_first: bool,
    is_child: bool,
    is_raised: bool,
    /// How often the thread has ended, in the phases before, too.
    ends: usize,
    /// How many readers of each lock it has forgotten at most, in the phases before, too.
    forgotten: &'a mut [u32],
}

impl Normal<'_> {
    fn ops(&mut self, ops: &mut Vec<Op>) {
        ops.retain_mut(|op| self.op(op));
    }
    /// Makes a step valid. Returns true if this is possible.
    fn op(&mut self, op: &mut Op) -> bool {
        match op {
            Op::Fork(ops) => return self.fork(ops),
            Op::Priority(priority) => return self.priority(priority),
            Op::End(_) => return self.end(),
            _ => {}
        }
        let Some(lock) = op.lock().filter(|lock| *lock < self.kinds.len()) else { return false };
        let kind = self.kinds[lock];
        if self.is_child && !kind.survives_forks() && !self.is_mine(lock) {
            return false;
        }
        match op {
            Op::Exclusive(_, wait) => {
                if !(kind.is_mutex() || kind.has_readers()) {
                    return false;
                }
                if matches!(wait, Limit::Again | Limit::AttemptAgain) {
                    *wait = Limit::Attempt;
                }
                *wait = wait.of(kind);
                let gives_up = *wait == Limit::Forever && self.may_give_up(lock);
                *wait = self.wait(lock, *wait, gives_up || self.may_wait(lock));
                self.held[lock].exclusive += 1;
            }
            Op::Shared(_, wait) => {
                if !kind.has_readers() {
                    return false;
                }
                *wait = self.wait(lock, wait.of(kind), self.may_read(lock));
                self.held[lock].shared += 1;
            }
            Op::Upgradable(_, wait) => return kind.upgrades() && self.upgradable(lock, wait),
            Op::Acquire(_, permits, wait) => {
                if kind != LockKind::Semaphore || matches!(wait, Limit::Again | Limit::AttemptAgain)
                {
                    return false;
                }
                *wait = wait.of_any_lock();
                let may = self.may_wait(lock) && *permits <= crate::program::PERMITS;
                *wait = self.wait(lock, *wait, may);
                self.held[lock].exclusive += 1;
            }
            Op::Release(_, permits) => return kind == LockKind::Semaphore && *permits <= 2,
            Op::Available(_) => return kind == LockKind::Semaphore,
            Op::Copy(_, wait) => {
                *wait = if *wait == Limit::Forever { Limit::Forever } else { Limit::Attempt };
                return kind == LockKind::SeqLock;
            }
            Op::Put(_) | Op::Update(_) => return kind == LockKind::SeqLock,
            Op::Call(_, how) => return kind == LockKind::Once && self.may_call(*how),
            Op::IsCompleted(_) => return kind == LockKind::Once,
            Op::IsLocked(_) => return kind.is_mutex() || kind.has_readers(),
            Op::IsLockedExclusive(_) => return kind.has_readers(),
            Op::Debug(_) => return kind != LockKind::SeqLock,
            Op::ReadMany(_, times) => {
                return kind.has_readers() && (*times > 0) && !self.is_child && self.may_read(lock);
            }
            Op::ForgetMany(_, times) => {
                self.forgotten[lock] += *times;
                return kind.has_readers() && *times > 0;
            }
            Op::Receive(_) if !kind.sends() || self.is_child => return false,
            Op::Receive(_) => self.held[lock].exclusive += 1,
            Op::NotifyOne(_) | Op::NotifyAll(_) => return kind == LockKind::Mutex,
            Op::Act(_, act) => return self.act(lock, act),
            Op::Fork(_) | Op::Priority(_) | Op::End(_) => {}
        }
        true
    }
    fn fork(&mut self, ops: &mut Vec<Op>) -> bool {
        let (held, is_raised) = (self.held.clone(), self.is_raised);
        let is_child = std::mem::replace(&mut self.is_child, true);
        self.ops(ops);
        (self.held, self.is_child, self.is_raised) = (held, is_child, is_raised);
        !is_child && !ops.is_empty()
    }
    fn priority(&mut self, priority: &mut Priority) -> bool {
        let may_be_real_time = self.kinds.iter().all(|kind| kind.sleeps());
        if *priority == Priority::RealTime && !may_be_real_time {
            *priority = Priority::Urgent;
        }
        let was_raised = std::mem::replace(&mut self.is_raised, *priority != Priority::Normal);
        was_raised || self.is_raised
    }
    /// The next thread has no guards.
    fn end(&mut self) -> bool {
        if self.is_child || self.ends + 1 >= LIVES_MAX {
            return false;
        }
        self.ends += 1;
        self.is_raised = false;
        self.held.fill(Bound::default());
        // Its slot is not used again as long as these are in it.
        self.forgotten.fill(0);
        true
    }
    /// True if a once may be called so. Thread 0 ends a wait for it, and waits for nothing that this thread holds.
    fn may_call(&self, how: OnceCall) -> bool {
        let is_alone = self.held.iter().all(|bound| !bound.is_held());
        how != OnceCall::Wait || is_alone && !self.is_first && !self.is_child
    }
    /// Makes an upgradable read right, which is always possible.
    fn upgradable(&mut self, lock: usize, wait: &mut Limit) -> bool {
        *wait = wait.of_any_lock();
        // It waits for writers and its like. It may become a writer, so it counts as one.
        let may = self.may_read(lock) && !self.held[lock].is_held();
        *wait = self.wait(lock, *wait, may);
        self.held[lock].exclusive += 1;
        true
    }
    /// True if no other thread uses the lock in this phase.
    fn is_mine(&self, lock: usize) -> bool {
        self.rules[lock].only.is_some()
    }
    fn is_last(&self, lock: usize) -> bool {
        self.held[lock + 1..].iter().all(|bound| !bound.is_held())
    }
    fn may_wait(&self, lock: usize) -> bool {
        let rule = self.rules[lock];
        let is_mine = self.held[lock].is_held() && !self.kinds[lock].is_reentrant();
        let is_free_of_me = !is_mine && self.is_last(lock);
        !self.is_child && is_free_of_me && !rule.is_lost && !rule.is_read_lost
    }
    /// True if a thread may wait for it with no deadline in any order, because it is told of a deadlock. It must hold
    /// no other kind of lock behind it, for which threads wait that cannot give up.
    fn may_give_up(&self, lock: usize) -> bool {
        let behind = self.held.iter().zip(self.kinds).skip(lock + 1);
        let knows_all = { behind }.all(|(bound, kind)| !bound.is_held() || kind.is_resilient());
        self.kinds[lock].is_resilient() && knows_all && !self.rules[lock].is_lost && !self.is_child
    }
    fn may_read(&self, lock: usize) -> bool {
        let Bound { exclusive, shared } = self.held[lock];
        let in_slot = shared + self.forgotten[lock];
        let is_counted = self.kinds[lock] != LockKind::PercpuRwLock || in_slot <= Sim::DEPTH_MAX;
        let again = self.kinds[lock].reads_again() && exclusive == 0 && is_counted;
        let is_free_of_me = again || is_counted && !self.held[lock].is_held();
        !self.is_child && is_free_of_me && self.is_last(lock) && !self.rules[lock].is_lost
    }
    fn wait(&self, lock: usize, wait: Limit, may_be_long: bool) -> Limit {
        let is_timed = self.kinds[lock].is_timed();
        match wait {
            Limit::Again if !may_be_long => Limit::AttemptAgain,
            Limit::Interruptible if !may_be_long => Limit::Interrupted,
            Limit::For(_) | Limit::Until(_) if !is_timed => {
                if may_be_long {
                    Limit::Forever
                } else {
                    Limit::Attempt
                }
            }
            _ if !wait.is_long() || may_be_long => wait,
            Limit::For(_) => Limit::For(Time::Micros(50)),
            Limit::Until(_) => Limit::Until(Time::Past),
            _ => Limit::Attempt,
        }
    }
    /// Makes an act right.
    fn act(&mut self, lock: usize, act: &mut Act) -> bool {
        let kind = self.kinds[lock];
        let rule = self.rules[lock];
        let bound = self.held[lock];
        if !bound.is_held() {
            return false;
        }
        // It lets others in and has to get in again.
        let may_come_back = (bound.exclusive == 1 || kind.is_reentrant())
            && bound.shared == 0
            && self.is_last(lock)
            && !rule.is_lost
            && !rule.is_read_lost;
        if let Act::Upgrade(wait) | Act::WithUpgraded(wait) = act {
            *wait = wait.of_any_lock();
            // It waits for readers, of which it is not one with another guard.
            *wait = self.wait(lock, *wait, may_come_back && !self.is_child);
        }
        let is_possible = match *act {
            Act::Touch => kind != LockKind::Semaphore,
            Act::Drop | Act::DropOldest | Act::Forget => true,
            Act::Leak => kind.is_mutex() && !kind.is_reentrant() && !kind.is_resilient(),
            Act::Map | Act::TryMap(_) => kind != LockKind::Semaphore && !kind.is_resilient(),
            Act::Downgrade => kind.has_readers(),
            Act::DowngradeToUpgradable | Act::Upgrade(_) | Act::WithUpgraded(_) => kind.upgrades(),
            Act::UnlockFair => kind.is_fair(),
            Act::Unlocked => {
                (kind.is_mutex() || kind.has_readers()) && !kind.is_resilient() && may_come_back
            }
            Act::UnlockedFair | Act::Bump => kind.is_fair() && may_come_back,
            Act::Send => kind.sends() && !self.is_child,
            Act::WaitFor(time)
            | Act::WaitUntil(time)
            | Act::WaitWhileFor(time)
            | Act::WaitWhileUntil(time) => {
                kind == LockKind::Mutex && may_come_back && time.is_short()
            }
            Act::Wait | Act::WaitWhile => {
                let is_alone = self.held[..lock].iter().all(|bound| !bound.is_held());
                let may = !self.is_first && !self.is_child && is_alone;
                kind == LockKind::Mutex && may_come_back && may
            }
        };
        if !is_possible {
            return false;
        }
        let gives_back = matches!(
            *act,
            Act::Drop | Act::DropOldest | Act::Forget | Act::Leak | Act::UnlockFair | Act::Send
        );
        let bound = &mut self.held[lock];
        match *act {
            // Which guard it is, is not known here.
            Act::Downgrade => bound.shared += 1,
            _ if gives_back && bound.exclusive + bound.shared == 1 => *bound = Bound::default(),
            _ => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(locks: &[LockKind], threads: Vec<Vec<Op>>) -> Vec<Vec<Op>> {
        let phase = Phase { changes: Vec::new(), threads };
        let mut program = Program { locks: locks.to_vec(), phases: vec![phase] };
        normalize(&mut program);
        program.phases.remove(0).threads
    }

    #[test]
    fn nobody_waits_in_a_circle_or_for_what_is_lost() {
        let backward = vec![Op::Exclusive(1, Limit::Forever), Op::Exclusive(0, Limit::Forever)];
        let right = vec![Op::Exclusive(1, Limit::Forever), Op::Exclusive(0, Limit::Attempt)];
        assert_eq!(normal(&[LockKind::Mutex; 2], vec![backward]), [right]);
        let lost = vec![Op::Exclusive(0, Limit::Attempt), Op::Act(0, Act::Forget)];
        let other = vec![Op::Exclusive(0, Limit::For(Time::Never))];
        let right = vec![Op::Exclusive(0, Limit::For(Time::Micros(50)))];
        assert_eq!(normal(&[LockKind::Mutex], vec![lost.clone(), other]), [lost, right]);
    }

    #[test]
    fn an_upgrade_waits_only_where_all_readers_leave() {
        let upgrade = |wait| Op::Act(0, Act::Upgrade(wait));
        let alone = vec![Op::Upgradable(0, Limit::Forever), upgrade(Limit::Forever)];
        assert_eq!(normal(&[LockKind::RwLock], vec![alone.clone()]), [alone]);
        let reads = vec![
            Op::Shared(0, Limit::Forever),
            Op::Upgradable(0, Limit::Attempt),
            upgrade(Limit::Forever),
        ];
        let ops = normal(&[LockKind::RwLock], vec![reads]).remove(0);
        assert_eq!(ops[2], upgrade(Limit::Attempt));
        let behind = vec![
            Op::Upgradable(0, Limit::Forever),
            Op::Shared(1, Limit::Forever),
            upgrade(Limit::Forever),
        ];
        let ops = normal(&[LockKind::RwLock; 2], vec![behind]).remove(0);
        assert_eq!(ops[2], upgrade(Limit::Attempt));
    }

    #[test]
    fn an_owner_takes_only_a_reentrant_mutex_again() {
        let twice = vec![Op::Exclusive(0, Limit::Forever); 2];
        let ops = |kind| normal(&[kind], vec![twice.clone()]).remove(0);
        assert_eq!(ops(LockKind::ReentrantMutex), twice);
        assert_eq!(ops(LockKind::Mutex)[1], Op::Exclusive(0, Limit::Attempt));
    }

    #[test]
    fn a_resilient_spinlock_may_be_waited_for_in_a_circle_of_its_kind() {
        use LockKind::{Mutex, ResilientSpinLock};
        let backward = vec![Op::Exclusive(1, Limit::Forever), Op::Exclusive(0, Limit::Forever)];
        let ops = |kinds: &[LockKind]| normal(kinds, vec![backward.clone()]).remove(0);
        assert_eq!(ops(&[ResilientSpinLock; 2]), backward);
        assert_eq!(ops(&[ResilientSpinLock, Mutex])[1], Op::Exclusive(0, Limit::Attempt));
    }

    #[test]
    fn thread_0_and_owners_do_not_wait_for_a_once() {
        let wait = Op::Call(1, OnceCall::Wait);
        let owner = vec![Op::Exclusive(0, Limit::Forever), wait.clone()];
        let kinds = [LockKind::Mutex, LockKind::Once];
        let threads = vec![vec![wait.clone()], vec![wait.clone()], owner.clone()];
        assert_eq!(normal(&kinds, threads), [vec![], vec![wait], vec![owner[0].clone()]]);
    }

    #[test]
    fn a_thread_that_begins_holds_nothing_and_there_are_few_in_the_place_of_one() {
        let end = Op::End(crate::program::GuardsLeft::Dropped);
        let wait = Op::Exclusive(0, Limit::Forever);
        let ops = vec![wait.clone(), end.clone(), wait.clone(), end.clone(), end.clone()];
        assert_eq!(normal(&[LockKind::Mutex], vec![ops]), [[wait.clone(), end.clone(), wait, end]]);
    }

    #[test]
    fn a_real_time_thread_uses_no_lock_that_spins() {
        let ops = |kind| normal(&[kind], vec![vec![Op::Priority(Priority::RealTime)]]).remove(0);
        assert_eq!(ops(LockKind::Semaphore), [Op::Priority(Priority::RealTime)]);
        assert_eq!(ops(LockKind::QRwLock), [Op::Priority(Priority::Urgent)]);
    }

    #[test]
    fn who_reads_may_read_again_where_that_is_allowed() {
        let twice = vec![Op::Shared(0, Limit::Forever); 2];
        let ops = |kind| normal(&[kind], vec![twice.clone()]).remove(0);
        assert_eq!(ops(LockKind::RwLock), twice);
        assert_eq!(ops(LockKind::FairRwLock)[1], Op::Shared(0, Limit::Attempt));
        let often = vec![Op::Shared(0, Limit::Forever); 4];
        let ops = normal(&[LockKind::PercpuRwLock], vec![often.clone()]).remove(0);
        assert_eq!((&ops[..3], &ops[3]), (&often[..3], &Op::Shared(0, Limit::Attempt)));
        let forgets = [vec![Op::ForgetMany(0, 1)], often].concat();
        let ops = normal(&[LockKind::PercpuRwLock], vec![forgets]).remove(0);
        assert_eq!(ops[3], Op::Shared(0, Limit::Attempt));
    }
}
