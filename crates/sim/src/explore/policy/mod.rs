//! Decides what happens next.

mod dfs;
mod pct;
mod pos;
mod random;
mod rarely;
mod replay;

pub(crate) use replay::Replayed;

use super::Limits;
use super::choice::Choice;
use crate::rng::{Purpose, Rng};
use dfs::Dfs;
use pct::Pct;
use pos::Pos;
use random::RandomWalk;
use rarely::Rarely;
use replay::Replay;

/// Decides what happens next, in one schedule after another.
///
/// The same calls with the same arguments have to give the same answers: schedules are repeated.
pub trait Policy {
    /// The next schedule begins. `false` if there is none left that is worth it.
    fn begin(&mut self) -> bool;
    /// The index of the choice to take after `step` others; `None` to give up. There is always a
    /// choice that is no fault.
    fn pick(&mut self, choices: &[Choice], step: u64) -> Option<usize>;
    /// Returns true if the policy made every decision itself. Then it has left out no schedule when none is left.
    fn has_decided_all(&self) -> bool {
        true
    }
}

/// The policies that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyKind {
    /// A random walk: all actors that can go on are equally likely to.
    Random,
    /// Random priorities that change at this number of steps, less one (probabilistic concurrency testing).
    Pct(u32),
    /// A random priority for each pending access, drawn again after a conflict (partial order
    /// sampling).
    Pos,
    /// A depth-first search of all schedules with at most this number of preemptions.
    Dfs(u32),
}

impl PolicyKind {
    /// The name it is selected by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Pct(_) => "pct",
            Self::Pos => "pos",
            Self::Dfs(_) => "dfs",
        }
    }
    /// The policy, with the random numbers of `stream`, fair from half of the steps on.
    pub(crate) fn build(self, seed: u64, stream: usize, limits: Limits) -> Box<dyn Policy> {
        let rng = || Rng::split(seed, stream, Purpose::Schedule);
        let inner: Box<dyn Policy> = match self {
            Self::Random => Box::new(RandomWalk::new(limits, rng())),
            Self::Pct(depth) => Box::new(Pct::new(depth, limits, rng())),
            Self::Pos => Box::new(Pos::new(limits, rng())),
            Self::Dfs(preemptions) => Box::new(Dfs::new(preemptions)),
        };
        Box::new(Fair::new(inner, limits.steps_max / 2, rng()))
    }
}

/// The moves of a list, and on from its end; fair after `fair_after` steps, if that is later.
pub(crate) fn replay(moves: Replayed, fair_after: u64) -> Box<dyn Policy> {
    let fair_after = fair_after.max(moves.len() as u64);
    let inner = Box::new(Replay::new(moves));
    Box::new(Fair::new(inner, fair_after, Rng::split(0, 0, Purpose::Schedule)))
}

/// A policy until a schedule gets long, then a fair one. A thread that still does not come to an end is stuck in a
/// loop.
struct Fair {
    inner: Box<dyn Policy>,
    fair_after: u64,
    seed: u64,
    rng: Rng,
    /// In some schedule its own choice replaced the policy's.
    has_taken_over: bool,
}

impl Fair {
    fn new(inner: Box<dyn Policy>, fair_after: u64, mut rng: Rng) -> Self {
        Self { inner, fair_after, seed: rng.next(), rng, has_taken_over: false }
    }
}

impl Policy for Fair {
    fn begin(&mut self) -> bool {
        // The same for every schedule, because a search takes the same way several times.
        self.rng = Rng::split(self.seed, 0, Purpose::Schedule);
        self.inner.begin()
    }
    fn pick(&mut self, choices: &[Choice], step: u64) -> Option<usize> {
        if step < self.fair_after {
            return self.inner.pick(choices, step);
        }
        self.has_taken_over = true;
        pick_where(choices, &mut self.rng, |choice| !choice.action().is_fault())
    }
    fn has_decided_all(&self) -> bool {
        !self.has_taken_over && self.inner.has_decided_all()
    }
}

/// One of the choices that `is_wanted`, each as likely.
fn pick_where(
    choices: &[Choice],
    rng: &mut Rng,
    is_wanted: impl Fn(&Choice) -> bool,
) -> Option<usize> {
    let wanted = || choices.iter().enumerate().filter(|(_, choice)| is_wanted(choice));
    let count = wanted().count();
    let chosen = (count > 0).then(|| rng.below(count))?;
    wanted().nth(chosen).map(|(index, _)| index)
}
