//! The NUMA nodes of this machine, from sysfs, and the number of CPUs that the process may use.
//!
//! They are read once, without allocation, at the first question (which may come from inside a lock operation).
//! [`set_fake`] replaces the answer for tests and experiments.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | G1 | `STATE.store(READY)`, Release | `STATE.load` in `ensure_read`, Acquire | the tables |

use super::{
    Native, cpu,
    environment::read_file,
    fork, priority, quota, spinners,
    spinners::SPINNERS,
    syscall::{self, CpuSet, affinity},
    table::Table,
    table::table,
    thread_number,
};
use crate::platform::{Placement, SchedulerHints, ThreadNumbers};
use crate::queue::{NodeId, node};
use core::ffi::c_int;
use core::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::io::Write as _;

/// The number of CPUs whose node is kept. CPUs with higher numbers are taken to be on node 0.
const CPUS_MAX: usize = 4096;
/// The number of NUMA nodes that are looked for.
const NODES_MAX: u32 = 64;

const NODE_OF: Table<AtomicU8, CPUS_MAX> = table!([AtomicU8; CPUS_MAX] = AtomicU8::new(0));
static NODES: AtomicU32 = AtomicU32::new(1);
/// The CPUs that the process may use, as far as they are known, one bit each. They become more, never fewer.
const ALLOWED: Table<AtomicU64, { CPUS_MAX / 64 }> =
    table!([AtomicU64; CPUS_MAX / 64] = AtomicU64::new(0));
/// The number of these CPUs.
static ALLOWED_CPUS: AtomicU32 = AtomicU32::new(0);
/// The number of CPUs that the quotas of its control groups are worth.
static QUOTA: AtomicU32 = AtomicU32::new(u32::MAX);
static IS_GUEST: AtomicBool = AtomicBool::new(false);

static STATE: AtomicU64 = AtomicU64::new(UNREAD);
const UNREAD: u64 = 0;
const READY: u64 = 1;
/// A thread reads the topology. The fork epoch of its process is added to this number: in a child that thread does not
/// exist.
const READING: u64 = 2;

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
    /// Asks the processor on x86-64. On other processors a program cannot ask, and this returns `false`.
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
    /// Returns a number that no other thread of this process has, and no thread of its parents had before it was
    /// forked.
    #[inline(always)]
    fn this_thread() -> u64 {
        thread_number::this_thread()
    }
}

impl SchedulerHints for Native {
    /// Returns `false` if the waiter was last seen on the CPU that runs the caller: it is not running there now.
    fn is_running(id: NodeId) -> bool {
        // ordering: Relaxed; only a hint.
        node::<Self>(id).cpu.load(Relaxed) != cpu::this_cpu()
    }
    /// Always returns the answer that does not end a wait: the kernel does not tell programs.
    fn is_thread_running(_thread: u64) -> bool {
        true
    }
    /// Always returns the answer that does not end a wait: the kernel does not tell programs.
    fn need_resched() -> bool {
        false
    }
    /// Uses the quotas of control groups and the affinity. The kernel is asked for the affinity of two threads, once.
    /// Each thread may have its own affinity, so a CPU on which any thread has called this function counts, too.
    fn usable_cpus() -> u32 {
        ensure_read();
        allow(cpu::this_cpu() as usize);
        // ordering: Relaxed; only a hint.
        ALLOWED_CPUS.load(Relaxed).min(QUOTA.load(Relaxed)).max(1)
    }
    /// Uses the affinity only: a quota of one CPU lets two threads run at the same time, for half of the time. The
    /// answer is `false` under Miri, which runs each thread as if it had a CPU.
    fn has_single_cpu() -> bool {
        ensure_read();
        allow(cpu::this_cpu() as usize);
        // ordering: Relaxed; only a hint.
        !cfg!(miri) && ALLOWED_CPUS.load(Relaxed) <= 1
    }
    /// Returns the number of all CPUs except the caller's and one for each spinner. Threads that compute do not count.
    fn idle_cpus() -> u32 {
        (Self::usable_cpus() - 1).saturating_sub(SPINNERS.taken())
    }
    fn begin_spinning() -> bool {
        SPINNERS.begin(Self::usable_cpus() - 1)
    }
    fn end_spinning() {
        SPINNERS.end();
    }
    fn must_not_spin() -> bool {
        spinners::is_real_time()
    }
    fn yield_cpu() {
        syscall::yield_cpu();
    }
}

/// Notes that the process may use this CPU.
#[inline]
fn allow(cpu: usize) {
    let bit = 1 << (cpu % 64);
    // ordering: Relaxed; only a hint.
    if cpu < CPUS_MAX && ALLOWED.at(cpu / 64).load(Relaxed) & bit == 0 {
        allow_slowpath(cpu / 64, bit);
    }
}

#[cold]
fn allow_slowpath(at: usize, bit: u64) {
    // ordering: Relaxed; only a hint.
    if ALLOWED.at(at).fetch_or(bit, Relaxed) & bit == 0 {
        // ordering: Relaxed; only a hint.
        ALLOWED_CPUS.fetch_add(1, Relaxed);
    }
}

/// Reads the topology for a process that knows what it needs, unless a thread has read it. Without `nodes`, all CPUs
/// are on node 0; without `quota`, control groups do not count.
pub fn prepare(nodes: bool, quota: bool) {
    read_once(nodes, quota);
}

/// Reads the topology unless a thread has read it. Threads that come while it is being read do not wait: for them
/// everything is on node 0, which is only a hint anyway.
#[inline]
fn ensure_read() {
    // ordering: Acquire; G1.
    if STATE.load(Acquire) != READY {
        read_once(true, true);
    }
}

#[cold]
fn read_once(nodes: bool, quota: bool) {
    let reading = READING + u64::from(fork::epoch());
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
    let seen = STATE.load(Relaxed);
    // ordering: Relaxed; only decides which thread reads.
    let is_others = |seen| STATE.compare_exchange(seen, reading, Relaxed, Relaxed).is_err();
    if seen == READY || seen == reading || is_others(seen) {
        return;
    }
    read(nodes, quota);
    // ordering: Release; G1.
    STATE.store(READY, Release);
}

/// Fills the tables. Miri has no such files; two nodes give the locks something to do there.
fn read(nodes: bool, quota: bool) {
    let nodes = match nodes {
        true if cfg!(miri) => 2,
        true => read_nodes(),
        false => 1,
    };
    // ordering: Relaxed; published by G1.
    NODES.store(nodes, Relaxed);
    if !cfg!(miri) {
        read_affinity();
        let quota = if quota { quota::cpus() } else { None };
        // ordering: Relaxed; published by G1.
        QUOTA.store(quota.unwrap_or(u32::MAX), Relaxed);
    }
    // ordering: Relaxed; published by G1.
    IS_GUEST.store(cpu::is_virtual(), Relaxed);
}

/// Pretends that the machine is not a virtual one and has `nodes` NUMA nodes of `cpus_per_node` CPUs each. The CPUs are
/// numbered one after another; further CPUs wrap around. It is for tests and experiments on small machines.
///
/// # Panics
/// Panics if either number is 0 or there are more than 64 nodes.
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
    read(true, true);
}

/// Fills `NODE_OF` and returns the number of nodes. Node numbers may have holes, and nodes may have only memory. They
/// are counted up to the greatest number.
fn read_nodes() -> u32 {
    let (mut nodes, mut buffer) = (1, [0; 4096]);
    let online = read_file(b"/sys/devices/system/node/online\0", &mut buffer);
    for_each_number(online.unwrap_or_default(), NODES_MAX as usize, |node| {
        nodes = node as u32 + 1;
    });
    if nodes == 1 {
        return 1;
    }
    for_each_number(online.unwrap_or_default(), NODES_MAX as usize, |node| {
        let (mut path, mut buffer) = ([0; 48], [0; 4096]);
        // There is room for it, and for a zero behind it.
        let _ = write!(&mut path[..], "/sys/devices/system/node/node{node}/cpulist");
        for_each_cpu(read_file(&path, &mut buffer).unwrap_or_default(), |cpu| {
            // ordering: Relaxed; published by G1.
            NODE_OF.at(cpu).store(node as u8, Relaxed);
        });
    });
    nodes
}

/// Calls `visit` for each number below `end` of a list like `0-3,8,10-11`.
fn for_each_number(list: &[u8], end: usize, mut visit: impl FnMut(usize)) {
    for range in list.trim_ascii().split(|&byte| byte == b',') {
        let mut ends = range.splitn(2, |&byte| byte == b'-').map(number);
        let (Some(Some(first)), last) = (ends.next(), ends.next()) else { continue };
        for number in first..last.flatten().unwrap_or(first).saturating_add(1).min(end as u64) {
            visit(number as usize);
        }
    }
}

fn for_each_cpu(list: &[u8], visit: impl FnMut(usize)) {
    for_each_number(list, CPUS_MAX, visit);
}

fn number(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.trim().parse().ok()
}

/// Notes which CPUs the process may use. The caller may be a thread that has a CPU of its own, so the CPUs of the first
/// thread count, too. If the library is loaded before the program starts, the caller is the first thread.
fn read_affinity() {
    let first = || affinity(std::process::id() as c_int);
    let of_first = if cfg!(lockwright_preload) { None } else { first() };
    let allowed = [of_first, affinity(0)].into_iter().flatten().reduce(CpuSet::union);
    match allowed {
        Some(allowed) => allowed.cpus().for_each(allow),
        None => for_each_online_cpu(allow),
    }
}

fn for_each_online_cpu(visit: impl FnMut(usize)) {
    let mut buffer = [0; 4096];
    let list = read_file(b"/sys/devices/system/cpu/online\0", &mut buffer);
    for_each_cpu(list.unwrap_or_default(), visit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, PoisonError};
    use std::thread;
    use std::vec::Vec;

    /// A lock that tests hold that look at the topology of the process, or change it.
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

    #[test]
    fn a_child_reads_what_a_thread_of_its_parent_was_reading() {
        let _alone = TOPOLOGY.lock().unwrap_or_else(PoisonError::into_inner);
        ensure_read();
        STATE.store(READING + u64::from(fork::epoch()) + 1, Relaxed);
        ensure_read();
        assert_eq!(STATE.load(Relaxed), READY);
        // A thread that reads in this process is not disturbed.
        let reading = READING + u64::from(fork::epoch());
        STATE.store(reading, Relaxed);
        ensure_read();
        assert_eq!(STATE.swap(READY, Relaxed), reading);
    }

    /// Under Miri this is also a search for an order in which a thread sees the topology half-read.
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
