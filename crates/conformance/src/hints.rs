//! Laws H: hints.

use super::note::{Note, nothing_more};
use crate::threads::Threads;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::park::ParkPlatform;
use lockwright_core::platform::{Atomic, Cells, Zeroed};

pub fn hints_answer<P: ParkPlatform, T: Threads>(threads: &T) {
    fn body<P: ParkPlatform>() {
        // Whatever they say; nothing may rely on it.
        let (_, _, _) = (P::is_urgent(), P::need_resched(), P::idle_cpus());
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
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}

pub fn a_thread_waits_as_before_while_its_policy_is_the_same<P: ParkPlatform, T: Threads>(
    threads: &T,
) {
    fn body<P: ParkPlatform>() {
        let must_not_spin = P::must_not_spin();
        assert_eq!(P::must_not_spin(), must_not_spin, "no thread has changed the policy");
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}

pub fn threads_have_numbers_of_their_own<P: ParkPlatform, T: Threads>(threads: &T) {
    struct Both<P: Cells> {
        here: [P::U32; 2],
        seen: [Note; 2],
    }
    fn body<P: ParkPlatform>(both: &Both<P>, me: usize) {
        let number = P::this_thread();
        assert!(number != 0 && number.is_multiple_of(8), "a thread has number {number}");
        // Both live until both have been here.
        both.here[me].store(1, Relaxed);
        both.here[1 - me].cond_load(Relaxed, |here| here == 1);
        assert_eq!(P::this_thread(), number, "a thread has two numbers");
        let _ = P::is_thread_running(number);
        both.seen[me].write(number);
    }
    let both = Both::<P> { here: [Zeroed::zeroed(), Zeroed::zeroed()], seen: Default::default() };
    threads.run(both, &[|both| body::<P>(both, 0), |both| body::<P>(both, 1)], |both| {
        let [first, second] = &both.seen;
        assert_ne!(first.read(), second.read(), "two threads have the same number");
    });
}
