//! `Once`, `OnceLock` and `LazyLock` as programs use them.

use super::alone;
use lockwright::{LazyLock, Once, OnceLock, OnceState};
use std::cell::Cell;
use std::mem::size_of;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Long enough for the others to sleep.
const WHILE: Duration = Duration::from_millis(20);
const WAITERS: usize = 6;

/// Runs `call` and returns what its panic says.
fn panic_of<R>(call: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(call)).err().expect("a panic");
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).expect("a text")
}

fn poisoned() -> Once {
    let once = Once::new();
    panic_of(|| once.call_once(|| panic!("first")));
    once
}

#[test]
fn a_static_once_of_four_zero_bytes_runs_one_closure() {
    static ONCE: Once = Once::new();
    // SAFETY: one atomic integer, for which zero is a value.
    let zero: Once = unsafe { std::mem::zeroed() };
    for once in [&ONCE, &zero, &Once::default()] {
        let mut ran = 0;
        assert_eq!((once.state(), once.is_completed()), (OnceState::New, false));
        once.call_once(|| ran += 1);
        once.call_once(|| ran += 1);
        once.call_once_force(|_| ran += 1);
        once.wait();
        once.wait_force();
        assert_eq!((ran, once.state(), once.is_completed()), (1, OnceState::Done, true));
        assert_eq!(format!("{once:?}"), "Once { state: Done }");
    }
    assert_eq!(size_of::<Once>(), 4);
}

#[test]
fn a_closure_is_told_what_was_before_and_is_in_progress() {
    let once = poisoned();
    assert_eq!(once.state(), OnceState::Poisoned);
    once.call_once_force(|before| {
        assert!(before.is_poisoned() && before.poisoned() && !before.done());
        assert_eq!((once.state(), once.is_completed()), (OnceState::InProgress, false));
    });
    let new = Once::new();
    new.call_once_force(|before| assert_eq!(before, OnceState::New));
    assert!(new.state().done() && once.state().done());
}

#[test]
fn a_poisoned_once_panics_until_a_forced_closure_ends() {
    let once = poisoned();
    let says = "the `Once` is poisoned: the closure of an earlier call panicked";
    assert_eq!(panic_of(|| once.call_once(|| unreachable!("it is poisoned"))), says);
    assert_eq!(panic_of(|| once.wait()), says);
    assert_eq!(panic_of(|| once.call_once_force(|_| panic!("again"))), "again");
    assert_eq!(once.state(), OnceState::Poisoned);
    once.call_once_force(|_| {});
    once.call_once(|| unreachable!("it is done"));
    once.wait();
}

#[test]
fn sleepers_are_all_woken_by_the_end_whatever_they_wait_for() {
    let _alone = alone();
    let (once, ran) = (Once::new(), AtomicU32::new(0));
    thread::scope(|scope| {
        for waiter in 0..WAITERS {
            let (once, ran) = (&once, &ran);
            scope.spawn(move || {
                match waiter % 3 {
                    0 => once.wait(),
                    1 => once.wait_force(),
                    // After the closure has begun.
                    _ => {
                        while once.state() == OnceState::New {
                            thread::yield_now();
                        }
                        once.call_once(|| unreachable!("another one runs"));
                    }
                }
                assert_eq!(ran.load(Relaxed), 1);
            });
        }
        thread::sleep(WHILE);
        once.call_once(|| {
            thread::sleep(WHILE);
            ran.store(1, Relaxed);
        });
    });
}

#[test]
fn a_panic_wakes_those_that_sleep_and_the_forced_ones_go_on() {
    let _alone = alone();
    let (once, ran) = (Once::new(), AtomicU32::new(0));
    thread::scope(|scope| {
        let gives_up = scope.spawn(|| {
            panic_of(|| {
                once.call_once(|| {
                    thread::sleep(WHILE);
                    panic!("late")
                })
            })
        });
        while once.state() == OnceState::New {
            thread::yield_now();
        }
        let calls = scope.spawn(|| panic_of(|| once.call_once(|| unreachable!("it is poisoned"))));
        let waits = scope.spawn(|| panic_of(|| once.wait()));
        assert_eq!(gives_up.join().unwrap(), "late");
        for poisoned in [calls, waits] {
            assert!(poisoned.join().unwrap().contains("poisoned"));
        }
        let forced = scope.spawn(|| once.wait_force());
        thread::sleep(WHILE);
        once.call_once_force(|_| {
            ran.fetch_add(1, Relaxed);
        });
        forced.join().unwrap();
    });
    assert_eq!(ran.load(Relaxed), 1);
}

#[test]
fn a_once_lock_is_set_once() {
    static PLACE: OnceLock<String> = OnceLock::new();
    assert_eq!((PLACE.get(), PLACE.clone()), (None, OnceLock::new()));
    assert_eq!(format!("{PLACE:?}"), "OnceLock(<uninit>)");
    assert_eq!(PLACE.set("one".to_string()), Ok(()));
    assert_eq!(PLACE.set("two".to_string()), Err("two".to_string()));
    assert_eq!(PLACE.get_or_init(|| unreachable!("it is set")), "one");
    assert_eq!((PLACE.wait(), PLACE.get().unwrap()), (&"one".to_string(), &"one".to_string()));
    assert_eq!(format!("{PLACE:?}"), "OnceLock(\"one\")");
    assert_eq!(PLACE.clone(), OnceLock::from("one".to_string()));
    assert_ne!(PLACE.clone(), OnceLock::default());
}

#[test]
fn an_owner_changes_and_takes_what_is_in_a_once_lock() {
    let mut place = OnceLock::new();
    assert_eq!(place.get_mut(), None);
    assert_eq!(place.take(), None);
    assert_eq!(*place.get_or_init(|| 1), 1);
    *place.get_mut().unwrap() += 1;
    assert_eq!((place.take(), place.get()), (Some(2), None));
    assert_eq!(place.set(3), Ok(()));
    assert_eq!((place.into_inner(), OnceLock::<u8>::new().into_inner()), (Some(3), None));
}

#[test]
fn a_once_lock_stays_empty_if_its_closure_panics() {
    let place = OnceLock::new();
    assert_eq!(panic_of(|| *place.get_or_init(|| panic!("no value"))), "no value");
    assert_eq!(place.get(), None);
    assert_eq!(*place.get_or_init(|| 4), 4);
    let place = OnceLock::new();
    panic_of(|| *place.get_or_init(|| panic!("no value")));
    assert_eq!((place.set(5), place.wait()), (Ok(()), &5));
}

#[test]
fn a_once_lock_stays_empty_if_its_closure_fails_and_the_next_thread_runs_its_own() {
    let _alone = alone();
    let place = OnceLock::new();
    thread::scope(|scope| {
        let (begun, has_begun) = std::sync::mpsc::channel();
        let fails = scope.spawn({
            let place = &place;
            move || {
                place
                    .get_or_try_init(|| {
                        begun.send(()).unwrap();
                        thread::sleep(WHILE);
                        Err("no value")
                    })
                    .copied()
            }
        });
        has_begun.recv().unwrap();
        assert_eq!(place.get_or_try_init(|| Ok::<_, ()>(6)), Ok(&6));
        assert_eq!(fails.join().unwrap(), Err("no value"));
    });
    assert_eq!(place.get_or_try_init(|| Err(())), Ok(&6));
    let place = OnceLock::<u32>::new();
    assert_eq!(panic_of(|| place.get_or_try_init(|| -> Result<_, ()> { panic!("late") })), "late");
    assert_eq!((place.get_or_try_init(|| Err(7)), place.get()), (Err(7), None));
}

/// Counts how often it was dropped.
struct Dropped(Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn what_is_in_there_is_dropped_once() {
    let drops = Arc::new(AtomicU32::new(0));
    let dropped = || Dropped(drops.clone());
    let count = || drops.load(Relaxed);
    drop(OnceLock::<Dropped>::new());
    let place = OnceLock::from(dropped());
    assert!(place.set(dropped()).is_err() && count() == 1);
    drop(place);
    assert_eq!(count(), 2);
    let held = dropped();
    let lazy = LazyLock::new(move || {
        let _held = &held;
        Dropped(held.0.clone())
    });
    LazyLock::force(&lazy);
    assert_eq!(count(), 3, "the closure was dropped when it had run");
    drop(lazy);
    assert_eq!(count(), 4);
    let held = dropped();
    drop(LazyLock::new(move || held.0.load(Relaxed)));
    assert_eq!(count(), 5, "the closure was dropped without having run");
}

#[test]
fn threads_that_race_to_set_a_once_lock_get_one_value() {
    let _alone = alone();
    for _ in 0..100 {
        let place = OnceLock::new();
        let values: Vec<usize> = thread::scope(|scope| {
            let set = |at: usize| {
                let place = &place;
                scope.spawn(move || match at % 3 {
                    0 => *place.wait(),
                    1 => *place.get_or_init(|| at),
                    _ => {
                        let _ = place.set(at);
                        *place.get().expect("somebody has set it")
                    }
                })
            };
            let threads: Vec<_> = (0..WAITERS).map(set).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let value = *place.get().unwrap();
        assert!(value % 3 > 0 && values.iter().all(|seen| *seen == value), "{value}: {values:?}");
    }
}

#[test]
fn a_lazy_value_is_made_when_it_is_first_used() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    static LAZY: LazyLock<u32> = LazyLock::new(|| MADE.fetch_add(1, Relaxed) + 7);
    assert_eq!((LazyLock::get(&LAZY), MADE.load(Relaxed)), (None, 0));
    assert_eq!(format!("{LAZY:?}"), "LazyLock(<uninit>)");
    let seen = thread::scope(|scope| {
        let threads = [(); WAITERS].map(|()| scope.spawn(|| *LAZY));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!((seen, MADE.load(Relaxed)), ([7; WAITERS], 1));
    assert_eq!((format!("{LAZY:?}"), LazyLock::get(&LAZY)), ("LazyLock(7)".to_string(), Some(&7)));
    assert!(LazyLock::<Vec<u32>>::default().is_empty());
}

#[test]
fn a_lazy_value_that_is_there_already_is_not_made() {
    let lazy: LazyLock<u32> = LazyLock::from(5);
    assert_eq!((LazyLock::get(&lazy), *lazy), (Some(&5), 5));
}

#[test]
fn an_owner_changes_a_lazy_value() {
    let mut lazy = LazyLock::new(|| 1);
    assert_eq!(LazyLock::get_mut(&mut lazy), None);
    *LazyLock::force_mut(&mut lazy) += 1;
    *lazy += 1;
    assert_eq!(LazyLock::get_mut(&mut lazy), Some(&mut 3));
    assert_eq!(*lazy, 3);
}

#[test]
fn a_lazy_value_whose_closure_panicked_panics_at_each_use() {
    let mut lazy = LazyLock::<u32, _>::new(|| panic!("no value"));
    assert_eq!(panic_of(|| *lazy), "no value");
    assert!(panic_of(|| *LazyLock::force(&lazy)).contains("LazyLock instance"));
    assert!(panic_of(|| *LazyLock::force_mut(&mut lazy)).contains("poisoned"));
    assert_eq!(LazyLock::get(&lazy), None);
    assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
}

#[test]
fn a_value_may_borrow_from_what_is_dropped_at_the_same_time() {
    // Compiles because the compiler drops the value. With a `Drop` of our own it would not.
    let (place, text);
    text = String::from("text");
    place = OnceLock::<&str>::new();
    assert_eq!(place.set(&text), Ok(()));
    let (place, number) = (OnceLock::<Cell<Option<&u32>>>::new(), 5);
    place.get_or_init(|| Cell::new(None)).set(Some(&number));
    struct Both<'a> {
        place: OnceLock<Cell<Option<&'a u32>>>,
        number: u32,
    }
    let both = Both { place: OnceLock::new(), number: 3 };
    both.place.get_or_init(|| Cell::new(None)).set(Some(&both.number));
    assert_eq!(both.place.get().and_then(Cell::get), Some(&3));
}

#[test]
fn they_have_the_auto_traits_of_the_standard_library() {
    fn all<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    all::<Once>();
    all::<OnceState>();
    all::<OnceLock<String>>();
    all::<LazyLock<String>>();
    all::<lockwright::Barrier>();
    all::<lockwright::BarrierWaitResult>();
    all::<lockwright::Condvar>();
    all::<lockwright::WaitTimeoutResult>();
    fn is_sent<T: Send>() {}
    is_sent::<OnceLock<Cell<u32>>>();
    is_sent::<LazyLock<Cell<u32>>>();
}
