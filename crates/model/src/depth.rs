//! How much the test suites explore.

/// How much the test suites explore, as `LOCKWRIGHT_CHECK` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckDepth {
    /// For a developer's machine: takes minutes.
    Brief,
    /// `usual`: for continuous integration.
    Usual,
    /// `full`: when there is time.
    Full,
}

impl CheckDepth {
    /// What this process was asked for.
    pub fn asked() -> Self {
        match std::env::var("LOCKWRIGHT_CHECK").as_deref() {
            Ok("full") => Self::Full,
            Ok("usual") => Self::Usual,
            _ => Self::Brief,
        }
    }
}
