#![doc = include_str!("README.md")]

mod bucket;
mod marks;
mod presence;
mod waiter;

pub use bucket::Bucket;
pub(crate) use marks::{Counted, Mark};
pub(crate) use presence::Presence;
pub(crate) use waiter::waiter;
pub use waiter::{HoldMode, Place, Waiter};

use crate::platform::{LockHash, SchedulerHints, SleepStorage, Sleeping};
use crate::queue::QueuePlatform;

/// What a lock asks for whose waiters sleep.
pub trait ParkPlatform:
    QueuePlatform
    + SchedulerHints
    + Sleeping
    + LockHash
    + SleepStorage<Bucket = Bucket<Self>, Waiter = Waiter<Self>>
{
}
impl<P> ParkPlatform for P where
    P: QueuePlatform
        + SchedulerHints
        + Sleeping
        + LockHash
        + SleepStorage<Bucket = Bucket<P>, Waiter = Waiter<P>>
{
}
