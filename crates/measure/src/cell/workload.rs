//! What the threads of a cell do.

use super::real_use::RealUse;
use super::section::Section;
use super::starve::{StarveParams, StarveRole};
use super::{kbuild, sleepers};
use crate::workload::counter::ReaderOrder;
use crate::workload::kbuild::BuildParams;
use crate::workload::{counter, handoff, lock2, locktorture, open1, readrandom};
use serde::Serialize;

/// What the threads of a cell do. The loops are in [`crate::workload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "name", rename_all = "lowercase")]
pub enum Workload {
    /// Lock and unlock, alone.
    Uncontended,
    /// A shared counter, with loads inside and outside the critical section.
    Counter {
        /// Pause instructions inside the critical section.
        cs_load: u32,
        /// Pause instructions between two critical sections.
        think_load: u32,
        /// Of 100 operations of each thread, those that read.
        readers: u32,
        /// Which ones.
        reader_order: ReaderOrder,
        /// True if critical sections touch nothing, not even the counter.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_empty: bool,
    },
    /// The kernel's locktorture.
    Locktorture {
        /// True if the rare hold of 100 ms happens.
        long_hold: bool,
    },
    /// will-it-scale: record locks on one file.
    Lock2,
    /// will-it-scale: opening and closing files.
    Open1,
    /// leveldb: lookups behind a mutex whose sleepers meet on a spin lock.
    Readrandom,
    /// A build with many jobs: a fixed amount of work.
    Kbuild(#[serde(with = "kbuild::InDocuments")] BuildParams),
    /// A lock that every thread always wants, held for a fixed time.
    Handoff {
        /// What its owner does meanwhile.
        section: Section,
        /// How long.
        section_ns: u64,
    },
    /// Many tasks that take sleeping locks, nearly always to write.
    Aim7 {
        /// Locks.
        lock_count: u32,
        /// Operations in a row on one lock.
        unit_ops: u64,
        /// Mean time on a CPU between two units of `unit_ops` operations.
        compute_ns: u64,
        /// Time on a CPU under the lock.
        section_ns: u64,
        /// Percentage of the operations that only read.
        read_percent: u32,
    },
    /// A thread that waits again and again next to others that always hold the lock.
    Starve(StarveParams),
    /// What programs do with locks.
    #[serde(rename = "real-use")]
    RealUse(RealUse),
}

impl Workload {
    /// A counter that is written only.
    pub const fn counter(cs_load: u32, think_load: u32) -> Self {
        let reader_order = ReaderOrder::Alternate;
        Self::Counter { cs_load, think_load, readers: 0, reader_order, is_empty: false }
    }
    /// The name and the knobs, for people; of many knobs the name.
    pub fn described(self) -> String {
        match (self, self.counter_typed()) {
            (_, Some(knobs)) => format!("counter ({knobs})"),
            (Self::Handoff { .. } | Self::Starve(_), _) => {
                format!("{} ({})", self.name(), sleepers::typed(self))
            }
            _ => self.name().into(),
        }
    }
    /// The parts of its software that are not simulated but take a time of the calibration.
    pub const fn software_parts(self) -> &'static [&'static str] {
        match self {
            Self::Locktorture { .. } => locktorture::part::ALL,
            Self::Counter { .. } => counter::part::ALL,
            Self::Lock2 => lock2::part::ALL,
            Self::Open1 => open1::part::ALL,
            Self::Readrandom => readrandom::part::ALL,
            Self::Handoff { .. } => handoff::part::ALL,
            Self::Uncontended
            | Self::Kbuild(_)
            | Self::Aim7 { .. }
            | Self::Starve(_)
            | Self::RealUse(_) => &[],
        }
    }
    /// The pause instructions in a section of a counter, if it is one.
    pub const fn cs_load(self) -> Option<u32> {
        match self {
            Self::Counter { cs_load, .. } => Some(cs_load),
            _ => None,
        }
    }
    /// A counter with this `cs_load`; any other workload is as it was.
    #[must_use]
    pub const fn with_cs_load(self, cs_load: u32) -> Self {
        match self {
            Self::Counter { think_load, readers, reader_order, is_empty, .. } => {
                Self::Counter { cs_load, think_load, readers, reader_order, is_empty }
            }
            _ => self,
        }
    }
    /// The knobs of a workload whose locks put their waiters to sleep as they are typed; empty for one that
    /// is not of these.
    pub fn sleepers_typed(self) -> String {
        sleepers::typed(self)
    }
    /// The knobs of a counter as they are typed, if it is one.
    pub fn counter_typed(self) -> Option<String> {
        let Self::Counter { cs_load, think_load, readers, reader_order, is_empty } = self else {
            return None;
        };
        let mut knobs = format!("--cs-load {cs_load} --think-load {think_load}");
        if readers > 0 {
            knobs += &format!(" --read-percent {readers}");
        }
        if reader_order == ReaderOrder::Random {
            knobs += " --reader-order random";
        }
        if is_empty || readers > 0 {
            knobs += if is_empty { " --empty-section on" } else { " --empty-section off" };
        }
        Some(knobs)
    }
    /// Of `threads` threads, how many read and how many write. A thread may do both.
    pub const fn readers_and_writers(self, threads: usize) -> (usize, usize) {
        match self {
            Self::Counter { readers: 1..100, .. } => (threads, threads),
            Self::Counter { readers: 100.., .. } => (threads, 0),
            Self::Starve(StarveParams { role, .. }) => match role {
                StarveRole::Writer | StarveRole::Upgrader => (threads - 1, 1),
                StarveRole::Reader => (1, threads - 1),
                StarveRole::Owner | StarveRole::Notified => (0, threads),
            },
            Self::RealUse(it) => match it.readers() {
                0 => (0, threads),
                100.. => (threads, 0),
                _ => (threads, threads),
            },
            _ => (0, threads),
        }
    }
    /// Returns true if simulated threads are the tasks of a kernel, however many there are.
    pub const fn is_in_kernel(self) -> bool {
        matches!(self, Self::Aim7 { .. })
    }
    /// Returns true if the amount of work is fixed. Then the time that it takes is the result, and the window of a cell
    /// is the longest that it may take.
    pub const fn is_fixed_work(self) -> bool {
        matches!(self, Self::Kbuild(_))
    }
    /// How many locks its threads use.
    pub const fn locks(self) -> u32 {
        match self {
            Self::Kbuild(knobs) => knobs.lock_count,
            Self::Aim7 { lock_count, .. } => lock_count,
            Self::Open1 => 2,
            Self::RealUse(it) => it.locks(),
            _ => 1,
        }
    }
    /// The name it is selected by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uncontended => "uncontended",
            Self::Counter { .. } => "counter",
            Self::Locktorture { .. } => "locktorture",
            Self::Lock2 => "lock2",
            Self::Open1 => "open1",
            Self::Readrandom => "readrandom",
            Self::Kbuild(_) => "kbuild",
            Self::Handoff { .. } => "handoff",
            Self::Aim7 { .. } => "aim7",
            Self::Starve(_) => "starve",
            Self::RealUse(it) => it.name(),
        }
    }
}
