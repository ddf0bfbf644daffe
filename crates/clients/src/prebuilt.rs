//! Clients of the queued spinlock that start in the middle of a queue.
//!
//! Two threads and a queue of *absent* waiters, which exist as nodes only. A thread that finds that
//! an absent waiter has been granted acts for it, so two threads play five.

use crate::turns::Turns;
use crate::{Client, Migrate};
use core::marker::PhantomData;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::queue::NodeId;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::pv::testing::{is_awake, put_to_sleep};
use lockwright_linux::qspinlock::{QSpinlock, Spin, Succession, Waiting};
use std::sync::Mutex;

/// A queue to start from: the CPUs of its absent waiters, in order. The lock is held by thread 1.
#[derive(Clone, Copy)]
pub struct StartQueue {
    /// The queue; the first is its head.
    pub primary: &'static [u32],
    /// The waiters that were set aside.
    pub secondary: &'static [u32],
    /// True if the threads have looked at the word before there was a queue, so that they try to become its pending
    /// waiter.
    pub is_late: bool,
    /// True if there is no queue node for thread 1.
    pub lacks_node: bool,
    /// True if the absent waiters sleep. The thread that kicks one acts for it.
    pub are_asleep: bool,
    /// True if the head wakes up for no reason: thread 0 acts for it at once.
    pub head_wakes: bool,
    /// The waiter, counted from the head, that thread 1 acts for as soon as it has unlocked: it finds
    /// that its predecessor sleeps, and sleeps until it is granted.
    pub comes: Option<usize>,
    /// True if the lock is reserved for the head. No thread acts for the head before a thread has taken the lock in
    /// front of it.
    pub is_reserved: bool,
}

/// These waiters, with nothing special.
const fn queue(primary: &'static [u32]) -> StartQueue {
    StartQueue {
        primary,
        secondary: &[],
        is_late: false,
        lacks_node: false,
        are_asleep: false,
        head_wakes: false,
        comes: None,
        is_reserved: false,
    }
}

/// The type of a queue to start from.
pub trait QueueState: Send + Sync + 'static {
    /// The name of the client that starts from here.
    const NAME: &'static str;
    /// The queue.
    const QUEUE: StartQueue;
}

macro_rules! queue_states {
    ($($(#[$doc:meta])+ $State:ident, $name:literal, $queue:expr;)+) => {$(
        $(#[$doc])+
        pub struct $State;
        impl QueueState for $State {
            const NAME: &'static str = $name;
            const QUEUE: StartQueue = $queue;
        }
    )+};
}
queue_states! {
    /// The head, a waiter behind it, and two set aside.
    TwoSetAside, "two-set-aside", StartQueue { secondary: &[4, 5], ..queue(&[2, 3]) };
    /// The head, and a waiter that it may set aside as soon as another one has queued behind it.
    OneToSort, "one-to-sort", queue(&[2, 3]);
    /// The head, and three waiters that it may set aside.
    ThreeToSort, "three-to-sort", queue(&[2, 3, 4, 5]);
    /// The head alone, and threads that still take it for an owner without waiters: they set the pending
    /// bit and take it back. One of them finds no queue node, so that it does not join the queue then.
    LateWithoutNode, "late-without-node", StartQueue { is_late: true, lacks_node: true, ..queue(&[2]) };
    /// The same, and a thread set aside.
    LateWithSecondary, "late-with-secondary",
        StartQueue { secondary: &[3], is_late: true, lacks_node: true, ..queue(&[2]) };
    /// The head sleeps and wakes up for no reason, also while the owner has half released the lock.
    HeadWakes, "head-wakes", StartQueue { are_asleep: true, head_wakes: true, ..queue(&[2]) };
    /// Two waiters who sleep, and threads that steal from them or queue behind them.
    TwoAsleep, "two-asleep", StartQueue { are_asleep: true, ..queue(&[2, 3]) };
    /// The head alone and a thread set aside, which both sleep, and a thread that finds no queue node.
    SecondaryAsleep, "secondary-asleep",
        StartQueue { secondary: &[3], lacks_node: true, are_asleep: true, ..queue(&[2]) };
    /// Waiters of two NUMA nodes, alternately. Thread 1 is granted by a head that has set a waiter aside, and sets the
    /// next one aside: behind the first, before it has the lock.
    AsideInTurn, "aside-in-turn", StartQueue { comes: Some(2), ..queue(&[2, 3, 4, 5, 6]) };
    /// A lock that is reserved for a head that does not run: only for policies that pass it then.
    HeadAway, "head-away", StartQueue { is_reserved: true, ..queue(&[2]) };
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
    turns: Turns<P>,
    _state: PhantomData<fn() -> Q>,
}

impl<P: Migrate, S: Succession<P>, Q: QueueState, W: Waiting<P>> FromQueue<P, S, Q, W> {
    /// # Safety
    /// The caller holds the lock.
    unsafe fn hold_and_unlock(&self) {
        // SAFETY: the caller holds this lock.
        unsafe { self.turns.count_and_unlock(&*self.lock) };
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
            Q::QUEUE.primary.iter().map(|cpu| on_cpu(*cpu, &|| lock.enqueue_absent())).collect();
        let mut tail = None;
        for cpu in Q::QUEUE.secondary {
            // SAFETY: the last one that was set aside.
            let build = || unsafe { QSpinlock::<P, S, W>::set_aside_absent(tail) };
            absent.push(on_cpu(*cpu, &build));
            tail = absent.last().map(|waiter| waiter.id);
        }
        if let (Some(head), Some(tail)) = (absent.first(), tail) {
            // SAFETY: built above, and no thread runs yet.
            unsafe { QSpinlock::<P, S, W>::give_secondary(head.id, tail) };
        }
        if Q::QUEUE.are_asleep {
            // SAFETY: built above.
            absent.iter().for_each(|waiter| unsafe { put_to_sleep(&lock, waiter.id) });
        }
        if Q::QUEUE.is_reserved {
            // SAFETY: no thread runs yet.
            unsafe { lock.reserve_for_absent() };
        }
        if let Some(at) = Q::QUEUE.comes {
            // SAFETY: built above.
            unsafe { put_to_sleep(&lock, absent[at - 1].id) };
        }
        P::run_on_cpu(1);
        QSpinlock::<P, S, W>::soil_node();
        let withheld = if Q::QUEUE.lacks_node { P::claim_node() } else { None };
        let withheld = Mutex::new(withheld);
        P::run_on_cpu(0);
        QSpinlock::<P, S, W>::soil_node();
        Self { lock, absent, withheld, turns: Turns::new(), _state: PhantomData }
    }
    fn body(&self, thread: usize) {
        if thread == 1 {
            // SAFETY: taken in `new`, for this thread.
            unsafe { self.lock.unlock() };
            if let Some(at) = Q::QUEUE.comes {
                self.act_for_behind(&self.absent[at], &self.absent[at - 1]);
            }
        } else if Q::QUEUE.head_wakes {
            self.act_for(&self.absent[0]);
        }
        let is_first = thread == 0 && !Q::QUEUE.is_reserved;
        if is_first || Q::QUEUE.are_asleep || Q::QUEUE.comes.is_some() {
            self.act_for_absent();
        }
        if Q::QUEUE.is_late {
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
        self.turns.check(&*self.lock);
        assert_eq!(
            self.turns.taken(),
            2 + self.absent.len() as u64,
            "somebody did not get the lock"
        );
    }
}
