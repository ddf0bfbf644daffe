//! Do the checkers find what is wrong?
//!
//! A *mutant* is the code of the locks with something wrong: a weakened ordering (`cargo xtask weaken`), a bug that
//! people made (`cargo xtask zoo`), or the near miss of a rule (`cargo xtask rules`). All are in one copy of the
//! crates, which chooses one when it runs. A mutant is
//! *killed* by a check that it violates and that the correct code passes within the same bounds.

mod check;
mod copy;
mod engine;
mod explored;
mod places;
pub mod rules;
mod scan;
mod survivors;
mod table;
pub mod weaken;
pub mod zoo;

pub use places::of_bugs;
pub use scan::{scan, sites, weakened};
pub use table::checker_of;
