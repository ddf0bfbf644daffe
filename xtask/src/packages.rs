//! The packages with locks.

/// The folders of their sources. Each package may use those in front of it, but `lockwright`, which needs
/// `lockwright-linux` with a feature only.
pub const SOURCES: [&str; 4] =
    ["crates/core/src/", "crates/linux/src/", "crates/locks/src/", "crates/catalog/src/"];

/// The names of their libraries in code, in the same order.
pub const LIBRARIES: [&str; 4] =
    ["lockwright_core", "lockwright_linux", "lockwright", "lockwright_catalog"];

/// The path of a file of the locks below the sources of its package; `None` for other files. Files of two packages have
/// one path there only if no rule needs to tell them apart: `lib.rs`, `behind_lock_api.rs`, and those of `api`.
pub fn below_sources(path: &str) -> Option<&str> {
    SOURCES.iter().find_map(|folder| path.strip_prefix(folder))
}
