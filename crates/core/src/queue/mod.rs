//! Queues of spinning waiters: their nodes, the links between nodes, and the waits for a link or a grant.
//!
//! Every lock with a queue uses this module: the queued spinlocks, the mutex for programs and the queue of optimistic
//! spinners.
//!
//! These waits belong to two rows of the table in [`qspinlock`](crate::qspinlock):
//!
//! | id | store | read by | carries |
//! |----|-------|---------|---------|
//! | Q2 | the link, Release | `wait_for_link`, Acquire | the init of the linked node |
//! | Q3 | the grant, Release | `look_for_grant`, Acquire | the links behind the new head, and the old head's writes |

mod node;

pub use crate::platform::{NODES_MAX, NodeId};
pub use node::{NODES_PER_CPU, QNode, TailCode, node};

use crate::events::Event;
use crate::platform::{
    Atomic, Barriers, Bound, Cells, Clock, Counters, Placement, QueueNodes, SchedulerHints,
    Sleeping,
};
use crate::tunables::Tunable;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Acquire;

/// The operations that a lock asks for if its waiters spin, in a queue or not.
pub trait QueuePlatform:
    Cells + Barriers + QueueNodes<Node = QNode<Self>> + Placement + Clock + Counters
{
}
impl<P> QueuePlatform for P where
    P: Cells + Barriers + QueueNodes<Node = QNode<P>> + Placement + Clock + Counters
{
}

/// Counts the nesting level that a queue entry needed.
pub fn count_nesting<P: QueuePlatform>(id: NodeId) {
    match P::nesting_of(id) {
        0 => {}
        1 => P::count(Event::lock_use_node2),
        2 => P::count(Event::lock_use_node3),
        _ => P::count(Event::lock_use_node4),
    }
}

/// Claims a node, and waits for one if there is none. It polls, because there is no cell to wait on. Only reference
/// locks use it, and it waits only when 65,532 threads wait at once.
pub fn claim_patiently<P: QueueNodes + Barriers>() -> NodeId {
    loop {
        match P::claim_node() {
            Some(id) => return id,
            None => P::delay(64),
        }
    }
}

/// A bit of a link, above the tail code: the waiter that the link names may leave.
const MAY_LEAVE: u32 = 1 << 16;

/// Returns the waiter that a link names, if any.
#[inline]
pub fn linked(link: u32) -> Option<NodeId> {
    let id = TailCode::from_bits(link as u16).node()?;
    Some(if link & MAY_LEAVE == 0 { id } else { id.that_may_leave() })
}

/// Returns the waiter that a link names. The link is known to be set.
#[inline]
pub fn named(link: u32) -> NodeId {
    debug_assert!(linked(link).is_some(), "qspinlock: a link was lost");
    let id = TailCode::from_bits(link as u16).node_or_first();
    if link & MAY_LEAVE == 0 { id } else { id.that_may_leave() }
}

/// Returns the value of a link to `id`.
#[inline]
pub fn link_to(id: NodeId) -> u32 {
    u32::from(id.code().bits()) | if id.may_leave() { MAY_LEAVE } else { 0 }
}

/// Looks if `me` was granted, until the bound is reached or `is_over` says so. Returns the grant's value, or an error
/// if there was none.
pub fn look_for_grant<P: QueuePlatform>(
    me: &QNode<P>,
    bound: Bound,
    is_over: impl FnMut() -> bool,
) -> Result<u32, u32> {
    // ordering: Acquire; Q3.
    me.locked.cond_load_bounded(Acquire, bound, |granted| granted != 0, is_over)
}

/// The number of times that the head looks for the link of the next waiter before it naps. The link is late only if its
/// thread was preempted between two stores, which are next to each other.
const LINK_LOOKS: u32 = 1 << 10;
/// The time that the head naps between looks for that link, in nanoseconds. No thread tells it that the link is there.
const LINK_NAP_NS: u64 = 50_000;

/// Waits until a waiter has linked itself behind `me`, for as long as that takes. If it takes long, the caller sleeps.
pub fn wait_for_link<P: QueuePlatform + Sleeping>(me: &QNode<P>) {
    let look = |looks| {
        // ordering: Acquire; Q2.
        me.next.cond_load_bounded(Acquire, Bound::looks(looks), |link| link != 0, || false)
    };
    while look(LINK_LOOKS).is_err() {
        P::futex_wait(&me.next, 0, Some(P::now_ns().saturating_add(LINK_NAP_NS)));
    }
}

/// The time that a thread spins before it sleeps, in nanoseconds. It is the cost of putting a thread to sleep and
/// waking it. So a thread that spins that long without success has spent no more than twice the cost of sleeping at
/// once.
pub const SPIN_NS: u64 = 10_000;
/// The length of the first pause, unless another one is given.
const FIRST_PAUSES: u32 = 8;
/// Pauses from this length on are timed. Most waits end before that, and a look at the clock would not pay.
const TIMED_PAUSES: u32 = 32;
/// A pause that takes this long is not made longer. A look costs the owner a few transfers of a cache line, which is
/// little of that time. And a waiter looks too late by less time than it has waited.
const LONG_PAUSE_NS: u64 = 2_000;
/// A pause of this length is not made longer either: it is for machines whose clock hardly moves.
const PAUSES_MAX: u32 = 1 << 10;

/// A look after every pause, until the caller's pause says that it is over.
pub const UNTIL_OVER: Bound = Bound::until_stopped(1);

/// The back-off of one thread. Its pauses double until they are long, and then it spins for some time. On a single CPU,
/// and for a thread with a real-time policy, it is over at once.
pub struct Patience<P: QueuePlatform + SchedulerHints> {
    pauses: u32,
    /// The number of pauses that are left, no matter how long they take.
    left: u64,
    kind: Kind,
    /// The time at which the last pause ended, once pauses are timed.
    paused_ns: Option<u64>,
    /// The time at which the back-off is over, once the pauses are long.
    until_ns: Option<u64>,
    _platform: PhantomData<P>,
}

#[derive(PartialEq, Eq)]
enum Kind {
    /// It is over when the pauses are long.
    Short,
    /// It goes on for [`SPIN_NS`] more.
    Seated,
    /// It goes on for [`SPIN_NS`] more if there is a place to spin in, which it gives back afterwards.
    Long,
}

impl<P: QueuePlatform + SchedulerHints> Patience<P> {
    fn new(kind: Kind, pauses: u32) -> Self {
        let none = (P::must_not_spin() || P::has_single_cpu()).then_some(0);
        let left = none.or_else(|| P::tunable(Tunable::spin_pauses)).unwrap_or(u64::MAX);
        Self { pauses, left, kind, paused_ns: None, until_ns: None, _platform: PhantomData }
    }
    /// Returns a back-off of a few pauses, some microseconds in all.
    pub fn short() -> Self {
        Self::short_from(FIRST_PAUSES)
    }
    /// As [`short`](Self::short), but `pauses` is the length of the first pause.
    pub fn short_from(pauses: u32) -> Self {
        Self::new(Kind::Short, pauses)
    }
    /// Returns a back-off of a few pauses and [`SPIN_NS`], for a thread that has a place to spin in.
    pub fn seated() -> Self {
        Self::new(Kind::Seated, FIRST_PAUSES)
    }
    /// Returns a back-off of a few pauses, and of [`SPIN_NS`] more if there is a place to spin in.
    pub fn long() -> Self {
        Self::new(Kind::Long, FIRST_PAUSES)
    }
    /// Pauses. Returns `true` if the back-off is over.
    pub fn pause(&mut self) -> bool {
        if self.left == 0 {
            return true;
        }
        self.left -= 1;
        P::delay(self.pauses);
        if self.pauses < TIMED_PAUSES {
            self.pauses *= 2;
            return false;
        }
        let now_ns = P::now_ns();
        let took_ns = now_ns.saturating_sub(self.paused_ns.replace(now_ns).unwrap_or(now_ns));
        let is_short = took_ns < LONG_PAUSE_NS && self.pauses < PAUSES_MAX;
        if is_short && self.until_ns.is_none() {
            self.pauses *= 2;
            return false;
        }
        if self.kind == Kind::Short {
            return true;
        }
        match self.until_ns {
            Some(until_ns) => now_ns >= until_ns,
            None if self.kind == Kind::Seated || P::begin_spinning() => {
                self.until_ns = Some(now_ns.saturating_add(SPIN_NS));
                false
            }
            None => true,
        }
    }
}

impl<P: QueuePlatform + SchedulerHints> Drop for Patience<P> {
    fn drop(&mut self) {
        if self.kind == Kind::Long && self.until_ns.is_some() {
            P::end_spinning();
        }
    }
}
