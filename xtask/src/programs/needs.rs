//! What has to be installed.

use std::path::Path;

/// Succeeds if what `--quick` needs is there, for a list of stages.
pub const PROBE: &str =
    "ls /usr/src/glibc/glibc-*.tar.xz && which gcc xz kccachetest tcumttest cache_bench";
pub const GET_QUICK: &str =
    "apt-get install glibc-source gcc xz-utils kyotocabinet-utils tokyocabinet-bin rocksdb-tools";

/// Programs and their packages.
const QUICK: [(&str, &str); 5] = [
    ("gcc", "gcc"),
    ("xz", "xz-utils"),
    ("kccachetest", "kyotocabinet-utils"),
    ("tcumttest", "tokyocabinet-bin"),
    ("cache_bench", "rocksdb-tools"),
];
/// What `--measure` and the full half need, too.
const MEASURED: [(&str, &str); 4] = [
    ("sysbench", "sysbench"),
    ("mariadbd", "mariadb-server"),
    ("mariadb-install-db", "mariadb-server"),
    // Asks the system what a program took.
    ("python3", "python3"),
];
/// What the full half needs, too.
const FULL: [(&str, &str); 8] = [
    ("valgrind", "valgrind"),
    ("memcached", "memcached"),
    ("db_bench", "rocksdb-tools"),
    ("node", "nodejs"),
    ("javac", "openjdk-17-jdk-headless"),
    ("x264", "x264"),
    ("stress-ng", "stress-ng"),
    ("fio", "fio"),
];

/// What is to be done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeededFor {
    QuickCheck,
    Check,
    Measure,
}

/// CPython's own tests, of the Python that Debian has.
const CPYTHON_TESTS: &str = "/usr/lib/python3.11/test/test_threading.py";

/// The sources of glibc, as Debian packs them.
pub fn glibc_sources() -> Option<std::path::PathBuf> {
    let files = std::fs::read_dir("/usr/src/glibc").ok()?.flatten().map(|entry| entry.path());
    files.into_iter().find(|path| path.to_string_lossy().ends_with(".tar.xz"))
}

/// Complains if something is missing.
pub fn look(what: NeededFor) -> Result<(), String> {
    let (measured, full): (&[_], &[_]) = match what {
        NeededFor::QuickCheck => (&[], &[]),
        NeededFor::Check => (&MEASURED, &FULL),
        NeededFor::Measure => (&MEASURED, &[]),
    };
    let needed = QUICK.iter().chain(measured).chain(full);
    let missing = needed.filter(|(program, _)| !is_there(program));
    let mut packages: Vec<_> = missing.map(|(_, package)| *package).collect();
    if what != NeededFor::Measure && glibc_sources().is_none() {
        packages.push("glibc-source");
    }
    if !full.is_empty() && !Path::new(CPYTHON_TESTS).exists() {
        packages.push("libpython3.11-testsuite");
    }
    packages.dedup();
    match packages.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "did not run, because packages of Debian are missing: apt-get install --no-install-recommends {}",
            packages.join(" ")
        )),
    }
}

/// Returns true if a program is installed.
pub fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder: std::path::PathBuf| is_file(&folder.join(program)))
}

fn is_file(path: &Path) -> bool {
    path.is_file()
}
