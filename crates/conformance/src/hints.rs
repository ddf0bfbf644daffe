//! Laws H: hints.

use super::note::alone;
use super::storage::Own;
use crate::platform::Threads;
use lockwright_core::park::ParkPlatform;

pub fn hints_answer<P: ParkPlatform, T: Threads>(threads: &T) {
    alone(threads, (), |()| {
        // Whatever they say; nothing may rely on it.
        let (_, _, _) = (P::is_urgent(), P::need_resched(), P::idle_cpus());
        let _ = P::has_single_cpu();
        if P::begin_spinning() {
            P::end_spinning();
        }
        P::yield_cpu();
        let id = P::claim_node().expect("a thread without nodes finds none");
        let _ = P::is_running(id);
        assert!(P::nesting_of(id) < 4, "a CPU has four nodes");
        assert!(!P::is_orphaned(id), "the thread that has claimed the node is this one");
        // SAFETY: claimed above and shown to no thread.
        unsafe { P::release_node(id) };
    });
}

pub fn a_thread_waits_as_before_while_its_policy_is_the_same<P: ParkPlatform, T: Threads>(
    threads: &T,
) {
    alone(threads, (), |()| {
        let must_not_spin = P::must_not_spin();
        assert_eq!(P::must_not_spin(), must_not_spin, "no thread has changed the policy");
    });
}

pub fn threads_have_numbers_of_their_own<P: ParkPlatform, T: Threads>(threads: &T) {
    Own::<P>::check(threads, || {
        let number = P::this_thread();
        assert!(number != 0 && number.is_multiple_of(8), "a thread has number {number}");
        let _ = P::is_thread_running(number);
        number
    });
}
