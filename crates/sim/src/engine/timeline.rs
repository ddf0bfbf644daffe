//! The simulated time of a run, and what is due when.

use super::queue::{EventKind, EventQueue, QueuedEvent};
use crate::digest::Digest;

/// Picoseconds of a nanosecond.
pub const PS_PER_NS: u64 = 1000;

/// The clock, the events to come, and the fingerprint of those that were.
pub struct Timeline {
    pub now: u64,
    pub queue: EventQueue,
    /// The number of the event that was made last.
    sequence: u64,
    /// How many events there were, and may be at most.
    pub events: u64,
    events_max: u64,
    pub digest: Digest,
}

impl Timeline {
    /// The beginning of a run that ends at `limit_ps`.
    pub fn new(events_max: u64, limit_ps: u64) -> Self {
        let mut queue = EventQueue::default();
        queue.push(QueuedEvent::new(limit_ps, 0, EventKind::Limit, 0));
        Self { now: 0, queue, sequence: 0, events: 0, events_max, digest: Digest::new() }
    }
    /// An event that is younger than all others.
    #[inline]
    pub fn stamp(&mut self, at: u64, kind: EventKind, thread: usize) -> QueuedEvent {
        self.sequence += 1;
        QueuedEvent::new(at, self.sequence, kind, thread as u16)
    }
    /// Something happens at `at`.
    #[inline]
    pub fn happened(&mut self, at: u64, what: u64) {
        debug_assert!(at >= self.now, "time runs backwards");
        self.now = at;
        self.events += 1;
        self.digest.fold(at, what);
    }
    /// Returns true if no more events may happen by themselves.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.events >= self.events_max
    }
    /// From now on no event happens by itself.
    pub fn stop(&mut self) {
        self.events_max = 0;
    }
}
