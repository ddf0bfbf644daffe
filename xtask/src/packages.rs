//! The packages with locks.

/// The folders of their sources. Each package may use those in front of it, but `lockwright`, which needs
/// `lockwright-linux` with a feature only.
pub const SOURCES: [&str; 4] =
    ["crates/core/src/", "crates/linux/src/", "crates/locks/src/", "crates/catalog/src/"];

/// The names of their libraries in code, in the same order.
pub const LIBRARIES: [&str; 4] =
    ["lockwright_core", "lockwright_linux", "lockwright", "lockwright_catalog"];

/// The path of a file of the locks below the sources of its package; `None` for other files. No two packages have a
/// file with the same path there, but for `lib.rs`, `api/` and `qspinlock/mod.rs`.
pub fn below_sources(path: &str) -> Option<&str> {
    SOURCES.iter().find_map(|folder| path.strip_prefix(folder))
}
