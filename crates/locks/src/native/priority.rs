//! Urgent threads: locks that reorder their waiters never put an urgent thread behind one that came later.
//!
//! A thread is urgent inside an [`UrgentScope`], and always if its scheduling policy is a real-time one (`SCHED_FIFO`,
//! `SCHED_RR` or `SCHED_DEADLINE`). A thread asks the kernel for its policy, remembers it, also in a forked child, and
//! asks again after 10 ms. [`forget_policy`] makes it ask at once.
//!
//! A thread whose priority is raised because it holds a mutex with priority inheritance is not urgent: a program cannot
//! see that.
//!
//! It matters for [`CnaSpinLock`](crate::CnaSpinLock), which serves waiters of one NUMA node first, and for
//! [`QRwLock`](crate::QRwLock), where an urgent reader overtakes waiting writers. A signal handler that takes such a
//! lock should open an [`UrgentScope`].

use super::per_thread::per_thread;
use super::sleep::time_ns;
use super::syscall::scheduling_policy;
use core::ffi::c_int;
use core::marker::PhantomData;

// No initialisers and no destructors: safe in signal handlers and exiting threads.
per_thread! {
    SCOPES at "lockwright_urgent_scopes": u32 = 0
}
per_thread! {
    POLICY at "lockwright_policy": Policy = Policy::Unknown
}
per_thread! {
    /// When it was asked for.
    ASKED_MS at "lockwright_asked_ms": i64 = 0
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Unknown = 0,
    Ordinary,
    RealTime,
}

/// A policy is remembered for this long.
const REMEMBERED_MS: i64 = 10;

/// A flag that the kernel adds to the policy it returns.
const RESET_ON_FORK: c_int = 0x4000_0000;
const SCHED_FIFO: c_int = 1;
const SCHED_RR: c_int = 2;
const SCHED_DEADLINE: c_int = 6;

/// Makes the calling thread urgent until it is dropped. Scopes nest.
///
/// # Examples
///
/// ```
/// use lockwright::native::priority::UrgentScope;
///
/// let urgent = UrgentScope::new();
/// // Take locks here.
/// drop(urgent);
/// ```
#[must_use = "the scope ends at once if it is not kept"]
pub struct UrgentScope(PhantomData<*const ()>);

impl UrgentScope {
    /// Opens a scope in the calling thread.
    pub fn new() -> Self {
        SCOPES.set(SCOPES.get() + 1);
        Self(PhantomData)
    }
}

impl Default for UrgentScope {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for UrgentScope {
    fn drop(&mut self) {
        SCOPES.set(SCOPES.get() - 1);
    }
}

/// Makes the calling thread ask for its scheduling policy again. Call it after the policy has changed.
pub fn forget_policy() {
    POLICY.set(Policy::Unknown);
}

pub(super) fn is_urgent() -> bool {
    SCOPES.get() > 0 || policy() == Policy::RealTime
}

fn policy() -> Policy {
    let (known, now_ms) = (POLICY.get(), now_ms());
    if known != Policy::Unknown && now_ms - ASKED_MS.get() < REMEMBERED_MS {
        return known;
    }
    ASKED_MS.set(now_ms);
    let policy = if cfg!(miri) {
        Policy::Ordinary
    } else {
        match scheduling_policy() & !RESET_ON_FORK {
            SCHED_FIFO | SCHED_RR | SCHED_DEADLINE => Policy::RealTime,
            _ => Policy::Ordinary,
        }
    };
    POLICY.set(policy);
    policy
}

/// By a clock that is read without a system call, and that the kernel sets forward with its ticks.
fn now_ms() -> i64 {
    if cfg!(miri) {
        return 0;
    }
    (time_ns(rustix::time::ClockId::MonotonicCoarse) / 1_000_000) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks again, so that what was wrong for whatever reason is right after a while. Time stands still under Miri.
    #[cfg(not(miri))]
    #[test]
    fn a_policy_is_not_remembered_for_ever() {
        POLICY.set(Policy::RealTime);
        ASKED_MS.set(now_ms());
        let began = std::time::Instant::now();
        while is_urgent() {
            assert!(began.elapsed().as_secs() < 60, "the policy is never asked for again");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_thread_is_urgent_exactly_inside_a_scope() {
        assert!(!is_urgent());
        let outer = UrgentScope::new();
        let inner = UrgentScope::new();
        drop(outer);
        assert!(is_urgent());
        drop(inner);
        assert!(!is_urgent());
    }
}
