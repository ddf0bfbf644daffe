//! NUMA nodes of this machine, from sysfs, and how many CPUs the process may use.
//!
//! Read once, without allocation, at the first question (which may come from inside a lock
//! operation). [`set_fake`] replaces the answer for tests and experiments.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | G1 | `STATE.store(READY)`, Release | `STATE.load` in `ensure_read`, Acquire | the tables |

use super::{
    Native, cpu, priority, spinners,
    spinners::SPINNERS,
    syscall::{CpuSet, affinity},
    table::Table,
    table::table,
    thread_number,
};
use crate::platform::{Placement, SchedulerHints, ThreadNumbers};
use crate::queue::{NodeId, node};
use core::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::io::Write as _;

/// CPUs with a number above this are taken to be on node 0.
const CPUS_MAX: usize = 4096;
/// NUMA nodes above this are not looked for.
const NODES_MAX: u32 = 64;

const NODE_OF: Table<AtomicU8, CPUS_MAX> = table!([AtomicU8; CPUS_MAX] = AtomicU8::new(0));
static NODES: AtomicU32 = AtomicU32::new(1);
static USABLE_CPUS: AtomicU32 = AtomicU32::new(1);
static IS_GUEST: AtomicBool = AtomicBool::new(false);

static STATE: AtomicU8 = AtomicU8::new(UNREAD);
const UNREAD: u8 = 0;
const READING: u8 = 1;
const READY: u8 = 2;

impl Placement for Native {
    #[inline(always)]
    fn this_cpu() -> u32 {
        cpu::this_cpu()
    }
    #[inline]
    fn numa_node_of(cpu: u32) -> u32 {
        ensure_read();
        let at = cpu as usize;
        // ordering: Relaxed; only a hint, ordered by G1 where it matters.
        if at < CPUS_MAX { u32::from(NODE_OF.at(at).load(Relaxed)) } else { 0 }
    }
    #[inline]
    fn numa_nodes() -> u32 {
        ensure_read();
        // ordering: Relaxed; only a hint, ordered by G1 where it matters.
        NODES.load(Relaxed)
    }
    /// As the processor says on x86-64. Elsewhere a program cannot ask, and this is `false`.
    #[inline]
    fn is_guest() -> bool {
        ensure_read();
        // ordering: Relaxed; only a hint, ordered by G1 where it matters.
        IS_GUEST.load(Relaxed)
    }
    #[inline]
    fn is_urgent() -> bool {
        priority::is_urgent()
    }
}

// SAFETY: a thread keeps what it has drawn, and nothing is drawn twice.
unsafe impl ThreadNumbers for Native {
    /// Used by no other thread of this process, nor of its parents before it was forked.
    #[inline(always)]
    fn this_thread() -> u64 {
        thread_number::this_thread()
    }
}

impl SchedulerHints for Native {
    /// A waiter last seen on the CPU that runs the caller is not running there now.
    fn is_running(id: NodeId) -> bool {
        // ordering: Relaxed; only a hint.
        node::<Self>(id).cpu.load(Relaxed) != cpu::this_cpu()
    }
    /// Programs are not told.
    fn is_thread_running(_thread: u64) -> bool {
        true
    }
    /// Programs are not told.
    fn need_resched() -> bool {
        false
    }
    /// By affinity and cgroup quota.
    fn usable_cpus() -> u32 {
        ensure_read();
        // ordering: Relaxed; only a hint, ordered by G1 where it matters.
        USABLE_CPUS.load(Relaxed)
    }
    /// All but the caller's: an upper bound.
    fn idle_cpus() -> u32 {
        Self::usable_cpus() - 1
    }
    fn begin_spinning() -> bool {
        SPINNERS.begin(Self::idle_cpus())
    }
    fn end_spinning() {
        SPINNERS.end();
    }
    fn must_not_spin() -> bool {
        spinners::is_real_time()
    }
    fn yield_cpu() {
        rustix::thread::sched_yield();
    }
}

/// Reads the topology unless somebody has. Threads that come while it is being read do not wait:
/// for them everything is on node 0, which is only a hint anyway.
#[inline]
fn ensure_read() {
    // ordering: Acquire; G1.
    if STATE.load(Acquire) == UNREAD {
        read_once();
    }
}

#[cold]
fn read_once() {
    // ordering: Relaxed; only decides who reads.
    if STATE.compare_exchange(UNREAD, READING, Relaxed, Relaxed).is_err() {
        return;
    }
    read();
    // ordering: Release; G1.
    STATE.store(READY, Release);
}

/// Fills the tables. Miri has no such files; two nodes give the locks something to do there.
fn read() {
    let (nodes, cpus) = if cfg!(miri) { (2, 1) } else { (read_nodes(), read_usable_cpus()) };
    // ordering: Relaxed; published by G1.
    NODES.store(nodes, Relaxed);
    // ordering: Relaxed; published by G1.
    USABLE_CPUS.store(cpus, Relaxed);
    // ordering: Relaxed; published by G1.
    IS_GUEST.store(cpu::is_virtual(), Relaxed);
}

/// Pretends that the machine is no virtual one and has `nodes` NUMA nodes of `cpus_per_node` CPUs each, numbered
/// one after another; CPUs beyond those wrap around. For tests and experiments on small machines.
///
/// # Panics
/// If either number is 0 or there are more than 64 nodes.
pub fn set_fake(nodes: u32, cpus_per_node: u32) {
    assert!((1..=NODES_MAX).contains(&nodes) && cpus_per_node > 0, "no such topology");
    ensure_read();
    for (cpu, node) in NODE_OF.iter().enumerate() {
        // ordering: Relaxed; only a hint.
        node.store((cpu as u32 / cpus_per_node % nodes) as u8, Relaxed);
    }
    // ordering: Relaxed; only a hint.
    NODES.store(nodes, Relaxed);
    // ordering: Relaxed; only a hint.
    IS_GUEST.store(false, Relaxed);
}

/// Returns to the machine's own topology.
pub fn clear_fake() {
    ensure_read();
    for node in NODE_OF.iter() {
        // ordering: Relaxed; only a hint.
        node.store(0, Relaxed);
    }
    read();
}

/// Reads a small file into `buffer`; nothing if that does not work.
fn read_file<'a>(path: &[u8], buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let path = core::ffi::CStr::from_bytes_until_nul(path).ok()?;
    let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let length = rustix::io::read(&file, &mut *buffer).ok()?;
    Some(&buffer[..length])
}

/// Fills `NODE_OF` and returns the number of nodes. Node numbers may have holes, and nodes may have
/// memory only; they are counted up to the greatest.
fn read_nodes() -> u32 {
    let mut nodes = 1;
    for node in 0..NODES_MAX {
        let (mut path, mut buffer) = ([0; 48], [0; 4096]);
        // There is room for it, and for a zero behind it.
        let _ = write!(&mut path[..], "/sys/devices/system/node/node{node}/cpulist");
        let Some(list) = read_file(&path, &mut buffer) else { continue };
        nodes = node + 1;
        for_each_cpu(list, |cpu| {
            if cpu < CPUS_MAX {
                // ordering: Relaxed; published by G1.
                NODE_OF.at(cpu).store(node as u8, Relaxed);
            }
        });
    }
    nodes
}

/// Calls `visit` for each number of a list like `0-3,8,10-11`.
fn for_each_cpu(list: &[u8], mut visit: impl FnMut(usize)) {
    for range in list.trim_ascii().split(|&byte| byte == b',') {
        let mut ends = range.splitn(2, |&byte| byte == b'-').map(number);
        let (Some(Some(first)), last) = (ends.next(), ends.next()) else { continue };
        for cpu in first..=last.flatten().unwrap_or(first).min(CPUS_MAX as u64) {
            visit(cpu as usize);
        }
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.trim().parse().ok()
}

/// CPUs that the process may use, further limited by the cgroup's quota (rounded up). The caller may be a thread that
/// has a CPU of its own, so the CPUs of the first thread count, too.
fn read_usable_cpus() -> u32 {
    let first = rustix::process::getpid().as_raw_nonzero().get();
    let allowed = [affinity(first), affinity(0)].into_iter().flatten().reduce(CpuSet::union);
    let allowed = allowed.map_or_else(online_cpus, CpuSet::count).max(1);
    let mut buffer = [0; 64];
    let quota = read_file(b"/sys/fs/cgroup/cpu.max\0", &mut buffer).and_then(|line| {
        let mut fields = line.split(|&byte| byte == b' ').map(number);
        let (quota, period) = (fields.next()??, fields.next()??);
        u32::try_from(quota.div_ceil(period.max(1))).ok()
    });
    quota.map_or(allowed, |quota| quota.clamp(1, allowed))
}

/// How many CPUs there are.
fn online_cpus() -> u32 {
    let (mut buffer, mut count) = ([0; 4096], 0);
    let list = read_file(b"/sys/devices/system/cpu/online\0", &mut buffer);
    for_each_cpu(list.unwrap_or_default(), |_| count += 1);
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, PoisonError};
    use std::thread;
    use std::vec::Vec;

    /// Held by tests that look at the topology of the process, or change it.
    static TOPOLOGY: Mutex<()> = Mutex::new(());

    #[test]
    fn cpu_lists_are_read_as_the_kernel_writes_them() {
        let read = |list: &str| {
            let mut cpus = Vec::new();
            for_each_cpu(list.as_bytes(), |cpu| cpus.push(cpu));
            cpus
        };
        assert_eq!(read("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(read("5\n"), [5]);
        assert_eq!(read("\n"), [0; 0]);
    }

    #[test]
    fn a_fake_topology_replaces_the_machines_own_until_it_is_cleared() {
        let _alone = TOPOLOGY.lock().unwrap_or_else(PoisonError::into_inner);
        let own = Native::numa_nodes();
        set_fake(4, 2);
        assert_eq!((Native::numa_nodes(), Native::is_guest()), (4, false));
        let nodes: Vec<u32> = (0..10).map(Native::numa_node_of).collect();
        assert_eq!(nodes, [0, 0, 1, 1, 2, 2, 3, 3, 0, 0]);
        clear_fake();
        assert_eq!(Native::numa_nodes(), own);
    }

    /// Under Miri also a search for an order in which it is seen half-read.
    #[test]
    fn whoever_finds_the_topology_read_has_all_of_it() {
        let _alone = TOPOLOGY.lock().unwrap_or_else(PoisonError::into_inner);
        let nodes = || {
            ensure_read();
            while STATE.load(Relaxed) != READY {
                thread::yield_now();
            }
            Native::numa_nodes()
        };
        let [first, second] =
            [(); 2].map(|()| thread::spawn(nodes)).map(|thread| thread.join().expect("no panic"));
        assert_eq!(first, second, "one of the threads has old numbers");
    }
}
