//! The policies: one knob for each thing that the patches changed, and presets that say which kernel had which.
//!
//! A policy is a value, so the slow paths are compiled once for all policies. Only the fast paths know their policy
//! when they are compiled.

/// The count word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Until 2017: holders and attempts are added up, in a half of this many bits, 16 or 32. Writers and waiters are a
    /// bias.
    Biased(u32),
    /// Since 2017: a bit for each thing, and the number of readers.
    Bits,
}

/// The spinlock that guards the wait list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitLockKind {
    /// The ticket lock, as it was in 2013.
    Ticket,
    /// The queued spinlock.
    Queued,
}

/// The contents of the owner word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerWord {
    /// There is no owner word.
    None,
    /// The writer. It is cleared only after the lock was released and a waiter woken.
    WriterLate,
    /// The writer, or a flag that readers own the lock. Then no thread should spin.
    WriterOrReaders,
    /// The writer or the last reader, and two flags: no reader should spin, no writer should spin. Both fall as soon as
    /// another owner is named.
    TwoFlagsOfOneOwner,
    /// As [`TwoFlagsOfOneOwner`](Self::TwoFlagsOfOneOwner), but readers that are named keep the flag about readers, and
    /// a waiter that found a flag sets that one again when it gets the lock.
    TwoFlags,
    /// The writer or the last reader, and one flag: no thread should spin.
    OneFlag,
}

/// A way in which a writer spins before it queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriterSpin {
    /// It does not spin.
    No,
    /// It queues behind the other spinners, anew for each look. Readers do not end this.
    PerTurn,
    /// It queues behind the other spinners until it is the head. The first reader ends this.
    UntilReaders,
    /// As [`UntilReaders`](Self::UntilReaders), but it also spins on readers, for 10 to 25 us.
    TimedOnReaders,
}

/// Says if readers spin before they queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderSpin {
    /// They do not.
    No,
    /// All of them do.
    Any,
    /// One at a time does, for the others.
    One,
}

/// Says if a reader takes a lock that no writer holds and so overtakes the waiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderSteal {
    /// It does not.
    No,
    /// It does if no thread spins.
    UnlessSpinners,
    /// It does.
    Yes,
}

/// The readers that are granted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderBatch {
    /// The readers at the head of the list, up to the first writer.
    AtHead,
    /// All readers of the list, up to [`BATCH`].
    All,
}

/// The most readers that one wake-up grants under [`ReaderBatch::All`].
pub const BATCH: usize = 256;

/// A rule of the handoff: the bit by which the lock is kept for a waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handoff {
    /// There is none: a waiter may starve.
    Never,
    /// The first waiter asks for it after 10 ms, when it wakes up. Then it sleeps on.
    Posted,
    /// The first waiter asks for it after 4 ms, when it wakes up, and then sleeps on. Spinners on a writer stop. Until
    /// 5.3.
    ByFirst,
    /// As [`ByFirst`](Self::ByFirst), but then it spins on the owner, and so do other spinners. From 5.4 to 5.15.
    ByFirstSpinning,
    /// Any writer in the list asks for it after 4 ms, for itself. It is the first waiter that gets it. From 5.16 to
    /// 5.18.
    BySetter,
    /// As [`BySetter`](Self::BySetter), but if the first waiter has not asked for it, any waiter takes a free lock.
    /// From 5.19 to 6.2.
    BySetterUnlessLeft,
    /// Any writer in the list asks for it after 4 ms, for the first waiter, which then spins. From 6.3 on.
    ByAny,
    /// The first waiter asks for it as soon as it was woken and finds the lock held, or any writer after 4 ms. The
    /// first waiter then spins for a moment.
    OnceAwake,
}

impl Handoff {
    /// Returns `true` if only the first waiter asks for it, when it wakes up.
    pub const fn is_by_first(self) -> bool {
        matches!(self, Self::ByFirst | Self::ByFirstSpinning)
    }
    /// Returns `true` if the first waiter takes over the bit that another waiter has asked for, as from 5.16 to 6.2.
    pub const fn is_inherited(self) -> bool {
        matches!(self, Self::BySetter | Self::BySetterUnlessLeft)
    }
    /// Returns `true` if the bit binds only while the first waiter is the one that has asked for it, as from 5.19 on.
    pub const fn binds_if_asked_by_first(self) -> bool {
        matches!(self, Self::BySetterUnlessLeft | Self::ByAny | Self::OnceAwake)
    }
    /// Returns `true` if a waiter that gives up wakes another one only if it was the first, as from 5.19 on. Before, a
    /// writer always does, and a reader never does.
    pub const fn first_wakes_when_it_leaves(self) -> bool {
        self.binds_if_asked_by_first()
    }
}

/// The case in which a release wakes no waiter although threads wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnlockWake {
    /// There is none: each release wakes a waiter.
    Always,
    /// A thread spins and another one uses the list.
    UnlessSpinner,
    /// Another release is about to wake, as a flag says in its posted form. Loses wake-ups.
    FlaggedAsPosted,
    /// Another release is about to wake.
    Flagged,
    /// The first waiter is a writer that was woken and has not looked since.
    UnlessWoken,
}

/// The time at which threads are woken that were marked with `wait_lock` held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakesIssued {
    /// At once.
    Inside,
    /// After `wait_lock` is given back, but at once by a writer that queues.
    AfterUnlessQueueing,
    /// After `wait_lock` is given back.
    After,
}

/// A policy: one choice for each historical change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The count word.
    pub format: Format,
    /// `wait_lock`.
    pub wait_lock: WaitLockKind,
    /// The owner word.
    pub owner: OwnerWord,
    /// Writers that spin.
    pub writer_spin: WriterSpin,
    /// Readers that spin.
    pub reader_spin: ReaderSpin,
    /// Readers that steal.
    pub reader_steal: ReaderSteal,
    /// True if a reader that is about to queue takes the lock if no thread waits and the writer has gone. Only where
    /// the count is in bits.
    pub enters_if_alone: bool,
    /// True if a reader that finds several readers queues, so that these readers come to an end.
    pub joins_queue: bool,
    /// The readers that are granted together.
    pub reader_batch: ReaderBatch,
    /// True if readers that wake others also wake readers behind a writer at the head.
    pub grants_past_writer: bool,
    /// True if a thread looks at the lock before it grants the first reader.
    pub looks_before_grant: bool,
    /// True if the first reader is granted although an attempt is under way. Otherwise it is granted only if there is
    /// no attempt or the attempt came later. Only where the count is biased.
    pub grants_beside_attempts: bool,
    /// The rule of the handoff.
    pub handoff: Handoff,
    /// The case in which a release wakes no waiter.
    pub unlock_wake: UnlockWake,
    /// The time at which wake-ups are issued.
    pub wakes: WakesIssued,
    /// True if a writer tries once before it queues among the spinners, if there are no spinners.
    pub tries_first: bool,
    /// True if a writer that queues behind others and finds the lock free wakes the first waiter.
    pub queuer_wakes: bool,
    /// True if a waiter that is about to sleep first looks for a moment if it need not. Only where the platform does
    /// not know which threads run.
    pub looks_before_sleep: bool,
    /// True if a reader that queues behind others while readers hold the lock wakes the readers at the head of the
    /// list, as a writer that queues does.
    pub reader_wakes_readers: bool,
    /// True if a spinning reader that withdraws from a lock, which is then free and has the handoff bit, wakes the
    /// first waiter. Otherwise it may be that no thread does.
    pub withdrawing_wakes: bool,
}

/// A policy as a type. Your own policy may turn every knob. A policy that the biased count cannot follow does not
/// compile.
///
/// ```compile_fail
/// use lockwright_core::native::Native;
/// use lockwright_core::raw::RawLock;
/// use lockwright_linux::rwsem::{Policy, ReaderSpin, RwSem, RwSemPolicy, V3_12};
///
/// enum Spinning {}
/// impl RwSemPolicy for Spinning {
///     const POLICY: Policy = Policy { reader_spin: ReaderSpin::Any, ..V3_12::POLICY };
/// }
/// let sem = <RwSem<Native, Spinning> as RawLock>::new();
/// ```
///
/// The half of a biased count has 16 bits or 32:
///
/// ```compile_fail
/// use lockwright_core::native::Native;
/// use lockwright_core::raw::RawLock;
/// use lockwright_linux::rwsem::{Format, Policy, RwSem, RwSemPolicy, V3_12};
///
/// enum NoHalf {}
/// impl RwSemPolicy for NoHalf {
///     const POLICY: Policy = Policy { format: Format::Biased(0), ..V3_12::POLICY };
/// }
/// let sem = <RwSem<Native, NoHalf> as RawLock>::new();
/// ```
pub trait RwSemPolicy: Send + Sync + 'static {
    /// The policy.
    const POLICY: Policy;
}

impl Policy {
    /// Returns `true` if a semaphore can have this policy. The features that came with the bits need them. With other
    /// halves a writer would look like none, or a few readers like a writer.
    pub(super) const fn fits_its_format(&self) -> bool {
        let needs_bits = self.enters_if_alone
            || !matches!(self.reader_spin, ReaderSpin::No)
            || !matches!(self.reader_steal, ReaderSteal::No)
            || !matches!(self.handoff, Handoff::Never)
            || matches!(self.writer_spin, WriterSpin::TimedOnReaders)
            || self.tries_first;
        match self.format {
            Format::Bits => true,
            Format::Biased(half) => matches!(half, 16 | 32) && !needs_bits,
        }
    }
    /// Returns the time for which a waiter lets others pass it, in nanoseconds.
    #[doc(alias = "RWSEM_WAIT_TIMEOUT")]
    pub const fn patience_ns(&self) -> u64 {
        match self.handoff {
            Handoff::Never => u64::MAX,
            Handoff::Posted => 10_000_000,
            _ => 4_000_000,
        }
    }
    /// Returns `true` if the owner word has other flags than the one that says that readers own the lock.
    pub const fn has_flags(&self) -> bool {
        self.owner.all_flags() != 0
    }
    /// Returns `true` if a thread that keeps the lock for a waiter checks if it came free meanwhile. The release may
    /// have woken no thread because of a spinner, and this spinner must then not take the lock.
    pub const fn rechecks_after_handoff(&self) -> bool {
        !matches!(self.unlock_wake, UnlockWake::Always) && self.queuer_wakes
    }
    /// Returns `true` if a waiting writer makes one attempt, with the count that it has read before it asked for the
    /// internal lock, as until 2019. Otherwise it reads the count then, and tries until it has the lock or knows that
    /// it cannot have it.
    pub const fn tries_with_earlier_count(&self) -> bool {
        matches!(self.handoff, Handoff::Never | Handoff::Posted)
    }
    /// Returns `true` if a writer that queues and finds the lock free lets others spin again, as a reader does.
    pub const fn queuer_allows_spinning(&self) -> bool {
        self.handoff.binds_if_asked_by_first()
    }
    /// Returns `true` if a writer looks at the count and at the head of the list when it wakes up, before it asks for
    /// `wait_lock`, as until 5.15.
    pub const fn looks_when_woken(&self) -> bool {
        matches!(self.handoff, Handoff::Never | Handoff::Posted) || self.handoff.is_by_first()
    }
    /// Returns `true` if an urgent spinner goes on for one more turn after one that ended with another writer, as since
    /// the ninth patch of 2019. Before, it stops when no owner is named.
    pub const fn urgent_may_turn_twice(&self) -> bool {
        matches!(self.reader_batch, ReaderBatch::All)
    }
}

const KERNEL_3_12: Policy = Policy {
    format: Format::Biased(32),
    wait_lock: WaitLockKind::Ticket,
    owner: OwnerWord::None,
    writer_spin: WriterSpin::No,
    reader_spin: ReaderSpin::No,
    reader_steal: ReaderSteal::No,
    enters_if_alone: false,
    joins_queue: false,
    reader_batch: ReaderBatch::AtHead,
    grants_past_writer: false,
    looks_before_grant: false,
    grants_beside_attempts: false,
    handoff: Handoff::Never,
    unlock_wake: UnlockWake::Always,
    wakes: WakesIssued::Inside,
    tries_first: false,
    queuer_wakes: false,
    looks_before_sleep: false,
    reader_wakes_readers: false,
    withdrawing_wakes: false,
};
const SERIES_3_12: Policy = Policy {
    owner: OwnerWord::WriterLate,
    writer_spin: WriterSpin::PerTurn,
    looks_before_grant: true,
    ..KERNEL_3_12
};
const KERNEL_4_14: Policy = Policy {
    wait_lock: WaitLockKind::Queued,
    owner: OwnerWord::WriterOrReaders,
    writer_spin: WriterSpin::UntilReaders,
    grants_beside_attempts: true,
    unlock_wake: UnlockWake::UnlessSpinner,
    wakes: WakesIssued::AfterUnlessQueueing,
    ..KERNEL_3_12
};
const BITS_4_14: Policy = Policy { format: Format::Bits, ..KERNEL_4_14 };
const HANDOFF_POSTED: Policy = Policy { handoff: Handoff::Posted, ..BITS_4_14 };
const NEW_COUNT: Policy =
    Policy { enters_if_alone: true, unlock_wake: UnlockWake::Always, ..BITS_4_14 };
const HANDOFF_5_2: Policy = Policy {
    handoff: Handoff::ByFirst,
    queuer_wakes: true,
    wakes: WakesIssued::After,
    ..NEW_COUNT
};
const ALL_READERS: Policy = Policy { reader_batch: ReaderBatch::All, ..HANDOFF_5_2 };
const SPIN_ON_WRITERS: Policy =
    Policy { reader_spin: ReaderSpin::Any, withdrawing_wakes: true, ..ALL_READERS };
const TIMED_SPIN: Policy = Policy {
    owner: OwnerWord::TwoFlagsOfOneOwner,
    writer_spin: WriterSpin::TimedOnReaders,
    ..SPIN_ON_WRITERS
};
const KERNEL_5_10: Policy =
    Policy { owner: OwnerWord::TwoFlags, handoff: Handoff::ByFirstSpinning, ..TIMED_SPIN };
const STARVATION: Policy = Policy { joins_queue: true, ..KERNEL_5_10 };
const STEALING: Policy = Policy { reader_steal: ReaderSteal::UnlessSpinners, ..STARVATION };
const BEFORE: Policy = Policy { grants_past_writer: true, ..STEALING };
const NO_READER_SPIN: Policy = Policy {
    owner: OwnerWord::OneFlag,
    reader_spin: ReaderSpin::No,
    reader_steal: ReaderSteal::Yes,
    ..BEFORE
};

const KERNEL_5_11: Policy = Policy { grants_past_writer: false, ..NO_READER_SPIN };
const KERNEL_5_16: Policy = Policy { handoff: Handoff::BySetter, ..KERNEL_5_11 };
const KERNEL_5_19: Policy =
    Policy { handoff: Handoff::BySetterUnlessLeft, reader_wakes_readers: true, ..KERNEL_5_16 };
const TODAY: Policy = Policy { handoff: Handoff::ByAny, ..KERNEL_5_19 };
/// The kernel wakes the first waiter at each release, although it may be awake and not running. A
/// program pays a system call for that, and has more threads than CPUs more often.
const IN_PROGRAMS: Policy = Policy {
    unlock_wake: UnlockWake::UnlessWoken,
    tries_first: true,
    handoff: Handoff::OnceAwake,
    looks_before_sleep: true,
    ..TODAY
};

macro_rules! presets {
    ($($(#[doc = $doc:literal])+ $preset:ident = $policy:expr;)+) => {
        $($(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub enum $preset {}
        impl RwSemPolicy for $preset {
            const POLICY: Policy = $policy;
        })+
    };
}

presets! {
    /// Linux 3.12: writers steal on the fast path and sleep otherwise; readers do neither.
    V3_12 = KERNEL_3_12;
    /// As [`V3_12`], but the count has 32 bits: 16 of them count the threads that hold the lock, and attempts.
    V3_12On32Bits = Policy { format: Format::Biased(16), ..KERNEL_3_12 };
    /// Linux 3.12 with the first eight patches of October 2013: writers spin.
    V3_12Series = SERIES_3_12;
    /// Linux 3.12 with all nine patches of October 2013 as posted: [`V3_12Series`] with the flag of the ninth. It loses
    /// wake-ups.
    V3_12SeriesWakeFlagAsPosted =
        Policy { unlock_wake: UnlockWake::FlaggedAsPosted, ..SERIES_3_12 };
    /// As [`V3_12SeriesWakeFlagAsPosted`], but with a flag that loses no wake-ups.
    V3_12SeriesWakeFlag = Policy { unlock_wake: UnlockWake::Flagged, ..SERIES_3_12 };
    /// Linux 3.12 with the ninth patch of October 2013 alone, as posted: a flag coalesces wake-ups. It loses wake-ups.
    V3_12WakeFlagAsPosted =
        Policy { unlock_wake: UnlockWake::FlaggedAsPosted, ..KERNEL_3_12 };
    /// As [`V3_12WakeFlagAsPosted`], but with a flag that loses no wake-ups.
    V3_12WakeFlag = Policy { unlock_wake: UnlockWake::Flagged, ..KERNEL_3_12 };
    /// Linux 4.14: writers spin in a queue, wake-ups come after `wait_lock`.
    V4_14 = KERNEL_4_14;
    /// Linux 4.14 with the first six patches of October 2017: the count is in bits, and no waiter is handed the lock.
    V4_14Bits = BITS_4_14;
    /// As [`V4_14Bits`], but with the seventh patch, the handoff, as posted. It loses wake-ups.
    V4_14HandoffAsPosted = HANDOFF_POSTED;
    /// As [`V4_14HandoffAsPosted`], but a queueing writer wakes the first waiter if the lock is free.
    V4_14Handoff = Policy { queuer_wakes: true, ..HANDOFF_POSTED };
    /// Linux 5.2 with the series of May 2019 up to its third patch: the count is in bits, and each release wakes.
    V5_2NewCount = NEW_COUNT;
    /// The series of May 2019 up to the handoff, after 4 ms, and wake-ups after `wait_lock` is given back.
    V5_2Handoff = HANDOFF_5_2;
    /// The series of May 2019 up to the patch by which almost all readers of the list are woken together.
    V5_2AllReaders = ALL_READERS;
    /// The series of May 2019 up to its twelfth patch: readers spin, too, while the owner is a writer.
    V5_2ReaderSpin = SPIN_ON_WRITERS;
    /// The series of May 2019 up to its fourteenth patch: all spinners also spin on readers, and stop when a writer has
    /// done so for long.
    V5_2TimedSpin = TIMED_SPIN;
    /// Linux 5.10: as [`V5_2TimedSpin`], but with one flag for readers and one for writers, which the fifteenth patch
    /// brought. It is the same with the first patch of November 2020, which passes on a value. A spinning reader that
    /// withdraws may leave a lock with the handoff bit to no thread.
    V5_10AsPosted = Policy { withdrawing_wakes: false, ..KERNEL_5_10 };
    /// As [`V5_10AsPosted`], but a spinning reader that withdraws wakes the first waiter, as in all other presets whose
    /// readers spin.
    V5_10 = KERNEL_5_10;
    /// Linux 5.10 with the first two patches of November 2020: a reader that finds several readers queues.
    V5_10Starvation = STARVATION;
    /// Linux 5.10 with the first three: other readers steal.
    V5_10Stealing = STEALING;
    /// Linux 5.10 with the first four: readers that hold the lock take waiting readers along, past a writer at the
    /// head.
    V5_10Before = BEFORE;
    /// As [`V5_10Before`], but with one spinning reader at a time. The project's own design: none was posted.
    V5_10LimitRspin = Policy { reader_spin: ReaderSpin::One, ..BEFORE };
    /// Linux 5.10 with all five patches of November 2020: readers do not spin.
    V5_10NoRspin = NO_READER_SPIN;
    /// Linux 5.11 to 5.15 (5.15.0, not its later stable releases): as [`V5_10NoRspin`], but without the fourth of these
    /// patches, which was not merged.
    V5_11 = KERNEL_5_11;
    /// Linux 5.16 to 5.18: as [`V5_11`], but any writer in the list asks for the handoff, in its attempt.
    V5_16 = KERNEL_5_16;
    /// Linux 5.19 to 6.2: as [`V5_16`], but the handoff binds only while the waiter that has asked for it is the first,
    /// a waiter that gives up wakes another one only if it was the first, and readers that queue wake the readers in
    /// front of them.
    V5_19 = KERNEL_5_19;
    /// Linux 6.3 and later: as [`V5_19`], but a writer asks for the handoff on behalf of the first waiter.
    Current = TODAY;
    /// [`Current`], changed for programs, which pay more for a wake-up and do not know which threads run. `RwSemLock`
    /// has this policy.
    CurrentInPrograms = IN_PROGRAMS;
}
