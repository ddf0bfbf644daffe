//! Builds the module and the files of the guest.

use super::archive::Archive;
use super::assembly::{Panics, for_kernel};
use super::needs::Debian;
use crate::disk::{at, copy_into, entries, files_with, make_empty, read, write};
use crate::limit::{command, output_within};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SOURCES: &str = "crates/kernel";
const TARGET: &str = "x86_64-unknown-none";
const LIMIT: Duration = Duration::from_secs(300);

/// Code of a kernel is in the upper 2 GB, at a place that is known when it is loaded. Tables of jumps would be indirect
/// branches; the option for the back end is for `core`, which was compiled before.
const FLAGS: &str = "-C code-model=kernel -C relocation-model=static -C jump-tables=no \
    -C llvm-args=-min-jump-table-entries=4096";

const FOLDERS: [&str; 7] = ["bin", "proc", "sys", "dev", "tmp", "run", "plans"];
const MODULES: [&str; 3] = ["lockwright.ko", "lockwright_torture.ko", "lockwright_rival.ko"];

/// Runs a program that has to succeed.
fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    let output = output_within(command, LIMIT).map_err(|why| format!("{shown} {why}"))?;
    let printed = output.out + &output.err;
    // Warnings of the kernel's tools are about code that they do not understand.
    let has_warning = printed.contains("warning:");
    if output.status.success() && !has_warning {
        return Ok(());
    }
    Err(format!("{shown} failed:\n{printed}"))
}

/// A build that has the laws of the platforms.
pub const LAWS: &str = "laws";

/// The folder of a build of the module, below the folder of everything.
pub fn folder_of(variant: &[&str]) -> String {
    [&["module"], variant].concat().join("-")
}

/// The module and the files of the guest, in their folder of `folder`.
pub fn all(root: &Path, folder: &Path, debian: &Debian, variant: &[&str]) -> Result<(), String> {
    let module = &folder.join(folder_of(variant));
    let panics = if variant.contains(&LAWS) { Panics::Kept } else { Panics::LeftOut };
    let assembly = for_kernel(&compile(root, folder, variant)?, panics)?;
    make_empty(module)?;
    let sources = root.join(SOURCES).join("module");
    for source in entries(&sources)? {
        copy_into(module, &source)?;
    }
    write(&module.join("rust.S"), assembly)?;
    let at = format!("M={}", module.display());
    // Data about types for BPF needs a tool that is not in these packages.
    let without_types = "CONFIG_DEBUG_INFO_BTF_MODULES=";
    let mut make = Command::new("make");
    run(make.arg("-C").arg(&debian.headers).arg(at).arg(without_types).arg("modules"))?;
    initial_files(root, module)
}

/// The locks as assembly.
fn compile(root: &Path, folder: &Path, variant: &[&str]) -> Result<String, String> {
    let target = folder.join("rust");
    let out = target.join(TARGET).join("release/deps");
    // The compiler writes the file when it compiles the crate, so it has to do that each time.
    let assembly = || files_with("s", &out).unwrap_or_default();
    for old in assembly() {
        fs::remove_file(&old).map_err(at(&old))?;
    }
    let cfgs = variant.iter().map(|it| format!(" --cfg lockwright_variant=\"{it}\""));
    let flags = format!("{FLAGS}{}", cfgs.collect::<String>());
    let cargo = |arguments: &str| {
        let mut cargo = command(&format!("cargo {arguments}"));
        cargo.current_dir(root.join(SOURCES)).env("RUSTFLAGS", &flags);
        run(cargo.env("CARGO_TARGET_DIR", &target))
    };
    cargo(&format!("clean --package lockwright-kernel --locked --release --target {TARGET}"))?;
    cargo(&format!("rustc --locked --release --target {TARGET} -- --emit asm"))?;
    match &assembly()[..] {
        [one] => read(one),
        others => Err(format!("the compiler has written {} files of assembly", others.len())),
    }
}

/// The files of the guest, as `initial-files` in the folder of the module.
fn initial_files(root: &Path, folder: &Path) -> Result<(), String> {
    let sources = root.join(SOURCES).join("guest");
    let storm = folder.join("storm");
    let options = ["-O2", "-Wall", "-Wextra", "-static", "-pthread", "-o"];
    run(Command::new("gcc").args(options).arg(&storm).arg(sources.join("storm.c")))?;

    let mut archive = Archive::default();
    FOLDERS.iter().for_each(|name| archive.folder(name));
    let mut add = |name: &str, path: &Path| -> Result<(), String> {
        archive.file(name, &fs::read(path).map_err(at(path))?);
        Ok(())
    };
    add("init", &sources.join("init"))?;
    add("bin/busybox", Path::new("/usr/bin/busybox"))?;
    add("bin/storm", &storm)?;
    for module in MODULES {
        add(module, &folder.join(module))?;
    }
    for plan in entries(&sources.join("plans"))? {
        add(&format!("plans/{}", plan.file_name().unwrap_or_default().display()), &plan)?;
    }
    write(&folder.join("initial-files"), archive.finish())
}
