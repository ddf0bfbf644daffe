//! [`Sim`], the platform: the seam of the locks on top of the event loop.
//!
//! All operations are those of the simulated thread that calls them, and take simulated time.
//! Outside of simulated threads (before and after a run) cells are plain memory, so that objects
//! can be prepared and examined; everything else panics there.

mod cells;
mod claims;
mod machine;
mod sim;
mod word;

pub use cells::{SimCell, Storage, Tracker};
pub(crate) use machine::begin_lock_numbers;
pub use sim::Sim;

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};
use lockwright_core::platform::Cells;

impl Cells for Sim {
    type U32 = SimCell<AtomicU32>;
    type U64 = SimCell<AtomicU64>;
    type Ptr = SimCell<AtomicPtr<()>>;
    type Word = SimCell<AtomicU32, true>;
    type Tracker = Tracker;

    fn freed<T>(object: &T) {
        crate::watch::freed(object);
    }

    /// Fails the run.
    fn end(why: &'static str) -> ! {
        panic!("{why}")
    }
}

const _: () = assert!(size_of::<<Sim as Cells>::U32>() == 4);
const _: () = assert!(size_of::<<Sim as Cells>::Word>() == 4);
const _: () = assert!(size_of::<<Sim as Cells>::U64>() == 8);
const _: () = assert!(size_of::<<Sim as Cells>::Ptr>() == size_of::<usize>());
const _: () = assert!(size_of::<<Sim as Cells>::Tracker>() == 0);
