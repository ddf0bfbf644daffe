//! Laws L, T and E: placement, time, events.

use super::note::nothing_more;
use crate::platform::CommonPlatform;
use crate::threads::Threads;
use lockwright_core::events::Event;
use lockwright_core::tunables::Tunable;

pub fn every_cpu_is_on_a_numa_node<P: CommonPlatform, T: Threads>(threads: &T) {
    fn body<P: CommonPlatform>() {
        assert!(P::numa_nodes() >= 1);
        for cpu in [P::this_cpu(), 0] {
            let is_there = P::numa_node_of(cpu) < P::numa_nodes();
            assert!(is_there, "CPU {cpu} is on a node that is not there");
        }
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}

pub fn the_clock_does_not_go_backwards<P: CommonPlatform, T: Threads>(threads: &T) {
    fn body<P: CommonPlatform>() {
        let mut before = P::now_ns();
        for _ in 0..16 {
            let now = P::now_ns();
            assert!(now >= before, "the clock went from {before} ns to {now} ns");
            before = now;
        }
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}

pub fn counting_and_tunables_answer<P: CommonPlatform, T: Threads>(threads: &T) {
    fn body<P: CommonPlatform>() {
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
