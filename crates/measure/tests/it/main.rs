//! Cells of every lock, as the library has compiled them.

mod pairs;
mod real_use;
mod simulated;
mod simulated_machine;
