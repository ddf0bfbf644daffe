//! What a random program consists of.

use serde::{Deserialize, Serialize};

macro_rules! lock_kinds {
    ($($kind:ident),+) => {
        /// A lock type of the public interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum LockKind {
            $($kind),+
        }
        impl LockKind {
            pub const ALL: &[Self] = &[$(Self::$kind),+];
        }
    };
}
lock_kinds! {
    Mutex, SendMutex, FairMutex, ReentrantMutex, SpinLock, CnaSpinLock, ResilientSpinLock,
    RwLock, FairRwLock, SendRwLock, PercpuRwLock, QRwLock, RwSemLock,
    Semaphore, SeqLock, Once
}

/// What some kinds are: these, or all but these.
macro_rules! kinds_that {
    ($($(#[$doc:meta])+ $name:ident = $is:literal for $($kind:ident)+;)+) => {
        impl LockKind {
            $($(#[$doc])+
            pub fn $name(self) -> bool {
                matches!(self, $(Self::$kind)|+) == $is
            })+
        }
    };
}
kinds_that! {
    /// True if it has `lock`.
    is_mutex = true for Mutex SendMutex FairMutex ReentrantMutex SpinLock CnaSpinLock ResilientSpinLock;
    /// True if `lock` may fail, with an error. Its guards can be dropped and forgotten, and that is all.
    is_resilient = true for ResilientSpinLock;
    /// True if it has `read` and `write`, and guards of both.
    has_readers = true for RwLock FairRwLock SendRwLock PercpuRwLock QRwLock RwSemLock;
    /// True if its attempts may have deadlines.
    is_timed = false for QRwLock SeqLock Once;
    /// True if its owner may take it again.
    is_reentrant = true for ReentrantMutex;
    /// True if a thread that reads may read again and wait for it.
    reads_again = true for RwLock SendRwLock PercpuRwLock;
    /// True if it has a reader that may become the writer.
    upgrades = true for RwLock FairRwLock SendRwLock;
    /// True if it can be given back fairly.
    is_fair = true for Mutex SendMutex FairMutex ReentrantMutex;
    /// True if a forked child may use it although it had waiters.
    survives_forks = false for SpinLock CnaSpinLock ResilientSpinLock QRwLock RwSemLock SeqLock Once;
    /// True if its waiters sleep, so that a thread with a real-time policy may use it.
    sleeps = false for SpinLock CnaSpinLock ResilientSpinLock QRwLock SeqLock;
    /// True if what a thread takes of it is a guard.
    has_guards = false for SeqLock Once;
    /// True if its guards may be sent to other threads.
    sends = false for Mutex FairMutex ReentrantMutex ResilientSpinLock RwLock FairRwLock PercpuRwLock SeqLock Once;
    /// True if another thread can end the waits of a thread.
    is_interruptible = true for RwSemLock;
}

/// A deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Time {
    /// An instant that has passed.
    Past,
    /// A time-out of zero.
    Now,
    /// A time-out of this many microseconds.
    Micros(u32),
    /// An hour: no thread waits for that.
    Far,
    /// The longest time-out that there is.
    Never,
}

impl Time {
    /// True if a wait may be expected to reach it.
    pub fn is_short(self) -> bool {
        !matches!(self, Self::Far | Self::Never)
    }
    /// An operation with this deadline gives up no earlier.
    pub fn least_ns(self) -> u64 {
        match self {
            Self::Past | Self::Now => 0,
            Self::Micros(micros) => u64::from(micros) * 1_000,
            Self::Far => 3600 * 1_000_000_000,
            Self::Never => u64::MAX,
        }
    }
}

/// How long an operation may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    Forever,
    Attempt,
    /// `..._for`; one with an instant that has passed is `..._until`.
    For(Time),
    /// `..._until`.
    Until(Time),
    /// `read_recursive`.
    Again,
    /// `try_read_recursive`.
    AttemptAgain,
    /// `..._interruptible`, and no thread interrupts it.
    Interruptible,
    /// `..._interruptible`, with an interrupt that has happened: an attempt.
    Interrupted,
}

impl Limit {
    /// True if it ends only with the lock.
    pub fn is_long(self) -> bool {
        match self {
            Self::Forever | Self::Again | Self::Interruptible => true,
            Self::Attempt | Self::AttemptAgain | Self::Interrupted => false,
            Self::For(time) | Self::Until(time) => !time.is_short(),
        }
    }
    /// The same by a method that a kind has.
    pub fn of(self, kind: LockKind) -> Self {
        match self {
            Self::Again if !kind.reads_again() => Self::Forever,
            Self::AttemptAgain if !kind.reads_again() => Self::Attempt,
            Self::Interruptible if !kind.is_interruptible() => Self::Forever,
            Self::Interrupted if !kind.is_interruptible() => Self::Attempt,
            Self::Until(time) if kind.is_resilient() => Self::For(time),
            other => other,
        }
    }
    /// The same by a method that each lock has.
    pub fn of_any_lock(self) -> Self {
        match self {
            Self::Again | Self::AttemptAgain | Self::Interrupted => Self::Attempt,
            Self::Interruptible => Self::Forever,
            other => other,
        }
    }
}

/// Something that is done with the guard that a thread has got last of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// Reads what it guards, and writes it if that is allowed.
    Touch,
    Drop,
    /// Drops the oldest guard of the lock instead.
    DropOldest,
    /// `mem::forget`, or `SemaphorePermit::forget`.
    Forget,
    /// `MutexGuard::leak`.
    Leak,
    Map,
    /// `try_map`. True if the closure returns something.
    TryMap(bool),
    Downgrade,
    /// `RwLockWriteGuard::downgrade_to_upgradable`.
    DowngradeToUpgradable,
    /// `RwLockUpgradableReadGuard::upgrade`, or an attempt.
    Upgrade(Limit),
    /// `RwLockUpgradableReadGuard::with_upgraded`, or an attempt.
    WithUpgraded(Limit),
    UnlockFair,
    Unlocked,
    UnlockedFair,
    Bump,
    /// Puts it where another thread can take it; otherwise it is dropped at the end of the phase.
    Send,
    WaitFor(Time),
    WaitUntil(Time),
    WaitWhileFor(Time),
    WaitWhileUntil(Time),
    /// Until thread 0 has done its part of the phase.
    Wait,
    /// The same by `wait_while`.
    WaitWhile,
}

/// How a `Once` is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnceCall {
    /// `call_once`; nothing is done if it is poisoned.
    Once,
    /// `call_once_force`.
    Force,
    /// The same with a closure that panics.
    Fail,
    /// `wait_force`, until thread 0 has done its part of the phase.
    Wait,
}

/// How urgent a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Priority {
    Normal,
    /// In an `UrgentScope`.
    Urgent,
    /// With a real-time policy, where the process may have one.
    RealTime,
}

/// What becomes of the guards that a thread still has when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GuardsLeft {
    Dropped,
    /// The destructor of a thread-local drops them. Simulated threads have none.
    Kept,
}

/// A step of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// `lock`, `write`, or an attempt.
    Exclusive(usize, Limit),
    /// `read`, or an attempt.
    Shared(usize, Limit),
    /// `upgradable_read`, or an attempt.
    Upgradable(usize, Limit),
    /// Permits of a semaphore.
    Acquire(usize, u32, Limit),
    Release(usize, u32),
    Available(usize),
    /// `SeqLock::read`; attempts are `try_read`.
    Copy(usize, Limit),
    /// `SeqLock::write`.
    Put(usize),
    /// `SeqLock::update`.
    Update(usize),
    Call(usize, OnceCall),
    /// `Once::is_completed`.
    IsCompleted(usize),
    IsLocked(usize),
    IsLockedExclusive(usize),
    Debug(usize),
    /// As many reads, one after the other.
    ReadMany(usize, u32),
    /// As many reads, each of which is forgotten.
    ForgetMany(usize, u32),
    Act(usize, Act),
    /// Takes what another thread has sent.
    Receive(usize),
    NotifyOne(usize),
    NotifyAll(usize),
    /// What a forked child does before it ends; the parent waits for that.
    Fork(Vec<Self>),
    /// The thread is as urgent as this until the end of the phase, or its own.
    Priority(Priority),
    /// The thread ends, and a new one does what comes behind this.
    End(GuardsLeft),
}

/// The lock that a step is about, by reference.
macro_rules! lock_of {
    ($op:expr) => {
        match $op {
            Op::Exclusive(lock, _) | Op::Shared(lock, _) | Op::Acquire(lock, ..) => Some(lock),
            Op::Release(lock, _) | Op::Available(lock) | Op::Copy(lock, _) => Some(lock),
            Op::Put(lock) | Op::Update(lock) | Op::IsLocked(lock) => Some(lock),
            Op::IsLockedExclusive(lock) | Op::Debug(lock) | Op::ReadMany(lock, _) => Some(lock),
            Op::ForgetMany(lock, _) | Op::Act(lock, _) | Op::Receive(lock) => Some(lock),
            Op::NotifyOne(lock) | Op::NotifyAll(lock) | Op::Upgradable(lock, _) => Some(lock),
            Op::Call(lock, _) | Op::IsCompleted(lock) => Some(lock),
            Op::Fork(_) | Op::Priority(_) | Op::End(_) => None,
        }
    };
}

impl Op {
    /// The lock it is about.
    pub fn lock(&self) -> Option<usize> {
        lock_of!(self).copied()
    }
    /// The same, to be changed.
    pub fn lock_mut(&mut self) -> Option<&mut usize> {
        lock_of!(self)
    }
}

/// What happens to a lock while no thread uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// It is dropped, and a new lock is made in its place.
    New(usize, LockKind),
    /// It moves somewhere else, where it is used once, and back.
    Move(usize),
    /// Two locks of one kind change places.
    Swap(usize, usize),
    /// `into_inner`, and a new one of this kind with what was in it.
    IntoInner(usize),
    /// `get_mut`.
    GetMut(usize),
}

/// Some changes, and then what the threads do at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    pub changes: Vec<Change>,
    pub threads: Vec<Vec<Op>>,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The locks at the beginning.
    pub locks: Vec<LockKind>,
    pub phases: Vec<Phase>,
}

/// The steps at which the thread ends.
pub fn ends(ops: &[Op]) -> impl Iterator<Item = usize> {
    ops.iter().enumerate().filter(|(_, op)| matches!(op, Op::End(_))).map(|(step, _)| step)
}

/// A semaphore begins with as many permits.
pub const PERMITS: u32 = 2;

impl Program {
    pub fn threads(&self) -> usize {
        self.phases.iter().map(|phase| phase.threads.len()).max().unwrap_or(1).max(1)
    }
    /// How many threads do the steps of a thread, one after the other.
    pub fn lives(&self, thread: usize) -> usize {
        let ends = |phase: &Phase| phase.threads.get(thread).map_or(0, |ops| ends(ops).count());
        1 + self.phases.iter().map(ends).sum::<usize>()
    }
    /// The phase and the step with which the thread begins that comes after `life` others.
    pub fn begin_of(&self, thread: usize, life: usize) -> (usize, usize) {
        let of_phase = |(number, phase): (usize, &Phase)| {
            let steps = phase.threads.get(thread).into_iter().flat_map(|ops| ends(ops));
            steps.map(|step| (number, step + 1)).collect::<Vec<_>>()
        };
        let mut begins = self.phases.iter().enumerate().flat_map(of_phase);
        life.checked_sub(1).and_then(|ended| begins.nth(ended)).unwrap_or_default()
    }
    /// Steps and changes.
    pub fn len(&self) -> usize {
        let ops = |op: &Op| if let Op::Fork(ops) = op { 1 + ops.len() } else { 1 };
        let of_phase = |phase: &Phase| {
            phase.changes.len() + phase.threads.iter().flatten().map(ops).sum::<usize>()
        };
        self.phases.iter().map(of_phase).sum()
    }
    /// The kinds of the locks in each phase.
    pub fn kinds(&self) -> Vec<Vec<LockKind>> {
        let mut kinds = self.locks.clone();
        let mut of = |phase: &Phase| {
            for change in &phase.changes {
                match *change {
                    Change::New(lock, kind) => kinds[lock] = kind,
                    Change::Swap(one, other) => kinds.swap(one, other),
                    _ => {}
                }
            }
            kinds.clone()
        };
        self.phases.iter().map(&mut of).collect()
    }
}
