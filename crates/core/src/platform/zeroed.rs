//! Cells that start as zero.

/// A cell that starts as zero (null).
pub trait Zeroed {
    /// The cell that holds zero.
    fn zeroed() -> Self;
}

/// A cell that starts as zero (null) in a constant.
pub trait ConstZeroed: Zeroed {
    /// The cell that holds zero.
    const ZEROED: Self;
}
