//! Cells of every lock, as the library has compiled them.

mod pairs;
mod simulated;
mod simulated_machine;
