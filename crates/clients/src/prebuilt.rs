//! Clients of the queued spinlock that start in the middle of a queue.
//!
//! Two threads and a queue of *absent* waiters, which exist as nodes only. A thread that finds that
//! an absent waiter has been granted acts for it, so two threads play five.

use crate::{Client, Migrate};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;
use lockwright_core::queue::NodeId;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::pv::testing::{is_awake, put_to_sleep};
use lockwright_linux::qspinlock::{QSpinlock, Spin, Succession, Waiting};
use std::sync::Mutex;

/// A queue to start from: the CPUs of its absent waiters, in order. The lock is held by thread 1.
pub trait QueueState: Send + Sync + 'static {
    /// The name of the client that starts from here.
    const NAME: &'static str;
    /// The queue; the first is its head.
    const PRIMARY: &'static [u32];
    /// The waiters that were set aside.
    const SECONDARY: &'static [u32] = &[];
    /// True if the threads have looked at the word before there was a queue, so that they try to become its pending
    /// waiter.
    const IS_LATE: bool = false;
    /// True if there is a queue node for thread 1.
    const HAS_NODE_1: bool = true;
    /// True if the absent waiters sleep. The thread that kicks one acts for it.
    const ARE_ASLEEP: bool = false;
    /// True if the head wakes up for no reason: thread 0 acts for it at once.
    const HEAD_WAKES: bool = false;
    /// The waiter, counted from the head, that thread 1 acts for as soon as it has unlocked: it finds
    /// that its predecessor sleeps, and sleeps until it is granted.
    const COMES: Option<usize> = None;
    /// True if the lock is reserved for the head. No thread acts for the head before a thread has taken the lock in
    /// front of it.
    const IS_RESERVED: bool = false;
}

/// The head, a waiter behind it, and two set aside.
pub struct TwoSetAside;
impl QueueState for TwoSetAside {
    const NAME: &'static str = "two-set-aside";
    const PRIMARY: &'static [u32] = &[2, 3];
    const SECONDARY: &'static [u32] = &[4, 5];
}

/// The head, and a waiter that it may set aside as soon as another one has queued behind it.
pub struct OneToSort;
impl QueueState for OneToSort {
    const NAME: &'static str = "one-to-sort";
    const PRIMARY: &'static [u32] = &[2, 3];
}

/// The head, and three waiters that it may set aside.
pub struct ThreeToSort;
impl QueueState for ThreeToSort {
    const NAME: &'static str = "three-to-sort";
    const PRIMARY: &'static [u32] = &[2, 3, 4, 5];
}

/// The head alone, and threads that still take it for an owner without waiters: they set the pending
/// bit and take it back. One of them finds no queue node, so that it does not join the queue then.
pub struct LateWithoutNode;
impl QueueState for LateWithoutNode {
    const NAME: &'static str = "late-without-node";
    const PRIMARY: &'static [u32] = &[2];
    const IS_LATE: bool = true;
    const HAS_NODE_1: bool = false;
}

/// The same, and a thread set aside.
pub struct LateWithSecondary;
impl QueueState for LateWithSecondary {
    const NAME: &'static str = "late-with-secondary";
    const PRIMARY: &'static [u32] = &[2];
    const SECONDARY: &'static [u32] = &[3];
    const IS_LATE: bool = true;
    const HAS_NODE_1: bool = false;
}

/// The head sleeps and wakes up for no reason, also while the owner has half released the lock.
pub struct HeadWakes;
impl QueueState for HeadWakes {
    const NAME: &'static str = "head-wakes";
    const PRIMARY: &'static [u32] = &[2];
    const ARE_ASLEEP: bool = true;
    const HEAD_WAKES: bool = true;
}

/// Two waiters who sleep, and threads that steal from them or queue behind them.
pub struct TwoAsleep;
impl QueueState for TwoAsleep {
    const NAME: &'static str = "two-asleep";
    const PRIMARY: &'static [u32] = &[2, 3];
    const ARE_ASLEEP: bool = true;
}

/// The head alone and a thread set aside, which both sleep, and a thread that finds no queue node.
pub struct SecondaryAsleep;
impl QueueState for SecondaryAsleep {
    const NAME: &'static str = "secondary-asleep";
    const PRIMARY: &'static [u32] = &[2];
    const SECONDARY: &'static [u32] = &[3];
    const HAS_NODE_1: bool = false;
    const ARE_ASLEEP: bool = true;
}

/// Waiters of two NUMA nodes, alternately. Thread 1 is granted by a head that has set a waiter aside, and sets the next
/// one aside: behind the first, before it has the lock.
pub struct AsideInTurn;
impl QueueState for AsideInTurn {
    const NAME: &'static str = "aside-in-turn";
    const PRIMARY: &'static [u32] = &[2, 3, 4, 5, 6];
    const COMES: Option<usize> = Some(2);
}

/// A lock that is reserved for a head that does not run: only for policies that pass it then.
pub struct HeadAway;
impl QueueState for HeadAway {
    const NAME: &'static str = "head-away";
    const PRIMARY: &'static [u32] = &[2];
    const IS_RESERVED: bool = true;
}

/// A waiter without a thread.
struct Absent {
    id: NodeId,
    /// True if a thread acts or has acted for it. The platform does not see this: only the thread that has granted a
    /// waiter is sure to find it granted.
    is_taken: AtomicBool,
}

/// Every thread that is queued or comes gets the lock, one at a time.
///
/// Thread 1 unlocks; both threads then lock and unlock once; the thread that grants an absent waiter acts for it after
/// its own turn.
pub struct FromQueue<P: Platform, S, Q, W = Spin> {
    /// In a place of its own: the entry of a sleeper names it.
    lock: Box<QSpinlock<P, S, W>>,
    absent: Vec<Absent>,
    /// The node that thread 1 does not have.
    withheld: Mutex<Option<NodeId>>,
    /// Acquisitions, counted under the lock.
    count: Guarded<P, u64>,
    /// Acquisitions, as the threads count them, unseen by the machine.
    acquired: AtomicU64,
    _state: PhantomData<fn() -> Q>,
}

impl<P: Migrate, S: Succession<P>, Q: QueueState, W: Waiting<P>> FromQueue<P, S, Q, W> {
    /// # Safety
    /// The caller holds the lock.
    unsafe fn hold_and_unlock(&self) {
        // SAFETY: the caller holds the lock that guards the counter.
        let count = unsafe { self.count.get() };
        // SAFETY: as above.
        unsafe { self.count.set(count + 1) };
        self.acquired.fetch_add(1, Relaxed);
        // SAFETY: the caller holds the lock.
        unsafe { self.lock.unlock() };
    }
    /// Acts for absent waiters as long as there is a granted one.
    fn act_for_absent(&self) {
        let is_ready = |waiter: &&Absent| {
            !waiter.is_taken.load(Relaxed)
                && QSpinlock::<P, S, W>::is_granted(waiter.id)
                && is_awake::<P>(waiter.id)
        };
        while let Some(waiter) = self.absent.iter().find(is_ready) {
            self.act_for(waiter);
        }
    }
    /// Acts for this one, unless another thread does.
    fn act_for(&self, waiter: &Absent) {
        self.act_for_behind(waiter, waiter);
    }
    /// The same with a predecessor to look at.
    fn act_for_behind(&self, waiter: &Absent, prev: &Absent) {
        if waiter.is_taken.swap(true, Relaxed) {
            return;
        }
        // SAFETY: built in `new`, and the first thread that takes it acts for it.
        unsafe { self.lock.act_for_behind(waiter.id, prev.id) };
        // SAFETY: taken in the name of the waiter.
        unsafe { self.hold_and_unlock() };
    }
}

impl<P: Migrate, S: Succession<P>, Q: QueueState, W: Waiting<P>> Client for FromQueue<P, S, Q, W> {
    const NAME: &'static str = Q::NAME;

    fn new(threads: usize) -> Self {
        assert_eq!(threads, 2, "two threads, and absent waiters on the other CPUs");
        let lock = Box::new(QSpinlock::new());
        lock.lock();
        let on_cpu = |cpu: u32, build: &dyn Fn() -> NodeId| {
            P::run_on_cpu(cpu);
            Absent { id: build(), is_taken: AtomicBool::new(false) }
        };
        let mut absent: Vec<_> =
            Q::PRIMARY.iter().map(|cpu| on_cpu(*cpu, &|| lock.enqueue_absent())).collect();
        let mut tail = None;
        for cpu in Q::SECONDARY {
            // SAFETY: the last one that was set aside.
            let build = || unsafe { QSpinlock::<P, S, W>::set_aside_absent(tail) };
            absent.push(on_cpu(*cpu, &build));
            tail = absent.last().map(|waiter| waiter.id);
        }
        if let (Some(head), Some(tail)) = (absent.first(), tail) {
            // SAFETY: built above, and no thread runs yet.
            unsafe { QSpinlock::<P, S, W>::give_secondary(head.id, tail) };
        }
        if Q::ARE_ASLEEP {
            // SAFETY: built above.
            absent.iter().for_each(|waiter| unsafe { put_to_sleep(&lock, waiter.id) });
        }
        if Q::IS_RESERVED {
            // SAFETY: no thread runs yet.
            unsafe { lock.reserve_for_absent() };
        }
        if let Some(at) = Q::COMES {
            // SAFETY: built above.
            unsafe { put_to_sleep(&lock, absent[at - 1].id) };
        }
        P::run_on_cpu(1);
        QSpinlock::<P, S, W>::soil_node();
        let withheld = if Q::HAS_NODE_1 { None } else { P::claim_node() };
        let withheld = Mutex::new(withheld);
        P::run_on_cpu(0);
        QSpinlock::<P, S, W>::soil_node();
        let (count, acquired) = (Guarded::new(0), AtomicU64::new(0));
        Self { lock, absent, withheld, count, acquired, _state: PhantomData }
    }
    fn body(&self, thread: usize) {
        if thread == 1 {
            // SAFETY: taken in `new`, for this thread.
            unsafe { self.lock.unlock() };
            if let Some(at) = Q::COMES {
                self.act_for_behind(&self.absent[at], &self.absent[at - 1]);
            }
        } else if Q::HEAD_WAKES {
            self.act_for(&self.absent[0]);
        }
        let is_first = thread == 0 && !Q::IS_RESERVED;
        if is_first || Q::ARE_ASLEEP || Q::COMES.is_some() {
            self.act_for_absent();
        }
        if Q::IS_LATE {
            self.lock.lock_late();
        } else {
            self.lock.lock();
        }
        // SAFETY: taken above.
        unsafe { self.hold_and_unlock() };
        self.act_for_absent();
    }
    fn finish(&self) {
        if let Some(id) = self.withheld.lock().expect("nobody panicked").take() {
            // SAFETY: claimed here, and in no queue.
            unsafe { P::release_node(id) };
        }
        let is_taken = |waiter: &Absent| waiter.is_taken.load(Relaxed);
        assert!(self.absent.iter().all(is_taken), "a waiter was forgotten");
        assert!(self.lock.try_lock(), "the lock or its queue did not become empty");
        // SAFETY: this thread holds the lock that guards the counter.
        let count = unsafe { self.count.get() };
        // SAFETY: taken above.
        unsafe { self.lock.unlock() };
        assert_eq!(count, self.acquired.load(Relaxed), "two threads held the lock at once");
        assert_eq!(count, 2 + self.absent.len() as u64, "somebody did not get the lock");
    }
}
