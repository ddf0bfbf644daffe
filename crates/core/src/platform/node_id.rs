//! The name of a queue node: its number, and if its waiter may leave.

/// How many nodes a lock word can name: 2 bits of nesting index, 14 bits of CPU + 1.
pub const NODES_MAX: usize = 65_532;

/// The number of a queue node, `cpu * 4 + index` in the kernel's terms. It also says if the waiter has a deadline and
/// may leave the queue, so that the thread that grants it knows that without a look at the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId {
    number: u16,
    may_leave: bool,
}

impl NodeId {
    /// The node with this number.
    ///
    /// # Panics
    /// If `number` is not below [`NODES_MAX`]; in a constant that is a compile error.
    pub const fn new(number: u16) -> Self {
        assert!((number as usize) < NODES_MAX, "a lock word has no name for this queue node");
        Self { number, may_leave: false }
    }
    /// Its number, counted from 0.
    pub const fn number(self) -> u16 {
        self.number
    }
    /// The same node, with a waiter that may leave.
    pub const fn that_may_leave(self) -> Self {
        Self { may_leave: true, ..self }
    }
    /// Returns `true` if the waiter may leave the queue before it is its turn.
    pub const fn may_leave(self) -> bool {
        self.may_leave
    }
}
