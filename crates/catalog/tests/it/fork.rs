//! A forked child uses locks that its thread held while other threads queued for them.

use super::{Over, alone, not_run};
use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::{RawPercpuRwLock, ReadIn};
use lockwright::rwlock::{Fair, RawRwLock};
use lockwright::semaphore::RawSemaphore;
use lockwright_core::native::Native;
use lockwright_core::platform::{Clock, QueueNodes};
use lockwright_core::raw::RawLock;
use lockwright_linux::osq::OsqLock;
use lockwright_linux::qspinlock::{CnaSpinlock, Fifo, Hybrid, HybridBounded, Park, QSpinlock, cna};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
    fn alarm(seconds: u32) -> u32;
}

/// What a child does first with the lock that its thread held when it was forked.
#[derive(Clone, Copy)]
enum First {
    /// Gives it back.
    Unlocks,
    /// Has another thread ask for it, which finds the waiters that do not exist here.
    IsAskedForIt,
}

/// Forks while `waiters` threads wait for `lock`, which the caller holds; the child must be able to
/// give it back and take it again, with two threads. Returns the child's exit status.
fn fork_while_others_wait<L: RawLock>(lock: &'static L, waiters: usize, first: First) -> c_int {
    lock.lock();
    let started = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..waiters {
            scope.spawn(|| {
                started.fetch_add(1, Relaxed);
                lock.lock();
                // SAFETY: taken above.
                unsafe { lock.unlock() };
            });
        }
        while started.load(Relaxed) < waiters as u32 {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20));
        // SAFETY: the child below only uses the lock, starts threads and exits.
        let child = unsafe { fork() };
        if child == 0 {
            in_child(lock, first);
        }
        // SAFETY: taken above, in this process.
        unsafe { lock.unlock() };
        let mut status = -1;
        // SAFETY: our child, and a valid place for the status.
        assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
        status
    })
}

/// Exits with 0 if the lock works, is killed by an alarm if it hangs.
fn in_child<L: RawLock>(lock: &'static L, first: First) -> ! {
    // SAFETY: ends this process if it hangs.
    unsafe { alarm(10) };
    // SAFETY: the thread of this process that came through the fork holds the lock.
    let unlock = || unsafe { lock.unlock() };
    match first {
        First::Unlocks => unlock(),
        First::IsAskedForIt => thread::scope(|scope| {
            scope.spawn(|| {
                lock.lock();
                // SAFETY: taken above.
                unsafe { lock.unlock() };
            });
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
    let status = c_int::from(count.load(Relaxed) != 600);
    // SAFETY: leaves without running the parent's destructors.
    unsafe { _exit(status) }
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
    // SAFETY: the child reads a byte and exits.
    let child = unsafe { fork() };
    if child == 0 {
        // SAFETY: mapped in the child, too.
        let byte = unsafe { page.cast::<u8>().read() };
        // SAFETY: leaves without running the parent's destructors.
        unsafe { _exit(byte.into()) };
    }
    let mut status = -1;
    // SAFETY: our child, and a valid place for the status.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    if status != 0 {
        not_run("this machine ignores MADV_WIPEONFORK");
    }
    status == 0
}

#[test]
fn a_forked_child_uses_a_lock_with_a_pending_waiter() {
    let _alone = alone();
    static LOCK: QSpinlock<Native> = QSpinlock::INIT;
    if forks_can_be_told() {
        assert_eq!(fork_while_others_wait(&LOCK, 1, First::Unlocks), 0);
    }
}

#[test]
fn a_forked_child_uses_a_lock_with_a_queue() {
    let _alone = alone();
    static LOCK: QSpinlock<Native> = QSpinlock::INIT;
    if forks_can_be_told() {
        assert_eq!(fork_while_others_wait(&LOCK, 3, First::Unlocks), 0);
    }
}

#[test]
fn a_forked_child_uses_a_numa_aware_lock_with_a_queue() {
    let _alone = alone();
    static LOCK: CnaSpinlock<Native> = CnaSpinlock::INIT;
    if forks_can_be_told() {
        assert_eq!(fork_while_others_wait(&LOCK, 3, First::Unlocks), 0);
    }
}

/// While the parent's thread held the lock, the head of the queue has gone to sleep: the word is slow,
/// and the hash has an entry of a thread that does not exist in the child.
fn a_child_outlives_a_sleeping_head<L: RawLock>(locks: [&'static L; 2]) {
    if forks_can_be_told() {
        for (lock, first) in locks.into_iter().zip([First::Unlocks, First::IsAskedForIt]) {
            assert_eq!(fork_while_others_wait(lock, 3, first), 0);
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
        assert_eq!(fork_while_others_wait(&FAIR, 3, First::IsAskedForIt), 0);
    }
}

/// Exits with 0 if the lock, which this thread reads, is read until it gives it back, and nobody else reads it.
fn write_in_child(lock: &'static RawPercpuRwLock<Native>) -> ! {
    // SAFETY: ends this process if it hangs.
    unsafe { alarm(10) };
    let writes = || {
        let is_ours = lock.lock_until(Native::now_ns() + 20_000_000);
        if is_ours {
            // SAFETY: taken above.
            unsafe { lock.unlock() };
        }
        is_ours
    };
    let elsewhere = || thread::scope(|scope| scope.spawn(writes).join().expect("no panic"));
    let is_kept_out = !elsewhere();
    // SAFETY: read before the fork.
    unsafe { lock.unlock_shared() };
    let status = c_int::from(!is_kept_out || !elsewhere());
    // SAFETY: leaves without running the parent's destructors.
    unsafe { _exit(status) }
}

#[test]
fn a_forked_child_reads_in_the_slot_of_its_thread_and_in_no_other() {
    let _alone = alone();
    static LOCK: RawPercpuRwLock<Native> = RawPercpuRwLock::INIT;
    let read = |lock: &RawPercpuRwLock<Native>| {
        (0..1 << 20).find(|_| {
            let is_in_slot = lock.lock_shared_in() == ReadIn::Slot;
            if !is_in_slot {
                // SAFETY: taken above.
                unsafe { lock.unlock_shared() };
            }
            is_in_slot
        })
    };
    if !forks_can_be_told() {
        return;
    }
    if read(&LOCK).is_none() {
        return not_run("readers use no slots without membarrier");
    }
    let mut status = -1;
    let (has_read, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let over = Over(&is_over);
        scope.spawn(|| {
            LOCK.lock_shared();
            has_read.store(true, Relaxed);
            while !is_over.load(Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            // SAFETY: taken above.
            unsafe { LOCK.unlock_shared() };
        });
        while !has_read.load(Relaxed) {
            thread::yield_now();
        }
        // SAFETY: the child below only uses the lock, starts threads and exits.
        let child = unsafe { fork() };
        if child == 0 {
            write_in_child(&LOCK);
        }
        // SAFETY: our child, and a valid place for the status.
        assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
        drop(over);
    });
    // SAFETY: read above.
    unsafe { LOCK.unlock_shared() };
    assert_eq!(status, 0);
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

/// Exits with 0 if the caller is the head of the queue as soon as it joins.
fn join_in_child(queue: &OsqLock<Native>) -> ! {
    // SAFETY: ends this process if it hangs.
    unsafe { alarm(10) };
    let me = Native::claim_node().expect("a node");
    // SAFETY: claimed above, and in no queue.
    let is_head = unsafe { queue.lock(me, || true) };
    if is_head {
        // SAFETY: with this node.
        unsafe { queue.unlock(me) };
    }
    let status = c_int::from(!is_head || queue.is_locked());
    // SAFETY: leaves without running the parent's destructors.
    unsafe { _exit(status) }
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
    let mut status = -1;
    thread::scope(|scope| {
        let over = Over(&is_over);
        scope.spawn(spin);
        scope.spawn(spin);
        while !QUEUE.is_locked() {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20));
        // SAFETY: the child below only uses the queue and exits.
        let child = unsafe { fork() };
        if child == 0 {
            join_in_child(&QUEUE);
        }
        drop(over);
        // SAFETY: our child, and a valid place for the status.
        assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    });
    assert_eq!(status, 0);
}
