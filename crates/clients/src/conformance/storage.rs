//! Laws D: the storage of the table of sleepers.

use super::nothing_more;
use crate::Threads;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::platform::{Atomic, Platform};

pub fn buckets_marks_and_waiters_are_distinct_and_zero<P: Platform, T: Threads>(threads: &T) {
    fn body<P: Platform>() {
        let buckets = P::sleep_buckets();
        assert!(buckets.is_power_of_two(), "{buckets} buckets");
        let last = buckets - 1;
        for at in [0, last] {
            assert_eq!(P::sleep_bucket(at), P::sleep_bucket(at));
            // SAFETY: by the contract of `SleepStorage` it lives as long as the machine.
            assert!(unsafe { P::sleep_bucket(at).as_ref() }.is_empty(), "no lock was used");
            // SAFETY: as above.
            assert_eq!(unsafe { P::sleep_mark(at).as_ref() }.load(Relaxed), 0, "no lock was used");
        }
        let is_one = last == 0;
        assert_eq!(P::sleep_bucket(0) == P::sleep_bucket(last), is_one);
        assert_eq!(P::sleep_mark(0) == P::sleep_mark(last), is_one);
        let ids = [P::claim_node(), P::claim_node()].map(|id| id.expect("two nodes, N1"));
        assert_ne!(P::waiter(ids[0]), P::waiter(ids[1]));
        assert_eq!(P::waiter(ids[0]), P::waiter(ids[0]));
        for id in ids {
            // SAFETY: claimed above and shown to nobody.
            unsafe { P::release_node(id) };
        }
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}
