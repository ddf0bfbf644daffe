//! Random programs.

use crate::extras;
use crate::program::{Act, Change, Limit, LockKind, OnceCall, Op, Phase, Program, Time};
use crate::rules::normalize;
use fastrand::Rng;

/// What a program may contain.
#[derive(Clone, Copy, Debug)]
pub struct ProgramLimits {
    pub has_forks: bool,
    /// What a second generator adds.
    pub has_extras: bool,
    /// Steps of a thread in a phase, at most.
    pub steps: usize,
    /// How often one step reads, at most.
    pub reads: u32,
}

/// The program of a seed.
pub fn generate(seed: u64, limits: ProgramLimits) -> Program {
    let mut generator = Generator::new(seed, limits);
    let mut program = generator.program();
    if limits.has_extras {
        extras::add(&mut program, seed, limits);
    }
    normalize(&mut program);
    program
}

pub struct Generator {
    pub rng: Rng,
    limits: ProgramLimits,
    pub kinds: Vec<LockKind>,
}

impl Generator {
    pub fn new(seed: u64, limits: ProgramLimits) -> Self {
        Self { rng: Rng::with_seed(seed), limits, kinds: Vec::new() }
    }
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.usize(..of.len())]
    }
    pub fn one_in(&mut self, n: u32) -> bool {
        self.rng.u32(..n) == 0
    }
    fn kind(&mut self) -> LockKind {
        // Most defects are where there is most to go wrong.
        if self.one_in(8) { LockKind::PercpuRwLock } else { self.pick(LockKind::ALL) }
    }
    fn program(&mut self) -> Program {
        if self.one_in(12) {
            return self.crossing();
        }
        if self.one_in(2) {
            return self.oversubscribed();
        }
        let locks = self.pick(&[1, 1, 1, 2, 2, 3]);
        self.kinds = (0..locks).map(|_| self.kind()).collect();
        if self.one_in(2) {
            // Locks of one kind can change places.
            self.kinds = vec![self.kinds[0]; locks];
        }
        let locks = self.kinds.clone();
        let threads = self.pick(&[1, 2, 2, 2, 3, 3]);
        let phases = self.pick(&[1, 2, 2, 3, 4]);
        let phase = |number| Phase {
            changes: if number == 0 && !self.one_in(4) { Vec::new() } else { self.changes() },
            threads: self.threads(threads),
        };
        Program { locks, phases: (0..phases).map(phase).collect() }
    }
    /// Threads that all want one lock, mostly as long as it takes, and do something with the guards.
    fn oversubscribed(&mut self) -> Program {
        self.kinds = vec![self.pick(LockKind::ALL); self.pick(&[1, 1, 2])];
        let locks = self.kinds.clone();
        let phase = |number| {
            let changes = if number == 0 { Vec::new() } else { self.changes() };
            let loses = self.one_in(3);
            Phase { changes, threads: (0..3).map(|_| self.turns(loses)).collect() }
        };
        Program { locks, phases: (0..2).map(phase).collect() }
    }
    /// Threads that take locks which report deadlocks, in any order, and some of them while they hold others.
    fn crossing(&mut self) -> Program {
        self.kinds = vec![LockKind::ResilientSpinLock; self.pick(&[2, 2, 3])];
        let locks = self.kinds.clone();
        let phase = |_| Phase {
            changes: Vec::new(),
            threads: (0..3).map(|_| self.crossing_turns()).collect(),
        };
        Program { locks, phases: (0..2).map(phase).collect() }
    }
    fn crossing_turns(&mut self) -> Vec<Op> {
        let mut ops = Vec::new();
        while ops.len() < self.limits.steps {
            let lock = self.rng.usize(..self.kinds.len());
            let millis = Limit::For(Time::Micros(3000));
            let wait = self.pick(&[Limit::Forever, Limit::Forever, millis, Limit::Attempt]);
            ops.extend([Op::Exclusive(lock, wait), Op::Act(lock, Act::Touch)]);
            if self.one_in(3) {
                ops.push(Op::Act(lock, Act::Drop));
            }
        }
        ops
    }
    fn turns(&mut self, loses: bool) -> Vec<Op> {
        let mut ops = Vec::new();
        while ops.len() < 2 * self.limits.steps {
            let lock = self.rng.usize(..self.kinds.len());
            let kind = self.kinds[lock];
            let again = if kind.reads_again() { Limit::Again } else { Limit::Forever };
            let wait = self.pick(&[Limit::Forever, again, Limit::For(Time::Micros(1))]);
            ops.push(match self.one_in(3) {
                true => self.op(),
                false => self.take_until(lock, kind, wait),
            });
            for _ in 0..self.rng.usize(..3) {
                ops.push(Op::Act(lock, self.act(kind)));
            }
            if !self.one_in(4) {
                ops.push(Op::Act(lock, Act::Drop));
            }
        }
        if !loses {
            // No thread waits long for a lock that may never come back.
            let is_lost = |op: &Op| {
                matches!(op, Op::ForgetMany(..) | Op::Act(_, Act::Forget | Act::Leak | Act::Send))
            };
            ops.retain(|op| !is_lost(op));
        }
        ops
    }
    fn changes(&mut self) -> Vec<Change> {
        (0..self.rng.usize(..4)).map(|_| self.change()).collect()
    }
    fn change(&mut self) -> Change {
        let lock = self.rng.usize(..self.kinds.len());
        let is_same = |at: &usize| *at != lock && self.kinds[*at] == self.kinds[lock];
        let other = (0..self.kinds.len()).find(is_same);
        if let Some(other) = other.filter(|_| self.rng.bool()) {
            return Change::Swap(lock, other);
        }
        match self.rng.u32(..7) {
            0..=3 => {
                let kind = if self.rng.bool() { self.kinds[lock] } else { self.kind() };
                self.kinds[lock] = kind;
                Change::New(lock, kind)
            }
            4 => Change::Move(lock),
            5 => Change::IntoInner(lock),
            _ => Change::GetMut(lock),
        }
    }
    fn threads(&mut self, threads: usize) -> Vec<Vec<Op>> {
        // In some phases one thread has the locks for itself, and every answer is known.
        let alone = self.one_in(3).then(|| self.rng.usize(..threads));
        let ops = |thread| {
            let steps = match alone {
                Some(alone) if alone != thread => 0,
                _ => self.rng.usize(1..=self.limits.steps),
            };
            self.ops(steps)
        };
        (0..threads).map(ops).collect()
    }
    pub fn ops(&mut self, steps: usize) -> Vec<Op> {
        (0..steps).map(|_| self.op()).collect()
    }
    fn op(&mut self) -> Op {
        if self.limits.has_forks && self.one_in(24) {
            // The steps of a child cost little next to the fork.
            let steps = self.rng.usize(1..=16);
            let has_forks = std::mem::replace(&mut self.limits.has_forks, false);
            let ops = self.ops(steps);
            self.limits.has_forks = has_forks;
            return Op::Fork(ops);
        }
        let lock = self.rng.usize(..self.kinds.len());
        let kind = self.kinds[lock];
        if kind == LockKind::SeqLock {
            return match self.rng.u32(..4) {
                0 => Op::Copy(lock, Limit::Forever),
                1 => Op::Copy(lock, Limit::Attempt),
                2 => Op::Put(lock),
                _ => Op::Update(lock),
            };
        }
        if kind == LockKind::Once {
            return match self.rng.u32(..8) {
                0 => Op::Debug(lock),
                1 => Op::IsCompleted(lock),
                _ => self.take(lock, kind),
            };
        }
        match self.rng.u32(..20) {
            0..=7 => self.take(lock, kind),
            8..=15 => Op::Act(lock, self.act(kind)),
            16 if kind == LockKind::Semaphore => match self.rng.u32(..2) {
                0 => Op::Release(lock, 1),
                _ => Op::Available(lock),
            },
            16 if kind == LockKind::Mutex => match self.rng.u32(..2) {
                0 => Op::NotifyOne(lock),
                _ => Op::NotifyAll(lock),
            },
            16 if kind.has_readers() => {
                let times = if kind == LockKind::PercpuRwLock { 5000 } else { 20 };
                Op::ReadMany(lock, times.min(self.limits.reads))
            }
            16 | 17 if kind.has_readers() && self.rng.bool() => {
                let many = if self.one_in(16) { 65_537 } else { 5 };
                Op::ForgetMany(lock, self.pick(&[1, 1, 2, many]).min(self.limits.reads))
            }
            17 if kind.has_readers() && self.rng.bool() => Op::IsLockedExclusive(lock),
            16 | 17 => Op::Debug(lock),
            18 if kind.sends() => Op::Receive(lock),
            18 => Op::Debug(lock),
            _ => Op::IsLocked(lock),
        }
    }
    fn take(&mut self, lock: usize, kind: LockKind) -> Op {
        let wait = self.wait();
        self.take_until(lock, kind, wait)
    }
    pub fn take_until(&mut self, lock: usize, kind: LockKind, wait: Limit) -> Op {
        let wait = match wait {
            Limit::Again if kind.is_interruptible() => Limit::Interruptible,
            Limit::AttemptAgain if kind.is_interruptible() => Limit::Interrupted,
            wait => wait,
        };
        match kind {
            LockKind::Once => Op::Call(
                lock,
                self.pick(&[OnceCall::Once, OnceCall::Force, OnceCall::Fail, OnceCall::Wait]),
            ),
            LockKind::Semaphore => Op::Acquire(lock, self.pick(&[1, 1, 2, 3]), wait),
            _ if kind.upgrades() && self.one_in(3) => Op::Upgradable(lock, wait),
            _ if kind.has_readers() && self.one_in(2) => Op::Shared(lock, wait),
            _ => Op::Exclusive(lock, wait),
        }
    }
    fn wait(&mut self) -> Limit {
        match self.rng.u32(..9) {
            0 | 8 => Limit::Forever,
            2 | 3 => Limit::Attempt,
            4 => Limit::For(self.time()),
            5 => Limit::Until(self.time()),
            1 | 6 => Limit::Again,
            _ => Limit::AttemptAgain,
        }
    }
    fn time(&mut self) -> Time {
        let micros = self.pick(&[1, 30, 300, 3000]);
        self.pick(&[Time::Past, Time::Now, Time::Micros(micros), Time::Far, Time::Never])
    }
    fn short_time(&mut self) -> Time {
        let micros = self.pick(&[1, 30, 300]);
        self.pick(&[Time::Past, Time::Now, Time::Micros(micros)])
    }
    fn act(&mut self, kind: LockKind) -> Act {
        let found = self.rng.bool();
        let time = self.short_time();
        let common =
            [Act::Touch, Act::Drop, Act::Drop, Act::DropOldest, Act::Map, Act::TryMap(found)];
        match self.rng.u32(..16) {
            0..=5 => self.pick(&common),
            6 | 7 | 15 if kind.upgrades() => match self.rng.u32(..8) {
                0 | 1 => Act::DowngradeToUpgradable,
                2..=5 => Act::Upgrade(self.wait()),
                _ => Act::WithUpgraded(self.wait()),
            },
            7 | 8 if kind.has_readers() => Act::Downgrade,
            6 if kind.is_mutex() => Act::Leak,
            6 | 7 if kind == LockKind::Semaphore => self.pick(&[Act::Forget, Act::Send]),
            7..=10 if kind == LockKind::Mutex => self.pick(&[
                Act::WaitFor(time),
                Act::WaitUntil(time),
                Act::WaitWhileFor(time),
                Act::WaitWhileUntil(time),
                Act::Wait,
                Act::WaitWhile,
            ]),
            9..=12 if kind.is_fair() && !self.one_in(3) => {
                self.pick(&[Act::UnlockFair, Act::UnlockedFair, Act::Bump])
            }
            8..=12 => Act::Unlocked,
            13 => Act::Forget,
            14 if kind.sends() => Act::Send,
            _ => Act::Touch,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_program() {
        let limits = ProgramLimits { has_forks: true, has_extras: true, steps: 8, reads: 70_000 };
        assert_eq!(generate(7, limits), generate(7, limits));
        assert_ne!(generate(7, limits), generate(8, limits));
    }
}
