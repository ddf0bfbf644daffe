//! A forked child uses locks that its thread held while other threads queued for them.

use super::children::{How, in_child};
use super::fresh::{can_write, read_in_slot, while_another_reads};
use super::{Over, alone, not_run, own_once};
use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::rwlock::{Fair, RawRwLock};
use lockwright::semaphore::RawSemaphore;
use lockwright_core::native::Native;
use lockwright_core::platform::QueueNodes;
use lockwright_core::raw::RawLock;
use lockwright_linux::osq::OsqLock;
use lockwright_linux::qspinlock::{CnaSpinlock, Fifo, Hybrid, HybridBounded, Park, QSpinlock, cna};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// What a child does first with the lock that its thread held when it was forked.
#[derive(Clone, Copy)]
enum First {
    /// Gives it back.
    Unlocks,
    /// Has another thread ask for it, which finds the waiters that do not exist here.
    IsAskedForIt,
}

/// Forks while `waiters` threads wait for `lock`, which the caller holds. Returns `true` if the child can give it back
/// and take it again, with two threads.
fn works_in_child<L: RawLock>(lock: &'static L, waiters: usize, first: First) -> bool {
    lock.lock();
    let started = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..waiters {
            scope.spawn(|| {
                started.fetch_add(1, Relaxed);
                own_once(lock);
            });
        }
        while started.load(Relaxed) < waiters as u32 {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20));
        let works = in_child(How::Fork, || works(lock, first));
        // SAFETY: taken above, in this process.
        unsafe { lock.unlock() };
        works
    })
}

/// In a child. Hangs if the lock does not work.
fn works<L: RawLock>(lock: &'static L, first: First) -> bool {
    // SAFETY: the thread of this process that came through the fork holds the lock.
    let unlock = || unsafe { lock.unlock() };
    match first {
        First::Unlocks => unlock(),
        First::IsAskedForIt => thread::scope(|scope| {
            scope.spawn(|| own_once(lock));
            thread::sleep(Duration::from_millis(20));
            unlock();
        }),
    }
    let count = AtomicU32::new(0);
    let rounds = || {
        for round in 0..200 {
            if round % 2 == 0 || !lock.try_lock() {
                lock.lock();
            }
            count.store(count.load(Relaxed) + 1, Relaxed);
            // SAFETY: taken above.
            unsafe { lock.unlock() };
        }
    };
    rounds();
    thread::scope(|scope| {
        scope.spawn(rounds);
        scope.spawn(rounds);
    });
    count.load(Relaxed) == 600
}

/// Returns `true` if a child finds a page that was to be wiped in children wiped. Emulators of user programs
/// accept the advice and do nothing; there a forked child cannot be told from its parent.
pub(super) fn forks_can_be_told() -> bool {
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new private mapping overlaps nothing.
    let page = unsafe { mmap_anonymous(std::ptr::null_mut(), 4096, protection, MapFlags::PRIVATE) };
    let page = page.expect("a page");
    // SAFETY: the mapping just made.
    unsafe { madvise(page, 4096, Advice::LinuxWipeOnFork) }.expect("Linux 4.14 or later");
    // SAFETY: mapped and writable.
    unsafe { page.cast::<u8>().write(1) };
    // SAFETY: mapped in the child, too.
    let is_wiped = in_child(How::Fork, || unsafe { page.cast::<u8>().read() } == 0);
    if !is_wiped {
        not_run("this machine ignores MADV_WIPEONFORK");
    }
    is_wiped
}

#[test]
fn a_forked_child_uses_a_lock_with_a_pending_waiter() {
    let _alone = alone();
    static LOCK: QSpinlock<Native> = QSpinlock::INIT;
    if forks_can_be_told() {
        assert!(works_in_child(&LOCK, 1, First::Unlocks));
    }
}

#[test]
fn a_forked_child_uses_a_lock_with_a_queue() {
    let _alone = alone();
    static LOCK: QSpinlock<Native> = QSpinlock::INIT;
    if forks_can_be_told() {
        assert!(works_in_child(&LOCK, 3, First::Unlocks));
    }
}

#[test]
fn a_forked_child_uses_a_numa_aware_lock_with_a_queue() {
    let _alone = alone();
    static LOCK: CnaSpinlock<Native> = CnaSpinlock::INIT;
    if forks_can_be_told() {
        assert!(works_in_child(&LOCK, 3, First::Unlocks));
    }
}

/// While the parent's thread held the lock, the head of the queue has gone to sleep: the word is slow,
/// and the hash has an entry of a thread that does not exist in the child.
fn a_child_outlives_a_sleeping_head<L: RawLock>(locks: [&'static L; 2]) {
    if forks_can_be_told() {
        for (lock, first) in locks.into_iter().zip([First::Unlocks, First::IsAskedForIt]) {
            assert!(works_in_child(lock, 3, first));
        }
    }
}

#[test]
fn a_forked_child_uses_a_parking_lock_whose_head_sleeps() {
    let _alone = alone();
    static LOCKS: [QSpinlock<Native, Fifo, Park>; 2] = [const { QSpinlock::INIT }; 2];
    a_child_outlives_a_sleeping_head(LOCKS.each_ref());
}

#[test]
fn a_forked_child_uses_a_hybrid_lock_whose_head_sleeps() {
    let _alone = alone();
    static LOCKS: [QSpinlock<Native, Fifo, Hybrid>; 2] = [const { QSpinlock::INIT }; 2];
    a_child_outlives_a_sleeping_head(LOCKS.each_ref());
}

#[test]
fn a_forked_child_uses_a_mutex_with_sleepers() {
    let _alone = alone();
    static LOCKS: [RawMutex<Native>; 2] = [const { RawMutex::INIT }; 2];
    a_child_outlives_a_sleeping_head(LOCKS.each_ref());
}

#[test]
fn a_forked_child_uses_a_reader_writer_lock_with_sleepers() {
    let _alone = alone();
    static LOCKS: [RawRwLock<Native>; 2] = [const { RawRwLock::INIT }; 2];
    a_child_outlives_a_sleeping_head(LOCKS.each_ref());
    static FAIR: RawRwLock<Native, Fair> = RawRwLock::INIT;
    if forks_can_be_told() {
        assert!(works_in_child(&FAIR, 3, First::IsAskedForIt));
    }
}

/// In a child: returns `true` if the lock, which this thread reads, is read until it gives it back, and no other thread
/// reads it.
fn is_read_until_given_back(lock: &'static RawPercpuRwLock<Native>) -> bool {
    let elsewhere =
        || thread::scope(|scope| scope.spawn(|| can_write(lock)).join().expect("no panic"));
    let is_kept_out = !elsewhere();
    // SAFETY: read before the fork.
    unsafe { lock.unlock_shared() };
    is_kept_out && elsewhere()
}

#[test]
fn a_forked_child_reads_in_the_slot_of_its_thread_and_in_no_other() {
    let _alone = alone();
    static LOCK: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;
    if !forks_can_be_told() || !read_in_slot(&LOCK) {
        return;
    }
    let mut is_well = true;
    while_another_reads(&LOCK, || {
        is_well = in_child(How::Fork, || is_read_until_given_back(&LOCK));
    });
    // SAFETY: read above.
    unsafe { LOCK.unlock_shared() };
    assert!(is_well);
}

#[test]
fn a_forked_child_uses_a_semaphore_with_sleepers() {
    let _alone = alone();
    static LOCKS: [RawSemaphore<Native, 1>; 2] = [const { RawSemaphore::INIT }; 2];
    a_child_outlives_a_sleeping_head(LOCKS.each_ref());
}

#[test]
fn a_forked_child_uses_the_lock_for_programs_whose_head_sleeps() {
    let _alone = alone();
    static LOCKS: [CnaSpinlock<Native, cna::V10, HybridBounded>; 2] =
        [const { QSpinlock::INIT }; 2];
    a_child_outlives_a_sleeping_head(LOCKS.each_ref());
}

/// In a child: returns `true` if the caller is the head of the queue as soon as it joins.
fn joins_as_head(queue: &OsqLock<Native>) -> bool {
    let me = Native::claim_node().expect("a node");
    // SAFETY: claimed above, and in no queue.
    let is_head = unsafe { queue.lock(me, || true) };
    if is_head {
        // SAFETY: with this node.
        unsafe { queue.unlock(me) };
    }
    is_head && !queue.is_locked()
}

#[test]
fn a_forked_child_forgets_a_queue_of_spinners_that_do_not_exist_in_it() {
    let _alone = alone();
    static QUEUE: OsqLock<Native> = OsqLock::INIT;
    if !forks_can_be_told() {
        return;
    }
    let is_over = AtomicBool::new(false);
    let spin = || {
        let me = Native::claim_node().expect("a node");
        // SAFETY: as above.
        if unsafe { QUEUE.lock(me, || is_over.load(Relaxed)) } {
            while !is_over.load(Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            // SAFETY: this thread is the head.
            unsafe { QUEUE.unlock(me) };
        }
        // SAFETY: claimed above, and in no queue any more.
        unsafe { Native::release_node(me) };
    };
    thread::scope(|scope| {
        let _over = Over(&is_over);
        scope.spawn(spin);
        scope.spawn(spin);
        while !QUEUE.is_locked() {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20));
        assert!(in_child(How::Fork, || joins_as_head(&QUEUE)));
    });
}
