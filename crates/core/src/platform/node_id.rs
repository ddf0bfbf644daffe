//! The name of a queue node. It has the number of the node, and says if its waiter may leave.

/// The number of nodes that a lock word can name: it has 2 bits for the nesting index and 14 bits for CPU + 1.
pub const NODES_MAX: usize = 65_532;

/// The number of a queue node, which is `cpu * 4 + index` in the kernel's terms. It also says if the waiter has a
/// deadline and may leave the queue. So the thread that grants it knows this without a look at the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId {
    number: u16,
    may_leave: bool,
}

impl NodeId {
    /// Returns the node with this number.
    ///
    /// # Panics
    /// Panics if `number` is not below [`NODES_MAX`]; in a constant that is a compile error.
    pub const fn new(number: u16) -> Self {
        assert!((number as usize) < NODES_MAX, "a lock word has no name for this queue node");
        Self { number, may_leave: false }
    }
    /// Returns the number of the node, counted from 0.
    pub const fn number(self) -> u16 {
        self.number
    }
    /// Returns this node, with a waiter that may leave.
    pub const fn that_may_leave(self) -> Self {
        Self { may_leave: true, ..self }
    }
    /// Returns `true` if the waiter may leave the queue before its turn.
    pub const fn may_leave(self) -> bool {
        self.may_leave
    }
}
