//! The reader-writer lock for programs on a simulated machine.

use crate::machines::{machine, quiet};
use crate::programs::hold;
use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::rwlock::{Fair, Fairness, RawRwLock, Unlisted};
use lockwright_core::events::Event;
use lockwright_core::platform::{Clock, LISTED_MAX};
use lockwright_core::raw::RawLock;
use lockwright_sim::{Arena, Config, Sim, Simulation, thread};
use std::cell::{Cell, RefCell};

type Lock = RawRwLock<Sim>;

fn read(lock: &impl RawLock, section: impl FnOnce()) {
    lock.lock_shared();
    section();
    // SAFETY: taken above.
    unsafe { lock.unlock_shared() };
}

/// A reader reads again while a writer waits that is behind it; how many times it had to pass that writer, and how long
/// that took.
fn read_again<L: RawLock + 'static>(further_locks: usize) -> (u64, u64) {
    let took_ns = Cell::new(0);
    let took = &took_ns;
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 4, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(L::new());
    let further: Vec<&L> = (0..further_locks).map(|_| simulation.alloc(L::new())).collect();
    simulation.spawn(0, || hold(lock, || thread::work_ns(500_000)));
    // The first of the line, and the writer behind it.
    simulation.spawn(1, move || {
        further.iter().for_each(|lock| lock.lock_shared());
        thread::work_ns(100_000);
        read(lock, || {
            // So long that the writer closes the door.
            thread::work_ns(6_000_000);
            let begin_ns = Sim::now_ns();
            (0..100).for_each(|_| read(lock, || ()));
            took.set(Sim::now_ns() - begin_ns);
        });
        // SAFETY: taken above.
        further.iter().for_each(|lock| unsafe { lock.unlock_shared() });
    });
    simulation.spawn(2, || {
        thread::work_ns(200_000);
        hold(lock, || ());
    });
    let report = simulation.run();
    assert_eq!(report.failures, []);
    (report.count_of(Event::rwlock_pass), took.get())
}

#[test]
fn a_thread_whose_list_says_that_it_reads_passes_writers_at_once() {
    let (passes, took_ns) = read_again::<Lock>(0);
    assert_eq!(passes, 100);
    assert!(took_ns < 1_000_000, "{took_ns} ns");
}

#[test]
fn a_thread_that_may_be_a_reader_passes_after_ten_milliseconds() {
    // Where readers are not listed the first one ends the reservation.
    let (passes, took_ns) = read_again::<RawRwLock<Sim, Unlisted>>(0);
    assert_eq!(passes, 1);
    assert!((10_000_000..12_000_000).contains(&took_ns), "{took_ns} ns");
    // The list is full. So each time it waits.
    let (passes, took_ns) = read_again::<Lock>(LISTED_MAX + 1);
    assert_eq!(passes, 100);
    assert!(took_ns > 1_000_000_000, "{took_ns} ns");
}

/// How long a thread waits that begins `wait` after 20 ms, while three threads read for `section_ns` each, so that the
/// lock is never free.
fn wait_next_to_readers<L: RawLock + 'static>(section_ns: u64, wait: impl Fn(&L)) -> u64 {
    let waited = Cell::new(None);
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 4, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(L::new());
    for reader in 0..3 {
        let waited = &waited;
        simulation.spawn(reader, move || {
            thread::work_ns(section_ns / 3 * u64::from(reader));
            while waited.get().is_none() && Sim::now_ns() < 2_000_000_000 {
                read(lock, || thread::work_ns(section_ns));
            }
        });
    }
    simulation.spawn(3, || {
        thread::work_ns(20_000_000);
        let begin_ns = Sim::now_ns();
        wait(lock);
        waited.set(Some(Sim::now_ns() - begin_ns));
    });
    assert_eq!(simulation.run().failures, []);
    waited.get().expect("the thread that waits runs to its end")
}

/// How long sections are: shorter than a wake-up, and longer than any patience.
const SECTIONS_NS: [u64; 5] = [20_000, 200_000, 2_000_000, 20_000_000, 100_000_000];
/// What the bound adds to them, and wake-ups.
const BOUND_NS: u64 = 10_500_000;

fn writer_waits_for_one_section<L: RawLock + 'static>() {
    for section_ns in SECTIONS_NS {
        let waited_ns = wait_next_to_readers::<L>(section_ns, |lock| hold(lock, || ()));
        assert!(waited_ns <= section_ns + BOUND_NS, "{section_ns}: {waited_ns} ns");
    }
}

#[test]
fn a_writer_next_to_readers_without_end_waits_for_one_section_and_ten_milliseconds() {
    writer_waits_for_one_section::<Lock>();
    writer_waits_for_one_section::<RawRwLock<Sim, Fair>>();
    writer_waits_for_one_section::<RawPercpuRwLock<Sim>>();
    writer_waits_for_one_section::<InSlots<Sim>>();
}

#[test]
fn an_upgrader_next_to_readers_without_end_waits_for_one_section_and_ten_milliseconds() {
    fn upgrade<F: Fairness>(lock: &RawRwLock<Sim, F>) {
        lock.lock_upgradable();
        // SAFETY: taken above.
        unsafe { lock.upgrade() };
        // SAFETY: as above.
        unsafe { lock.unlock() };
    }
    for section_ns in SECTIONS_NS {
        let waited_ns = wait_next_to_readers::<Lock>(section_ns, upgrade);
        assert!(waited_ns <= section_ns + BOUND_NS, "{section_ns}: {waited_ns} ns");
        let waited_ns = wait_next_to_readers::<RawRwLock<Sim, Fair>>(section_ns, upgrade);
        assert!(waited_ns <= section_ns + BOUND_NS, "{section_ns}: {waited_ns} ns");
    }
}

#[test]
fn a_writer_behind_a_reader_keeps_the_door_closed() {
    // The writer has closed the door when the reader in front of it gets the lock. No release comes after that.
    const SECTION_NS: u64 = 1_000_000;
    let waited = Cell::new(None);
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 4, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(Lock::new());
    simulation.spawn(0, || hold(lock, || thread::work_ns(8_000_000)));
    for reader in 1..4 {
        let waited = &waited;
        simulation.spawn(reader, move || {
            // The first is in front of the writer; the others come when it reads.
            let begins_ns =
                if reader == 1 { 1_000_000 } else { 7_999_000 + u64::from(reader) * 400_000 };
            thread::work_ns(begins_ns);
            while waited.get().is_none() && Sim::now_ns() < 2_000_000_000 {
                read(lock, || thread::work_ns(SECTION_NS));
            }
        });
    }
    simulation.spawn(4, || {
        thread::work_ns(2_000_000);
        let begin_ns = Sim::now_ns();
        hold(lock, || ());
        waited.set(Some(Sim::now_ns() - begin_ns));
    });
    assert_eq!(simulation.run().failures, []);
    let waited_ns = waited.get().expect("the writer runs to its end");
    assert!(waited_ns <= 6_000_000 + 2 * SECTION_NS + BOUND_NS, "{waited_ns} ns");
}

#[test]
fn each_of_several_writers_waits_for_ten_milliseconds_only_once() {
    // The bound of the last one: the sections of the others, a phase of readers in front of each, and 10 ms.
    const SECTION_NS: u64 = 1_000_000;
    const WRITERS: u64 = 4;
    let last_ns = Cell::new(None);
    let done = Cell::new(0);
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 4, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(Lock::new());
    for reader in 0..3 {
        let done = &done;
        simulation.spawn(reader, move || {
            thread::work_ns(SECTION_NS / 3 * u64::from(reader));
            while done.get() < WRITERS && Sim::now_ns() < 2_000_000_000 {
                read(lock, || thread::work_ns(SECTION_NS));
            }
        });
    }
    for writer in 0..WRITERS {
        let (done, last_ns) = (&done, &last_ns);
        simulation.spawn(3 + writer as u32, move || {
            thread::work_ns(20_000_000);
            let begin_ns = Sim::now_ns();
            hold(lock, || thread::work_ns(SECTION_NS));
            done.set(done.get() + 1);
            last_ns.set(Some(Sim::now_ns() - begin_ns));
        });
    }
    assert_eq!(simulation.run().failures, []);
    let waited_ns = last_ns.get().expect("writers run to their end");
    assert!(waited_ns <= 2 * WRITERS * SECTION_NS + BOUND_NS, "{waited_ns} ns");
}

#[test]
fn only_a_fair_unlock_keeps_the_owner_from_coming_back_before_the_waiter() {
    for (is_fair, expected) in [(false, ["owner", "waiter"]), (true, ["waiter", "owner"])] {
        let order = RefCell::new(Vec::new());
        let mut arena = Arena::default();
        let mut simulation =
            Simulation::new(&quiet(machine(2, 4, 1)), &mut arena, 1, Config::default());
        let lock = simulation.alloc(Lock::new());
        let comes_back = || {
            lock.lock();
            // Shorter than what makes a release reserve the lock.
            thread::work_ns(45_000);
            match is_fair {
                // SAFETY: taken above.
                true => unsafe { lock.unlock_fair() },
                // SAFETY: taken above.
                false => unsafe { lock.unlock() },
            }
            hold(lock, || order.borrow_mut().push("owner"));
        };
        simulation.spawn(0, comes_back);
        simulation.spawn(1, || {
            thread::work_ns(1_000);
            hold(lock, || order.borrow_mut().push("waiter"));
        });
        assert_eq!(simulation.run().failures, []);
        assert_eq!(*order.borrow(), expected);
    }
}

/// Returns true if a thread sleeps for a lock that is held for 2 us more.
fn sleeps_for<L: RawLock + 'static>(must_not_spin: bool, sleep: Event) -> bool {
    let mut arena = Arena::default();
    let machine = quiet(machine(2, 4, 1));
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    let lock = simulation.alloc(L::new());
    simulation.spawn(0, || hold(lock, || thread::work_ns(3_000)));
    simulation.spawn(1, || {
        thread::set_must_not_spin(must_not_spin);
        thread::work_ns(1_000);
        hold(lock, || ());
    });
    let report = simulation.run();
    assert_eq!(report.failures, []);
    report.count_of(sleep) > 0
}

#[test]
fn a_thread_that_must_not_spin_sleeps_at_once_and_others_spin() {
    for must_not_spin in [false, true] {
        let for_mutex = sleeps_for::<RawMutex<Sim>>(must_not_spin, Event::mutex_sleep);
        assert_eq!(for_mutex, must_not_spin);
        assert_eq!(sleeps_for::<Lock>(must_not_spin, Event::rwlock_sleep), must_not_spin);
    }
}

/// How long threads try to starve another one.
const TRIES_NS: u64 = 3_000_000_000;

/// Makes the lock one of long sections: three writers that wait, 100 us each. Ends by 2 ms.
fn spawn_long<'a>(simulation: &mut Simulation<'a>, lock: &'a Lock) {
    for at in 4..8 {
        simulation.spawn(at, move || {
            thread::work_ns(1_000 * u64::from(at));
            hold(lock, || thread::work_ns(100_000));
        });
    }
}

/// A writer comes while a writer holds, waits behind readers for longer than its clock, and the readers read
/// without a gap then.
fn late(is_long: bool, hold_ns: u64) -> u64 {
    let waited = Cell::new(None);
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 8, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(Lock::new());
    if is_long {
        spawn_long(&mut simulation, lock);
    }
    let waited = &waited;
    simulation.spawn(8, move || {
        thread::work_ns(2_000_000);
        hold(lock, || thread::work_ns(hold_ns));
    });
    for reader in 0..3 {
        simulation.spawn(reader, move || {
            thread::work_ns(2_500_000);
            let mut section_ns = 1_000_000 + u64::from(reader) * 700_000;
            while waited.get().is_none() && Sim::now_ns() < TRIES_NS {
                read(lock, || thread::work_ns(section_ns));
                section_ns = 2_100_000;
            }
        });
    }
    simulation.spawn(3, move || {
        thread::work_ns(3_000_000);
        let begin_ns = Sim::now_ns();
        hold(lock, || ());
        waited.set(Some(Sim::now_ns() - begin_ns));
    });
    assert_eq!(simulation.run().failures, []);
    waited.get().expect("the writer ends")
}

#[test]
fn a_writer_behind_readers_that_are_granted_the_lock_keeps_the_door_closed() {
    // In the second case its clock has run out while a writer held the lock; in the third sections are short.
    for (is_long, hold_ns) in [(true, 2_000_000), (true, 8_000_000), (false, 8_000_000)] {
        let waited_ns = late(is_long, hold_ns);
        assert!(waited_ns < 50_000_000, "{is_long}, {hold_ns}: {waited_ns} ns");
    }
}

#[test]
fn a_writer_behind_one_that_downgrades_closes_the_door() {
    let waited = Cell::new(None);
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 8, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(Lock::new());
    let waited = &waited;
    simulation.spawn(0, move || hold(lock, || thread::work_ns(8_000_000)));
    simulation.spawn(1, move || {
        thread::work_ns(1_000_000);
        lock.lock();
        // SAFETY: taken above.
        unsafe { lock.downgrade() };
        thread::work_ns(5_000_000);
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
    });
    simulation.spawn(2, move || {
        thread::work_ns(2_000_000);
        let begin_ns = Sim::now_ns();
        hold(lock, || ());
        waited.set(Some(Sim::now_ns() - begin_ns));
    });
    for reader in 3..6 {
        simulation.spawn(reader, move || {
            thread::work_ns(8_500_000 + u64::from(reader) * 300_000);
            while waited.get().is_none() && Sim::now_ns() < TRIES_NS {
                read(lock, || thread::work_ns(1_000_000));
            }
        });
    }
    assert_eq!(simulation.run().failures, []);
    let waited_ns = waited.get().expect("the writer ends");
    assert!(waited_ns < 50_000_000, "{waited_ns}");
}

#[test]
fn writers_that_downgrade_let_a_reader_in_between_two_of_them() {
    let waited = Cell::new(None);
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 8, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(Lock::new());
    spawn_long(&mut simulation, lock);
    let (waited, sections) = (&waited, &Cell::new(0));
    for writer in 0..3 {
        simulation.spawn(writer, move || {
            thread::work_ns(2_000_000 + 10_000 * u64::from(writer));
            while waited.get().is_none() && Sim::now_ns() < TRIES_NS {
                lock.lock();
                thread::work_ns(100_000);
                // SAFETY: taken above.
                unsafe { lock.downgrade() };
                thread::work_ns(100_000);
                // SAFETY: taken above.
                unsafe { lock.unlock_shared() };
                sections.set(sections.get() + 1);
            }
        });
    }
    simulation.spawn(3, move || {
        thread::work_ns(3_000_000);
        let begin_ns = Sim::now_ns();
        read(lock, || ());
        waited.set(Some(Sim::now_ns() - begin_ns));
    });
    assert_eq!(simulation.run().failures, []);
    let waited_ns = waited.get().expect("the reader ends");
    assert!(waited_ns < 50_000_000, "{waited_ns} ns, {} sections of writers", sections.get());
}

#[test]
fn a_reader_that_waits_for_another_one_joins_it_although_its_first_attempt_failed() {
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 8, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(RawRwLock::<Sim, Unlisted>::new());
    let b_reads = &Cell::new(false);
    simulation.spawn(0, move || hold(lock, || thread::work_ns(14_000_000)));
    for (writer, section_ns) in [(1, 1_000_000), (2, 100_000)] {
        simulation.spawn(writer, move || {
            thread::work_ns(1_000_000 * u64::from(writer));
            hold(lock, || thread::work_ns(section_ns));
        });
    }
    // B
    simulation.spawn(3, move || {
        thread::work_ns(3_000_000);
        read(lock, || b_reads.set(true));
    });
    // A takes the lock by attempts when the first waiter has given it back.
    let stuck = &Cell::new(false);
    simulation.spawn(4, move || {
        thread::work_ns(14_500_000);
        while !lock.try_lock_shared() {
            thread::work_ns(100);
        }
        while !b_reads.get() && Sim::now_ns() < 2_000_000_000 {
            thread::work_ns(100_000);
        }
        stuck.set(!b_reads.get());
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
    });
    assert_eq!(simulation.run().failures, []);
    assert!(!stuck.get());
}

/// How many sleeps there are if all sections take 5 us, or 60 us where a thread is to wait in the table.
fn sleeps(waits_first: bool, comes_late: bool) -> u64 {
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 8, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(Lock::new());
    simulation.spawn(0, move || {
        for round in 0..3 {
            thread::work_ns(10_000_000 * round - Sim::now_ns().min(10_000_000 * round));
            hold(lock, || thread::work_ns(60_000));
        }
    });
    simulation.spawn(2, move || {
        thread::set_must_not_spin(true);
        for round in 0..3 {
            thread::work_ns(10_000_000 * round + 1_001_000 - Sim::now_ns());
            hold(lock, || thread::work_ns(1_000));
        }
    });
    simulation.spawn(1, move || {
        for round in 0..3 {
            let begin_ns = 10_000_000 * round;
            if waits_first {
                thread::work_ns(begin_ns + 3_000 - Sim::now_ns());
                hold(lock, || thread::work_ns(1_000));
            }
            thread::work_ns(begin_ns + 1_000_000 - Sim::now_ns());
            hold(lock, || thread::work_ns(5_000));
        }
    });
    simulation.spawn(3, move || {
        thread::work_ns(40_000_000);
        hold(lock, || thread::work_ns(3_000));
    });
    if comes_late {
        simulation.spawn(4, move || {
            thread::work_ns(40_001_000);
            hold(lock, || ());
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    report.count_of(Event::rwlock_sleep)
}

#[test]
fn a_time_of_an_earlier_section_does_not_make_a_lock_one_of_long_sections() {
    let more = |waits_first| sleeps(waits_first, true) - sleeps(waits_first, false);
    assert_eq!((more(false), more(true)), (0, 0));
}
