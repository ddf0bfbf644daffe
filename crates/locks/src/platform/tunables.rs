//! The tunables of the locks: numbers that can be set at run time.
//!
//! A program on Linux sets them for the whole process with [`native::set_tunable`](crate::native::set_tunable). On a
//! simulated machine they belong to one run. A tunable has the name of the kernel's parameter if there is one.

macro_rules! tunables {
    ($($(#[doc = $doc:literal])+ $name:ident: $max:expr,)+) => {
        /// A number that can be set at run time. The text of each says what it is, its unit and its default.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Tunable { $($(#[doc = $doc])+ $name,)+ }

        impl Tunable {
            /// All tunables, in the order of their definition.
            pub const ALL: &[Tunable] = &[$(Tunable::$name,)+];
            /// Returns the name of the tunable.
            pub const fn name(self) -> &'static str {
                match self { $(Tunable::$name => stringify!($name),)+ }
            }
            /// Returns a description with unit and default.
            pub fn describe(self) -> &'static str {
                match self { $(Tunable::$name => concat!($($doc,)+).trim_ascii(),)+ }
            }
            /// Returns the largest value.
            pub const fn max(self) -> u64 {
                match self { $(Tunable::$name => $max,)+ }
            }
        }
    };
}

tunables! {
    /// NUMA-aware order of the CNA locks: 0 is automatic (on if the machine has more than one NUMA node), 1 is on,
    /// 2 is off. Default: 0.
    numa_spinlock: 2,
    /// Handoffs within one NUMA node before waiters of other nodes get their turn, as a power of two: n means 2^n.
    /// Default: the policy's own, 16 in CNA v10.
    numa_spinlock_threshold: 31,
    /// Nanoseconds before waiters of other NUMA nodes get their turn, in policies that measure time. Default: the
    /// policy's own, 1,000,000.
    numa_spinlock_threshold_ns: u64::MAX / 2,
    /// Minimum time in nanoseconds between two calls of membarrier(2). Until it has passed, unlocking uses an
    /// atomic exchange instead of a plain store. Default: 100,000 for each CPU that the process may use.
    heavy_barrier_apart_ns: u64::MAX / 2,
    /// Nanoseconds after which no thread overtakes the first waiter of a reader-writer semaphore, in policies that
    /// have such a bound. Default: the policy's own, 10,000,000 or 4,000,000.
    rwsem_handoff_ns: u64::MAX / 2,
    /// Reads without a write after which the readers of a per-CPU reader-writer lock use memory of their own
    /// threads. Default: 4,096, and four times as many each time a writer has ended that, up to 1,048,576.
    percpu_rwlock_calm_reads: u32::MAX as u64,
    /// Maximum number of pause instructions that a thread spins before it sleeps, in the locks whose waiters sleep.
    /// With 0 a thread looks once and does not spin, which checkers use. Default: as many as take the time of
    /// putting a thread to sleep and waking it.
    spin_pauses: u32::MAX as u64,
}

/// The default of `heavy_barrier_apart_ns` in nanoseconds for each CPU. A heavy barrier interrupts every CPU that runs
/// the process for a microsecond or two, and the thread that asks for it waits for all of them.
pub const HEAVY_BARRIER_APART_NS_PER_CPU: u64 = 100_000;

/// `numa_spinlock`: on if the machine has more than one NUMA node.
pub const NUMA_AUTO: u64 = 0;
/// `numa_spinlock`: always on.
pub const NUMA_ON: u64 = 1;
/// `numa_spinlock`: always off.
pub const NUMA_OFF: u64 = 2;
