//! The number of a queue node.

/// How many nodes a lock word can name: 2 bits of nesting index, 14 bits of CPU + 1.
pub const NODES_MAX: usize = 65_532;

/// The number of a queue node: `cpu * 4 + index` in the kernel's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(u16);

impl NodeId {
    /// The node with this number.
    ///
    /// # Panics
    /// If `number` is not below [`NODES_MAX`]; in a constant that is a compile error.
    pub const fn new(number: u16) -> Self {
        assert!((number as usize) < NODES_MAX, "a lock word has no name for this queue node");
        Self(number)
    }
    /// Its number, counted from 0.
    pub const fn number(self) -> u16 {
        self.0
    }
}
