//! Walks the tables of `results.md`: in each state of a lock, each attempt has the result that stands there.

use super::alone;
use super::parked::Waiter;
use lock_api::{MutexGuard, RwLockReadGuard};
use lockwright::{FairMutex, FairRwLock, Mutex, PercpuRwLock, RwLock, Semaphore};
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

const TABLES: &str = include_str!("results.md");
const NOW: Duration = Duration::ZERO;
/// Longer than newcomers pass a waiter.
const LATE: Duration = Duration::from_millis(10);

/// Does something with a lock that is in some state: takes it if it can, and gives it back. Returns `true` if it could,
/// or if the answer is yes.
type Attempt<L> = fn(&L) -> bool;

/// The column of an operation that a lock does not have in that state.
fn nothing<L>(_: &L) -> bool {
    unreachable!("it is left out")
}

/// The row of a table: what each of these operations does in a state, into which `set_up` brings a new lock for each.
/// It runs the operation. The last one is a question.
fn row<L>(name: &str, state: &str, operations: &[Attempt<L>], set_up: impl Fn(Attempt<L>) -> bool) {
    let mut row = format!("| `{name}` | {state} |");
    let (question, attempts) = operations.split_last().expect("several operations");
    for &attempt in attempts {
        let is_left_out = std::ptr::fn_addr_eq(attempt, nothing::<L> as Attempt<L>);
        let result = match is_left_out {
            true => "-",
            false if set_up(attempt) => "takes it",
            false => "fails",
        };
        row = format!("{row} {result} |");
    }
    row = format!("{row} {} |", if set_up(*question) { "yes" } else { "no" });
    assert!(TABLES.lines().any(|line| line == row), "results.md has no such row:\n{row}");
}

/// Asserts that a table has no more rows of that lock than were walked.
fn rows_are(name: &str, count: usize) {
    let has = TABLES.lines().filter(|line| line.starts_with(&format!("| `{name}` |"))).count();
    assert_eq!(has, count, "rows of {name}");
}

/// A lock for a test, which stays for ever: a waiter has a reference to it.
fn new<L>(lock: L) -> &'static L {
    Box::leak(Box::new(lock))
}

/// The first word of a lock, which says if it is reserved or given.
fn word<L>(lock: &L) -> u32 {
    super::word(lock).load(Relaxed)
}
const MUTEX_RESERVED: u32 = 8;
const MUTEX_GIVEN: u32 = 16;
const RWLOCK_RESERVED: u32 = 4;

/// Those of a mutex of either kind.
macro_rules! mutexes {
    ($Mutex:ident, $walk:ident) => {
        fn $walk() {
            type Lock = $Mutex<()>;
            let name = stringify!($Mutex);
            let asleep = |lock: &'static Lock| Waiter::asleep(move || drop(lock.lock()));
            let attempts: [Attempt<Lock>; 3] = [
                |lock| lock.try_lock().is_some(),
                |lock| lock.try_lock_for(NOW).is_some(),
                |lock| lock.is_locked(),
            ];
            row(name, "free", &attempts, |attempt| attempt(new(Lock::new(()))));
            row(name, "held", &attempts, |attempt| {
                let lock = new(Lock::new(()));
                let _guard = lock.lock();
                thread::spawn(move || attempt(lock)).join().expect("no panic")
            });
            row(name, "reserved", &attempts, |attempt| {
                let lock = new(Lock::new(()));
                let guard = lock.lock();
                let waiter = asleep(lock);
                // It was woken more than 4 ms ago, and finds the lock held.
                while word(lock) & MUTEX_RESERVED == 0 {
                    waiter.rouse();
                }
                waiter.park();
                drop(guard);
                assert_eq!(word(lock), MUTEX_RESERVED, "not reserved, or not free");
                let is_taken = attempt(lock);
                if !std::ptr::fn_addr_eq(attempt, attempts[1]) {
                    assert_eq!(word(lock), MUTEX_RESERVED, "an attempt took the reservation, too");
                }
                waiter.resume();
                is_taken
            });
            let attempts = [attempts[0], nothing, attempts[2]];
            row(name, "given", &attempts, |attempt| {
                let lock = new(Lock::new(()));
                loop {
                    let guard = lock.lock();
                    let waiter = asleep(lock);
                    MutexGuard::unlock_fair(guard);
                    let is_given = || word(lock) & MUTEX_GIVEN != 0;
                    let before = is_given();
                    let is_taken = attempt(lock);
                    let was_given = before && is_given();
                    waiter.resume();
                    // Else the waiter has run in between.
                    if was_given || is_taken && before {
                        return is_taken;
                    }
                }
            });
            rows_are(name, 4);
        }
    };
}
mutexes!(Mutex, walk_mutex);
mutexes!(FairMutex, walk_fair_mutex);

#[test]
fn attempts_on_a_mutex_have_the_results_of_the_table() {
    let _alone = alone();
    walk_mutex();
    walk_fair_mutex();
}

/// What is tried on a reader-writer lock.
macro_rules! attempts {
    ($upgradable:expr) => {{
        let attempts: [Attempt<Lock>; 6] = [
            |lock| lock.try_read().is_some(),
            |lock| lock.try_read_for(NOW).is_some(),
            $upgradable,
            |lock| lock.try_write().is_some(),
            |lock| lock.try_write_for(NOW).is_some(),
            |lock| lock.is_locked(),
        ];
        attempts
    }};
}

/// Those of a reader-writer lock of any kind.
macro_rules! rwlocks {
    ($RwLock:ident, $walk:ident, $upgradable:expr) => {
        fn $walk() {
            type Lock = $RwLock<()>;
            let name = stringify!($RwLock);
            let attempts = attempts!($upgradable);
            row(name, "free", &attempts, |attempt| attempt(new(Lock::new(()))));
            row(name, "read", &attempts, |attempt| {
                let lock = new(Lock::new(()));
                let _guard = lock.read();
                attempt(lock)
            });
            row(name, "written", &attempts, |attempt| {
                let lock = new(Lock::new(()));
                let _guard = lock.write();
                attempt(lock)
            });
            let reader = |lock: &'static Lock| Waiter::asleep(move || drop(lock.read()));
            let writer = |lock: &'static Lock| Waiter::asleep(move || drop(lock.write()));
            row(name, "read, and a writer waits", &attempts, |attempt| {
                loop {
                    let lock = new(Lock::new(()));
                    let guard = lock.read();
                    let waiter = writer(lock);
                    waiter.park();
                    // On a busy computer the writer may have waited for so long already that it keeps newcomers out.
                    let is_reserved = word(lock) & RWLOCK_RESERVED != 0;
                    let is_taken = attempt(lock);
                    drop(guard);
                    waiter.resume();
                    if !is_reserved || stringify!($RwLock) == "FairRwLock" {
                        break is_taken;
                    }
                }
            });
            row(name, "free, and reserved for a writer", &attempts, |attempt| {
                let lock = new(Lock::new(()));
                let guard = lock.read();
                let waiter = writer(lock);
                thread::sleep(LATE);
                waiter.park();
                drop(guard);
                let is_taken = kept(lock, &attempts, attempt);
                waiter.resume();
                is_taken
            });
            for state in ["read, and reserved for a reader", "free, and reserved for a reader"] {
                row(name, state, &attempts, |attempt| {
                    let lock = new(Lock::new(()));
                    let guard = lock.read();
                    // The reader queues behind a writer that gives up.
                    let gives_up = thread::spawn(|| lock.try_write_for(10 * LATE).is_none());
                    await_reservation(lock);
                    let waiter = reader(lock);
                    waiter.park();
                    assert!(gives_up.join().unwrap());
                    let guard = Some(guard).filter(|_| state.starts_with("read"));
                    let is_taken = kept(lock, &attempts, attempt);
                    drop(guard);
                    waiter.resume();
                    is_taken
                });
            }
        }
    };
}
rwlocks!(RwLock, walk_rwlock, |lock| lock.try_upgradable_read().is_some());
rwlocks!(FairRwLock, walk_fair_rwlock, |lock| lock.try_upgradable_read().is_some());
rwlocks!(PercpuRwLock, walk_percpu_rwlock, nothing);

fn await_reservation<L>(lock: &L) {
    while word(lock) & RWLOCK_RESERVED == 0 {
        thread::yield_now();
    }
}

/// Makes the attempt in a thread that does not read the lock.
fn elsewhere<L: Sync>(lock: &L, attempt: Attempt<L>) -> bool {
    thread::scope(|scope| scope.spawn(|| attempt(lock)).join().unwrap())
}

/// Makes the attempt on a lock that is reserved. It stays so, unless the attempt may wait: a lock that is free and
/// reserved for a while is reserved no longer.
fn kept<L: Sync>(lock: &L, attempts: &[Attempt<L>; 6], attempt: Attempt<L>) -> bool {
    assert_ne!(word(lock) & RWLOCK_RESERVED, 0, "it is not reserved");
    let is_taken = elsewhere(lock, attempt);
    let waits = |at: usize| std::ptr::fn_addr_eq(attempt, attempts[at]);
    if !waits(1) && !waits(4) {
        assert_ne!(word(lock) & RWLOCK_RESERVED, 0, "an attempt took the reservation, too");
    }
    is_taken
}

/// The states of locks that have upgradable readers and fair releases.
macro_rules! upgradable {
    ($RwLock:ident, $walk:ident) => {
        fn $walk() {
            type Lock = $RwLock<()>;
            let name = stringify!($RwLock);
            let attempts = attempts!(|lock| lock.try_upgradable_read().is_some());
            row(name, "read by an upgradable reader", &attempts, |attempt| {
                let lock = new(Lock::new(()));
                let _guard = lock.upgradable_read();
                attempt(lock)
            });
            for is_reader in [false, true] {
                let of = if is_reader { "read by the same thread" } else { "read" };
                row(name, &format!("{of}, and reserved for a writer"), &attempts, |attempt| {
                    let lock = new(Lock::new(()));
                    let (guard, first) = (lock.read(), lock.read());
                    let waiter = Waiter::asleep(move || drop(lock.write()));
                    RwLockReadGuard::unlock_fair(first);
                    let is_taken = match is_reader {
                        true => attempt(lock),
                        false => kept(lock, &attempts, attempt),
                    };
                    drop(guard);
                    waiter.resume();
                    is_taken
                });
            }
            rows_are(name, 10);
        }
    };
}
upgradable!(RwLock, walk_upgradable);
upgradable!(FairRwLock, walk_fair_upgradable);

#[test]
fn attempts_on_a_reader_writer_lock_have_the_results_of_the_table() {
    let _alone = alone();
    walk_rwlock();
    walk_upgradable();
    walk_fair_rwlock();
    walk_fair_upgradable();
    walk_percpu_rwlock();
    rows_are("PercpuRwLock", 7);
}

#[test]
fn attempts_on_a_semaphore_have_the_results_of_the_table() {
    let _alone = alone();
    let attempts: [Attempt<Semaphore>; 2] = [
        |semaphore| semaphore.try_acquire().is_some(),
        |semaphore| semaphore.try_acquire_for(NOW).is_some(),
    ];
    let walk = |state: &str, is_taken: bool, set_up: &dyn Fn(Attempt<Semaphore>) -> bool| {
        let result = if is_taken { "takes it" } else { "fails" };
        let row = format!("| `Semaphore` | {state} | {result} | {result} |");
        assert!(TABLES.contains(&row), "{row}");
        for attempt in attempts {
            assert_eq!(set_up(attempt), is_taken, "{state}");
        }
    };
    walk("one permit", true, &|attempt| attempt(&Semaphore::new(1)));
    walk("no permit", false, &|attempt| attempt(&Semaphore::new(0)));
    walk("one permit, and a thread waits for two", false, &|attempt| {
        let semaphore = new(Semaphore::new(1));
        let waiter = Waiter::asleep(move || drop(semaphore.acquire_many(2)));
        let is_taken = attempt(semaphore);
        assert!(semaphore.add_permits(1));
        waiter.resume();
        is_taken
    });
    rows_are("Semaphore", 3);
}
