//! The name of the platform: what it does is in the other files.

/// A simulated machine as a platform.
pub struct Sim;
