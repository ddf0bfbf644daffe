//! What every platform has.

use lockwright_core::platform::LockHash;
use lockwright_core::queue::QueuePlatform;

/// The groups that the platforms of all locks have.
pub trait CommonPlatform: QueuePlatform + LockHash {}
impl<P: QueuePlatform + LockHash> CommonPlatform for P {}
