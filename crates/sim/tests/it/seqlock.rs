//! The sequence lock on simulated machines: which threads wait for which.

use crate::machines::machine;
use lockwright::seqlock::RawSeqLock;
use lockwright_core::raw::RawLock;
use lockwright_sim::{Arena, Checks, Config, Sim, Simulation, thread};
use std::cell::Cell;

type Lock = RawSeqLock<Sim, 2>;

/// How long a hundred writes take while `readers` threads read, and how many copies these got meanwhile.
fn writes_beside(readers: u32) -> (u64, u64) {
    let mut arena = Arena::default();
    let checks = Checks { word_is_legal: Some(Lock::word_is_legal), ..Checks::default() };
    let config = Config { checks, ..Config::default() };
    let mut simulation = Simulation::new(&machine(2, 4, 1), &mut arena, 1, config);
    let lock = simulation.alloc(Lock::new());
    let (took_ps, copies, is_over) = (Cell::new(0), Cell::new(0), Cell::new(false));
    let (took, counted, over) = (&took_ps, &copies, &is_over);
    simulation.spawn(0, move || {
        for number in 1..=100 {
            thread::work_ns(2_000);
            let began_ps = thread::now_ps();
            lock.write([number, !number]);
            took.set(took.get() + thread::now_ps() - began_ps);
        }
        over.set(true);
    });
    for cpu in 1..=readers {
        simulation.spawn(cpu, move || {
            while !over.get() {
                let [number, complement] = lock.read();
                assert!(number == !complement || number == 0, "a torn pair");
                counted.set(counted.get() + 1);
                thread::work_ns(50);
            }
        });
    }
    assert_eq!(simulation.run().failures, []);
    (took_ps.get() / 1000, copies.get())
}

#[test]
fn readers_never_keep_a_writer_waiting_and_get_copies_all_the_same() {
    let ((alone_ns, none), (beside_ns, copies)) = (writes_beside(0), writes_beside(6));
    assert_eq!(none, 0);
    assert!(copies > 1_000, "{copies}");
    // It has to fetch the lines from the readers, and that is all: their sections would be 600 us.
    assert!(beside_ns < alone_ns + 100 * 2_000, "{beside_ns} ns, alone {alone_ns} ns");
}
