//! The platform, and its cells.

use crate::hardware::{HardwarePtr, HardwareU32, HardwareU64, HardwareWord, Untracked};
use crate::platform::Cells;

/// The platform of ordinary programs. It appears in the names of types; programs do not use it directly.
///
/// Its CPUs are the CPUs of the machine. Its queue nodes come from one static pool for each process.
#[derive(Clone, Copy, Debug)]
pub struct Native;

impl Cells for Native {
    type U32 = HardwareU32<Self>;
    type U64 = HardwareU64<Self>;
    type Ptr = HardwarePtr<Self>;
    type Word = HardwareWord<Self>;
    type Tracker = Untracked;
}
