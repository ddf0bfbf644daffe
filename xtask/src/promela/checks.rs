//! What spin is asked about the model.

type Names = &'static [&'static str];

/// One search of the model.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// What is defined for it: the policy, and what varies.
    pub defines: Names,
    pub threads: usize,
    pub property: Property,
    pub expected: Expected,
}

/// What has to hold in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property {
    /// No assertion fails, and every thread that has begun to lock comes to an end.
    Safety,
    /// The same, looked for in short runs first.
    SafetyShortest,
    /// Under weak fairness, some thread always gets the lock again, or all stop.
    Progress,
    /// Under weak fairness, the formula with this name.
    Formula(&'static str),
}

/// What the search has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It holds.
    Holds,
    /// The policy does not promise it.
    NotPromised,
    /// Somebody made a mistake: the `SEED_` that is defined.
    Seen,
}

use Expected::{Holds, NotPromised, Seen};
use Property::{Formula, Progress, Safety, SafetyShortest};

/// Nobody waits in the queue for ever.
const GETS_IT: Property = Formula("whoever_queues_gets_the_lock");
/// A head that sleeps is woken.
const WAKES: Property = Formula("no_head_sleeps_for_ever");
/// What defines the head whose budget does not end.
const ENDLESS: &str = "ENDLESS_BUDGET";

const fn check(of: Names, threads: usize, property: Property, expected: Expected) -> Check {
    Check { defines: of, threads, property, expected }
}

const fn seeded(defines: Names, property: Property) -> Check {
    check(defines, 3, property, Seen)
}

/// All searches: what holds, what is not promised, and mistakes.
///
/// With a policy that steals no thread is promised the lock: others may steal it from the queue head whenever the
/// head's budget has ended. What holds: while the head is pending, the lock is stolen fewer times than there are
/// threads (an assertion; with `HybridBounded` for as long as the head runs). With a budget that does not end,
/// every thread in the queue gets the lock (`ENDLESS_BUDGET`). With any budget the head does not sleep for ever,
/// and some thread gets the lock.
pub const CHECKS: &[Check] = &[
    check(&["PARK"], 4, Safety, Holds),
    check(&["HYBRID"], 4, Safety, Holds),
    check(&["BOUNDED"], 4, Safety, Holds),
    check(&["PARK", "FULL_SPIN"], 3, Safety, Holds),
    check(&["PARK", "FULL_SPIN"], 3, GETS_IT, Holds),
    check(&["PARK"], 3, GETS_IT, Holds),
    check(&["PARK"], 3, WAKES, Holds),
    check(&["PARK"], 3, Progress, Holds),
    check(&["HYBRID"], 3, GETS_IT, NotPromised),
    check(&["HYBRID", ENDLESS], 3, GETS_IT, Holds),
    check(&["HYBRID"], 3, WAKES, Holds),
    check(&["HYBRID"], 3, Progress, Holds),
    check(&["BOUNDED"], 3, GETS_IT, NotPromised),
    check(&["BOUNDED", ENDLESS], 3, GETS_IT, Holds),
    check(&["BOUNDED"], 3, WAKES, Holds),
    check(&["BOUNDED"], 3, Progress, Holds),
    seeded(&["PARK", "SEED_NO_SECOND_LOOK"], SafetyShortest),
    seeded(&["PARK", "SEED_LOOKS_BEFORE_HALTED"], SafetyShortest),
    seeded(&["PARK", "SEED_KICK_LEAVES_NO_TRACE"], SafetyShortest),
    seeded(&["PARK", "SEED_KICKS_TOO_EARLY"], SafetyShortest),
    seeded(&["BOUNDED", "SEED_KICKS_TOO_EARLY"], SafetyShortest),
    seeded(&["PARK", "SEED_GRANTS_WITHOUT_KICK"], SafetyShortest),
    seeded(&["PARK", "SEED_GRANT_SAYS_HALTED"], SafetyShortest),
    seeded(&["PARK", "SEED_HASHED_IS_FORGOTTEN"], SafetyShortest),
    seeded(&["PARK", "SEED_SLOW_BEFORE_ENTRY"], SafetyShortest),
    seeded(&["HYBRID", "SEED_HEAD_SAYS_HALTED"], SafetyShortest),
    seeded(&["HYBRID", "SEED_SLEEPS_ROBBED"], SafetyShortest),
    seeded(&["HYBRID", "SEED_PLAIN_TAKE"], SafetyShortest),
    seeded(&["HYBRID", "SEED_PLAIN_UNLOCK"], SafetyShortest),
    seeded(&["HYBRID", "SEED_PLAIN_UNLOCK"], WAKES),
    seeded(&["HYBRID", "SEED_FINDS_AFTER_RELEASE"], SafetyShortest),
    seeded(&["HYBRID", "SEED_SLEEPS_PENDING"], SafetyShortest),
    seeded(&["HYBRID", "SEED_SLEEPS_ON_FREE"], Progress),
    seeded(&["HYBRID", "SEED_STEALS_FROM_PENDING"], SafetyShortest),
    seeded(&["HYBRID", ENDLESS, "SEED_STEALS_FROM_PENDING"], GETS_IT),
    seeded(&["BOUNDED", "SEED_HASHES_AGAIN"], SafetyShortest),
    seeded(&["BOUNDED", "SEED_OWNS_PENDING"], SafetyShortest),
    seeded(&["BOUNDED", "SEED_SLOW_WHILE_RELEASED"], SafetyShortest),
];

impl Check {
    /// What the reader sees.
    pub fn title(&self) -> String {
        let property = match self.property {
            Safety | SafetyShortest => "safety",
            Progress => "progress",
            Formula(name) => name,
        };
        format!("{}, {} threads, {property}", self.defines.join(" "), self.threads)
    }
    /// What the compiler of the search is told.
    pub fn compiler_flags(&self) -> Names {
        match self.property {
            Safety => &["-DSAFETY", "-DNOCLAIM"],
            SafetyShortest => &["-DSAFETY", "-DNOCLAIM", "-DBFS"],
            Progress => &["-DNP"],
            Formula(_) => &[],
        }
    }
    /// What the search is told. Assertions are the business of the safety checks.
    pub fn search_flags(&self) -> Vec<&'static str> {
        match self.property {
            Safety | SafetyShortest => Vec::new(),
            Progress => vec!["-A", "-l", "-f"],
            Formula(name) => vec!["-A", "-a", "-f", "-N", name],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_mistake_of_the_model_is_looked_for_and_no_other() {
        let model = include_str!("../../../crates/model/promela/qspinlock_pv.pml");
        let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
        let words = model.split(|c| !is_name(c));
        let in_model: BTreeSet<_> = words.filter(|word| word.starts_with("SEED_")).collect();
        let seen = CHECKS.iter().filter(|check| check.expected == Seen);
        let defined = seen.flat_map(|check| check.defines).copied();
        let looked_for: BTreeSet<_> = defined.filter(|word| word.starts_with("SEED_")).collect();
        assert_eq!(in_model, looked_for);
        let right = CHECKS.iter().filter(|check| check.expected != Seen);
        assert!(right.flat_map(|check| check.defines).all(|word| !word.starts_with("SEED_")));
    }

    #[test]
    fn no_two_searches_have_the_same_title() {
        let titles: BTreeSet<_> = CHECKS.iter().map(Check::title).collect();
        assert_eq!(titles.len(), CHECKS.len());
    }

    #[test]
    fn every_kind_of_property_is_seen_to_fail() {
        for right in CHECKS.iter().filter(|check| check.expected == Holds) {
            let is_same = |seen: &Check| match right.property {
                Safety => seen.property == SafetyShortest,
                property => seen.property == property,
            };
            assert!(CHECKS.iter().any(|seen| seen.expected == Seen && is_same(seen)), "{right:?}");
        }
    }
}
