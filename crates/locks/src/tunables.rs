//! Numbers of the locks that can be set at run time.
//!
//! The names are the kernel's parameters where the kernel has them. They belong to a machine, not to a lock: natively they
//! are process-wide, on a simulated machine they belong to one run.

macro_rules! tunables {
    ($($(#[doc = $doc:literal])+ $name:ident: $max:expr,)+) => {
        /// A number that can be set at run time.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Tunable { $($(#[doc = $doc])+ $name,)+ }

        impl Tunable {
            /// Every tunable, in the order of the table.
            pub const ALL: &[Tunable] = &[$(Tunable::$name,)+];
            /// The name it is set by.
            pub const fn name(self) -> &'static str {
                match self { $(Tunable::$name => stringify!($name),)+ }
            }
            /// What it does.
            pub fn describe(self) -> &'static str {
                match self { $(Tunable::$name => concat!($($doc,)+).trim_ascii(),)+ }
            }
            /// The greatest value that makes sense.
            pub const fn max(self) -> u64 {
                match self { $(Tunable::$name => $max,)+ }
            }
        }
    };
}

tunables! {
    /// NUMA-aware succession of the CNA locks: 0 auto (on if the machine has more than one NUMA
    /// node), 1 on, 2 off. Default 0.
    numa_spinlock: 2,
    /// After how many handoffs within a NUMA node the waiters set aside get their turn, as a power
    /// of two: n means 2^n. Default: the policy's own, 16 in CNA v10.
    numa_spinlock_threshold: 31,
    /// After how many nanoseconds the waiters set aside get their turn, in the policies that
    /// measure time. Default: the policy's own, 1,000,000.
    numa_spinlock_threshold_ns: u64::MAX / 2,
    /// How many nanoseconds after a heavy barrier no lock begins to rely on the next one: a release is
    /// an exchange meanwhile. Default: 100,000 for each CPU that the process may use.
    heavy_barrier_apart_ns: u64::MAX / 2,
    /// After how many nanoseconds a waiter of a reader-writer semaphore lets nobody pass it any more, in
    /// the policies that keep the lock for a waiter. Default: the policy's own, 10,000,000 or 4,000,000.
    rwsem_handoff_ns: u64::MAX / 2,
    /// After how many reads with no write between them readers of a per-CPU reader-writer lock use slots. Default: 4,096, and
    /// four times as many each time a writer has ended it, up to 1,048,576.
    percpu_rwlock_calm_reads: u32::MAX as u64,
    /// How many pauses a thread makes while it spins before it sleeps, at most, in the locks for programs: 0 is a thread that looks once
    /// and does not spin. For checkers. Default: as many as take as long as putting a thread to sleep and waking it costs.
    spin_pauses: u32::MAX as u64,
}

/// `heavy_barrier_apart_ns`, for each CPU: a heavy barrier interrupts every CPU that runs the process for a
/// microsecond or two, and whoever asks for it waits for all of them.
pub const HEAVY_BARRIER_APART_NS_PER_CPU: u64 = 100_000;

/// `numa_spinlock`: on if the machine has more than one NUMA node.
pub const NUMA_AUTO: u64 = 0;
/// `numa_spinlock`: always on.
pub const NUMA_ON: u64 = 1;
/// `numa_spinlock`: always off.
pub const NUMA_OFF: u64 = 2;
