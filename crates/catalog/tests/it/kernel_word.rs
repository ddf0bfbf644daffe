//! A lock with the kernel's word, behind a first attempt that is not its own.

use super::{Over, alone};
use lockwright_catalog::capabilities::SlowpathLock;
use lockwright_catalog::registry::{LOCKS, SlowpathVisitor, visit_kernel_word, visit_spinning};
use lockwright_core::native::Native;
use std::cell::UnsafeCell;
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed},
};
use std::thread;
use std::time::Duration;

/// A word that a lock with the kernel's word takes over, and a counter that it guards.
#[derive(Default)]
struct Guarded {
    word: AtomicU32,
    counter: UnsafeCell<u64>,
}

// SAFETY: `counter` is only touched under the lock.
unsafe impl Sync for Guarded {}

impl Guarded {
    /// Takes the lock as a kernel does: an attempt, and then the slow path. Returns true if it was needed.
    fn increment<L: SlowpathLock>(&self) -> bool {
        const { assert!(size_of::<L>() == 4 && align_of::<L>() == 4) };
        // SAFETY: the lock is one word, of which every value that it writes is legal for it.
        let lock = unsafe { &*(&raw const self.word).cast::<L>() };
        let attempt = self.word.compare_exchange(0, 1, Acquire, Relaxed);
        if let Err(seen) = attempt {
            lock.lock_contended(seen);
        }
        // SAFETY: the lock is held.
        let counter = unsafe { &mut *self.counter.get() };
        *counter += 1;
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        attempt.is_err()
    }
}

struct Contend;

impl SlowpathVisitor for Contend {
    type Output = ();

    fn visit<L: SlowpathLock>(self) {
        let (guarded, over) = (Guarded::default(), AtomicBool::new(false));
        let run = || {
            let (mut taken, mut contended) = (0, 0_u64);
            while !over.load(Relaxed) {
                taken += 1_u64;
                contended += u64::from(guarded.increment::<L>());
            }
            (taken, contended)
        };
        let (taken, contended) = thread::scope(|scope| {
            let _over = Over(&over);
            let threads = [scope.spawn(run), scope.spawn(run)];
            thread::sleep(Duration::from_millis(100));
            over.store(true, Relaxed);
            let counts = threads.map(|it| it.join().expect("no thread panics"));
            (counts[0].0 + counts[1].0, counts[0].1 + counts[1].1)
        });
        println!("{taken} acquisitions, {contended} through the slow path");
        assert_eq!(guarded.counter.into_inner(), taken);
        assert_eq!(guarded.word.into_inner(), 0, "a free lock is a word of zero");
    }
}

#[test]
fn the_slow_path_serves_a_caller_that_has_made_its_own_attempt() {
    struct IsThere;
    impl lockwright_catalog::registry::SpinVisitor for IsThere {
        type Output = ();
        fn visit<L: lockwright_core::raw::RawLock>(self) {}
    }
    let _alone = alone();
    let mut visited = 0;
    for row in LOCKS {
        println!("{}", row.name);
        if visit_kernel_word::<Native, _>(row, Contend).is_some() {
            visited += 1;
            let spins = visit_spinning::<Native, _>(row, IsThere).is_some();
            assert!(spins, "{} has the kernel's word and does not spin", row.name);
        }
    }
    assert!(visited >= 10 || lockwright_catalog::registry::ONLY.is_some(), "{visited} locks");
}
