//! `cargo xtask install`: builds the libraries for programs that are not in Rust, and puts them where they belong: the
//! one that takes the place of glibc's locks, and [the one with an interface of its own](crate::c_library). With them
//! come [the texts of licences](crate::licences).
//!
//! The compiler's own way to make a shared library ignores a list of versions. So it makes a static one, and the C
//! compiler links that with the C sources.

use crate::c_library;
use crate::disk::at;
use crate::licences;
use crate::limit::tool;
use clap::Parser;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = "liblockwright-pthread.so";
const SOURCES: &str = "crates/pthread/src/c";

/// Build two libraries for programs in other languages.
///
/// liblockwright is for programs in C and C++. liblockwright-pthread.so takes the place of glibc's mutexes, condition
/// variables and reader-writer locks in a program that is started with it in LD_PRELOAD. Needs a C compiler. The texts
/// of the licences go to share/doc/lockwright.
#[derive(Parser)]
pub struct Request {
    /// The folder to install to, such as /usr/local. A file that is installed names it.
    #[arg(long, value_name = "DIR", value_parser = |typed: &str| std::path::absolute(typed))]
    pub prefix: PathBuf,
    /// A folder that stands before that one now, for those who make packages.
    #[arg(long, value_name = "DIR")]
    pub destdir: Option<PathBuf>,
}

impl Request {
    /// Where the files go now.
    fn place(&self) -> PathBuf {
        match &self.destdir {
            Some(destdir) => destdir.join(self.prefix.strip_prefix("/").unwrap_or(&self.prefix)),
            None => self.prefix.clone(),
        }
    }
}

/// Builds and installs.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let (place, prefix) = (request.place(), &request.prefix);
    let folder = place.join("lib");
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    let library = folder.join(LIBRARY);
    let (archive, mut crates) = build(root)?;
    link(&root.join(SOURCES), &archive, &library)?;
    println!("{}", library.display());
    link_for_each_system(&folder).map_err(at(&folder))?;
    let (files, more) = c_library::install(root, prefix, &place)?;
    for file in files {
        println!("{}", file.display());
    }
    crates.extend(more);
    println!("{}", licences::install(root, &crates, &place)?.display());
    Ok(true)
}

/// Where the dynamic linker of glibc finds it by `lib/lockwright/$LIB`: the names are what `$LIB` is on different
/// systems. The dynamic linker of musl knows no `$LIB`, finds nothing, and starts its programs without the library.
fn link_for_each_system(folder: &Path) -> std::io::Result<()> {
    let of_debian = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    for (name, up) in [("lib", "../.."), ("lib64", "../.."), (&of_debian, "../../..")] {
        let place = folder.join("lockwright").join(name);
        fs::create_dir_all(&place)?;
        let link = place.join(LIBRARY);
        if link.is_symlink() {
            fs::remove_file(&link)?;
        }
        std::os::unix::fs::symlink(Path::new(up).join(LIBRARY), link)?;
    }
    Ok(())
}

/// The static library, and the crates that it is made of.
fn build(root: &Path) -> Result<(PathBuf, BTreeSet<PathBuf>), String> {
    let target = root.join("target/preload");
    // A panic would end the process anyway, at the first function of C.
    let flags = "--cfg lockwright_preload -C panic=abort";
    let cargo = cargo(root, "lockwright-pthread", &target, flags);
    let crates = licences::built(cargo)?;
    Ok((target.join("release/liblockwright_pthread.a"), crates))
}

/// Builds the static library of a package with these flags. In a folder of its own: another build has other flags.
pub fn cargo(root: &Path, package: &str, target: &Path, flags: &str) -> Command {
    let mut cargo = tool("CARGO", "cargo");
    // Only this kind of library: then it may be optimised as a whole.
    cargo.args(["rustc", "--release", "--package", package, "--lib", "--crate-type", "staticlib"]);
    cargo.arg("--target-dir").arg(target).current_dir(root);
    cargo.env("RUSTFLAGS", flags).env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo
}

fn link(sources: &Path, archive: &Path, library: &Path) -> Result<(), String> {
    let source = |name: &str| sources.join(name);
    let versions = source(&format!("versions-{}.map", std::env::consts::ARCH));
    let mut cc = tool("CC", "cc");
    cc.args(["-shared", "-fPIC", "-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]);
    cc.args(["choices.c", "condvar.c", "exports.c", "glibc.c"].map(source)).arg(archive);
    cc.arg(format!("-Wl,--version-script={}", versions.display()));
    cc.arg(format!("-Wl,-soname,{LIBRARY}"));
    cc.args(["-Wl,--gc-sections", "-Wl,-z,defs", "-Wl,--as-needed"]);
    // What Rust's standard library needs to unwind: in a library of its own, each start of a program would pay for it.
    cc.arg("-static-libgcc");
    // A call less for the two that programs call most. They are in Rust, which cannot give them a version.
    cc.args(["lock", "unlock"].map(|of| format!("-Wl,--defsym=pthread_mutex_{of}=lw_mutex_{of}")));
    // All symbols are looked up when it is loaded, so none when a lock is taken.
    cc.args(["-Wl,-z,now", "-Wl,-z,relro", "-o"]).arg(library);
    succeed(&mut cc)
}

/// Runs a command that must not fail.
pub fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_staged_below_its_destdir() {
        let place = |words: &str| {
            let request = Request::try_parse_from(words.split(' '));
            request.map(|request| request.place()).map_err(drop)
        };
        assert_eq!(place("install --prefix /usr"), Ok("/usr".into()));
        let staged = place("install --prefix /usr --destdir /tmp/stage");
        assert_eq!(staged, Ok("/tmp/stage/usr".into()));
        let here = std::env::current_dir().expect("a folder").join("there");
        assert_eq!(place("install --prefix there"), Ok(here));
        assert_eq!(place("install --destdir /tmp"), Err(()));
    }
}
