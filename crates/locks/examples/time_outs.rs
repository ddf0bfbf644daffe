//! Waiting with a time-out or a deadline.
//!
//! `cargo run --release --package lockwright --example time_outs`

use lockwright::{Condvar, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(20);

fn main() {
    let (balance, rates) = (Mutex::new(100), RwLock::new(vec![1.0, 2.0]));

    // This thread holds the lock for longer than the other thread is willing to wait.
    let held = balance.lock();
    let began = Instant::now();
    let found = thread::scope(|scope| {
        scope.spawn(|| balance.try_lock_for(SHORT).map(|balance| *balance)).join()
    });
    assert_eq!(found.expect("no panic"), None);
    println!("no balance within {SHORT:?}: gave up after {:?}", began.elapsed());
    drop(held);

    // One deadline for several steps.
    let deadline = Instant::now() + SHORT;
    match (balance.try_lock_until(deadline), rates.try_read_until(deadline)) {
        (Some(balance), Some(rates)) => println!("{balance} at {rates:?}"),
        _ => println!("not in time"),
    }

    // A reader keeps a writer out. The writer gives up, and later readers and writers are not affected.
    let reader = rates.read();
    assert!(rates.try_write_for(SHORT).is_none());
    assert_eq!(*rates.read(), *reader, "a reader may read again");
    drop(reader);
    assert!(rates.try_write().is_some());

    // Wait for a change, until a deadline.
    let changed = Condvar::new();
    let mut guard = balance.lock();
    let until = Instant::now() + SHORT;
    while *guard == 100 && !changed.wait_until(&mut guard, until).timed_out() {}
    println!("the balance is still {guard} after {SHORT:?}");
}
