//! Compact NUMA-aware succession (Dice and Kogan, EuroSys 2019; kernel postings v10 to v15).
//!
//! Waiters of the NUMA node that has the lock stay in the *primary* queue. Waiters of other nodes are *set aside*: they
//! move to a *secondary* queue, which is *put in front* (spliced) later. So the lock and the data it guards stay in one
//! node's caches for a while. A threshold ends that while.
//!
//! ```text
//!   head ─> local ─> local ─> ... ─> newest            primary, in the word's tail
//!    │
//!    └ granted value: tail of   remote ─> ... ─> remote      secondary, circular
//!                                  ^                │
//!                                  └────────────────┘
//! ```
//!
//! The head of the queue does all of this alone. It inherits the queues through the grant that made it the head (Q3).
//! It may touch its own link, the links of all waiters that are followed by a linked one, and the secondary queue. It
//! may not touch the link of the newest waiter, which belongs to the next newcomer.
//!
//! The versions are two algorithms, each in a file of its own: v10 and the first two attachments of its review search
//! the queue ([`CnaV10`]); the third attachment and v11 to v15 look at one neighbour ([`CnaByNeighbour`]).
//!
//! *Alone in the primary queue*, all of them do the same: if waiters are in the secondary queue, the lock's tail moves
//! to the secondary tail and the secondary head is granted. The circle has to be cut *before* that, because a newcomer
//! may link itself behind the secondary tail as soon as the word names it. The circle has to be closed again if the
//! word has changed.
//!
//! Fairness bound: waiters set aside are passed for at most one threshold (2^n handoffs, or a time and one turn) per
//! NUMA node that is represented in front of them. With two nodes that happens once. With more nodes they may be set
//! aside again when another node's waiters get their turn. Under v10 as posted the waiters set aside may be of the
//! preferred node, too, so the bound there is one threshold for each waiter that was in front. Prioritized waiters
//! (`CNA_PRIORITY_NODE`: urgent threads) are never set aside.

mod numa;
mod secondary;
mod threshold;
mod v10;
mod v11_to_v15;

pub use threshold::{JIFFY_NS, Threshold};
pub use v10::{CnaV10, Ruling, Scan, SeenWaiter, V10Rules};
pub use v11_to_v15::{CnaByNeighbour, NeighbourRules};

use super::{QSpinlock, Spin};

/// The queued spinlock with NUMA-aware succession.
pub type CnaSpinlock<P, S = V10, W = Spin> = QSpinlock<P, S, W>;

/// CNA v10 (April 2020), as its code was posted: handoffs counted, the queue searched when the head becomes the head
/// and once it has the lock. The second search has forgotten which waiters the first one passed.
pub type V10 = CnaV10<v10::Posted>;
/// CNA v10 as its text describes it: the second search moves the waiters that the first one passed, too.
pub type V10AsDescribed = CnaV10<v10::AsDescribed>;
/// CNA v10 without the fourth patch of the series: no threshold, so waiters of other nodes may starve.
pub type V10WithoutThreshold = CnaV10<v10::WithoutThreshold>;
/// CNA v10 with the first attachment of its review (28 July 2020): a threshold of 10 ms.
pub type V10Time = CnaV10<v10::WithTime>;
/// CNA v10 with the second attachment of its review (28 July 2020), on top of the first: one search, and few looks once
/// the lock is free, because the head could then take the lock and run its section. A prioritized waiter inherits.
pub type V10Limited = CnaV10<v10::WithLimit>;
/// CNA v10 with the third attachment of its review (31 August 2020), incremental culling: v11 that counts handoffs.
pub type V10Culling = CnaByNeighbour<v11_to_v15::Culling>;
/// CNA v11, the answer to the review: one neighbour per turn, and a waiter of whatever node inherits the preference.
/// v13 without shuffle reduction has the same rules.
pub type V11 = CnaByNeighbour<v11_to_v15::OneLook>;
/// CNA v13 (December 2020): v11 that seldom looks for a first waiter to set aside (shuffle reduction).
pub type V13 = CnaByNeighbour<v11_to_v15::SeldomOneLook>;
/// CNA v15 (May 2021, the last): neighbours one by one while the lock is busy, and seldom a first one.
pub type V15 = CnaByNeighbour<v11_to_v15::WhileBusy<1_000_000>>;
/// CNA v15 that looks for a first waiter to set aside in every turn.
pub type V15Unreduced = CnaByNeighbour<v11_to_v15::AlwaysWhileBusy>;
/// CNA v15 with a threshold of 10 ms.
pub type V15TenMs = CnaByNeighbour<v11_to_v15::WhileBusy<10_000_000>>;
