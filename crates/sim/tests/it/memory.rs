//! What single accesses cost: the machine's own numbers must come back.

use crate::machines::{machine, quiet};
use crate::programs::{Program, U32, hold, sharing, with_word};
use lockwright_core::platform::{Atomic, AtomicInt, Barriers, Zeroed};
use lockwright_core::raw::RawLock;
use lockwright_linux::unfair::UnfairLock;
use lockwright_sim::machine::Machine;
use lockwright_sim::{Arena, Config, Sim, Simulation, thread};
use std::cell::Cell;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Three sockets in a row, two cores each, two threads per core. CPU 6 is the sibling of CPU 0.
fn three_sockets() -> Machine {
    quiet(machine(3, 2, 2))
}

/// A CPU at every distance from CPU 0: its sibling, its socket, and the distance classes 1 and 2.
const PEERS: [u32; 4] = [6, 1, 2, 4];

fn expected_transfer_ps(machine: &Machine, peer: u32) -> u64 {
    let costs = &machine.costs;
    let ns = match peer {
        6 => costs.load_hit_ns,
        1 => costs.transfer_local_ns,
        2 => costs.transfer_remote_ns[0],
        _ => costs.transfer_remote_ns[1],
    };
    (ns * 1000.0) as u64
}

/// Runs `first` on CPU 0 of a machine without noise and, long after it, `then` on another CPU.
fn timed(first: &dyn Fn(&U32), (peer, then): (u32, &dyn Fn(&U32))) {
    let then = |word: &U32| {
        thread::hold_ps(10_000_000);
        then(word);
    };
    with_word(three_sockets()).ends(&[(0, first), (peer, &then)]);
}

fn elapsed_ps(what: impl FnOnce()) -> u64 {
    let start = thread::now_ps();
    what();
    thread::now_ps() - start
}

#[test]
fn a_ping_pong_costs_one_transfer_each_way_at_every_distance() {
    // Not the sibling: locked operations that hit do not queue, so siblings take turns faster.
    for peer in [1, 2, 4] {
        let machine = three_sockets();
        let rounds = 1000;
        let play = |ball: &U32, mine: u32| {
            for _ in 0..rounds {
                while ball.compare_exchange(mine, 1 - mine, AcqRel, Relaxed).is_err() {}
            }
        };
        let players: [Program<'_, U32>; 2] =
            [(0, &|ball| play(ball, 0)), (peer, &|ball| play(ball, 1))];
        let report = with_word(three_sockets()).ends(&players);
        let one_way_ps = report.end_ps as f64 / f64::from(2 * rounds);
        let expected_ps = expected_transfer_ps(&machine, peer) as f64 + 7000.0;
        let error = one_way_ps / expected_ps - 1.0;
        assert!(error.abs() < 0.01, "CPU {peer}: {one_way_ps} ps instead of {expected_ps}");
    }
}

#[test]
fn a_load_of_a_modified_line_costs_a_transfer_and_the_next_one_a_hit() {
    for peer in PEERS {
        let (load, again) = (Cell::new(0), Cell::new(0));
        timed(
            &|word| word.store(1, Relaxed),
            (peer, &|word| {
                load.set(elapsed_ps(|| assert_eq!(word.load(Acquire), 1)));
                again.set(elapsed_ps(|| assert_eq!(word.load(Acquire), 1)));
            }),
        );
        assert_eq!(load.get(), expected_transfer_ps(&three_sockets(), peer), "CPU {peer}");
        assert_eq!(again.get(), 1500);
    }
}

#[test]
fn a_write_to_a_shared_line_costs_an_upgrade() {
    // Both read the line; then the peer changes it.
    for (peer, expected_ps) in [(1, 42_500), (2, 117_000), (4, 171_000)] {
        let upgrade = Cell::new(0);
        timed(
            &|word| {
                word.store(1, Relaxed);
                word.load(Relaxed);
            },
            (peer, &|word| {
                word.load(Relaxed);
                upgrade.set(elapsed_ps(|| {
                    word.swap(2, AcqRel);
                }));
            }),
        );
        assert_eq!(upgrade.get(), expected_ps + 7000, "CPU {peer}");
    }
}

#[test]
fn the_first_touch_costs_memory_by_where_it_is() {
    for (home, expected_ps) in [(0, 100_000), (2, 180_000)] {
        let mut arena = Arena::default();
        let mut simulation = Simulation::new(&three_sockets(), &mut arena, 1, Config::default());
        let word = simulation.alloc_at(home, U32::zeroed());
        simulation.spawn(0, move || {
            assert_eq!(elapsed_ps(|| assert_eq!(word.load(Relaxed), 0)), expected_ps);
            assert_eq!(elapsed_ps(|| assert_eq!(word.load(Relaxed), 0)), 1500);
        });
        let report = simulation.run();
        assert_eq!(report.failures, []);
        assert_eq!(report.transfers.memory, 1);
        assert_eq!(report.transfers.hits, 1);
    }
}

#[test]
fn a_shared_line_is_supplied_by_the_own_socket() {
    let read_after_us = |us: u64, expected_ps: u64| {
        move |word: &U32| {
            thread::hold_ps(us * 1_000_000);
            assert_eq!(elapsed_ps(|| assert_eq!(word.load(Relaxed), 0)), expected_ps);
        }
    };
    // Memory; from the owner next door; then shared by socket 0 only; then by socket 1 as well.
    with_word(three_sockets()).ends(&[
        (0, &read_after_us(1, 100_000)),
        (1, &read_after_us(2, 50_000)),
        (2, &read_after_us(3, 130_000)),
        (3, &read_after_us(4, 20_000)),
    ]);
}

#[test]
fn misses_that_are_asked_for_together_overlap() {
    let words = [0; 2].map(|_| Aligned(U32::zeroed()));
    sharing(words, three_sockets()).ends(&[(0, &|words| {
        let addresses = words.each_ref().map(|word| (&raw const word.0).cast());
        assert_eq!(elapsed_ps(|| thread::prefetch_for_write(&addresses)), 100_000);
        assert_eq!(elapsed_ps(|| words[1].0.store(1, Relaxed)), 400);
    })]);
}

#[test]
fn an_uncontended_test_and_set_pair_costs_one_locked_operation_and_one_store() {
    sharing(UnfairLock::<Sim>::new(), three_sockets()).ends(&[(0, &|lock| {
        let pairs = 1000;
        let pair_ps = elapsed_ps(|| (0..pairs).for_each(|_| hold(lock, || ()))) / pairs;
        // rmw_extra + load_hit + store_issue; the first miss adds a thousandth.
        assert!((8_900..9_100).contains(&pair_ps), "{pair_ps} ps");
    })]);
}

#[test]
fn a_thread_sees_its_own_stores_before_others_do() {
    let own = Cell::new(false);
    let writer = |word: &U32| {
        // The line is nowhere: the store commits after 100 ns.
        assert_eq!(elapsed_ps(|| word.store(7, Release)), 400);
        assert_eq!(elapsed_ps(|| assert_eq!(word.load(Relaxed), 7)), 1500);
        own.set(true);
    };
    let sibling = |word: &U32| {
        thread::hold_ps(20_000);
        // The sibling shares the cache and not the store buffer.
        assert!(own.get());
        assert_eq!(word.load(Relaxed), 0);
        thread::hold_ps(100_000);
        assert_eq!(word.load(Relaxed), 7);
    };
    with_word(three_sockets()).ends(&[(0, &writer), (6, &sibling)]);
}

/// Store buffering: each thread writes its own word, behind a store that takes long, and reads the
/// other's. Returns what they read.
fn store_buffering(seed: u64, between: [fn(&U32); 2]) -> [u32; 2] {
    let mut arena = Arena::default();
    // A heavy barrier must not rely on taking long.
    let mut machine = machine(2, 1, 1);
    machine.costs.heavy_barrier_ns = 1.0;
    machine.costs.heavy_barrier_per_cpu_ns = 1.0;
    let mut simulation = Simulation::new(&machine, &mut arena, seed, Config::default());
    let words = simulation.alloc_slice_at(0, 2, |_| Aligned(U32::zeroed()));
    let slow = [1, 0].map(|far| simulation.alloc_at(far, U32::zeroed()));
    let read = [Cell::new(9), Cell::new(9)];
    let results = &read;
    for me in 0..2 {
        simulation.spawn(me as u32, move || {
            words[me].0.load(Relaxed);
            thread::hold_ps(thread::random() % 300_000);
            slow[me].store(1, Relaxed);
            words[me].0.store(1, Relaxed);
            between[me](&words[me].0);
            results[me].set(words[1 - me].0.load(Relaxed));
        });
    }
    assert_eq!(simulation.run().failures, []);
    read.map(Cell::into_inner)
}

#[repr(align(64))]
struct Aligned<T>(T);

#[test]
fn stores_may_pass_loads_unless_a_barrier_is_between() {
    let both_read_zero = |between| (0..500).any(|seed| store_buffering(seed, between) == [0, 0]);
    assert!(both_read_zero([|_| (), |_| ()]));
    assert!(both_read_zero([|_| Sim::light_barrier(), |_| Sim::light_barrier()]));
    assert!(!both_read_zero([|word| Sim::full_barrier(word), |word| Sim::full_barrier(word)]));
    assert!(!both_read_zero([|_| Sim::light_barrier(), |_| Sim::heavy_barrier()]));
}

#[test]
fn a_heavy_barrier_waits_for_stores_issued_while_its_caller_drained() {
    let mut arena = Arena::default();
    let mut machine = quiet(machine(1, 32, 1));
    machine.costs.heavy_barrier_ns = 1.0;
    machine.costs.heavy_barrier_per_cpu_ns = 1.0;
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    let [x, y, slow, slower] = [0; 4].map(|_| simulation.alloc(U32::zeroed()));
    // Two lines with queues in front of them.
    for cpu in 2..26 {
        let line = if cpu < 10 { slow } else { slower };
        simulation.spawn(cpu, move || {
            for _ in 0..60 {
                line.fetch_add(1, Relaxed);
            }
        });
    }
    let read = [Cell::new(9), Cell::new(9)];
    let [read_x, read_y] = &read;
    simulation.spawn(0, move || {
        thread::hold_ps(5_000_000);
        slow.store(1, Relaxed);
        y.store(1, Relaxed);
        Sim::heavy_barrier();
        read_x.set(x.load(Relaxed));
    });
    simulation.spawn(1, move || {
        thread::hold_ps(5_100_000);
        slower.store(1, Relaxed);
        x.store(1, Relaxed);
        Sim::light_barrier();
        read_y.set(y.load(Relaxed));
    });
    assert_eq!(simulation.run().failures, []);
    assert_eq!(read.map(Cell::into_inner), [1, 0]);
}

#[test]
fn a_heavy_barrier_costs_its_caller_and_everybody_else() {
    let caller = |_: &()| {
        thread::hold_ps(1_000_000);
        // Base and two others.
        assert_eq!(elapsed_ps(Sim::heavy_barrier), 1_200_000);
    };
    let other = |_: &()| {
        thread::hold_ps(1_500_000);
        assert_eq!(elapsed_ps(|| thread::hold_ps(1_000_000)), 1_100_000);
    };
    sharing((), three_sockets()).ends(&[(0, &caller), (1, &other), (2, &other)]);
}

#[test]
fn stores_become_visible_in_order() {
    // The second store hits and the first one misses: it has to wait all the same.
    let words = [0; 2].map(|_| Aligned(U32::zeroed()));
    let writer = |[slow, fast]: &[Aligned<U32>; 2]| {
        fast.0.fetch_add(1, Relaxed);
        slow.0.store(1, Relaxed);
        fast.0.store(2, Relaxed);
    };
    let reader = |[slow, fast]: &[Aligned<U32>; 2]| {
        while fast.0.load(Relaxed) != 2 {
            Sim::delay(1);
        }
        assert_eq!(slow.0.load(Relaxed), 1);
    };
    sharing(words, three_sockets()).ends(&[(0, &writer), (6, &reader)]);
}

#[test]
fn a_line_that_another_core_has_written_comes_to_its_reader_alone_where_lines_migrate() {
    let costs = |migratory: f64| {
        let mut machine = three_sockets();
        machine.costs.migratory = migratory;
        let (taken, read_again) = (Cell::new(0), Cell::new(0));
        let writer = |word: &U32| {
            word.store(1, Relaxed);
            thread::hold_ps(20_000_000);
            read_again.set(elapsed_ps(|| _ = word.load(Relaxed)));
        };
        let other = |word: &U32| {
            thread::hold_ps(10_000_000);
            word.load(Relaxed);
            taken.set(elapsed_ps(|| _ = word.fetch_add(1, Relaxed)));
        };
        with_word(machine).ends(&[(0, &writer), (1, &other)]);
        (taken.get(), read_again.get())
    };
    // A hit of a read-modify-write, or an upgrade of a line that both have.
    assert_eq!(costs(1.0), (8_500, 50_000));
    assert_eq!(costs(0.0), (42_500 + 7_000, 50_000));
}

#[test]
fn who_has_just_got_a_line_keeps_it_for_a_moment_however_many_wait_for_it() {
    // How long the operation takes that one of eight waiters does on the line so long after it got it.
    let again_after_ps = |pause_ps: u64| {
        let took = Cell::new(0);
        let waits = |word: &U32| {
            word.fetch_add(1, Relaxed);
            if thread::index() == 3 {
                thread::hold_ps(pause_ps);
                took.set(elapsed_ps(|| _ = word.fetch_add(1, Relaxed)));
            }
        };
        let programs = [0, 1, 2, 3, 4, 5, 6, 7].map(|cpu| (cpu, &waits as &dyn Fn(&U32)));
        with_word(quiet(machine(1, 16, 1))).ends(&programs);
        took.get()
    };
    // A hit is 1.5 ns and 7 of the locked operation; half of a local transfer is 25.
    assert_eq!(again_after_ps(0), 8_500);
    assert_eq!(again_after_ps(16_000), 8_500);
    // Later it goes to the end of the queue: four others are served before.
    assert!(again_after_ps(20_000) > 4 * 50_000);
}
