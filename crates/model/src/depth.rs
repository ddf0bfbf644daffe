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
    ///
    /// # Panics
    /// If `LOCKWRIGHT_CHECK` is something else.
    pub fn asked() -> Self {
        let asked = std::env::var_os("LOCKWRIGHT_CHECK");
        match asked.as_ref().map(|asked| asked.to_string_lossy()).as_deref() {
            Some("full") => Self::Full,
            Some("usual") => Self::Usual,
            None => Self::Brief,
            Some(other) => panic!("LOCKWRIGHT_CHECK is usual or full, not {other}"),
        }
    }
}
