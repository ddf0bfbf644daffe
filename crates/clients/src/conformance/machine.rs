//! Laws L, H, T and E: placement, hints, time, events.

use super::note::{Note, nothing_more};
use crate::Threads;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::events::Event;
use lockwright::platform::{Atomic, Cells, Zeroed};
use lockwright::registry::Platform;
use lockwright::tunables::Tunable;

pub fn every_cpu_is_on_a_numa_node<P: Platform, T: Threads>(threads: &T) {
    fn body<P: Platform>() {
        assert!(P::numa_nodes() >= 1);
        for cpu in [P::this_cpu(), 0] {
            let is_there = P::numa_node_of(cpu) < P::numa_nodes();
            assert!(is_there, "CPU {cpu} is on a node that is not there");
        }
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}

pub fn hints_answer<P: Platform, T: Threads>(threads: &T) {
    fn body<P: Platform>() {
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

pub fn a_thread_waits_as_before_while_its_policy_is_the_same<P: Platform, T: Threads>(threads: &T) {
    fn body<P: Platform>() {
        let must_not_spin = P::must_not_spin();
        assert_eq!(P::must_not_spin(), must_not_spin, "no thread has changed the policy");
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}

pub fn threads_have_numbers_of_their_own<P: Platform, T: Threads>(threads: &T) {
    struct Both<P: Cells> {
        here: [P::U32; 2],
        seen: [Note; 2],
    }
    fn body<P: Platform>(both: &Both<P>, me: usize) {
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

pub fn the_clock_does_not_go_backwards<P: Platform, T: Threads>(threads: &T) {
    fn body<P: Platform>() {
        let mut before = P::now_ns();
        for _ in 0..16 {
            let now = P::now_ns();
            assert!(now >= before, "the clock went from {before} ns to {now} ns");
            before = now;
        }
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}

pub fn counting_and_tunables_answer<P: Platform, T: Threads>(threads: &T) {
    fn body<P: Platform>() {
        for event in Event::ALL {
            P::count(*event);
            P::count_many(*event, 0);
        }
        for tunable in Tunable::ALL {
            if let Some(value) = P::tunable(*tunable) {
                assert!(value <= tunable.max(), "{} is set to {value}", tunable.name());
            }
        }
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}
