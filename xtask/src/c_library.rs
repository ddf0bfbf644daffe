//! The library for programs in C and C++: built, linked in both ways, and put where it belongs.
//!
//! - `lib/liblockwright.so.0`: only the functions of the header are visible in it, with their versions, and the statics
//!   that copies of the library share.
//! - `lib/liblockwright.a`: one object file, in which the compiler's own library is not visible. So it can be linked
//!   next to other libraries in Rust.
//! - The headers, and what `pkg-config` reads.

use crate::disk::{at, copy_into, read, write};
use crate::install::{cargo, succeed};
use crate::licences;
use crate::limit::tool;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = "crates/c";
const SHARED: &str = "liblockwright.so.0";
const STATIC: &str = "liblockwright.a";
/// What compilers look for.
const LINK: &str = "liblockwright.so";
const HEADERS: [&str; 2] = ["lockwright.h", "lockwright.hpp"];

/// What was installed, and the folders of the crates that it is made of.
type Installed = (Vec<PathBuf>, BTreeSet<PathBuf>);

/// Builds the library and installs it below `place`, from where it is used as `prefix`.
pub fn install(root: &Path, prefix: &Path, place: &Path) -> Result<Installed, String> {
    let (sources, built) = (root.join(FOLDER), root.join("target/c-library"));
    let [lib, include] = ["lib", "include"].map(|folder| place.join(folder));
    fs::create_dir_all(&lib).map_err(at(&lib))?;
    let (archive, crates) = build(root, &built)?;
    let map = sources.join("lockwright.map");
    let names = exported(&read(&map)?);
    let mut installed = vec![lib.join(SHARED), lib.join(LINK), lib.join(STATIC)];
    link_shared(&archive, &map, &installed[0])?;
    // The link to it may not be there yet.
    let _ = fs::remove_file(&installed[1]);
    std::os::unix::fs::symlink(SHARED, &installed[1]).map_err(at(&installed[1]))?;
    link_static(&archive, &names, &built, &installed[2])?;
    for header in HEADERS {
        installed.push(copy_into(&include, &sources.join("include").join(header))?);
    }
    let description = lib.join("pkgconfig/lockwright.pc");
    let text = read(&sources.join("lockwright.pc.in"))?;
    let text = text.replace("@PREFIX@", &prefix.display().to_string());
    write(&description, text.replace("@VERSION@", env!("CARGO_PKG_VERSION")))?;
    installed.push(description);
    Ok((installed, crates))
}

/// The compiler's static library, and the crates that it is made of.
fn build(root: &Path, built: &Path) -> Result<(PathBuf, BTreeSet<PathBuf>), String> {
    let mut cargo = cargo(root, "lockwright-c", built, "--cfg lockwright_c -C panic=abort");
    // Copied into programs, so without what is not called.
    cargo.env("CARGO_PROFILE_RELEASE_LTO", "fat").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
    let crates = licences::built(cargo)?;
    Ok((built.join("release/liblockwright_c.a"), crates))
}

fn link_shared(archive: &Path, map: &Path, library: &Path) -> Result<(), String> {
    let mut cc = tool("CC", "cc");
    cc.args(["-shared", "-Wl,--whole-archive"]).arg(archive).arg("-Wl,--no-whole-archive");
    cc.arg(format!("-Wl,--version-script={}", map.display())).arg(format!("-Wl,-soname,{SHARED}"));
    cc.args(["-Wl,--gc-sections", "-Wl,-z,defs", "-Wl,--as-needed", "-Wl,--strip-debug"]);
    // All symbols are looked up when it is loaded, so none when a lock is taken.
    cc.args(["-Wl,-z,now", "-Wl,-z,relro", "-o"]).arg(library);
    succeed(&mut cc)
}

/// What is reached from the exported functions, in one object file in which nothing else is visible.
fn link_static(
    archive: &Path,
    names: &[String],
    built: &Path,
    library: &Path,
) -> Result<(), String> {
    let [all, object, list] = ["all.o", "lockwright.o", "names"].map(|name| built.join(name));
    let mut cc = tool("CC", "cc");
    cc.args(["-r", "-nostdlib", "-Wl,--gc-sections"]);
    cc.args(names.iter().map(|name| format!("-Wl,--undefined={name}")));
    succeed(cc.arg("-Wl,--whole-archive").arg(archive).arg("-o").arg(&all))?;
    write(&list, names.join("\n"))?;
    let mut objcopy = tool("OBJCOPY", "objcopy");
    // The compiler's own form of the code is not to be linked again.
    objcopy.args(["--remove-section=.llvmbc", "--remove-section=.llvmcmd", "--strip-debug"]);
    objcopy.arg(format!("--keep-global-symbols={}", list.display()));
    succeed(objcopy.args([&all, &object]))?;
    // An old one may be there.
    let _ = fs::remove_file(library);
    succeed(tool("AR", "ar").arg("rcs").arg(library).arg(&object))
}

/// The names in a list of versions.
fn exported(map: &str) -> Vec<String> {
    let names = map.lines().map(str::trim).filter_map(|line| line.strip_suffix(';'));
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    names.filter(|it| it.bytes().all(is_of_name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_versions_names_functions() {
        let map =
            "/* one; two; */\nV_0.1 {\n  global:\n    lw_one;\n    lw_two;\n  local:\n    *;\n};\n";
        assert_eq!(exported(map), ["lw_one", "lw_two"]);
    }
}
