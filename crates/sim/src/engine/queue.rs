//! The event queue: a four-ary heap of 16-byte events ordered by time, then by sequence number.

/// What happens at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventKind {
    /// A suspended thread goes on.
    Resume,
    /// The oldest store in the thread's store buffer becomes visible.
    Commit,
    /// A spinner whose line was invalidated asks for it again.
    Reread,
    /// That read completes: the spinner looks at the value.
    Look,
    /// A deadline of the thread may have come.
    Timer,
    /// The time limit of the run.
    Limit,
    /// A thread went on without any event in between. Never queued.
    Inline,
    /// Something else takes the thread's CPU.
    Preempt,
    /// The slice of the thread on a CPU is over. The number of this and of the two kinds of noise is a
    /// CPU's.
    SliceEnd,
    /// Something else of the host takes a CPU.
    NoiseBegin,
    /// It gives the CPU back.
    NoiseEnd,
    /// A thread that was woken comes to a run queue.
    Arrive,
    /// The thread may have spun for too long in one go.
    PauseLoop,
    /// Something else of the host takes many CPUs.
    Outage,
}

impl EventKind {
    const ALL: [Self; 14] = [
        Self::Resume,
        Self::Commit,
        Self::Reread,
        Self::Look,
        Self::Timer,
        Self::Limit,
        Self::Inline,
        Self::Preempt,
        Self::SliceEnd,
        Self::NoiseBegin,
        Self::NoiseEnd,
        Self::Arrive,
        Self::PauseLoop,
        Self::Outage,
    ];
}

/// A moment, what happens and to whom; ordered by moment, then by age.
///
/// ```text
/// 127            64 63        20 19   16 15      0
/// +----------------+------------+-------+---------+
/// |    time (ps)   |  sequence  | kind  | thread  |
/// +----------------+------------+-------+---------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuedEvent(u128);

impl QueuedEvent {
    /// Later than everything.
    pub const NEVER: Self = Self(u128::MAX);

    #[inline]
    pub fn new(at_ps: u64, sequence: u64, kind: EventKind, thread: u16) -> Self {
        let low = sequence << 20 | (kind as u64) << 16 | u64::from(thread);
        Self(u128::from(at_ps) << 64 | u128::from(low))
    }
    #[inline]
    pub fn at_ps(self) -> u64 {
        (self.0 >> 64) as u64
    }
    #[inline]
    pub fn kind(self) -> EventKind {
        EventKind::ALL[(self.0 >> 16 & 0xf) as usize]
    }
    #[inline]
    pub fn thread(self) -> usize {
        usize::from(self.0 as u16)
    }
    /// Kind and thread, for the digest.
    #[inline]
    pub fn what(self) -> u64 {
        self.0 as u64 & 0xf_ffff
    }
}

/// The events to come.
#[derive(Default)]
pub struct EventQueue(Vec<QueuedEvent>);

impl EventQueue {
    /// The next event.
    #[inline]
    pub fn top(&self) -> QueuedEvent {
        self.0.first().copied().unwrap_or(QueuedEvent::NEVER)
    }
    #[inline]
    pub fn push(&mut self, event: QueuedEvent) {
        let mut hole = self.0.len();
        self.0.push(event);
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if self.0[parent] < event {
                break;
            }
            self.0[hole] = self.0[parent];
            hole = parent;
        }
        self.0[hole] = event;
    }
    /// Takes the next event out.
    #[inline]
    pub fn pop(&mut self) -> Option<QueuedEvent> {
        let last = self.0.pop()?;
        match self.0.first().copied() {
            None => Some(last),
            Some(top) => {
                self.sink(last);
                Some(top)
            }
        }
    }
    /// Puts `event` in the place of the next one: a pop and a push in one go.
    #[inline]
    pub fn replace_top(&mut self, event: QueuedEvent) {
        self.sink(event);
    }
    /// Writes `event` where it belongs, starting from a hole at the top.
    #[inline]
    fn sink(&mut self, event: QueuedEvent) {
        let items = self.0.as_mut_slice();
        let mut hole = 0;
        loop {
            let first = hole * 4 + 1;
            if first >= items.len() {
                break;
            }
            let end = (first + 4).min(items.len());
            let mut least = first;
            let mut least_event = items[first];
            for (at, &candidate) in items.iter().enumerate().take(end).skip(first + 1) {
                if candidate < least_event {
                    least = at;
                    least_event = candidate;
                }
            }
            if event < least_event {
                break;
            }
            items[hole] = least_event;
            hole = least;
        }
        items[hole] = event;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{RandomStream, Rng};

    #[test]
    fn events_come_out_by_time_and_then_by_age() {
        let mut rng = Rng::split(1, 0, RandomStream::Program);
        let mut queue = EventQueue::default();
        let mut expected = Vec::new();
        for sequence in 0..500 {
            let event = QueuedEvent::new(rng.next() % 50, sequence, EventKind::Resume, 3);
            queue.push(event);
            expected.push(event);
        }
        expected.sort();
        for &event in &expected[..100] {
            assert_eq!(queue.pop(), Some(event));
        }
        let late = QueuedEvent::new(25, 1000, EventKind::Commit, 4);
        queue.replace_top(late);
        let mut rest = expected.split_off(101);
        rest.push(late);
        rest.sort();
        for event in rest {
            assert_eq!(queue.pop(), Some(event));
        }
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn an_event_carries_its_parts() {
        for kind in EventKind::ALL {
            let event = QueuedEvent::new(u64::MAX / 3, 12_345_678_901, kind, 999);
            assert_eq!((event.at_ps(), event.kind(), event.thread()), (u64::MAX / 3, kind, 999));
        }
    }
}
