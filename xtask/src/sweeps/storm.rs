//! Many processes on few CPUs, each killed at random times and started again, on a file system that fills up once.

use super::lab::Lab;
use crate::disk;
use crate::install::succeed;
use crate::limit::is_interrupted;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PARTS: usize = 64;
/// How long a process lives on average before it is killed.
const LIFE: Duration = Duration::from_secs(6);
/// A line of results, at least.
const LINE_BYTES: usize = 400;
/// Exit code of a process that could not write.
const CANNOT_WRITE: i32 = 2;

/// What happened to them.
#[derive(Debug, Default)]
struct Storm {
    killed: u64,
    ended: u64,
    /// How often a process could not write.
    full: u64,
}

/// A question of about as many trials as two CPUs run in this time, of five milliseconds each.
fn question(minutes: f64) -> (String, usize) {
    let seeds = (minutes * 60.0 * 2.0 * 200.0 / 60.0) as usize + 1;
    let text = format!(
        r#"asks = "Is anything lost?"
samples = 5
seeds = {seeds}
[machine]
name = ["x5-4", "dl980"]
set.transfer_remote = {{ from = 150, to = 300 }}
[lock]
name = ["qspinlock", "cna", "mcs"]
[workload]
name = "counter"
[run]
threads = [2, 16]
window_us = 400
"#
    );
    (text, seeds * 5 * 2 * 3 * 2)
}

/// Runs it. Returns true if the merged results are those of a process that nobody disturbs.
pub(super) fn run(lab: &Lab, minutes: f64) -> Result<bool, String> {
    let (text, trials) = question(minutes);
    let file = lab.folder.join("storm.toml");
    fs::write(&file, text).map_err(disk::at(&file))?;
    let folder = lab.folder.join("storm");
    let disk = Disk::new(&folder, trials * LINE_BYTES / 2)?;
    eprintln!("storm: {trials} trials, {PARTS} processes, {minutes} minutes of kills");
    let storm = blow(lab, minutes, &disk)?;
    println!(
        "storm: {} processes killed, {} ended by themselves, {} found the disk full",
        storm.killed, storm.ended, storm.full
    );
    succeed(&mut lab.command(&["sweep", "storm.toml", "--out", "calm", "--quiet"]))?;
    let are_equal = lab.merged("storm")? == lab.merged("calm")?;
    println!("storm: {}", if are_equal { "the same bytes as one process" } else { "DIFFERS" });
    Ok(are_equal && (storm.full > 0 || !disk.is_small))
}

fn blow(lab: &Lab, minutes: f64, disk: &Disk) -> Result<Storm, String> {
    let start = |part: usize| -> Result<Child, String> {
        let shard = format!("{}/{PARTS}", part + 1);
        let line =
            ["sweep", "storm.toml", "--out", "storm", "--jobs", "1", "--quiet", "--shard", &shard];
        let mut command = lab.command(&line);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(disk::at(&lab.program))
    };
    let random = |range: usize| RandomState::new().hash_one(range) as usize % range;
    let mut storm = Storm::default();
    let mut parts = (0..PARTS).map(|part| start(part).map(Some)).collect::<Result<Vec<_>, _>>()?;
    let ends = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    while parts.iter().any(Option::is_some) {
        if is_interrupted() {
            // Until they have ended their disk is in use. An error means that one has.
            for child in parts.iter_mut().flatten() {
                let _ = child.kill();
                let _ = child.wait();
            }
            return Err("the storm was interrupted".into());
        }
        let is_stormy = Instant::now() < ends;
        for (at, part) in parts.iter_mut().enumerate() {
            let Some(child) = part else { continue };
            match child.try_wait().map_err(disk::at(&lab.program))? {
                Some(status) if status.success() => {
                    storm.ended += 1;
                    *part = None;
                }
                Some(status) => {
                    match status.code() {
                        // It was killed.
                        None => {}
                        Some(CANNOT_WRITE) if disk.is_small && storm.full < PARTS as u64 * 8 => {
                            storm.full += 1;
                            disk.grow()?;
                        }
                        Some(_) => return Err(format!("part {} of the storm: {status}", at + 1)),
                    }
                    *part = Some(start(at)?);
                }
                None => {}
            }
        }
        if is_stormy && let Some(child) = &mut parts[random(PARTS)] {
            // An error means that it has ended.
            let _ = child.kill();
            storm.killed += 1;
        }
        sleep(LIFE / PARTS as u32);
    }
    Ok(storm)
}

/// A folder on a file system of its own, which is too small until it grows. That needs root.
struct Disk<'a> {
    folder: &'a Path,
    is_small: bool,
}

impl<'a> Disk<'a> {
    fn new(folder: &'a Path, bytes: usize) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(disk::at(folder))?;
        let size = format!("size={bytes},nr_inodes=1000");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).stderr(Stdio::null());
        let is_small = mount.status().is_ok_and(|status| status.success());
        if !is_small {
            println!("storm: the disk does not fill up, because only root can make a small one");
        }
        Ok(Self { folder, is_small })
    }

    fn grow(&self) -> Result<(), String> {
        let mut mount = Command::new("mount");
        succeed(mount.args(["-o", "remount,size=4g"]).arg(self.folder))
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        if self.is_small {
            // What remains then is a folder in `target`.
            let _ = Command::new("umount").arg(self.folder).status();
        }
    }
}
