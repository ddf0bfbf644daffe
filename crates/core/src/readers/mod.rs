//! Memory in which a thread says which locks it reads, so that readers share no cache line.

pub mod claims;
mod slot;

pub use slot::{ReaderPlatform, ReaderSlot};
