//! What a second generator adds to a random program: ends of threads, priorities, two kinds of locks at once, and more
//! forks. The first one draws what it always drew.

use crate::generate::{Generator, ProgramLimits};
use crate::program::{Act, GuardsLeft, Limit, LockKind, Op, Priority, Program};
use crate::world::LOCKS_MAX;

/// Makes another seed of a seed.
const SECOND: u64 = 0x9e37_79b9_7f4a_7c15;

/// Adds it. The program has to be made right afterwards.
pub fn add(program: &mut Program, seed: u64, limits: ProgramLimits) {
    let inner = ProgramLimits { has_forks: false, ..limits };
    let mut extras = Generator::new(seed ^ SECOND, inner);
    if extras.one_in(3) {
        extras.pairs(program);
    }
    if limits.has_forks && extras.one_in(4) {
        extras.forks(program);
    }
    if extras.one_in(3) {
        extras.priorities(program);
    }
    if extras.one_in(3) {
        extras.ends(program);
    }
}

impl Generator {
    fn insert(&mut self, ops: &mut Vec<Op>, added: impl IntoIterator<Item = Op>) {
        let at = self.rng.usize(..=ops.len());
        ops.splice(at..at, added);
    }
    /// Another lock, behind all others. Threads hold it and one of another kind.
    fn pairs(&mut self, program: &mut Program) {
        let other = program.locks.len();
        if other == LOCKS_MAX {
            return;
        }
        let kind = self.pick(LockKind::ALL);
        program.locks.push(kind);
        let kinds = program.kinds();
        for (phase, kinds) in program.phases.iter_mut().zip(kinds) {
            for ops in &mut phase.threads {
                for _ in 0..self.rng.usize(..3) {
                    let lock = self.rng.usize(..other);
                    let pair = self.pair(&kinds, lock, other);
                    self.insert(ops, pair);
                }
            }
        }
    }
    /// Takes two locks; the one without guards, if there is such a one, in the critical section of the other.
    fn pair(&mut self, kinds: &[LockKind], one: usize, other: usize) -> Vec<Op> {
        let (outer, inner) = if kinds[one].has_guards() { (one, other) } else { (other, one) };
        let mut ops = vec![self.taking(kinds, outer)];
        for _ in 0..self.rng.usize(1..3) {
            ops.extend([self.taking(kinds, inner), Op::Act(inner, Act::Touch)]);
            ops.push(Op::Act(inner, Act::Drop));
        }
        ops.extend([Op::Act(outer, Act::Touch), Op::Act(outer, Act::Drop)]);
        ops
    }
    fn taking(&mut self, kinds: &[LockKind], lock: usize) -> Op {
        if kinds[lock] == LockKind::SeqLock {
            return if self.one_in(2) { Op::Put(lock) } else { Op::Update(lock) };
        }
        let wait = self.pick(&[Limit::Forever, Limit::Forever, Limit::Attempt]);
        self.take_until(lock, kinds[lock], wait)
    }
    fn forks(&mut self, program: &mut Program) {
        let kinds = program.kinds();
        for (phase, kinds) in program.phases.iter_mut().zip(kinds) {
            let threads = phase.threads.len();
            self.kinds = kinds;
            let (thread, steps) = (self.rng.usize(..threads), self.rng.usize(1..=16));
            let child = Op::Fork(self.ops(steps));
            self.insert(&mut phase.threads[thread], [child]);
        }
    }
    fn priorities(&mut self, program: &mut Program) {
        for ops in program.phases.iter_mut().flat_map(|phase| &mut phase.threads) {
            if self.one_in(3) {
                self.insert(ops, [Op::Priority(Priority::Normal)]);
            }
            let priority = self.pick(&[Priority::Urgent, Priority::RealTime]);
            if !self.one_in(3) {
                self.insert(ops, [Op::Priority(priority)]);
            }
        }
    }
    fn ends(&mut self, program: &mut Program) {
        for ops in program.phases.iter_mut().flat_map(|phase| &mut phase.threads) {
            let left = self.pick(&[GuardsLeft::Dropped, GuardsLeft::Kept]);
            if !self.one_in(3) {
                self.insert(ops, [Op::End(left)]);
            }
        }
    }
}
