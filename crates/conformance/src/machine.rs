//! Laws L, T and E: placement, time, events.

use super::note::alone;
use crate::platform::{CommonPlatform, Threads};
use lockwright_core::events::Event;
use lockwright_core::tunables::Tunable;

pub fn every_cpu_is_on_a_numa_node<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, (), |()| {
        assert!(P::numa_nodes() >= 1);
        for cpu in [P::this_cpu(), 0] {
            let is_there = P::numa_node_of(cpu) < P::numa_nodes();
            assert!(is_there, "CPU {cpu} is on a node that is not there");
        }
    });
}

pub fn the_clock_does_not_go_backwards<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, (), |()| {
        let mut before = P::now_ns();
        for _ in 0..16 {
            let now = P::now_ns();
            assert!(now >= before, "the clock went from {before} ns to {now} ns");
            before = now;
        }
    });
}

pub fn counting_and_tunables_answer<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, (), |()| {
        for event in Event::ALL {
            P::count(*event);
            P::count_many(*event, 0);
        }
        for tunable in Tunable::ALL {
            if let Some(value) = P::tunable(*tunable) {
                assert!(value <= tunable.max(), "{} is set to {value}", tunable.name());
            }
        }
    });
}
