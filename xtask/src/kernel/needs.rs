//! What has to be installed: a kernel of Debian, what modules are built with, and an emulator.

use crate::disk::{are_installed, entries, is_program};
use crate::repository::sysroot;
use std::path::{Path, PathBuf};

/// Succeeds if everything is there, for a list of stages.
pub const PROBE: &str = "ls /usr/src/linux-headers-*-amd64/Makefile /boot/vmlinuz-*-amd64 && \
    which qemu-system-x86_64 busybox make gcc && \
    rustup target list --installed | grep x86_64-unknown-none";

/// A kernel that can be booted and built for.
#[derive(Debug, PartialEq, Eq)]
pub struct Debian {
    /// As `uname -r` prints it.
    pub release: String,
    pub image: PathBuf,
    pub headers: PathBuf,
}

/// Finds everything, and the kernel that is asked for.
pub fn look(release: Option<&str>) -> Result<Debian, String> {
    let kernels = kernels(Path::new("/boot"), Path::new("/usr/src"));
    let kernel_packages = "linux-image-cloud-amd64 linux-headers-cloud-amd64";
    let needed = [
        (!kernels.is_empty(), kernel_packages),
        (is_program("qemu-system-x86_64"), "qemu-system-x86"),
        (is_program("busybox"), "busybox-static"),
        (is_program("make"), "make"),
        (is_program("gcc"), "gcc"),
    ];
    let missing: Vec<_> = needed.iter().filter(|it| !it.0).map(|it| it.1).collect();
    are_installed(&missing)?;
    if !sysroot(&crate::root())?.join("lib/rustlib/x86_64-unknown-none").is_dir() {
        return Err("did not run: rustup target add x86_64-unknown-none".into());
    }
    let names: Vec<_> = kernels.iter().map(|it| it.release.clone()).collect();
    let mut kernels = kernels.into_iter();
    let found = match release {
        Some(release) => kernels.find(|it| it.release == release),
        None => kernels.next_back(),
    };
    found.ok_or_else(|| format!("no such kernel is here with headers: {}", names.join(", ")))
}

/// The kernels that have an image and headers, by name.
fn kernels(boot: &Path, sources: &Path) -> Vec<Debian> {
    let images = entries(boot).unwrap_or_default().into_iter();
    let mut found: Vec<_> = images
        .filter_map(|image| {
            let name = image.file_name()?.to_str()?;
            let release = name.strip_prefix("vmlinuz-")?.to_string();
            let headers = sources.join(format!("linux-headers-{release}"));
            let is_usable = release.ends_with("amd64") && headers.join("Makefile").is_file();
            is_usable.then_some(Debian { release, image, headers })
        })
        .collect();
    found.sort_by_cached_key(|it| numbers(&it.release));
    found
}

/// The numbers in a release, which say how new it is.
fn numbers(release: &str) -> Vec<u64> {
    release.split(|it: char| !it.is_ascii_digit()).flat_map(str::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn releases_are_in_the_order_of_their_numbers() {
        let mut releases = ["6.12.117+deb12-cloud-amd64", "6.1.0-56-amd64", "6.1.0-9-cloud-amd64"];
        releases.sort_by_key(|release| numbers(release));
        let first_three = releases.map(|it| numbers(it)[..3].to_vec());
        assert_eq!(first_three, [[6, 1, 0], [6, 1, 0], [6, 12, 117]]);
        assert_eq!(releases[0], "6.1.0-9-cloud-amd64");
    }

    #[test]
    fn a_kernel_needs_an_image_and_headers() {
        let folder = std::env::temp_dir().join(format!("xtask-kernel-{}", std::process::id()));
        let (boot, sources) = (folder.join("boot"), folder.join("src"));
        let headers = sources.join("linux-headers-6.1.0-2-cloud-amd64");
        fs::create_dir_all(&boot).expect("a folder");
        fs::create_dir_all(&headers).expect("a folder");
        for release in ["6.1.0-2-cloud-amd64", "6.1.0-3-cloud-amd64"] {
            fs::write(boot.join(format!("vmlinuz-{release}")), "").expect("a file");
        }
        assert_eq!(kernels(&boot, &sources), []);
        fs::write(headers.join("Makefile"), "").expect("a file");
        let found: Vec<_> = kernels(&boot, &sources).into_iter().map(|it| it.release).collect();
        assert_eq!(found, ["6.1.0-2-cloud-amd64"]);
        fs::remove_dir_all(folder).expect("the folder made above");
    }
}
