//! What a read-modify-write does to a cell.

/// What becomes of the value of a cell, in one step.
#[derive(Clone, Copy, Debug)]
pub enum CellChange {
    /// The bits in the mask are replaced, by a store.
    Store {
        mask: u64,
        bits: u64,
    },
    /// The same, by an exchange.
    Swap {
        mask: u64,
        bits: u64,
    },
    /// The same, if they are `old`.
    CompareExchange {
        mask: u64,
        old: u64,
        bits: u64,
    },
    /// Bits above the width of the cell are dropped when the value is written.
    Add(u64),
    Subtract(u64),
    Or(u64),
    And(u64),
}

impl CellChange {
    /// Its name in a trace, if it changes the value.
    pub fn name(self) -> &'static str {
        match self {
            Self::Store { .. } => "store",
            Self::Swap { .. } => "swap",
            Self::CompareExchange { .. } => "compare-exchange",
            Self::Add(_) => "add",
            Self::Subtract(_) => "subtract",
            Self::Or(_) => "or",
            Self::And(_) => "and",
        }
    }
    /// The bits that it reads or writes.
    #[inline]
    pub fn mask(self) -> u64 {
        match self {
            Self::Store { mask, .. }
            | Self::Swap { mask, .. }
            | Self::CompareExchange { mask, .. } => mask,
            Self::Add(_) | Self::Subtract(_) | Self::Or(_) | Self::And(_) => u64::MAX,
        }
    }
    /// What it makes of `value`; `None` if it leaves it.
    #[inline]
    pub fn of(self, value: u64) -> Option<u64> {
        match self {
            Self::Store { mask, bits } | Self::Swap { mask, bits } => {
                Some(value & !mask | bits & mask)
            }
            Self::CompareExchange { mask, old, bits } => {
                (value & mask == old).then_some(value & !mask | bits & mask)
            }
            Self::Add(number) => Some(value.wrapping_add(number)),
            Self::Subtract(number) => Some(value.wrapping_sub(number)),
            Self::Or(bits) => Some(value | bits),
            Self::And(bits) => Some(value & bits),
        }
    }
}
