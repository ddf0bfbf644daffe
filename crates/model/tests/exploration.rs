//! The checkers see what they are there to see: each test takes away one thing that a correct
//! program needs.

use lockwright_catalog::registry::Platform;
use lockwright_clients::ClientOutcome;
use lockwright_core::platform::{
    Atomic, Barriers, Guarded, LockWordOps, QueueNodes, Sleeping, Zeroed,
};
use lockwright_model::{Explored, Shuttle, ShuttleRun, ShuttleScheduler, ShuttleThreads};
use lockwright_model::{Loom, LoomRun, LoomThreads, MachineSettings, outcome};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

/// Runs bodies on threads of one of the checkers.
type Join = fn(Vec<Box<dyn FnOnce() + Send>>);

fn run_two<S: Send + Sync + 'static>(
    join: Join,
    state: S,
    first: impl FnOnce(&S) + Send + 'static,
    second: impl FnOnce(&S) + Send + 'static,
) -> Arc<S> {
    let state = Arc::new(state);
    let (one, two) = (state.clone(), state.clone());
    join(vec![Box::new(move || first(&one)), Box::new(move || second(&two))]);
    state
}

fn explore(body: impl Fn() + Send + Sync + 'static) -> ClientOutcome {
    outcome(|| LoomRun::all(2).model(body))
}

fn assert_violated(outcome: ClientOutcome, complaint: &str) {
    match outcome {
        ClientOutcome::Violated(message) => assert!(message.contains(complaint), "{message}"),
        ClientOutcome::Held => panic!("no execution showed: {complaint}"),
    }
}

struct Message<P: Platform> {
    text: Guarded<P, u32>,
    flag: P::U32,
    word: P::Word,
}

impl<P: Platform> Message<P> {
    fn new() -> Self {
        Self { text: Guarded::new(0), flag: Zeroed::zeroed(), word: Zeroed::zeroed() }
    }
    fn write(&self) {
        // SAFETY: not safe if the reader does not wait for the flag, which is what is tested; the
        // checkers run one thread at a time.
        unsafe { self.text.set(1) };
    }
    fn read(&self) {
        // SAFETY: as above.
        unsafe { self.text.get() };
    }
}

/// Passes a message through a flag with these orderings.
fn pass_message(write: Ordering, read: Ordering) -> ClientOutcome {
    explore(move || {
        let writer = move |message: &Message<Loom>| {
            message.write();
            message.flag.store(1, write);
        };
        let reader = move |message: &Message<Loom>| {
            message.flag.cond_load(read, |flag| flag == 1);
            message.read();
        };
        run_two(LoomThreads::join, Message::new(), writer, reader);
    })
}

#[test]
fn loom_sees_a_missing_release_and_a_missing_acquire() {
    assert_eq!(pass_message(Release, Acquire), ClientOutcome::Held);
    assert_violated(pass_message(Relaxed, Acquire), "Causality violation");
    assert_violated(pass_message(Release, Relaxed), "Causality violation");
}

#[test]
fn loom_does_not_let_a_narrow_store_order_more_than_asked() {
    assert_violated(
        explore(|| {
            let writer = |message: &Message<Loom>| {
                message.write();
                message.word.store_byte0(1, Relaxed);
            };
            let reader = |message: &Message<Loom>| {
                message.word.cond_load(Acquire, |word| word == 1);
                message.read();
            };
            run_two(LoomThreads::join, Message::new(), writer, reader);
        }),
        "Causality violation",
    );
}

#[test]
fn loom_does_not_let_a_failed_exchange_order_more_than_asked() {
    assert_violated(
        explore(|| {
            let writer = |message: &Message<Loom>| {
                message.write();
                message.word.store(0x0101, Release);
            };
            let reader = |message: &Message<Loom>| {
                if message.word.compare_exchange_byte0(0, 2, Acquire, Relaxed) == Err(1) {
                    message.read();
                }
            };
            run_two(LoomThreads::join, Message::new(), writer, reader);
        }),
        "Causality violation",
    );
}

#[test]
fn loom_sees_store_buffering_without_a_full_barrier() {
    let check = |barrier: fn(&<Loom as lockwright_core::platform::Cells>::U32)| {
        explore(move || {
            let seen = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
            let words = [(); 2].map(|()| <Loom as lockwright_core::platform::Cells>::U32::zeroed());
            let body = |me: usize| {
                let seen = seen.clone();
                move |words: &[_; 2]| {
                    let [own, other] = [&words[me], &words[1 - me]];
                    Atomic::store(own, 1, Relaxed);
                    barrier(own);
                    seen[me].store(Atomic::load(other, Relaxed), Relaxed);
                }
            };
            run_two(LoomThreads::join, words, body(0), body(1));
            let sum = seen[0].load(Relaxed) + seen[1].load(Relaxed);
            assert!(sum > 0, "both threads read before the other one's store");
        })
    };
    assert_violated(check(|_| Loom::fence(Ordering::AcqRel)), "both threads read");
    assert_eq!(check(Loom::full_barrier), ClientOutcome::Held);
}

#[test]
fn loom_reports_a_wait_for_a_value_that_nobody_writes() {
    let outcome = explore(|| {
        let write = |message: &Message<Loom>| message.flag.store(1, Relaxed);
        let wait = |message: &Message<Loom>| {
            message.flag.cond_load(Relaxed, |flag| flag == 2);
        };
        run_two(LoomThreads::join, Message::new(), write, wait);
    });
    assert_violated(outcome, "a thread waits for a value that nobody will write");
}

/// A sleeper, and a waker that looks whether there is one in the wrong order or not at all.
fn lose_wakeup<P: Platform>(join: Join, wakes: bool) {
    let sleep = |message: &Message<P>| {
        while message.flag.load(Acquire) == 0 {
            P::futex_wait(&message.flag, 0, None);
        }
    };
    let wake = move |message: &Message<P>| {
        if wakes {
            // Too early: the sleeper may look between this and the store.
            P::futex_wake(&message.flag, 1);
        }
        message.flag.store(1, Release);
    };
    run_two(join, Message::<P>::new(), sleep, wake);
}

#[test]
fn a_lost_wakeup_is_reported_as_a_deadlock() {
    for wakes in [false, true] {
        let outcome = explore(move || lose_wakeup::<Loom>(LoomThreads::join, wakes));
        assert_violated(outcome, "deadlock");
        let run = || -> Explored {
            ShuttleRun::new(2, 200)
                .model(move || lose_wakeup::<Shuttle>(ShuttleThreads::join, wakes))
        };
        assert_violated(lockwright_model::outcome(run), "deadlock");
    }
}

#[test]
fn loom_explores_a_wake_before_and_after_a_deadline() {
    static OUTCOMES: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];
    LoomRun::all(2).model(|| {
        let sleep = |message: &Message<Loom>| {
            Loom::futex_wait(&message.flag, 0, Some(1_000_000));
            let timed_out = <Loom as lockwright_core::platform::Clock>::now_ns() >= 1_000_000;
            OUTCOMES[usize::from(timed_out)].fetch_add(1, Relaxed);
        };
        let wake = |message: &Message<Loom>| {
            message.flag.store(1, Release);
            Loom::futex_wake(&message.flag, 1);
        };
        run_two(LoomThreads::join, Message::new(), sleep, wake);
    });
    let [woken, timed_out] = OUTCOMES.each_ref().map(|count| count.load(Relaxed));
    assert!(woken > 0 && timed_out > 0, "woken {woken} times, timed out {timed_out} times");
}

#[test]
fn a_bounded_wait_both_succeeds_and_gives_up() {
    static OUTCOMES: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];
    LoomRun::all(2).model(|| {
        let wait = |message: &Message<Loom>| {
            let bound = lockwright_core::platform::Bound::looks(512);
            let result = message.flag.cond_load_bounded(Acquire, bound, |flag| flag == 1, || false);
            OUTCOMES[usize::from(result.is_err())].fetch_add(1, Relaxed);
        };
        let write = |message: &Message<Loom>| message.flag.store(1, Release);
        run_two(LoomThreads::join, Message::new(), wait, write);
    });
    let [succeeded, gave_up] = OUTCOMES.each_ref().map(|count| count.load(Relaxed));
    assert!(succeeded > 0 && gave_up > 0, "succeeded {succeeded} times, gave up {gave_up} times");
}

#[test]
fn a_wait_that_a_third_thread_will_end_is_not_reported() {
    let outcome = outcome(|| {
        LoomRun::bounded(3, 2).model(|| {
            let message = Arc::new(Message::<Loom>::new());
            let [waiter, first, last] = [(); 3].map(|()| message.clone());
            LoomThreads::join(vec![
                Box::new(move || {
                    waiter.flag.cond_load(Relaxed, |flag| flag == 1 || flag == 3);
                }),
                // Nothing orders 1 and 2, so 2 may hide 1 for as long as 3 is not stored.
                Box::new(move || {
                    first.flag.store(1, Relaxed);
                    first.word.store(1, Release);
                }),
                Box::new(move || {
                    last.flag.store(2, Relaxed);
                    (0..4).for_each(|_| Loom::delay(1));
                    last.word.cond_load(Acquire, |word| word == 1);
                    last.flag.store(3, Relaxed);
                }),
            ]);
        })
    });
    assert_eq!(outcome, ClientOutcome::Held);
}

#[test]
fn a_step_that_always_finds_something_to_do_does_not_keep_the_exploration_from_ending() {
    let seen = LoomRun::bounded(3, 2).model(|| {
        let step = |message: &Message<Loom>| {
            let look = || message.flag.load(Acquire) < 2;
            message.word.cond_load_stepping(Acquire, |word| word == 1, look);
        };
        let message = Arc::new(Message::<Loom>::new());
        let [one, two, writer] = [(); 3].map(|()| message.clone());
        LoomThreads::join(vec![
            Box::new(move || step(&one)),
            Box::new(move || step(&two)),
            Box::new(move || {
                writer.flag.store(1, Release);
                writer.word.store(1, Release);
            }),
        ]);
    });
    assert!((2..10_000).contains(&seen.executions), "{} executions", seen.executions);
}

#[test]
fn shuttle_sees_overlapping_accesses_to_a_plain_field() {
    let run = || {
        ShuttleRun::new(2, 200).model(|| {
            let write = |message: &Message<Shuttle>| message.write();
            run_two(ShuttleThreads::join, Message::new(), write, write);
        })
    };
    assert_violated(outcome(run), "written by two threads at once");
}

#[test]
fn shuttle_reports_a_wait_for_a_value_that_nobody_writes() {
    let wait = |message: &Message<Shuttle>| {
        message.flag.cond_load(Relaxed, |flag| flag == 2);
    };
    let step = |message: &Message<Shuttle>| {
        message.flag.cond_load_stepping(Relaxed, |flag| flag == 2, || true);
    };
    let run = |wait: fn(&Message<Shuttle>)| {
        let write = |message: &Message<Shuttle>| message.flag.store(1, Relaxed);
        outcome(|| {
            ShuttleRun::new(2, 200).model(move || {
                run_two(ShuttleThreads::join, Message::new(), write, wait);
            })
        })
    };
    assert_violated(run(wait), "deadlock");
    assert_violated(run(step), "a thread steps and nobody will write");
}

#[test]
fn claiming_and_releasing_nodes_adds_no_interleavings() {
    let run = LoomRun::all(2).on(MachineSettings::flat(2).with_nodes_per_cpu(4));
    let seen = run.model(|| {
        let body = |_: &()| {
            for _ in 0..3 {
                let id = Loom::claim_node().expect("four nodes for each thread");
                // SAFETY: claimed above and shown to no thread.
                unsafe { Loom::release_node(id) };
            }
        };
        run_two(LoomThreads::join, (), body, body);
    });
    assert_eq!(seen.executions, 1);
}

#[test]
fn one_seed_gives_one_sequence_of_schedules() {
    let seen_of = |seed: u64, scheduler: &ShuttleScheduler| {
        static ORDER: std::sync::Mutex<Vec<u32>> = std::sync::Mutex::new(Vec::new());
        ORDER.lock().unwrap().clear();
        let run = ShuttleRun { seed, ..ShuttleRun::new(2, 50).by(scheduler.clone()) };
        run.model(|| {
            let count = |message: &Message<Shuttle>| {
                for _ in 0..3 {
                    message.word.swap_half1(1, Relaxed);
                    let me = <Shuttle as lockwright_core::platform::Placement>::this_cpu();
                    ORDER.lock().unwrap().push(me);
                }
            };
            run_two(ShuttleThreads::join, Message::new(), count, count);
        });
        ORDER.lock().unwrap().clone()
    };
    for scheduler in [ShuttleScheduler::Random, ShuttleScheduler::Pct { depth: 3 }] {
        assert_eq!(seen_of(7, &scheduler), seen_of(7, &scheduler), "{scheduler:?}");
        assert_ne!(seen_of(7, &scheduler), seen_of(8, &scheduler), "{scheduler:?}");
    }
}
