//! The CPU time that the control groups of this process allow it. The groups are of version 2 or of version 1.
//!
//! A group has no more CPU time than the groups around it. So all of them are looked at, from the group of the process
//! up to the root, in the directories where they are usually mounted. In a container the root may be a group, too, and
//! the names may say where the process is outside of the container. A file that cannot be read counts as no limit.

use super::environment::read_file;

/// The file with the names of the groups.
const GROUPS: &[u8] = b"/proc/self/cgroup\0";
/// The longest name. A longer one counts as no limit.
const PATH_MAX: usize = 512;

/// Returns the number of CPUs that the quotas are worth, rounded up; `None` without a quota.
pub(super) fn cpus() -> Option<u32> {
    let mut buffer = [0; 4096];
    let groups = read_file(GROUPS, &mut buffer);
    smallest(groups.unwrap_or(b"0::/\n"), |path| {
        let mut buffer = [0; 64];
        first_numbers(read_file(path, &mut buffer)?)
    })
}

/// Returns the smallest of the quotas of these groups and of the groups around them. `read` returns the first two
/// numbers of a file.
fn smallest(groups: &[u8], mut read: impl FnMut(&[u8]) -> Option<Numbers>) -> Option<u32> {
    let mut least = None;
    for line in groups.split(|&byte| byte == b'\n') {
        let mut fields = line.splitn(3, |&byte| byte == b':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let is_of_cpu = controllers.split(|&byte| byte == b',').any(|name| name == b"cpu");
        let mut look = |mount: &[u8], of: Quota| {
            around(group).for_each(|group| {
                let cpus = of(&mut |file| read(&path(&[mount, group, file])?));
                least = [least, cpus].into_iter().flatten().min();
            });
        };
        match controllers {
            b"" => look(b"/sys/fs/cgroup", of_version_2),
            _ if is_of_cpu => {
                look(b"/sys/fs/cgroup/cpu", of_version_1);
                look(b"/sys/fs/cgroup/cpu,cpuacct", of_version_1);
            }
            _ => {}
        }
    }
    least
}

/// A function that returns the quota of a group from its files.
type Quota = fn(&mut dyn FnMut(&[u8]) -> Option<Numbers>) -> Option<u32>;
/// The first two words of a file, as far as they are numbers.
type Numbers = [Option<u64>; 2];

/// Returns the quota of a group of version 2. The time and the period are in one file. The time is a word if there is
/// no limit.
fn of_version_2(read: &mut dyn FnMut(&[u8]) -> Option<Numbers>) -> Option<u32> {
    let [quota, period] = read(b"/cpu.max")?;
    cpus_of(quota?, period?)
}

/// Returns the quota of a group of version 1. The time and the period are in two files. The time is negative if there
/// is no limit.
fn of_version_1(read: &mut dyn FnMut(&[u8]) -> Option<Numbers>) -> Option<u32> {
    let [quota, _] = read(b"/cpu.cfs_quota_us")?;
    let quota = quota?;
    let [period, _] = read(b"/cpu.cfs_period_us")?;
    cpus_of(quota, period?)
}

fn cpus_of(quota: u64, period: u64) -> Option<u32> {
    u32::try_from(quota.div_ceil(period.max(1))).ok()
}

/// Returns the name of a group, and the names of the groups around it up to the root, whose name is empty.
fn around(group: &[u8]) -> impl Iterator<Item = &[u8]> {
    let trimmed = group.strip_suffix(b"/").unwrap_or(group);
    core::iter::successors(Some(trimmed), |group| {
        let slash = group.iter().rposition(|&byte| byte == b'/')?;
        group.get(..slash)
    })
}

/// Joins these parts to a path for the kernel. Returns `None` if it leads out of the mount or is too long.
fn path(parts: &[&[u8]]) -> Option<[u8; PATH_MAX]> {
    let (mut path, mut length) = ([0; PATH_MAX], 0);
    for part in parts {
        if part.split(|&byte| byte == b'/').any(|name| name == b"..") {
            return None;
        }
        path.get_mut(length..length + part.len())?.copy_from_slice(part);
        length += part.len();
    }
    (length < PATH_MAX).then_some(path)
}

/// Returns the first two words of a text, as far as they are numbers.
fn first_numbers(text: &[u8]) -> Option<Numbers> {
    let mut words = core::str::from_utf8(text).ok()?.split_ascii_whitespace();
    Some([(); 2].map(|()| words.next().and_then(|word| word.parse().ok())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    /// Returns the quota if these are all files.
    fn cpus_with(groups: &str, files: &[(&str, &str)]) -> Option<u32> {
        smallest(groups.as_bytes(), |path| {
            let path = core::ffi::CStr::from_bytes_until_nul(path).expect("it ends").to_bytes();
            let file = files.iter().find(|(name, _)| name.as_bytes() == path)?;
            first_numbers(file.1.as_bytes())
        })
    }

    #[test]
    fn the_smallest_quota_of_nested_groups_counts() {
        let (inner, outer, root) =
            ("/sys/fs/cgroup/a/b/cpu.max", "/sys/fs/cgroup/a/cpu.max", "/sys/fs/cgroup/cpu.max");
        let none = "max 100000\n";
        for (files, cpus) in [
            ([(inner, "50000 100000\n"), (outer, none), (root, none)], Some(1)),
            ([(inner, none), (outer, "250000 100000\n"), (root, none)], Some(3)),
            ([(inner, "400000 100000\n"), (outer, "200000 100000"), (root, none)], Some(2)),
            ([(inner, none), (outer, none), (root, "700000 100000")], Some(7)),
            ([(inner, none), (outer, none), (root, none)], None),
        ] {
            assert_eq!(cpus_with("0::/a/b\n", &files), cpus, "{files:?}");
        }
        assert_eq!(cpus_with("0::/\n", &[(root, "100000 100000")]), Some(1));
    }

    #[test]
    fn quotas_of_version_1_are_found_in_a_container_and_outside() {
        let groups = "4:memory:/m\n3:cpu,cpuacct:/docker/x\n2:cpuset:/\n0::/\n";
        let of = |mount: &'static str, quota| {
            let name = |file| format!("/sys/fs/cgroup/{mount}/{file}");
            let (quota_file, period_file) = (name("cpu.cfs_quota_us"), name("cpu.cfs_period_us"));
            cpus_with(groups, &[(&quota_file, quota), (&period_file, "100000\n")])
        };
        assert_eq!(of("cpu/docker/x", "150000\n"), Some(2));
        assert_eq!(of("cpu,cpuacct/docker", "100000\n"), Some(1));
        assert_eq!(of("cpu", "300000\n"), Some(3));
        assert_eq!(of("cpu/docker/x", "-1\n"), None);
        assert_eq!(of("memory/m", "100000\n"), None);
    }

    #[test]
    fn what_cannot_be_read_is_no_limit() {
        let long = format!("0::/{}\n", "x/".repeat(PATH_MAX));
        let root = [("/sys/fs/cgroup/cpu.max", "200000 100000")];
        assert_eq!(cpus_with(&long, &root), Some(2));
        assert_eq!(cpus_with("0::/../a\n", &root), Some(2));
        for groups in ["", "\n", "0:\n", "0::/"] {
            assert_eq!(cpus_with(groups, &[]), None, "{groups}");
        }
        assert_eq!(cpus_with("0::/", &[("/sys/fs/cgroup/cpu.max", "")]), None);
        assert_eq!(cpus_with("0::/", &[("/sys/fs/cgroup/cpu.max", "100 0")]), Some(100));
    }
}
