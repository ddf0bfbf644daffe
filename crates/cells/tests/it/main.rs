//! Cells of every lock, as the library has compiled them.

mod simulated;
mod simulated_machine;
