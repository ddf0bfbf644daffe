//! The CPUs this process may use, and staying on one of them.

use std::mem::size_of;

/// The CPUs the calling thread may run on, in ascending order.
pub fn allowed_cpus() -> Vec<usize> {
    // SAFETY: a CPU set is plain bits; all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a set of the given size.
    let result = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) };
    if result != 0 {
        return (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    }
    let is_set = |&cpu: &usize| {
        // SAFETY: `cpu` is below the size of the set.
        unsafe { libc::CPU_ISSET(cpu, &set) }
    };
    (0..libc::CPU_SETSIZE as usize).filter(is_set).collect()
}

/// Keeps the calling thread on `cpu`. A refusal only makes the numbers noisier.
pub fn stay_on(cpu: usize) {
    // 0 is the calling thread.
    let _ = put(0, &[cpu]);
}

/// The calling thread, for [`put`].
pub fn this_thread() -> libc::pid_t {
    // SAFETY: has no preconditions and cannot fail.
    unsafe { libc::gettid() }
}

/// Lets a thread run on `cpus` only. Returns true if the system agreed.
#[must_use]
pub fn put(thread: libc::pid_t, cpus: &[usize]) -> bool {
    // SAFETY: a CPU set is plain bits; all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus {
        // SAFETY: `cpu` came from `allowed_cpus`, so it is below the size of the set.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: the pointer is to a set of the given size.
    unsafe { libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &set) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_stays_on_a_cpu_may_use_that_one_only() {
        let last = *allowed_cpus().last().expect("this thread runs somewhere");
        let after = std::thread::spawn(move || {
            stay_on(last);
            allowed_cpus()
        });
        assert_eq!(after.join().expect("pinning does not panic"), [last]);
    }
}
