//! The type of a subject, and what it says of itself.

use super::floor;
use crate::erased::{AskCondvar, AskLockUntil};
use crate::subject::{Subject, SubjectOrigin};
use crate::workload::facts::Needs;
use lockwright_catalog::registry::{self, CondvarVisitor, LockRow, LockVisitor, TimedVisitor};
use lockwright_core::native::Native;
use lockwright_core::platform::{Counters as _, Placement as _};
use lockwright_core::raw::{FairnessThreshold, Order, RawLock};

/// Calls `visitor` with the type of `subject`.
pub fn visit<V: LockVisitor<Native>>(subject: Subject, visitor: V) -> V::Output {
    let row = subject.row;
    let output = match subject.origin {
        SubjectOrigin::Registry => registry::visit(row, visitor),
        SubjectOrigin::Peer => crate::peers::visit(row, visitor),
        SubjectOrigin::Floor => floor::visit(row, visitor),
    };
    output.unwrap_or_else(|| unreachable!("no lock {}", row.name))
}

/// Calls `visitor` with the type of `subject`, if it has a condition variable.
pub fn visit_condvar<V: CondvarVisitor>(subject: Subject, visitor: V) -> Option<V::Output> {
    match subject.origin {
        SubjectOrigin::Registry => registry::visit_condvar::<Native, V>(subject.row, visitor),
        SubjectOrigin::Peer => crate::peers::visit_condvar(subject.row, visitor),
        SubjectOrigin::Floor => None,
    }
}

/// Calls `visitor` with the type of `subject`, if it has deadlines.
pub fn visit_timed<V: TimedVisitor>(subject: Subject, visitor: V) -> Option<V::Output> {
    match subject.origin {
        SubjectOrigin::Registry => registry::visit_timed::<Native, V>(subject.row, visitor),
        SubjectOrigin::Peer => crate::peers::visit_timed(subject.row, visitor),
        SubjectOrigin::Floor => None,
    }
}

/// Returns true if `subject` has what a workload needs.
pub fn has(subject: Subject, needs: Needs) -> bool {
    match needs {
        Needs::Condvar => visit_condvar(subject, AskCondvar).is_some(),
        Needs::Deadline => visit_timed(subject, AskLockUntil).is_some(),
    }
}

/// A sentence about a lock that does not have what a workload needs.
pub fn lacks(subject: Subject, needs: Needs) -> String {
    format!("`{}` has no {}: leave it out", subject.name(), needs.described())
}

/// What the type of a lock says about it.
struct Traits {
    order: Order,
    waiters_sleep: bool,
    readers_share: bool,
}

fn traits_of(subject: Subject) -> Traits {
    struct OfType;
    impl LockVisitor<Native> for OfType {
        type Output = Traits;
        fn visit<L: RawLock>(self, _row: &'static LockRow) -> Traits {
            Traits {
                order: L::ORDER,
                waiters_sleep: L::WAITERS_SLEEP,
                readers_share: L::READERS_SHARE,
            }
        }
    }
    visit(subject, OfType)
}

/// The order in which `subject` serves its waiters.
pub fn order_of(subject: Subject) -> Order {
    traits_of(subject).order
}

/// Returns true if the waiters of a lock of ours give up their CPU. Such a lock has a queued mode and may have an
/// unfair one.
pub fn waiters_sleep(subject: Subject) -> bool {
    traits_of(subject).waiters_sleep
}

/// Returns true if `subject` may be handed to a waiter without a CPU, if there are more threads than CPUs.
pub fn stalls_if_oversubscribed(subject: Subject) -> bool {
    order_of(subject).is_queue() && !waiters_sleep(subject)
}

/// How long `subject` lets waiters be overtaken on this machine, as far as it says so.
pub fn fairness_threshold(subject: Subject) -> FairnessThreshold {
    struct Threshold;
    impl LockVisitor<Native> for Threshold {
        type Output = FairnessThreshold;
        fn visit<L: RawLock>(self, _row: &'static LockRow) -> FairnessThreshold {
            L::fairness_threshold(Native::numa_nodes(), &Native::tunable)
        }
    }
    visit(subject, Threshold)
}

/// Returns true if several readers may hold `subject` at once.
pub fn readers_share(subject: Subject) -> bool {
    traits_of(subject).readers_share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_has_a_type() {
        for subject in Subject::all() {
            order_of(subject);
        }
    }
}
