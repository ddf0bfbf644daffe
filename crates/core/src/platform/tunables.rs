//! The tunables of the locks: numbers that can be set at run time.
//!
//! A program on Linux sets them for the whole process with [`native::set_tunable`](crate::native::set_tunable). Its
//! user sets them with variables of the environment: `LOCKWRIGHT_NUMA_SPINLOCK_THRESHOLD=8` sets
//! `numa_spinlock_threshold`. On a simulated machine they belong to one run. If the kernel has such a parameter, the
//! tunable has its name. A value that is out of range is refused.

use core::fmt;

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
            /// Returns `value`, or an error if it is above [`max`](Self::max).
            ///
            /// # Errors
            /// If it is out of range.
            pub const fn check(self, value: u64) -> Result<u64, OutOfRange> {
                if value > self.max() { Err(OutOfRange { tunable: self, value }) } else { Ok(value) }
            }
            /// Returns the value that a user means by `text`: a whole number in range, or for `numa_spinlock` one of
            /// `auto`, `on` and `off`.
            pub fn parse(self, text: &[u8]) -> Option<u64> {
                if matches!(self, Tunable::numa_spinlock) {
                    let at = NUMA_WORDS.iter().position(|word| word.as_bytes() == text)?;
                    return Some(at as u64);
                }
                let digits = core::str::from_utf8(text).ok()?;
                self.check(digits.parse().ok()?).ok()
            }
        }
    };
}

tunables! {
    /// NUMA-aware order of the CNA locks: 0 is automatic (on if the machine has more than one NUMA node and is not a
    /// virtual one), 1 is on, 2 is off. In the environment: `auto`, `on`, `off`. Default: 0.
    numa_spinlock: 2,
    /// Handoffs within one NUMA node before waiters of other nodes get their turn, as a power of two: n means 2^n.
    /// Default: the policy's own, 16 in CNA v10.
    numa_spinlock_threshold: 31,
    /// Nanoseconds before waiters of other NUMA nodes get their turn, in policies that measure time. Default: the
    /// policy's own, 1,000,000.
    numa_spinlock_threshold_ns: u64::MAX / 2,
    /// Handoffs in a row in the one queue of a hierarchical lock above which the lock gives this queue up, when its
    /// last waiter leaves. Default: 50.
    hqlock_general_handoffs_turn_numa: u32::MAX as u64,
    /// Handoffs within one NUMA node above which a hierarchical lock gives waiters of other nodes their turn. Default:
    /// 1,000.
    hqlock_fairness_threshold: u32::MAX as u64,
    /// Time in nanoseconds after a call of membarrier(2) in which no lock becomes quiet: unlocking uses an atomic
    /// exchange instead of a plain store. Locks that are quiet already call it again, once each. Default: 100,000 for
    /// each CPU that the process may use.
    heavy_barrier_apart_ns: u64::MAX / 2,
    /// Nanoseconds after which no thread overtakes the first waiter of a reader-writer semaphore, in policies that
    /// have such a bound. Default: the policy's own, 10,000,000 or 4,000,000.
    rwsem_handoff_ns: u64::MAX / 2,
    /// Reads without a write after which the readers of a per-CPU reader-writer lock use memory of their own
    /// threads. Default: 4,096, and four times as many each time a writer has ended that, up to 1,048,576.
    percpu_rwlock_calm_reads: u32::MAX as u64,
    /// Nanoseconds from which on a section of a reader-writer lock for programs is long. A thread that has to wait for
    /// such a lock sleeps at once, and is granted the lock. With 0 all sections are long, which checkers use. Default:
    /// 20,000.
    rwlock_long_ns: u64::MAX / 2,
    /// Maximum number of pause instructions that a thread spins before it sleeps, in the locks whose waiters sleep.
    /// With 0 a thread looks once and does not spin, which checkers use. Default: as many as take the time of
    /// putting a thread to sleep and waking it. On a single CPU no thread spins.
    spin_pauses: u32::MAX as u64,
}

/// The default of `heavy_barrier_apart_ns` in nanoseconds for each CPU. A heavy barrier interrupts every CPU that runs
/// the process, and the thread that asks for it waits for all of them: 2 to 40 us with two CPUs of an Intel Xeon.
pub const HEAVY_BARRIER_APART_NS_PER_CPU: u64 = 100_000;

/// `numa_spinlock`: on if the machine has more than one NUMA node and is not a virtual one.
pub const NUMA_AUTO: u64 = 0;
/// `numa_spinlock`: always on.
pub const NUMA_ON: u64 = 1;
/// `numa_spinlock`: always off.
pub const NUMA_OFF: u64 = 2;
/// The words by which a user calls these, in this order.
const NUMA_WORDS: [&str; 3] = ["auto", "on", "off"];

/// A value that a tunable cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The tunable. It keeps the value that it had.
    pub tunable: Tunable,
    /// The value that was refused.
    pub value: u64,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tunable, value } = self;
        write!(f, "tunable `{}` cannot be {value}: give 0 to {}", tunable.name(), tunable.max())
    }
}

impl core::error::Error for OutOfRange {}

/// Says if waiters of the CNA locks are served by NUMA node, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumaSpinlock {
    /// Yes: `numa_spinlock` is on.
    SetOn,
    /// No: `numa_spinlock` is off.
    SetOff,
    /// Yes: `numa_spinlock` is automatic, and the machine has several NUMA nodes.
    SeveralNodes,
    /// No: `numa_spinlock` is automatic, and the machine has one NUMA node.
    OneNode,
    /// No: `numa_spinlock` is automatic, and the machine is a virtual one. Its NUMA nodes may differ from those of the
    /// host.
    Guest,
}

impl NumaSpinlock {
    /// Returns the effect of a setting of `numa_spinlock` on a machine with that many NUMA nodes.
    #[inline]
    pub fn of(
        setting: Option<u64>,
        is_guest: impl FnOnce() -> bool,
        nodes: impl FnOnce() -> u32,
    ) -> Self {
        match setting.unwrap_or(NUMA_AUTO) {
            NUMA_ON => Self::SetOn,
            NUMA_AUTO if is_guest() => Self::Guest,
            NUMA_AUTO if nodes() > 1 => Self::SeveralNodes,
            NUMA_AUTO => Self::OneNode,
            _ => Self::SetOff,
        }
    }
    /// Returns `true` if waiters are served by NUMA node.
    #[inline]
    pub const fn is_on(self) -> bool {
        matches!(self, Self::SetOn | Self::SeveralNodes)
    }
}

impl fmt::Display for NumaSpinlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SetOn => "on: it was set so",
            Self::SetOff => "off: it was set so",
            Self::SeveralNodes => "on: the machine has several NUMA nodes",
            Self::OneNode => "off: the machine has one NUMA node",
            Self::Guest => "off: the machine is a virtual one",
        })
    }
}
