//! Makes a program that fails smaller.

use crate::program::{Act, Change, GuardsLeft, Limit, OnceCall, Op, Phase, Priority, Program};
use crate::rules::normalize;

/// The smallest program found that still `fails`, by leaving parts out as long as that works.
pub fn shrink(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let smaller = candidates(&best).find(|candidate| fails(candidate));
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Programs that are a little smaller, those that leave out most first.
fn candidates(program: &Program) -> impl Iterator<Item = Program> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Program)| {
        let mut candidate = program.clone();
        change(&mut candidate);
        normalize(&mut candidate);
        if candidate != *program {
            all.push(candidate);
        }
    };
    let phases = program.phases.len();
    for at in 0..phases {
        add(&|program| {
            program.phases.remove(at);
        });
    }
    for thread in (0..program.threads()).rev() {
        add(&|program| {
            for phase in &mut program.phases {
                if thread < phase.threads.len() {
                    phase.threads.remove(thread);
                }
            }
        });
    }
    for lock in (0..program.locks.len()).rev() {
        add(&|program| leave_out(program, lock));
    }
    for at in 0..phases {
        let phase = &program.phases[at];
        add(&|program| program.phases[at].changes.clear());
        for thread in 0..phase.threads.len() {
            add(&|program| program.phases[at].threads[thread].clear());
            for step in (0..phase.threads[thread].len()).rev() {
                add(&|program| {
                    program.phases[at].threads[thread].remove(step);
                });
                simplify(&mut add, at, thread, step, &phase.threads[thread][step]);
            }
        }
        for change in (0..phase.changes.len()).rev() {
            add(&|program| {
                program.phases[at].changes.remove(change);
            });
        }
        if at + 1 < phases && program.phases[at + 1].changes.is_empty() {
            add(&|program| join(program, at));
        }
    }
    all.into_iter()
}

fn simplify(
    add: &mut impl FnMut(&dyn Fn(&mut Program)),
    at: usize,
    thread: usize,
    step: usize,
    op: &Op,
) {
    let mut replace = |new: Op| {
        add(&|program| program.phases[at].threads[thread][step] = new.clone());
    };
    match *op {
        Op::Exclusive(lock, Limit::Interruptible) => replace(Op::Exclusive(lock, Limit::Forever)),
        Op::Shared(lock, Limit::Interruptible) => replace(Op::Shared(lock, Limit::Forever)),
        Op::Exclusive(lock, Limit::For(_) | Limit::Until(_) | Limit::Interrupted) => {
            replace(Op::Exclusive(lock, Limit::Attempt));
        }
        Op::Shared(
            lock,
            Limit::For(_)
            | Limit::Until(_)
            | Limit::Again
            | Limit::AttemptAgain
            | Limit::Interrupted,
        ) => {
            replace(Op::Shared(lock, Limit::Attempt));
        }
        Op::Upgradable(lock, Limit::For(_) | Limit::Until(_)) => {
            replace(Op::Upgradable(lock, Limit::Attempt));
        }
        Op::Act(lock, Act::WithUpgraded(wait)) => replace(Op::Act(lock, Act::Upgrade(wait))),
        Op::Act(lock, Act::Upgrade(Limit::For(_) | Limit::Until(_))) => {
            replace(Op::Act(lock, Act::Upgrade(Limit::Attempt)));
        }
        Op::Call(lock, OnceCall::Force | OnceCall::Fail) => replace(Op::Call(lock, OnceCall::Once)),
        Op::ReadMany(lock, times) if times > 1 => replace(Op::ReadMany(lock, times / 2)),
        Op::ForgetMany(lock, times) if times > 1 => {
            replace(Op::ForgetMany(lock, times / 2));
            replace(Op::ForgetMany(lock, times - 1));
        }
        Op::Priority(Priority::RealTime) => replace(Op::Priority(Priority::Urgent)),
        Op::End(GuardsLeft::Kept) => replace(Op::End(GuardsLeft::Dropped)),
        Op::Fork(ref ops) => {
            for left_out in 0..ops.len() {
                let mut ops = ops.clone();
                ops.remove(left_out);
                replace(Op::Fork(ops));
            }
        }
        _ => {}
    }
}

/// Does in one phase what two do.
fn join(program: &mut Program, at: usize) {
    let next = program.phases.remove(at + 1);
    let phase = &mut program.phases[at];
    for (thread, ops) in next.threads.into_iter().enumerate() {
        if thread < phase.threads.len() {
            phase.threads[thread].extend(ops);
        }
    }
}

/// Leaves out a lock and everything that is done with it.
fn leave_out(program: &mut Program, lock: usize) {
    let is_other = |op: &Op| op.lock() != Some(lock);
    let lower = |at: &mut usize| *at -= usize::from(*at > lock);
    program.locks.remove(lock);
    for Phase { changes, threads } in &mut program.phases {
        changes.retain_mut(|change| match change {
            Change::New(at, _) | Change::Move(at) | Change::IntoInner(at) | Change::GetMut(at) => {
                let stays = *at != lock;
                lower(at);
                stays
            }
            Change::Swap(..) => false,
        });
        for ops in threads {
            leave_out_of(ops, &is_other, &lower);
        }
    }
}

fn leave_out_of(ops: &mut Vec<Op>, is_other: &impl Fn(&Op) -> bool, lower: &impl Fn(&mut usize)) {
    ops.retain(is_other);
    for op in ops {
        match op {
            Op::Fork(ops) => leave_out_of(ops, is_other, lower),
            _ => op.lock_mut().into_iter().for_each(lower),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{ProgramLimits, generate};
    use crate::program::LockKind;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let limits = ProgramLimits { has_forks: true, has_extras: false, steps: 8, reads: 10 };
        let has = |program: &Program| {
            let updates = |op: &Op| matches!(op, Op::Update(lock) if program.locks.get(*lock) == Some(&LockKind::SeqLock));
            program.phases.iter().any(|phase| phase.threads.iter().flatten().any(updates))
        };
        let found = (0..).map(|seed| generate(seed, limits)).find(has).expect("there is one");
        let small = shrink(&found, has);
        assert_eq!((small.len(), small.locks.len(), small.phases.len()), (1, 1, 1));
    }
}
