//! Slices, stealing and noise: which thread has a CPU, and for how long.

use super::{GUEST, MS, RunsGuests as _, U32, US, host, run_as, schedule, with, works};
use lockwright_core::platform::{Atomic, AtomicInt, Placement as _, SchedulerHints as _};
use lockwright_sim::{ScheduledKind, Sim, StartState, thread};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::Relaxed;

/// What a call that asks the scheduler costs on these machines.
const CALL_PS: u64 = 700_000;

#[test]
fn two_that_compute_share_a_cpu_slice_by_slice() {
    let done = [Cell::new(0), Cell::new(0)];
    let (a, b) = (works(9 * MS / 2, &done[0]), works(9 * MS / 2, &done[1]));
    let report = host(1, 1).run(&[&a, &b]);
    // Four slices of each, a switch after every one, half a slice.
    let turn = MS + 2 * US;
    assert_eq!(done[0].get(), 8 * turn + MS / 2);
    // The second starts 100 ps after the first.
    assert_eq!(done[1].get(), 8 * turn + MS + 2 * US + 100);
    let schedule = schedule(&report);
    assert_eq!(schedule.run_ps, [9 * MS / 2, 9 * MS / 2 + 100]);
    assert_eq!(schedule.involuntary_switches, [4, 4]);
    assert_eq!(schedule.voluntary_switches, [0, 0]);
    assert_eq!((schedule.kicks, schedule.steals), (0, 0));
}

#[test]
fn one_that_is_alone_keeps_its_cpu() {
    let done = Cell::new(0);
    let report = host(1, 2).run(&[&works(10 * MS, &done)]);
    assert_eq!(done.get(), 10 * MS);
    assert_eq!(schedule(&report).involuntary_switches, [0]);
}

#[test]
fn n_threads_on_m_cpus_keep_them_all_busy_until_the_work_is_done() {
    for start in [StartState::Running, StartState::Queued] {
        let work_ps = |number: u64| (2 + number % 5) * MS;
        let done = Cell::new(0);
        let bodies: Vec<_> = (0..14).map(|number| works(work_ps(number), &done)).collect();
        let bodies: Vec<&dyn Fn(&U32)> = bodies.iter().map(|body| body as _).collect();
        let report = run_as(&host(2, 2), GUEST, start, &bodies);
        let schedule = schedule(&report);
        let total: u64 = (0..14).map(work_ps).sum();
        let run: u64 = schedule.run_ps.iter().sum();
        assert!((total..total + 10_000).contains(&run), "{run} of {total} ps");
        assert!(schedule.steals > 0);
        // No CPU is idle before the last thread has its last slice, but for the first millisecond of
        // random starts.
        let idle = 4 * report.end_ps - run;
        assert!(idle < 3 * 2 * MS + MS + 4 * 60 * 2 * US, "{idle} ps idle, {start:?}");
    }
}

#[test]
fn noise_takes_its_share_of_each_slice() {
    let noisy = with(host(1, 1), |scheduler| scheduler.noise_ns = 100_000.0);
    let done = Cell::new(0);
    let report = noisy.run(&[&works(9 * MS, &done)]);
    // In each of ten milliseconds 100 us are lost; the last of them may come after the end.
    assert!((9_900 * US..=10_000 * US).contains(&done.get()), "{} ps", done.get());
    let schedule = schedule(&report);
    assert_eq!(schedule.run_ps, [9 * MS]);
    assert!((9..=10).contains(&schedule.involuntary_switches[0]), "{schedule:?}");
}

#[test]
fn an_idle_cpu_takes_over_a_thread_that_noise_interrupts() {
    let noisy = with(host(1, 2), |scheduler| scheduler.noise_ns = 500_000.0);
    let done = Cell::new(0);
    let report = noisy.run(&[&works(20 * MS, &done)]);
    let schedule = schedule(&report);
    assert!(schedule.steals > 5, "{schedule:?}");
    // Alone it would take twice as long.
    assert!(done.get() < 35 * MS, "{} ps", done.get());
}

#[test]
fn queues_of_different_lengths_stay_so_while_no_cpu_is_idle() {
    let done: [Cell<u64>; 3] = Default::default();
    let bodies: Vec<_> = done.iter().map(|done| works(10 * MS, done)).collect();
    let bodies: Vec<&dyn Fn(&U32)> = bodies.iter().map(|body| body as _).collect();
    let report = host(1, 2).run(&bodies);
    let schedule = schedule(&report);
    // The second thread is alone on its CPU. When it is done, that takes over one of the others,
    // which have had half as much until then.
    assert_eq!(done[1].get(), 10 * MS + 100);
    let last = done[0].get().max(done[2].get());
    assert!((15 * MS..15 * MS + 100 * US).contains(&last), "{last} ps");
    assert_eq!(schedule.involuntary_switches[1], 0);
    assert_eq!(schedule.steals, 1);
}

/// Runs threads of a program on two sockets of two CPUs, of which the second and the sixth, which share
/// a CPU, work for 10 us and the others for 2 ms. Returns the CPU of each thread when it began, and which
/// began within the first 100 us without being among the first on a CPU.
fn first_steals(threads: usize) -> (Vec<u32>, Vec<usize>) {
    let begun = RefCell::new(vec![(0, 0); threads]);
    let body = |_: &U32| {
        let me = thread::index();
        begun.borrow_mut()[me] = (Sim::this_cpu(), thread::now_ps());
        thread::hold_ps(if me % 4 == 1 { 10 * US } else { 2 * MS });
    };
    let bodies: Vec<&dyn Fn(&U32)> = vec![&body; threads];
    let report = run_as(&host(2, 2), ScheduledKind::Program, StartState::Running, &bodies);
    assert_eq!(report.failures, []);
    let begun = begun.take();
    let is_stolen = |&thread: &usize| thread > 3 && thread != 5 && begun[thread].1 < 100 * US;
    let stolen = (0..threads).filter(is_stolen).collect();
    (begun.iter().map(|(cpu, _)| *cpu).collect(), stolen)
}

#[test]
fn an_idle_cpu_takes_from_the_longest_run_queue() {
    // The ninth thread makes the queue of the first CPU the longest.
    let (cpus, stolen) = first_steals(9);
    assert_eq!((&stolen[..], cpus[4]), (&[4][..], cpus[1]));
}

#[test]
fn an_idle_cpu_takes_from_the_nearest_of_equal_run_queues() {
    let (cpus, stolen) = first_steals(8);
    let [stolen] = stolen[..] else { panic!("{stolen:?}") };
    assert_eq!(cpus[stolen], cpus[1]);
    // It waited behind the thread on the other CPU of that socket.
    let (from, to) = (cpus[stolen - 4], cpus[1]);
    assert!(from != to && from / 2 == to / 2, "from {from} to {to}");
}

#[test]
fn a_read_modify_write_is_completed_before_the_slice_ends_where_it_is_shielded() {
    let seen_by_the_next = |rmw_shield: f64| {
        let mut machine = host(1, 1);
        machine.costs.rmw_shield = rmw_shield;
        let seen = Cell::new(u32::MAX);
        let bodies: [&dyn Fn(&U32); 2] = [
            &|word| {
                thread::hold_ps(MS - 10_000);
                word.fetch_add(1, Relaxed);
                thread::hold_ps(MS);
            },
            &|word| seen.set(word.load(Relaxed)),
        ];
        machine.ends(&bodies);
        seen.get()
    };
    assert_eq!((seen_by_the_next(1.0), seen_by_the_next(0.0)), (1, 0));
}

#[test]
fn a_thread_that_yields_goes_behind_those_that_wait_for_its_cpu() {
    let (first_ps, second_ps) = (Cell::new(0), Cell::new(0));
    let yields = |_: &U32| {
        thread::hold_ps(100 * US);
        Sim::yield_cpu();
        first_ps.set(thread::now_ps());
        // No thread waits now.
        Sim::yield_cpu();
        assert_eq!(thread::now_ps() - first_ps.get(), CALL_PS);
    };
    let second = works(200 * US, &second_ps);
    let report =
        run_as(&host(1, 1), ScheduledKind::Program, StartState::Running, &[&yields, &second]);
    assert_eq!(report.failures, []);
    // The second starts 100 ps after the first.
    assert_eq!(second_ps.get(), 100 * US + CALL_PS + 2 * US + 200 * US + 100);
    assert_eq!(first_ps.get(), second_ps.get() + 2 * US);
    assert_eq!(schedule(&report).involuntary_switches, [1, 0]);
}
