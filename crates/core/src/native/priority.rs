//! Urgent threads. Locks that reorder their waiters never put an urgent thread behind one that came later.
//!
//! A thread is urgent inside an [`UrgentScope`], and always if its scheduling policy is a real-time one (`SCHED_FIFO`,
//! `SCHED_RR` or `SCHED_DEADLINE`). A thread asks the kernel for its policy and asks again after 10 ms. In between it
//! remembers the policy, also in a forked child. [`forget_policy`] makes it ask at once.
//!
//! A thread whose priority is raised because it holds a mutex with priority inheritance is not urgent: a program cannot
//! see that.
//!
//! A thread with a real-time policy does not spin for a lock whose waiters sleep: it sleeps at once, because the thread
//! that it waits for may not run before that.
//!
//! Urgency matters for `CnaSpinLock`, which serves waiters of one NUMA node first, and for
//! `QRwLock`, where an urgent reader overtakes waiting writers. A signal handler that takes such a
//! lock should open an [`UrgentScope`].

use super::per_thread::per_thread;
use super::spinners;
use core::marker::PhantomData;

// It has no initialiser and no destructor, so it is safe in signal handlers and exiting threads.
per_thread! {
    SCOPES at "lockwright_urgent_scopes": u32 = 0
}

/// Makes the calling thread urgent until it is dropped. Scopes nest.
///
/// # Examples
///
/// ```
/// use lockwright_core::native::priority::UrgentScope;
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
    spinners::forget_policy();
}

pub(super) fn is_urgent() -> bool {
    SCOPES.get() > 0 || spinners::is_real_time()
}

#[cfg(test)]
mod tests {
    use super::*;

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
