//! The parameters of workload `starve`.

use super::Section;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// What the threads of `starve` do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StarveParams {
    /// Which thread waits, and next to whom.
    pub role: StarveRole,
    /// What the others do in their sections.
    pub section: Section,
    /// How long a section is, on average.
    pub section_ns: u64,
    /// The priority of the others.
    pub priority: ThreadPriority,
    /// The priority of the thread that waits.
    pub waiter_priority: ThreadPriority,
    /// True if all of it runs in a forked child.
    pub forked: bool,
}

/// Which thread waits again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StarveRole {
    /// One that writes, next to others that read; they own a lock that has no readers.
    Writer,
    /// One that reads and becomes the owner, next to others that read.
    Upgrader,
    /// One that reads, next to others that write.
    Reader,
    /// One that writes, next to others that write.
    Owner,
    /// One that was notified on a condition variable, next to owners of the lock.
    Notified,
}

impl StarveRole {
    /// The name it is selected by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Upgrader => "upgrader",
            Self::Reader => "reader",
            Self::Owner => "owner",
            Self::Notified => "notified",
        }
    }
    /// Returns true if the others read.
    pub const fn is_next_to_readers(self) -> bool {
        matches!(self, Self::Writer | Self::Upgrader)
    }
}

/// How the system's scheduler favours a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadPriority {
    /// As it is.
    #[default]
    Normal,
    /// A nice value: a higher one gets less of a CPU.
    Nice(i32),
    /// `SCHED_FIFO`, with a priority from 1 to 99.
    Fifo(i32),
    /// `SCHED_RR`.
    RoundRobin(i32),
    /// `SCHED_IDLE`.
    Idle,
}

impl ThreadPriority {
    /// Returns true if the thread runs before all that are not like it.
    pub const fn is_real_time(self) -> bool {
        matches!(self, Self::Fifo(_) | Self::RoundRobin(_))
    }
}

impl fmt::Display for ThreadPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal => f.write_str("normal"),
            Self::Nice(nice) => write!(f, "nice:{nice}"),
            Self::Fifo(level) => write!(f, "fifo:{level}"),
            Self::RoundRobin(level) => write!(f, "rr:{level}"),
            Self::Idle => f.write_str("idle"),
        }
    }
}

impl Serialize for ThreadPriority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for ThreadPriority {
    type Err = &'static str;

    fn from_str(typed: &str) -> Result<Self, Self::Err> {
        const REFUSAL: &str = "write normal, nice:10 (-20 to 19), fifo:1, rr:1 (1 to 99) or idle";
        let (name, number) = match typed.trim().split_once(':') {
            None => (typed.trim(), None),
            Some((name, number)) => (name, Some(number.parse::<i32>().map_err(|_| REFUSAL)?)),
        };
        let priority = match (name, number) {
            ("normal", None) => Self::Normal,
            ("idle", None) => Self::Idle,
            ("nice", number) => Self::Nice(number.unwrap_or(10)),
            ("fifo", number) => Self::Fifo(number.unwrap_or(1)),
            ("rr", number) => Self::RoundRobin(number.unwrap_or(1)),
            _ => return Err(REFUSAL),
        };
        let is_sound = match priority {
            Self::Nice(nice) => (-20..=19).contains(&nice),
            Self::Fifo(level) | Self::RoundRobin(level) => (1..=99).contains(&level),
            Self::Normal | Self::Idle => true,
        };
        is_sound.then_some(priority).ok_or(REFUSAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_read_as_it_is_written_and_others_are_refused() {
        for typed in ["normal", "nice:-5", "nice:19", "fifo:1", "rr:99", "idle"] {
            assert_eq!(
                typed.parse().map(|it: ThreadPriority| it.to_string()),
                Ok(typed.to_string())
            );
        }
        assert_eq!("fifo".parse(), Ok(ThreadPriority::Fifo(1)));
        for wrong in ["", "high", "nice:20", "fifo:0", "rr:100", "idle:1", "nice:x", "normal:"] {
            assert!(wrong.parse::<ThreadPriority>().is_err(), "{wrong}");
        }
    }
}
