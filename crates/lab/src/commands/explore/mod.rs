//! `lockwright explore`: clients on locks in many orders, on a simulated machine.
//!
//! What is explored is in `lockwright_sim::explore`. One seed gives one document.

mod args;
mod report;
mod run;
mod seeded;

pub use args::ExploreArgs;
pub use run::run;
