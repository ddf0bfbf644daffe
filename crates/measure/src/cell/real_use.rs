//! What programs do with locks: the workloads of the matrix of real use.

use super::section::Section;
use crate::workload::attempts::AttemptsParams;
use crate::workload::counter::ReaderOrder;
use crate::workload::queue::{QueueNotify, QueueParams};
use crate::workload::sections::SectionsParams;
use serde::Serialize;

/// What programs do with locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "use", rename_all = "lowercase")]
pub enum RealUse {
    /// A bounded queue made of a lock and two condition variables.
    Queue {
        /// Threads that put messages in; the others take them out.
        producers: u32,
        /// The most messages in the queue.
        capacity: u32,
        /// Which threads are told of a change.
        notify: QueueNotify,
        /// The longest that a thread waits before it looks again; 0 is as long as it takes.
        timeout_ns: u64,
        /// What a thread computes for each message that it took.
        job_ns: u64,
    },
    /// Two threads that take turns.
    PingPong,
    /// Sections that take microseconds, and thinking between them.
    Sections {
        /// What happens in a section.
        section: Section,
        /// How long it is.
        section_ns: u64,
        /// How long it is for a thread that owns the lock.
        write_ns: u64,
        /// How long a thread computes between two of them.
        think_ns: u64,
        /// Percent of the operations that read.
        readers: u32,
        /// Which ones.
        reader_order: ReaderOrder,
    },
    /// A hash map of 10,000 entries.
    Map {
        /// Percent of the operations that change an entry.
        write_percent: u32,
        /// True if the lock is one that readers share.
        is_shared: bool,
    },
    /// A cache that forgets what was used least recently.
    Lru,
    /// Counters, each with a lock of its own.
    Shards {
        /// How many.
        count: u32,
    },
    /// Threads that come, take the lock a few times, and go.
    Churn,
    /// Attempts with a deadline.
    Attempts {
        /// How long an attempt lasts at most.
        patience_ns: u64,
        /// How long a thread computes with the lock.
        section_ns: u64,
        /// How long it computes between two sections.
        think_ns: u64,
    },
}

/// What a lock has to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// A condition variable of its library.
    Condvar,
    /// Attempts with a deadline.
    Deadline,
}

impl Needs {
    /// In words.
    pub const fn described(self) -> &'static str {
        match self {
            Self::Condvar => "condition variable",
            Self::Deadline => "attempts with a deadline",
        }
    }
}

impl RealUse {
    /// What its lock has to have, in addition to being a lock.
    pub const fn needs(self) -> Option<Needs> {
        match self {
            Self::Queue { .. } | Self::PingPong => Some(Needs::Condvar),
            Self::Attempts { .. } => Some(Needs::Deadline),
            _ => None,
        }
    }
    /// Returns true if an operation is so short that a call through a pointer would be a part of it.
    pub const fn is_short(self) -> bool {
        matches!(self, Self::Map { .. } | Self::Lru | Self::Shards { .. })
    }
    /// Returns true if readers share its lock.
    pub const fn is_shared(self) -> bool {
        self.readers() > 0
    }
    /// Of 100 operations, those that share the lock with others.
    pub const fn readers(self) -> u32 {
        match self {
            Self::Sections { readers, .. } => readers,
            Self::Map { write_percent, is_shared: true } => 100 - write_percent,
            _ => 0,
        }
    }
    /// How many locks its threads use.
    pub const fn locks(self) -> u32 {
        match self {
            Self::Shards { count } => count,
            _ => 1,
        }
    }
    /// The most operations per second that `cpus` CPUs and one lock let through; `None` if that is not known
    /// beforehand. A section that computes needs a CPU, one that sleeps does not.
    pub fn bound(self, cpus: f64) -> Option<f64> {
        let per_s = |ns: f64| 1e9 / ns.max(1.0);
        let limits = |write_ns: u64, think_ns: u64, owns: f64, computes: bool| {
            let on_cpu_ns = think_ns + if computes { write_ns } else { 0 };
            let owned_ns = write_ns as f64 * owns;
            // Where no operation owns the lock for long, or none computes, there is no limit.
            let by_lock = if owned_ns > 0.0 { per_s(owned_ns) } else { f64::MAX };
            let by_cpus = if on_cpu_ns > 0 { cpus * per_s(on_cpu_ns as f64) } else { f64::MAX };
            Some(by_lock.min(by_cpus)).filter(|&bound| bound < f64::MAX)
        };
        match self {
            Self::Sections { section, write_ns, think_ns, readers, .. } => {
                let owns = f64::from(100 - readers) / 100.0;
                limits(write_ns, think_ns, owns, section == Section::Spin)
            }
            Self::Attempts { section_ns, think_ns, .. } => limits(section_ns, think_ns, 1.0, true),
            Self::Queue { .. }
            | Self::PingPong
            | Self::Map { .. }
            | Self::Lru
            | Self::Shards { .. }
            | Self::Churn => None,
        }
    }
    /// The name of the loop.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue { .. } => "queue",
            Self::PingPong => "pingpong",
            Self::Sections { .. } => "sections",
            Self::Map { .. } => "map",
            Self::Lru => "lru",
            Self::Shards { .. } => "shards",
            Self::Churn => "churn",
            Self::Attempts { .. } => "attempts",
        }
    }
    /// Sections of which those of readers and of writers are alike, and `readers` percent of the operations read.
    pub const fn sections_of(
        section: Section,
        section_ns: u64,
        think_ns: u64,
        readers: u32,
    ) -> Self {
        let (write_ns, reader_order) = (section_ns, ReaderOrder::Alternate);
        Self::Sections { section, section_ns, write_ns, think_ns, readers, reader_order }
    }
    /// The parameters of a queue, if it is one.
    pub(crate) fn queue(self) -> Option<QueueParams> {
        let Self::Queue { producers, capacity, notify, timeout_ns, job_ns } = self else {
            return None;
        };
        Some(QueueParams { producers, capacity, notify, timeout_ns, job_ns })
    }
    /// The parameters of sections, if they are that.
    pub(crate) fn sections(self) -> Option<SectionsParams> {
        let Self::Sections { section, section_ns, write_ns, think_ns, readers, reader_order } =
            self
        else {
            return None;
        };
        let section = section.into();
        Some(SectionsParams { section, section_ns, write_ns, think_ns, readers, reader_order })
    }
    /// The parameters of attempts, if they are that.
    pub(crate) fn attempts(self) -> Option<AttemptsParams> {
        let Self::Attempts { patience_ns, section_ns, think_ns } = self else { return None };
        Some(AttemptsParams { patience_ns, section_ns, think_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_what_the_cpus_or_the_lock_let_through_whichever_is_less() {
        let sections = RealUse::sections_of;
        let spin = |think_ns| sections(Section::Spin, 5_000, think_ns, 0).bound(2.0);
        assert_eq!(
            [spin(20_000), spin(5_000), spin(0)],
            [80_000.0, 200_000.0, 200_000.0].map(Some)
        );
        assert_eq!(sections(Section::Spin, 5_000, 20_000, 0).bound(0.5), Some(20_000.0));
        assert_eq!(sections(Section::Sleep, 100_000, 0, 0).bound(2.0), Some(10_000.0));
        assert_eq!(sections(Section::Sleep, 100_000, 0, 80).bound(2.0), Some(50_000.0));
        assert_eq!(sections(Section::Sleep, 100_000, 0, 100).bound(2.0), None);
        assert_eq!(RealUse::PingPong.bound(2.0), None);
        let reader_order = ReaderOrder::Random;
        let short_writes = RealUse::Sections {
            section: Section::Sleep,
            section_ns: 100_000,
            write_ns: 0,
            think_ns: 0,
            readers: 80,
            reader_order,
        };
        assert_eq!(short_writes.bound(2.0), None);
    }
}
