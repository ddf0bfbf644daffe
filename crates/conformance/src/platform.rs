//! What a law asks of a machine: functions that every platform has, and threads.

use lockwright_core::platform::LockHash;
use lockwright_core::queue::QueuePlatform;

/// The groups that the platforms of all locks have.
pub trait CommonPlatform: QueuePlatform + LockHash {}
impl<P: QueuePlatform + LockHash> CommonPlatform for P {}

/// How a machine runs several threads on something they share.
pub trait Threads: 'static {
    /// Puts `state` where the machine keeps shared objects, runs each body on a thread of its own,
    /// all at the same time, and `finish` when all are done. A panic in one of them reaches the
    /// caller or fails the run. A law calls this once, and does everything in there.
    fn run<S: Send + Sync + 'static>(&self, state: S, bodies: &[fn(&S)], finish: fn(&S));
    /// How many queue nodes one thread can claim at most; `None` if that is too many to try.
    fn node_limit(&self) -> Option<usize> {
        None
    }
}
