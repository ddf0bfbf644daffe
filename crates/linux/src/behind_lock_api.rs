//! The locks behind `lock_api`.

use crate::park::ParkPlatform;
use crate::platform::{Barriers, ConstCells};
use crate::qrwlock::RawQRwLock;
use crate::queue::QueuePlatform;
use crate::rwsem::{RwSem, RwSemPolicy};
use crate::ticket::TicketLock;
use crate::unfair::{Backoff, UnfairLock};
use lockwright_core::{raw_mutex, raw_rwlock, stating_nothing};

raw_mutex! {
    [P: Barriers + ConstCells] TicketLock<P>, GuardSend;
    [P: Barriers + ConstCells, B: Backoff] UnfairLock<P, B>, GuardSend;
}
stating_nothing! {
    [P: QueuePlatform + ConstCells] RawQRwLock<P>, GuardSend;
    [P: ParkPlatform + ConstCells, C: RwSemPolicy] RwSem<P, C>, GuardSend;
}
raw_rwlock! {
    [P: QueuePlatform + ConstCells] RawQRwLock<P>, GuardSend;
    [P: ParkPlatform + ConstCells, C: RwSemPolicy] RwSem<P, C>, GuardSend;
}

#[cfg(all(feature = "std", target_os = "linux"))]
mod hq {
    use crate::hq::{HqSpinlock, HqWord};
    use crate::native::Native;
    use lockwright_core::raw_mutex;

    impl HqSpinlock<Native> {
        /// An unlocked lock, for statics.
        #[allow(clippy::declare_interior_mutable_const)]
        // SAFETY: both are the one word, and any number is one.
        pub const INIT: Self = unsafe { core::mem::transmute::<u32, Self>(HqWord::FREE.bits()) };
    }
    raw_mutex! {
        [] HqSpinlock<Native>, GuardSend;
    }
}

#[cfg(all(feature = "std", target_os = "linux"))]
mod timed {
    use super::*;
    use crate::rwsem::Until;
    use lockwright_core::glue::TimedRwLock;
    use lockwright_core::{timed_raw_rwlock, timed_stating_nothing};

    impl<P: ParkPlatform, C: RwSemPolicy> TimedRwLock for RwSem<P, C> {
        fn write_until(&self, deadline_ns: u64) -> bool {
            self.lock_within(Until::deadline(deadline_ns))
        }
        fn read_until(&self, deadline_ns: u64) -> bool {
            self.lock_shared_within(Until::deadline(deadline_ns))
        }
    }
    timed_stating_nothing! {
        [P: ParkPlatform + ConstCells, C: RwSemPolicy] RwSem<P, C>;
    }
    timed_raw_rwlock! {
        [P: ParkPlatform + ConstCells, C: RwSemPolicy] RwSem<P, C>;
    }
}
