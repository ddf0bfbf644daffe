//! Published tables, simulated.

mod cell;
mod document;
mod mail;
mod report;
mod score;
mod simulate;
mod text;

pub use document::{ReproduceDocument, ReproduceEffort, TableDocument};
pub use score::{Score, has_published_predictions};
pub use simulate::simulate;
