//! A control, which no module has but one that is built for it: waiters that are forgotten.

use crate::machine::Kernel;
use core::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed};
use lockwright_core::platform::{Cells, QueueNodes};
use lockwright_linux::qspinlock::{Alone, Fifo, Grant, Succession, Word};
use lockwright_core::queue::{NodeId, QNode};
use lockwright_core::raw::Order;

/// One of this many grants and wake-ups is forgotten.
const ONE_OF: u32 = 5_000;
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Returns true if the next waiter is to be forgotten.
pub fn forgets() -> bool {
    COUNT.fetch_add(1, Relaxed) % ONE_OF == ONE_OF - 1
}

/// In the order of arrival, but sometimes the second waiter is granted in the place of the first, which is in no queue
/// then.
pub struct Forgetful;

type InOrder = Fifo;

// SAFETY: it is not: waiters are lost on purpose. The guest has to die of it.
unsafe impl Succession<Kernel> for Forgetful {
    const ORDER: Order = Order::Broken;
    const STEPS: bool = false;
    type Turn = ();

    fn enter(me: &QNode<Kernel>) {
        InOrder::enter(me);
    }
    fn become_head(_: NodeId, _: &QNode<Kernel>, _: u32) {}
    fn step(_: NodeId, _: &QNode<Kernel>, _: &mut ()) -> bool {
        false
    }
    fn try_clear_tail(word: &<Kernel as Cells>::Word, seen: Word, after: u16, turn: &mut ()) -> Alone {
        <InOrder as Succession<Kernel>>::try_clear_tail(word, seen, after, turn)
    }
    fn choose(id: NodeId, me: &QNode<Kernel>, turn: ()) -> Grant {
        let first = InOrder::choose(id, me, turn);
        // SAFETY: nodes live as long as the module.
        let node = unsafe { Kernel::node(first.to).as_ref() };
        // SAFETY: a node begins with its link.
        let link = unsafe { &*core::ptr::from_ref(node).cast::<AtomicU32>() };
        if link.load(Acquire) != 0 && forgets() {
            return InOrder::choose(first.to, node, turn);
        }
        first
    }
}
