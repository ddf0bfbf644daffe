//! CNA v10 (April 2020): the head searches the whole queue, before it waits for the lock and once more when it has it.
//!
//! The turn of a head:
//!
//! 1. *When it becomes the head*: if the threshold is reached, it will flush. Otherwise it searches the queue for a
//!    waiter of its node. It moves all that it has passed to the secondary queue, in one piece and in order. If it
//!    finds no waiter, nothing moves.
//! 2. *When it has the lock*: if it found none, it searches on from the last waiter that it has looked at.
//! 3. *Handoff*: if it found a waiter, it grants the next one, which takes the secondary queue over. Otherwise it puts
//!    the secondary queue in front and grants its head.
//!
//! | found | the secondary queue is empty | it is not empty |
//! |---|---|---|
//! | a waiter of the preferred node, or a prioritized one, or v10 as posted reports one although it has moved none | grant next | grant next, which takes the secondary queue over |
//! | none up to and including this one | grant next | put the secondary queue in front, grant its head |
//! | the threshold is reached, CNA is switched off, or rules of one's own have stopped the search | grant next | the same |

use super::super::{Alone, Grant, Succession, Word};
use super::numa::{Numa, behind, is_switched_on, none_if_off};
use super::secondary::Secondary;
use super::threshold::Threshold;
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::{NodeId, QNode, QueuePlatform, linked, node};
use crate::raw::{FairnessThreshold, Order};
use crate::tunables::Tunable;
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

/// A search for a waiter of the preferred node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// The whole queue when the head becomes the head, and the rest of it once it has the lock.
    Twice,
    /// As `Twice`, but the second search has forgotten how many waiters the first one passed. It moves them only
    /// together with others that it has passed itself. A waiter of the preferred node directly behind them stays where
    /// it is, and the first waiter gets its turn, of whatever node it is.
    TwiceForgetful,
    /// One search, which goes on for as long as the lock is busy. Once the head has seen the lock free, it looks at no
    /// more than this many waiters for each NUMA node of the machine.
    Once {
        /// The number of waiters for each node.
        waiters_per_node: u32,
    },
}

/// The rules of v10 and of the changes that its review attached.
pub trait V10Rules: Send + Sync + 'static {
    /// The limit after which waiters in the secondary queue get their turn in any case.
    const THRESHOLD: Threshold = Threshold::Handoffs { log2: 16 };
    /// The search.
    const SCAN: Scan = Scan::TwiceForgetful;
    /// True if a prioritized waiter that is granted stands for the preferred node, so that the preference survives it.
    const PRIORITIZED_INHERITS: bool = false;
    /// True if heads hand a number over: see [`hand_over`](Self::hand_over).
    const HANDS_OVER: bool = false;

    /// Decides about a waiter at which the search looks.
    #[inline]
    fn decide(waiter: SeenWaiter) -> Ruling {
        if waiter.is_near { Ruling::Follow } else { Ruling::Pass }
    }
    /// Returns the number that the next head gets from this one, which got `number`. `aside` is how many waiters this
    /// head has set aside, and `is_near` is true if the next head is of the preferred node. The first number is 0.
    fn hand_over(number: u32, aside: u32, is_near: bool) -> u32 {
        let _ = (number, aside, is_near);
        0
    }
}

/// A waiter at which the search looks, and what the head knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenWaiter {
    /// True if it is of the preferred NUMA node, or stands for it, or is prioritized.
    pub is_near: bool,
    /// The NUMA node on which it is.
    pub numa_node: u16,
    /// The preferred NUMA node.
    pub prefers: u16,
    /// The number of waiters in front of it that this head has passed.
    pub passed: u32,
    /// The number that the last head has handed over.
    pub number: u32,
}

/// What the search does with a waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The waiter is the next head. All waiters in front of it are set aside.
    Follow,
    /// The search goes on behind it.
    Pass,
    /// The search ends, and sets no waiter aside. Those that are set aside already get their turn; if there are none,
    /// the next waiter does.
    Stop,
}

/// As the code was posted.
pub struct Posted;
impl V10Rules for Posted {}

/// As the text of the posting describes it: the second search remembers what the first one has passed.
pub struct AsDescribed;
impl V10Rules for AsDescribed {
    const SCAN: Scan = Scan::Twice;
}

/// The third patch of the series without the fourth, which adds the threshold.
pub struct WithoutThreshold;
impl V10Rules for WithoutThreshold {
    const THRESHOLD: Threshold = Threshold::Never;
}

/// With the review's first attachment: a threshold in time, 10 ms.
pub struct WithTime;
impl V10Rules for WithTime {
    const THRESHOLD: Threshold = Threshold::Time { ns: 10_000_000 };
}

/// With the review's second attachment, which needs the first one: few looks once the lock is free.
pub struct WithLimit;
impl V10Rules for WithLimit {
    const THRESHOLD: Threshold = WithTime::THRESHOLD;
    const SCAN: Scan = Scan::Once { waiters_per_node: 4 };
    const PRIORITIZED_INHERITS: bool = true;
}

/// The succession of v10 with the rules `R`.
pub struct CnaV10<R = Posted>(PhantomData<fn() -> R>);

/// The head's knowledge about the waiter to grant: `partial_order` in the posting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outlook {
    /// The next waiter may be granted without giving up the preference.
    Found {
        /// True if it is of the preferred node; false if it is only prioritized, or was passed and not moved.
        is_preferred: bool,
    },
    /// No waiter up to and including this one, which may be the head, is of the preferred node.
    NoneUpTo(NodeId),
    /// The waiters in the secondary queue are due, or the rules have stopped the search.
    Flush,
}

/// The state of the head of the queue during its turn.
pub struct SearchTurn {
    /// The preferred NUMA node.
    prefers: u16,
    outlook: Outlook,
    /// The number of waiters behind the head that were looked at and are not of the preferred node.
    passed: u32,
    secondary: Secondary,
    /// The time at which the first of a row of heads became the head; 0 if handoffs are counted instead.
    since_ns: u64,
    /// The number that the last head has handed over; 0 if heads hand none over.
    number: u32,
    /// The number of waiters that this head has set aside.
    aside: u32,
}

// SAFETY: a grant names the waiter linked behind the head, or the head of the secondary queue, which is then in front.
// Waiters move between the queues in one piece, their ends relinked.
unsafe impl<P: QueuePlatform, R: V10Rules> Succession<P> for CnaV10<R> {
    const ORDER: Order =
        if matches!(R::THRESHOLD, Threshold::Never) { Order::None } else { Order::Grouped };
    const STEPS: bool = matches!(R::SCAN, Scan::Once { .. });
    type Turn = SearchTurn;

    fn fairness_threshold(
        numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        none_if_off(numa_nodes, set, |none| R::THRESHOLD.of_fairness(true, set, none))
    }
    fn enter(me: &QNode<P>) {
        Numa::enter(me);
        R::THRESHOLD.enter(me);
        if R::HANDS_OVER {
            // ordering: Relaxed; published by Q2.
            me.prev.store(0, Ordering::Relaxed);
        }
    }

    #[doc(alias = "cna_pre_scan")]
    fn become_head(id: NodeId, me: &QNode<P>, granted: u32) -> SearchTurn {
        let mut turn = SearchTurn {
            prefers: Numa::of(me).preferred(),
            outlook: Outlook::NoneUpTo(id),
            passed: 0,
            secondary: Secondary::of_grant(granted),
            since_ns: R::THRESHOLD.since_ns(me),
            // ordering: Relaxed; written by the last head before it granted, Q3.
            number: if R::HANDS_OVER { me.prev.load(Ordering::Relaxed) } else { 0 },
            aside: 0,
        };
        if matches!(R::THRESHOLD, Threshold::Time { .. }) && turn.since_ns == 0 {
            turn.since_ns = P::now_ns().max(1);
        }
        if !is_switched_on::<P>() {
            turn.outlook = Outlook::Flush;
        } else if R::THRESHOLD.is_over(me, turn.since_ns, true) {
            turn.outlook = Outlook::Flush;
            P::count(Event::cna_flush_threshold);
        } else if !matches!(R::SCAN, Scan::Once { .. }) {
            turn.search::<P, R>(me, u32::MAX);
        }
        turn
    }

    /// Looks at one more waiter, under [`Scan::Once`]. At the end of the queue it looks again later: there may be
    /// another one.
    fn step(_id: NodeId, me: &QNode<P>, turn: &mut SearchTurn) -> bool {
        turn.search::<P, R>(me, 1);
        matches!(turn.outlook, Outlook::NoneUpTo(_))
    }

    fn before_taking(_id: NodeId, me: &QNode<P>, turn: &mut SearchTurn) {
        if let Scan::Once { waiters_per_node } = R::SCAN {
            turn.search::<P, R>(me, waiters_per_node.saturating_mul(P::numa_nodes()));
        }
    }

    fn try_clear_tail(word: &P::Word, seen: Word, after: u16, turn: &mut SearchTurn) -> Alone {
        turn.secondary.try_clear_tail::<P>(word, seen, after)
    }

    #[doc(alias = "cna_pass_lock")]
    fn choose(_id: NodeId, me: &QNode<P>, mut turn: SearchTurn) -> Grant {
        if matches!(R::SCAN, Scan::Twice | Scan::TwiceForgetful) {
            turn.search_on::<P, R>(me);
        }
        let next = behind(me);
        let is_found = matches!(turn.outlook, Outlook::Found { .. });
        if !is_found && !turn.secondary.is_empty() {
            let grant = turn.secondary.put_in_front::<P>(next);
            turn.hand_over::<P, R>(node(grant.to));
            return grant;
        }
        P::count(match turn.outlook {
            Outlook::Found { is_preferred: true } => Event::cna_handoff_local,
            Outlook::Flush => Event::cna_handoff_unseen,
            _ => Event::cna_handoff_remote,
        });
        turn.pass_on::<P, R>(me, node(next));
        turn.hand_over::<P, R>(node(next));
        turn.secondary.grant_with(next)
    }
}

impl SearchTurn {
    /// Searches on from the last waiter that was looked at, if none was found.
    fn search_on<P: QueuePlatform, R: V10Rules>(&mut self, me: &QNode<P>) {
        let forgotten = if matches!(R::SCAN, Scan::TwiceForgetful) { self.passed } else { 0 };
        let Outlook::NoneUpTo(last) = self.outlook else { return };
        self.search_behind::<P, R>(me, (last, forgotten), u32::MAX);
    }
    /// As [`search_on`](Self::search_on), looks at up to `waiters_max` waiters, and has forgotten none.
    fn search<P: QueuePlatform, R: V10Rules>(&mut self, me: &QNode<P>, waiters_max: u32) {
        let Outlook::NoneUpTo(last) = self.outlook else { return };
        self.search_behind::<P, R>(me, (last, 0), waiters_max);
    }
    /// Looks at up to `waiters_max` waiters behind `last` for one that may follow, which is one of the preferred node
    /// unless the rules decide otherwise. Moves all waiters between the head and that one to the secondary queue,
    /// unless it has forgotten all that were passed.
    #[doc(alias = "cna_scan_main_queue")]
    fn search_behind<P: QueuePlatform, R: V10Rules>(
        &mut self,
        me: &QNode<P>,
        (mut last, forgotten): (NodeId, u32),
        waiters_max: u32,
    ) {
        for _ in 0..waiters_max {
            // ordering: Acquire; Q2.
            let Some(waiter) = linked(node::<P>(last).next.load(Ordering::Acquire)) else { break };
            P::count(Event::cna_scanned);
            let numa = Numa::of(node::<P>(waiter));
            match R::decide(self.seen(numa)) {
                Ruling::Follow => {
                    if self.passed > forgotten {
                        self.secondary.append(me, last, waiter);
                        P::count_many(Event::cna_set_aside, self.passed.into());
                        self.aside = self.passed;
                        self.passed = 0;
                    }
                    let is_preferred = self.passed == 0 && numa.is_of(self.prefers);
                    self.outlook = Outlook::Found { is_preferred };
                    return;
                }
                Ruling::Pass => self.passed += 1,
                Ruling::Stop => {
                    self.outlook = Outlook::Flush;
                    return;
                }
            }
            last = waiter;
        }
        self.outlook = Outlook::NoneUpTo(last);
    }
    /// Returns what the rules are told of a waiter.
    fn seen(&self, numa: Numa) -> SeenWaiter {
        let &Self { prefers, passed, number, .. } = self;
        SeenWaiter {
            is_near: numa.may_follow(prefers),
            numa_node: numa.real(),
            prefers,
            passed,
            number,
        }
    }
    /// Hands the number of the rules over to the next head.
    fn hand_over<P: QueuePlatform, R: V10Rules>(&self, next: &QNode<P>) {
        if R::HANDS_OVER {
            let is_near = Numa::of(next).is_of(self.prefers);
            // ordering: Relaxed; published by the grant, Q3.
            next.prev.store(R::hand_over(self.number, self.aside, is_near), Ordering::Relaxed);
        }
    }
    /// Passes the count or the time on to the next head, and what a prioritized one inherits.
    fn pass_on<P: QueuePlatform, R: V10Rules>(&self, me: &QNode<P>, next: &QNode<P>) {
        if self.secondary.is_empty() {
            return;
        }
        R::THRESHOLD.pass_on(me, self.since_ns, next);
        if R::PRIORITIZED_INHERITS && Numa::of(next).is_prioritized() {
            Numa::inherit(next, self.prefers);
        }
    }
}
