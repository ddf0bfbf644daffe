//! Boots the guest in the emulator.

use super::boots::{Boot, Machine};
use super::build::folder_of;
use super::log;
use super::needs::Debian;
use super::report::BootResult;
use crate::disk::{read, write};
use crate::limit::{Stopped, command, status_within};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const MEGABYTES_PER_NODE: u32 = 256;

/// A panic ends the guest; so does a CPU that does not come to schedule for 22 s.
const COMMAND_LINE: &str = "console=ttyS0 panic=-1 oops=panic softlockup_panic=1 printk.devkmsg=on";

/// Runs one boot to its end, or to its limit. Its log is a file, which is there however it ends.
pub fn run(folder: &Path, debian: &Debian, boot: &Boot) -> Result<BootResult, String> {
    let start = Instant::now();
    let file = folder.join(format!("{}.log", boot.name.replace([' ', ','], "-")));
    write(&file, "")?;
    let mut command = emulator(folder, debian, boot);
    command.arg("-serial").arg(format!("file:{}", file.display()));
    let limit = Duration::from_secs(boot.seconds_max);
    let is_late = match status_within(&mut command, limit) {
        Ok(status) if status.success() => false,
        Err(Stopped::Late(_)) => true,
        Ok(status) => return Err(format!("qemu-system-x86_64 failed: {status}")),
        Err(why) => return Err(format!("qemu-system-x86_64 {why}")),
    };
    let seconds = start.elapsed().as_secs_f64();
    Ok(log::read(boot, &read(&file)?, seconds, is_late))
}

fn emulator(folder: &Path, debian: &Debian, boot: &Boot) -> Command {
    let Machine { cpus, absent, nodes, is_parallel, is_guest } = boot.machine;
    let cpus_max = cpus + absent;
    let per_node = cpus_max / nodes;
    let thread = if is_parallel { "multi" } else { "single" };
    let cpu = if is_guest { "max" } else { "max,-hypervisor" };
    // Each time code is written over, qemu clears a table of each CPU. With less code in its cache that is less often.
    let cache = if absent > 0 { ",tb-size=8" } else { "" };
    // A socket for each node: caches that are shared across nodes would be a warning of the kernel.
    let mut line = format!(
        "nice qemu-system-x86_64 -accel tcg,thread={thread}{cache} -cpu {cpu} \
         -smp {cpus},maxcpus={cpus_max},sockets={nodes},cores={per_node},threads=1 \
         -m {} -nodefaults -display none -no-reboot",
        nodes * MEGABYTES_PER_NODE
    );
    for node in 0..nodes {
        let (first, last) = (node * per_node, node * per_node + per_node - 1);
        line += &format!(" -object memory-backend-ram,id=m{node},size={MEGABYTES_PER_NODE}M");
        line += &format!(" -numa node,nodeid={node},cpus={first}-{last},memdev=m{node}");
    }
    let mut command = command(&line);
    let initial = folder.join(folder_of(boot.variant)).join("initial-files");
    command.arg("-kernel").arg(&debian.image).arg("-initrd").arg(initial);
    let words = format!("{COMMAND_LINE} plan={} {}", boot.plan, boot.words);
    command.arg("-append").arg(words).stdin(std::process::Stdio::null());
    command
}
