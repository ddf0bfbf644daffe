//! What every platform has.

use lockwright::platform::LockHash;
use lockwright::queue::QueuePlatform;

/// The groups that the platforms of all locks have.
pub trait CommonPlatform: QueuePlatform + LockHash {}
impl<P: QueuePlatform + LockHash> CommonPlatform for P {}
