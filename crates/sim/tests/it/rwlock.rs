//! The reader-writer lock for programs on a simulated machine.

use crate::machines::{machine, quiet};
use crate::programs::hold;
use lockwright::events::Event;
use lockwright::raw::RawLock;
use lockwright::rwlock::RawRwLock;
use lockwright_sim::{Arena, Config, Sim, Simulation, thread};

type Lock = RawRwLock<Sim>;

fn read(lock: &Lock, section: impl FnOnce()) {
    lock.lock_shared();
    section();
    // SAFETY: taken above.
    unsafe { lock.unlock_shared() };
}

#[test]
fn a_reader_that_reads_again_waits_once_for_a_reservation() {
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 4, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(Lock::new());
    // A long section, so the lock is reserved for the line.
    simulation.spawn(0, || hold(lock, || thread::work_ns(500_000)));
    // The first of the line. The reservation goes to the writer behind it.
    simulation.spawn(1, || {
        thread::work_ns(100_000);
        read(lock, || (0..100).for_each(|_| read(lock, || ())));
    });
    simulation.spawn(2, || {
        thread::work_ns(200_000);
        hold(lock, || ());
    });
    let report = simulation.run();
    assert_eq!(report.failures, []);
    assert_eq!(report.count_of(Event::rwlock_pass), 1);
}
