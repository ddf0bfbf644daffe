//! What a guest sees, how a run begins, and what is refused.

use super::{GUEST, MS, RunsGuests as _, U32, US, host, run_as, schedule, with, works};
use crate::machines::machine;
use lockwright_core::platform::{Atomic, Placement as _, QueueNodes, SchedulerHints, Sleeping};
use lockwright_sim::{
    Arena, Config, NodesMode, Preemption, ScheduledKind, Scheduling, Sim, Simulation, StartState,
    thread,
};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::Relaxed;

#[test]
fn a_guest_with_virtual_numa_keeps_each_vcpu_on_its_socket() {
    let kind = ScheduledKind::Guest { virtual_numa: true };
    let body = |word: &U32| {
        let me = thread::index() as u32;
        assert_eq!((Sim::this_cpu(), Sim::numa_nodes()), (me, 2));
        assert_eq!(Sim::numa_node_of(me), me % 2);
        if me.is_multiple_of(2) {
            // The even ones are done soon: socket 0 has nothing to do, and takes over no thread.
            return;
        }
        for _ in 0..10 {
            thread::hold_ps(MS);
            Sim::futex_wait(word, 0, Some((thread::now_ps() + 10 * US) / 1_000));
        }
    };
    let bodies: Vec<&dyn Fn(&U32)> = vec![&body; 12];
    let report = run_as(&host(2, 2), kind, StartState::Running, &bodies);
    assert_eq!(report.failures, []);
    // Six threads of 10 ms on the two CPUs of socket 1.
    assert!(report.end_ps >= 30 * MS, "{} ps", report.end_ps);

    let one = |_: &U32| assert_eq!((Sim::numa_nodes(), Sim::numa_node_of(3)), (1, 0));
    let bodies: Vec<&dyn Fn(&U32)> = vec![&one; 4];
    host(2, 1).ends(&bodies);
}

#[test]
fn a_thread_that_moves_finds_cold_caches() {
    let sleeper = |word: &U32| {
        let took = || {
            let start = thread::now_ps();
            word.load(Relaxed);
            thread::now_ps() - start
        };
        word.swap(1, Relaxed);
        let before = (Sim::this_cpu(), took());
        Sim::futex_wait(word, 1, Some(200_000));
        let after = (Sim::this_cpu(), took());
        assert_ne!(before.0, after.0);
        assert_eq!((before.1, after.1), (1_500, 50_000));
    };
    let (done, done_too) = (Cell::new(0), Cell::new(0));
    // The third takes the sleeper's CPU, the second leaves its own.
    let (short, long) = (works(10 * US, &done), works(MS, &done_too));
    let bodies: [&dyn Fn(&U32); 3] = [&sleeper, &short, &long];
    let report = run_as(&host(1, 2), ScheduledKind::Program, StartState::Running, &bodies);
    assert_eq!(report.failures, []);
}

#[test]
fn the_hints_about_cpus_are_exact() {
    host(1, 2).ends(&[
        &|_| {
            assert!(!Sim::need_resched());
            thread::hold_ps(100 * US);
        },
        &|word| {
            thread::hold_ps(50 * US);
            assert_eq!(Sim::idle_cpus(), 0);
            Sim::futex_wait(word, 0, Some(200_000));
            assert_eq!((Sim::need_resched(), Sim::idle_cpus()), (false, 1));
        },
    ]);
    host(1, 1).ends(&[&|_| assert!(Sim::need_resched()), &|_| assert!(!Sim::need_resched())]);
}

#[test]
fn the_hint_about_a_node_knows_who_runs_who_waits_for_a_cpu_and_who_sleeps() {
    let node = Cell::new(None);
    let seen = RefCell::new(Vec::new());
    let claims = |word: &U32| {
        let id = Sim::claim_node().expect("a fresh machine has nodes");
        node.set(Some(id));
        thread::hold_ps(MS + 100 * US);
        Sim::futex_wait(word, 0, Some(10_000_000));
        // SAFETY: claimed above.
        unsafe { Sim::release_node(id) };
    };
    let looks = |_: &U32| {
        for _ in 0..30 {
            thread::hold_ps(100 * US);
            seen.borrow_mut().push(node.get().is_some_and(Sim::is_running));
        }
    };
    host(1, 2).ends(&[&claims, &looks]);
    let runs: Vec<bool> = (1..=30).map(|step| step <= 11).collect();
    assert_eq!(seen.take(), runs, "it runs for 1.1 ms and sleeps then");
    host(1, 1).ends(&[&claims, &looks]);
    assert_eq!(seen.take(), [false; 30], "one of the two runs");
    let hides = |host: &mut lockwright_sim::machine::Scheduler| host.hides_preemption = 1.0;
    with(host(1, 1), hides).ends(&[&claims, &looks]);
    let runs: Vec<bool> = seen.take();
    assert!(runs[0] && !runs[29], "the guest knows only who sleeps: {runs:?}");
}

#[test]
fn everybody_starts_together_or_at_random_moments_of_the_first_slice() {
    let started = RefCell::new(Vec::new());
    let body = |_: &U32| {
        started.borrow_mut().push(thread::now_ps());
        thread::hold_ps(MS / 10);
    };
    let bodies: Vec<&dyn Fn(&U32)> = vec![&body; 8];
    let start = |state| {
        assert_eq!(run_as(&host(2, 4), GUEST, state, &bodies).failures, []);
        started.take()
    };
    let together = start(StartState::Running);
    assert_eq!(together, (0..8).map(|number| number * 100).collect::<Vec<_>>());
    let apart = start(StartState::Queued);
    assert!(apart.iter().all(|&at| at <= MS), "{apart:?}");
    assert!(apart[7] - apart[0] > MS / 2, "{apart:?}");
}

#[test]
fn after_a_preemption_half_of_those_that_ran_have_lost_a_slice() {
    let done: [Cell<u64>; 8] = Default::default();
    let bodies: Vec<_> = done.iter().map(|done| works(5 * MS, done)).collect();
    let bodies: Vec<&dyn Fn(&U32)> = bodies.iter().map(|body| body as _).collect();
    let report = run_as(&host(2, 4), GUEST, StartState::Preempted, &bodies);
    let mut lost: Vec<u64> =
        (0..8).map(|number| done[number].get() - 5 * MS - number as u64 * 100).collect();
    lost.sort_unstable();
    assert_eq!(lost, [[0; 4], [MS; 4]].concat());
    assert_eq!(schedule(&report).involuntary_switches.iter().sum::<u64>(), 4);
}

fn refused(machine: &lockwright_sim::machine::Machine, config: Config) {
    Simulation::new(machine, &mut Arena::default(), 1, config);
}

fn scheduled(kind: ScheduledKind) -> Config {
    Config {
        scheduling: Some(Scheduling { kind, start: StartState::Running }),
        ..Config::default()
    }
}

#[test]
#[should_panic(expected = "machine test: scheduler: is missing")]
fn a_machine_without_a_scheduler_cannot_schedule() {
    let mut machine = machine(1, 2, 1);
    machine.scheduler = None;
    refused(&machine, scheduled(GUEST));
}

#[test]
#[should_panic(expected = "takes CPUs away from threads that have one of their own")]
fn the_fault_that_takes_cpus_away_needs_threads_that_have_one() {
    let preemption = Some(Preemption { every_ns: 1, for_ns: 1 });
    refused(&machine(1, 2, 1), Config { preemption, ..scheduled(GUEST) });
}

#[test]
#[should_panic(expected = "give it a pool of queue nodes")]
fn the_threads_of_a_program_have_no_nodes_of_their_cpus() {
    refused(&machine(1, 2, 1), scheduled(ScheduledKind::Program));
}

#[test]
#[should_panic(expected = "use spawn_scheduled")]
fn a_pinned_thread_does_not_fit_into_a_run_with_a_scheduler() {
    let mut arena = Arena::default();
    Simulation::new(&machine(1, 2, 1), &mut arena, 1, scheduled(GUEST)).spawn(0, || {});
}

#[test]
#[should_panic(expected = "see Config::scheduling")]
fn a_thread_without_a_cpu_needs_a_scheduler() {
    let mut arena = Arena::default();
    Simulation::new(&machine(1, 2, 1), &mut arena, 1, Config::default()).spawn_scheduled(|| {});
}

#[test]
fn each_vcpu_has_queue_nodes_of_its_own() {
    let mut arena = Arena::default();
    let machine = with(host(1, 2), |scheduler| scheduler.slice_ns = 10_000.0);
    let config = Config { nodes: NodesMode::PerCpu, ..scheduled(GUEST) };
    let mut simulation = Simulation::new(&machine, &mut arena, 1, config);
    for vcpu in 0..9 {
        simulation.spawn_scheduled(move || {
            let id = Sim::claim_node().expect("a vCPU has four");
            assert_eq!(id.number(), vcpu * 4);
            thread::hold_ps(100 * US);
            // SAFETY: claimed above.
            unsafe { Sim::release_node(id) };
        });
    }
    assert_eq!(simulation.run().failures, []);
}
