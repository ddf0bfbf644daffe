//! Decides what happens next.

mod dfs;
mod fair;
mod pct;
mod pick;
mod pos;
mod random;
mod rarely;
mod replay;

pub(crate) use pick::SchedulePolicy;
pub(crate) use replay::Replayed;

use super::Limits;
use crate::rng::{RandomStream, Rng};
use dfs::Dfs;
use fair::FairAfter;
use pct::Pct;
use pos::Pos;
use random::RandomWalk;
use replay::Replay;

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
    pub(crate) fn build(self, seed: u64, stream: usize, limits: Limits) -> Box<dyn SchedulePolicy> {
        let rng = || Rng::split(seed, stream, RandomStream::Schedule);
        let inner: Box<dyn SchedulePolicy> = match self {
            Self::Random => Box::new(RandomWalk::new(limits, rng())),
            Self::Pct(depth) => Box::new(Pct::new(depth, limits, rng())),
            Self::Pos => Box::new(Pos::new(limits, rng())),
            Self::Dfs(preemptions) => Box::new(Dfs::new(preemptions)),
        };
        Box::new(FairAfter::new(inner, limits.steps_max / 2, rng()))
    }
}

/// The moves of a list, and on from its end; fair after `fair_after` steps, if that is later.
pub(crate) fn replay(moves: Replayed, fair_after: u64) -> Box<dyn SchedulePolicy> {
    let fair_after = fair_after.max(moves.len() as u64);
    let inner = Box::new(Replay::new(moves));
    Box::new(FairAfter::new(inner, fair_after, Rng::split(0, 0, RandomStream::Schedule)))
}
