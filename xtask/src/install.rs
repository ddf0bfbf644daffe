//! `cargo xtask install`: builds the library that takes the place of glibc's locks, and puts it where it belongs.
//!
//! The compiler's own way to make a shared library ignores a list of versions. So it makes a static one, and the C
//! compiler links that with the C sources.

use crate::options::not_an_option;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// As they stand in the help.
pub const OPTIONS: &str = "--prefix DIR [--destdir DIR]";

const LIBRARY: &str = "liblockwright-pthread.so";
const SOURCES: &str = "crates/pthread/src/c";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// Where it is when it is used.
    prefix: PathBuf,
    /// What comes before that now, for those who make packages.
    destdir: Option<PathBuf>,
}

impl Request {
    /// Reads the arguments behind `install`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        let (mut prefix, mut destdir) = (None, None);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let folder = arguments.next().map(PathBuf::from);
            match *argument {
                "--prefix" | "--destdir" if folder.is_none() => {
                    return Err(format!("`{argument}` needs a folder, such as /usr/local"));
                }
                "--prefix" => prefix = folder,
                "--destdir" => destdir = folder,
                other => return Err(not_an_option(other, OPTIONS)),
            }
        }
        let prefix = prefix.ok_or("give the folder to install to: `--prefix /usr/local`")?;
        Ok(Self { prefix, destdir })
    }

    /// The folder of the library.
    fn folder(&self) -> PathBuf {
        let prefix = match &self.destdir {
            Some(destdir) => destdir.join(self.prefix.strip_prefix("/").unwrap_or(&self.prefix)),
            None => self.prefix.clone(),
        };
        prefix.join("lib")
    }
}

/// Builds and installs.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let folder = request.folder();
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let library = folder.join(LIBRARY);
    link(&root.join(SOURCES), &build(root)?, &library)?;
    println!("{}", library.display());
    Ok(true)
}

/// The static library. In a folder of its own: another build has other flags.
fn build(root: &Path) -> Result<PathBuf, String> {
    let target = root.join("target/preload");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--package", "lockwright-pthread", "--lib", "--target-dir"]);
    cargo.arg(&target).env("RUSTFLAGS", "--cfg lockwright_preload").current_dir(root);
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS");
    succeed(cargo)?;
    Ok(target.join("release/liblockwright_pthread.a"))
}

fn link(sources: &Path, archive: &Path, library: &Path) -> Result<(), String> {
    let source = |name: &str| sources.join(name);
    let versions = source(&format!("versions-{}.map", std::env::consts::ARCH));
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-shared", "-fPIC", "-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]);
    cc.args(["condvar.c", "exports.c", "glibc.c"].map(source)).arg(archive);
    cc.arg(format!("-Wl,--version-script={}", versions.display()));
    cc.arg(format!("-Wl,-soname,{LIBRARY}"));
    cc.args(["-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", "-Wl,-z,defs", "-Wl,--as-needed"]);
    // All symbols are looked up when it is loaded, so none when a lock is taken.
    cc.args(["-Wl,-z,now", "-Wl,-z,relro", "-o"]).arg(library);
    succeed(cc)
}

fn succeed(mut command: Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_staged_below_its_destdir() {
        let folder = |arguments: &[&str]| Request::of(arguments).map(|request| request.folder());
        assert_eq!(folder(&["--prefix", "/usr"]), Ok("/usr/lib".into()));
        let staged = folder(&["--prefix", "/usr", "--destdir", "/tmp/stage"]);
        assert_eq!(staged, Ok("/tmp/stage/usr/lib".into()));
        assert!(folder(&["--destdir", "/tmp"]).is_err());
        assert!(folder(&["--prefix"]).is_err());
    }
}
