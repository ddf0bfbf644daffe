//! What can happen next.

/// What happens to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// It does its next step: an access, or a look of a spinner whose cell has been written.
    Step,
    /// The oldest store in its store buffer becomes visible.
    Commit,
    /// The time of its wait is used up.
    TimeOut,
    /// Its sleep ends for no reason.
    WakeUp,
    /// It loses its CPU.
    Preempt,
    /// It gets a CPU again.
    Dispatch,
    /// A signal interrupts it: its handler runs.
    Signal,
    /// It forks, and the world is the child's from here on.
    Fork,
}

impl Action {
    /// Every action.
    pub const ALL: &[Self] = &[
        Self::Step,
        Self::Commit,
        Self::TimeOut,
        Self::WakeUp,
        Self::Preempt,
        Self::Dispatch,
        Self::Signal,
        Self::Fork,
    ];

    /// Returns true if the program goes on, as opposed to the world around it.
    pub const fn is_regular(self) -> bool {
        matches!(self, Self::Step | Self::Commit)
    }
    /// Returns true if it is a disturbance that no program may count on.
    pub const fn is_fault(self) -> bool {
        matches!(self, Self::WakeUp | Self::Preempt | Self::Signal | Self::Fork)
    }
}

/// Something that happened to a thread: what a schedule consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move {
    /// The thread's number.
    pub thread: u16,
    /// What.
    pub action: Action,
}

/// The cell that a move reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Where it lies in the arena, in bytes.
    pub offset: usize,
    /// True if it is written; false if it is read.
    pub is_write: bool,
}

impl Touch {
    /// Returns true if it matters which of the two happens first.
    pub fn conflicts_with(self, other: Self) -> bool {
        self.offset == other.offset && (self.is_write || other.is_write)
    }
}

/// Something that can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What.
    pub what: Move,
    /// The cell it is about, if it is about one.
    pub touch: Option<Touch>,
    /// A commit that the thread itself waits for, before a read-modify-write or a barrier.
    pub is_awaited: bool,
    /// The thread would rather let others go first (it is backing off).
    pub is_yield: bool,
}

impl Choice {
    /// What would happen.
    pub fn action(&self) -> Action {
        self.what.action
    }
    /// The actor that would act: a thread is one actor, its store buffer another one.
    pub fn actor(&self) -> usize {
        let is_buffer = self.action() == Action::Commit && !self.is_awaited;
        usize::from(self.what.thread) * 2 + usize::from(is_buffer)
    }
}
