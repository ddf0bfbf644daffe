//! Queues of spinning waiters: their nodes, the links between nodes, and the waits for a link or a grant.
//!
//! Every lock with a queue uses this module: the queued spinlocks, the mutex for programs and the queue of optimistic
//! spinners.

mod link;
mod node;
mod patience;

pub use crate::platform::{NODES_MAX, NodeId};
pub use link::{link_to, linked, look_for_grant, named, wait_for_link};
pub use node::node;
pub use node::{NODES_PER_CPU, QNode, TailCode};
pub use patience::{Patience, SPIN_NS, UNTIL_OVER};

use crate::platform::{Barriers, Cells, Clock, Counters, Placement, QueueNodes};

/// The operations that a lock asks for if its waiters spin, in a queue or not.
pub trait QueuePlatform:
    Cells + Barriers + QueueNodes<Node = QNode<Self>> + Placement + Clock + Counters
{
}
impl<P> QueuePlatform for P where
    P: Cells + Barriers + QueueNodes<Node = QNode<P>> + Placement + Clock + Counters
{
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
