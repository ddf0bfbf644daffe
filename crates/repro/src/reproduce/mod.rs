//! Published tables, simulated.

mod document;
mod score;
mod simulate;
mod text;

pub use document::{ReproduceDocument, TableDocument};
pub use score::{Score, has_published_predictions};
pub use simulate::{ReproduceEffort, simulate};
