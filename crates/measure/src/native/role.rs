//! Which thread of `starve` waits, and how the system favours the others.

use crate::workload::params::{ParamType, Value, choice};
use std::fmt;
use std::str::FromStr;

choice! {
    /// Which thread waits again and again.
    StarveRole {
        /// One that writes, next to others that read; they own a lock that has no readers.
        Writer = "writer",
        /// One that reads and becomes the owner, next to others that read.
        Upgrader = "upgrader",
        /// One that reads, next to others that write.
        Reader = "reader",
        /// One that writes, next to others that write.
        Owner = "owner",
        /// One that was notified on a condition variable, next to owners of the lock.
        Notified = "notified",
    }
}

impl StarveRole {
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

impl ParamType for ThreadPriority {
    fn value(self) -> Value {
        Value::Text(self.to_string())
    }
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// What a priority may be.
pub(super) const PRIORITIES: &str = "normal, nice:10 (-20 to 19), fifo:1, rr:1 (1 to 99) or idle";

impl FromStr for ThreadPriority {
    type Err = &'static str;

    fn from_str(typed: &str) -> Result<Self, Self::Err> {
        let (name, number) = match typed.trim().split_once(':') {
            None => (typed.trim(), None),
            Some((name, number)) => (name, Some(number.parse::<i32>().map_err(|_| PRIORITIES)?)),
        };
        let priority = match (name, number) {
            ("normal", None) => Self::Normal,
            ("idle", None) => Self::Idle,
            ("nice", number) => Self::Nice(number.unwrap_or(10)),
            ("fifo", number) => Self::Fifo(number.unwrap_or(1)),
            ("rr", number) => Self::RoundRobin(number.unwrap_or(1)),
            _ => return Err(PRIORITIES),
        };
        let is_sound = match priority {
            Self::Nice(nice) => (-20..=19).contains(&nice),
            Self::Fifo(level) | Self::RoundRobin(level) => (1..=99).contains(&level),
            Self::Normal | Self::Idle => true,
        };
        is_sound.then_some(priority).ok_or(PRIORITIES)
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
