//! Forks in explorations: the child has one thread, the memory that all threads saw, and a platform that says so.

use crate::explore;
use crate::machines::machine;
use crate::programs::U32;
use lockwright_core::platform::{
    Atomic, Guarded, MarkStorage, QueueNodes, ReaderSlots, Sleeping, Zeroed,
};
use lockwright_sim::explore::{Explorer, Findings, Limits, Plan, PolicyKind};
use lockwright_sim::{Config, FailureKind, Sim, Simulation, thread};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

fn search(forks: u32, program: &dyn Fn(&mut Simulation<'_>)) -> Findings {
    let limits = Limits { wake_ups: 0, forks, ..Limits::default() };
    explore::search(&machine(1, 4, 1), limits, 20_000, program)
}

fn fork() -> bool {
    fork_with(true)
}
fn fork_with(runs_handlers: bool) -> bool {
    // SAFETY: the threads of these programs own nothing.
    unsafe { thread::fork_point(runs_handlers) }
}

#[test]
fn a_child_sees_what_others_had_made_visible_and_they_do_nothing_more() {
    let seen = RefCell::new(BTreeSet::new());
    let program = |simulation: &mut Simulation<'_>| {
        let words = simulation.alloc([U32::zeroed(), U32::zeroed(), U32::zeroed()]);
        let seen = seen.as_ptr();
        simulation.spawn(0, move || {
            words[2].store(1, Relaxed);
            if fork() {
                let look = || [0, 1, 2].map(|at: usize| words[at].load(Relaxed));
                let values = look();
                assert_eq!(look(), values, "another thread is still there");
                // SAFETY: simulated threads run one at a time.
                unsafe { (*seen).insert(values) };
                assert!(!fork(), "a child has a child");
            }
        });
        simulation.spawn(1, move || {
            words[0].store(1, Relaxed);
            words[1].store(1, Relaxed);
            words[1].swap(2, Relaxed);
        });
    };
    let findings = search(1, &program);
    assert!(findings.failure.is_none() && findings.is_exhausted, "{findings:?}");
    assert_eq!(
        *seen.borrow(),
        BTreeSet::from([[0, 0, 1], [1, 0, 1], [1, 1, 1], [1, 2, 1]]),
        "what the caller wrote is there, and of the other's stores a beginning"
    );
    seen.borrow_mut().clear();
    assert!(search(0, &program).failure.is_none());
    assert!(seen.borrow().is_empty(), "no thread was to fork");
}

#[test]
fn a_child_is_told_what_is_not_there_any_more() {
    for runs_handlers in [true, false] {
        is_told_what_is_not_there(runs_handlers);
    }
}

fn is_told_what_is_not_there(runs_handlers: bool) {
    let program = |simulation: &mut Simulation<'_>| {
        let claimed = simulation.alloc(Guarded::<Sim, Option<u16>>::new(None));
        let word = simulation.alloc(U32::zeroed());
        simulation.spawn(0, move || {
            let mine = Sim::claim_node().expect("a node");
            let is_child = fork_with(runs_handlers);
            assert_eq!((Sim::has_forked(), Sim::epoch()), (is_child, is_child.into()));
            assert!(!Sim::is_orphaned(mine), "its thread is this one");
            let own = Sim::reader_slot().expect("a slot");
            let slots: Vec<_> = (0..Sim::reader_slots()).map(Sim::reader_slot_at).collect();
            assert!(slots.contains(&own));
            if is_child {
                let nobodys = Sim::reader_slot_at(usize::MAX);
                let is_counted = slots.iter().any(|&slot| slot != own && slot != nobodys);
                assert_eq!(is_counted, slots.len() > 1 && !runs_handlers, "slots of gone threads");
                // SAFETY: there is no other thread.
                let other = unsafe { claimed.get() }.map(lockwright_core::queue::NodeId::new);
                assert!(other.is_none_or(Sim::is_orphaned), "its thread is gone");
                let more: Vec<_> = std::iter::from_fn(Sim::claim_node).collect();
                assert!(more.iter().all(|&id| Some(id) != other), "an orphan is handed out");
            }
        });
        simulation.spawn(1, move || {
            let id = Sim::claim_node().expect("a node");
            Sim::reader_slot();
            // SAFETY: no other thread writes it.
            unsafe { claimed.set(Some(id.number())) };
            Sim::futex_wait(word, 0, Some(1_000));
        });
        simulation.spawn(2, move || _ = word.cond_load(Relaxed, |value| value == 0));
    };
    let findings = search(1, &program);
    assert!(findings.failure.is_none() && findings.is_exhausted, "{findings:?}");
}

#[test]
fn a_child_knows_that_it_is_one_if_its_parent_has_asked() {
    for asks in [true, false] {
        let program = |simulation: &mut Simulation<'_>| {
            simulation.spawn(0, move || {
                assert!(!asks || Sim::epoch() == 0);
                let is_child = fork();
                assert_eq!(Sim::epoch(), u32::from(is_child && asks));
            });
            simulation.spawn(1, || assert_eq!(thread::begin_in_child(), thread::has_forked()));
        };
        let findings = search(1, &program);
        assert!(findings.failure.is_none() && findings.is_exhausted, "{findings:?}");
    }
}

#[test]
fn a_child_that_waits_for_its_parents_threads_is_stuck() {
    let program = |simulation: &mut Simulation<'_>| {
        let word = simulation.alloc(U32::zeroed());
        simulation.spawn(0, move || {
            fork();
            word.cond_load(Relaxed, |value| value == 1);
        });
        simulation.spawn(1, move || word.store(1, Relaxed));
    };
    assert!(search(0, &program).failure.is_none());
    let found = search(1, &program).failure.expect("a failure");
    let FailureKind::Stuck { threads } = &found.failure.kind else { panic!("{found:?}") };
    assert_eq!(threads.len(), 1, "{found:?}");
    assert!(found.schedule.to_string().contains("%a"), "{}", found.schedule);
}

#[test]
fn the_stacks_of_threads_that_are_gone_are_used_again() {
    // Far more than a process can map, if each kept one.
    let program = |simulation: &mut Simulation<'_>| {
        let word = simulation.alloc(U32::zeroed());
        for cpu in 1..4 {
            simulation.spawn(cpu, move || {
                for _ in 0..5 {
                    word.load(Relaxed);
                }
            });
        }
        simulation.spawn(0, move || _ = (0..10).any(|_| fork()));
    };
    let machine = machine(1, 4, 1);
    let plan =
        Plan { policies: vec![PolicyKind::Random], schedules: 40_000, limits: Limits::default() };
    let mut explorer = Explorer::new(&machine, 1, Config::default(), &program);
    let findings = explorer.explore(&plan, |_| true);
    assert!(findings.failure.is_none(), "{findings:?}");
}
