//! `KernelMutex`: the kernel's sleeping mutex, whose waiters spin while the owner runs.
//!
//! It is a reference to measure against: Linux's `struct mutex` as it is since Zijlstra's rework of its owner word
//! (2016), from its published description. The owner word names the owner and has three flags:
//!
//! ```text
//!  63                                             3    2         1          0
//! +------------------------------------------------+--------+---------+---------+
//! |                  thread                        | pickup | handoff | waiters |   owner
//! +------------------------------------------------+--------+---------+---------+
//! | the queue of spinners (OSQ)                                                 |
//! | the lock of the wait list, the first and the last waiter                    |
//! +-----------------------------------------------------------------------------+
//! ```
//!
//! - *waiters*: a thread is in the wait list. A thread that enters an empty list sets it, and a thread that leaves the
//!   list empty clears it, both with the list locked. A release that sees it looks at the list.
//! - *handoff*: the first waiter wants the lock to be handed to it. This waiter sets it, after it was woken and found
//!   the lock held. The owner's release clears it. It is legal only while a thread owns the lock.
//! - *pickup*: *thread* was given the lock and has not taken it yet. A release sets it, and that thread clears it. No
//!   other thread may take the lock.
//!
//! A state is written (thread, pickup, handoff, waiters).
//!
//! | state | means | moved by |
//! |---|---|---|
//! | (0,0,0,w) | free | any thread, to (t,0,0,w) |
//! | (t,0,0,0) | `t` owns it | `t`, to (0,0,0,0); the first thread in the list, to (t,0,0,1) |
//! | (t,0,0,1) | `t` owns it, and threads wait | `t`, to (0,0,0,1), and then it wakes the first waiter; this waiter, once it was woken, to (t,0,1,1); a thread that leaves the list empty, to (t,0,0,0) |
//! | (t,0,1,1) | `t` owns it, and has to hand it over | `t`, with the list locked, to (f,1,0,1) for the first waiter `f` |
//! | (f,1,0,1) | `f` may take it | `f`, to (f,0,0,1) |
//!
//! *Lock.* One compare-exchange from 0 takes the lock. A thread that finds the lock held spins if the owner has a CPU:
//! it queues in the [`OsqLock`], and the head of that queue tries again and again while the owner runs. It stops when
//! the owner has no CPU, or when another thread wants the CPU of the head. Then it enters the wait list and sleeps.
//! After each wake-up it tries again, and if it is the first waiter, it sets *handoff* and spins next to the head of
//! the queue, without queueing.
//!
//! *Unlock.* One compare-exchange to 0 releases the lock. With *waiters* the lock is released first, and then the first
//! waiter is woken: spinners and newcomers take the lock meanwhile. With *handoff* it is given to the first waiter,
//! which is woken, and stays taken until this waiter runs.
//!
//! A thread that is about to sleep clears `kick` of its node, tries once more with the list locked, and sleeps while
//! `kick` is 0. A waking thread has changed the owner word before, and sets `kick` with the list locked. So either the
//! attempt sees that change, or `kick` is set after it was cleared. The lock of the list orders both.
//!
//! Fairness: waiters are served in the order of their list. Other threads overtake the first waiter until it was woken
//! once and found the lock held. From then on no thread overtakes it. The other waiters wait until the waiters in front
//! are served. Spinners that have not queued in the list are served before them, without a bound on their number.
//!
//! Differences from the kernel: where the platform does not know which threads run (natively), a spinner stops after
//! the time that it costs to sleep and wake up. A spinner that stops because another thread wants its CPU sleeps at
//! once; the kernel lets the other thread run first. The kernel's queued spinlock guards the wait list; natively it is
//! the form of that lock whose waiters sleep. A thread without a queue node tries every millisecond, in no order.
//!
//! The lock must outlive every call, as in the kernel: a release looks at the list when another thread may own the lock
//! already. A thread that did not take the lock may release it.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | K1 | `compare_exchange` in `unlock` and, to free it, in `unlock_slowpath`, Release | `compare_exchange` in `take_free` and in `try_take`, Acquire | the owner's work |
//!
//! An owner that hands the lock over does so with the list locked. The waiter locks the list after that, to leave it,
//! before it returns from `lock`. So the lock of the list carries the owner's work there. The kernel has a release for
//! that as well.
//!
//! All writes of the owner word are read-modify-writes, so what one of them releases reaches every thread that acquires
//! a later one.

mod list;
mod wait;

use crate::events::Event;
use crate::osq::OsqLock;
use crate::platform::{
    Atomic, AtomicInt, Cells, ConstCells, ConstZeroed, Guarded, Zeroed, barrier_before_look,
};
use crate::qspinlock::pv::PvPlatform;
use crate::qspinlock::{Fifo, HybridBounded, QSpinlock};
use crate::queue::TailCode;
use crate::raw::{Order, RawLock, Schedules};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const WAITERS: u64 = 1;
const HANDOFF: u64 = 1 << 1;
const PICKUP: u64 = 1 << 2;
const FLAGS: u64 = WAITERS | HANDOFF | PICKUP;

/// Returns the thread that the word names; 0 for none.
const fn thread_in(word: u64) -> u64 {
    word & !FLAGS
}

/// The kernel's mutex.
#[repr(C)]
pub struct KernelMutex<P: Cells> {
    owner: P::U64,
    spinners: OsqLock<P>,
    wait_lock: QSpinlock<P>,
    /// Used instead of `wait_lock` where its owner may lose its CPU.
    bounded_wait_lock: QSpinlock<P, Fifo, HybridBounded>,
    /// The tail code of the first waiter. It is written with the list locked, and also read without. Threads without a
    /// queue node nap on it.
    first: P::U32,
    last: Guarded<P, TailCode>,
}

impl<P: ConstCells> KernelMutex<P> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self {
        owner: ConstZeroed::ZEROED,
        spinners: OsqLock::INIT,
        wait_lock: QSpinlock::INIT,
        bounded_wait_lock: QSpinlock::INIT,
        first: ConstZeroed::ZEROED,
        last: Guarded::const_new(TailCode::NONE),
    };
}

impl<P: PvPlatform> RawLock for KernelMutex<P> {
    const ORDER: Order = Order::None;
    const WAITERS_SLEEP: bool = true;
    const NEXT_OWNER_MAY_FREE: bool = false;
    const SCHEDULES: Schedules = Schedules::OfRows;

    fn new() -> Self {
        Self {
            owner: Zeroed::zeroed(),
            spinners: OsqLock::new(),
            wait_lock: RawLock::new(),
            bounded_wait_lock: RawLock::new(),
            first: Zeroed::zeroed(),
            last: Guarded::new(TailCode::NONE),
        }
    }
    #[inline]
    fn lock(&self) {
        if !self.take_free() {
            self.lock_slowpath();
        }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.take_free() || self.try_take(false).is_none()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // (t,0,0,0) -> (0,0,0,0)
        // ordering: Release; K1. On failure Relaxed: the failure value is not used.
        if self.owner.compare_exchange(P::this_thread(), 0, Release, Relaxed).is_err() {
            self.unlock_slowpath();
        }
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.owner);
        // ordering: Relaxed; nothing is read through it.
        thread_in(self.owner.load(Relaxed)) != 0
    }
}

impl<P: PvPlatform> KernelMutex<P> {
    #[inline(always)]
    fn take_free(&self) -> bool {
        // (0,0,0,0) -> (t,0,0,0)
        // ordering: Acquire; K1. On failure Relaxed: the failure value is not used.
        self.owner.compare_exchange(0, P::this_thread(), Acquire, Relaxed).is_ok()
    }

    /// Takes the lock if it is free or was given to the caller; otherwise returns the thread that has it. Asks for a
    /// handoff in that case, if `wants_handoff`.
    #[doc(alias = "__mutex_trylock_or_handoff")]
    fn try_take(&self, wants_handoff: bool) -> Option<u64> {
        let me = P::this_thread();
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.owner.load(Relaxed);
        loop {
            let owner = thread_in(seen);
            let new = match owner {
                0 => seen | me,
                _ if seen & PICKUP != 0 && owner == me => seen & !PICKUP,
                _ if wants_handoff && seen & (PICKUP | HANDOFF) == 0 => seen | HANDOFF,
                _ => return Some(owner),
            };
            // (0,0,0,w) -> (t,0,0,w), (t,1,0,w) -> (t,0,0,w), or (o,0,0,1) -> (o,0,1,1)
            // ordering: Acquire; K1. On failure Relaxed: only a hint, as above.
            match self.owner.compare_exchange(seen, new, Acquire, Relaxed) {
                Ok(_) if new & HANDOFF != 0 => return Some(owner),
                Ok(_) => return None,
                Err(now) => seen = now,
            }
        }
    }

    /// Releases the lock where threads wait, or for a thread that did not take it.
    #[doc(alias = "__mutex_unlock_slowpath")]
    #[cold]
    fn unlock_slowpath(&self) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.owner.load(Relaxed);
        while seen & HANDOFF == 0 {
            // (t,0,0,w) -> (0,0,0,w)
            // ordering: Release; K1. On failure Relaxed: only a hint, as above.
            match self.owner.compare_exchange(seen, seen & WAITERS, Release, Relaxed) {
                Ok(_) if seen & WAITERS == 0 => return,
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        let list = self.locked_list();
        let first = list.first();
        if seen & HANDOFF != 0 {
            P::count(Event::mutex_handoff);
            self.hand_over(first.map_or(0, |id| list.thread(id)));
        }
        let woken = first.map(|id| list.mark_woken(id));
        drop(list);
        if let Some(address) = woken {
            P::count(Event::mutex_wake);
            P::futex_wake(address, 1);
        }
    }

    /// Gives the lock to `thread`, or to any thread if `thread` is 0. For the owner, with the list locked.
    #[doc(alias = "__mutex_handoff")]
    fn hand_over(&self, thread: u64) {
        let pickup = if thread == 0 { 0 } else { PICKUP };
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.owner.load(Relaxed);
        loop {
            // (t,0,1,1) -> (f,1,0,1)
            let new = seen & WAITERS | thread | pickup;
            // ordering: Relaxed; published by the lock of the list, which `f` takes before it returns as the owner. On
            // failure Relaxed: only a hint, as above.
            match self.owner.compare_exchange(seen, new, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Says in the owner word that threads wait. For the first thread in the list, with the list locked.
    fn set_waiters(&self) {
        // (*,0,0,0) -> (*,0,0,1)
        // ordering: Relaxed; nothing is read through it: a release that sees it locks the list.
        self.owner.fetch_or(WAITERS, Relaxed);
    }
    /// Says that no thread waits, and ends what a waiter has asked for. For the owner, with the list locked.
    fn clear_flags(&self) {
        // (t,0,*,1) -> (t,0,0,0)
        // ordering: Relaxed; nothing is read through it.
        self.owner.fetch_and(!FLAGS, Relaxed);
    }
}
