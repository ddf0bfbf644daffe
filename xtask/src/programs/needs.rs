//! What has to be installed.

use crate::disk::{are_installed, entries, is_program};
use crate::suites::table::{Needs, TABLE};
use std::path::Path;

/// Succeeds if what `--quick` needs is there, for a list of stages.
pub const PROBE: &str =
    "ls /usr/src/glibc/glibc-*.tar.xz && which gcc xz kccachetest tcumttest cache_bench";
pub const GET_QUICK: &str =
    "apt-get install glibc-source gcc xz-utils kyotocabinet-utils tokyocabinet-bin rocksdb-tools";

/// CPython's own tests, of the Python that Debian has.
const CPYTHON_TESTS: &str = "/usr/lib/python3.11/test/test_threading.py";

/// The sources of glibc, as Debian packs them.
pub fn glibc_sources() -> Option<std::path::PathBuf> {
    let files = entries(Path::new("/usr/src/glibc")).ok()?;
    files.into_iter().find(|path| path.to_string_lossy().ends_with(".tar.xz"))
}

/// Complains if something is missing for the part of continuous integration, for measurements, or for all checks.
pub fn look(is_quick: bool, measures: bool) -> Result<(), String> {
    let Needs { quick, measured, full } = &TABLE.needs;
    let needed: &[&Vec<(String, String)>] = match (is_quick, measures) {
        (true, _) => &[quick],
        (_, true) => &[quick, measured],
        _ => &[quick, measured, full],
    };
    let missing = needed.iter().copied().flatten().filter(|(program, _)| !is_program(program));
    let mut packages: Vec<_> = missing.map(|(_, package)| &**package).collect();
    if !measures && glibc_sources().is_none() {
        packages.push("glibc-source");
    }
    if !is_quick && !measures && !Path::new(CPYTHON_TESTS).exists() {
        packages.push("libpython3.11-testsuite");
    }
    packages.dedup();
    are_installed(&packages)
}
