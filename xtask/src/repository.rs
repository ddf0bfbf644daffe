//! Where the repository is.

use crate::limit::{printed, tool};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask is a folder of the repository").to_path_buf()
}

/// The target directory of the repository at `root`.
pub fn target_of(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    root.join(target)
}

/// The folder of the toolchain that compiles the repository at `root`.
pub fn sysroot(root: &Path) -> Result<PathBuf, String> {
    let mut rustc = tool("RUSTC", "rustc");
    let printed = printed(rustc.args(["--print", "sysroot"]).current_dir(root), Duration::MAX)?;
    Ok(printed.trim_end().into())
}
