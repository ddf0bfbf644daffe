//! Which methods were called on locks in which state.

use crate::program::{Act, Limit, LockKind, Time};
use lockwright_linux::qspinlock::resilient::AcquireError;
use std::fmt::Write;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a lock was when a method was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Free,
    Held,
    /// Another thread waited for it.
    Contended,
    /// A guard of it was leaked.
    Leaked,
    /// The last wait for it with a deadline came to that.
    TimedOut,
    /// In a forked child.
    Forked,
}

impl State {
    pub const ALL: [Self; 6] =
        [Self::Free, Self::Held, Self::Contended, Self::Leaked, Self::TimedOut, Self::Forked];
}

/// How the threads of a program used a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A thread ended while others used it.
    Ended,
    /// A thread ended with a guard of it, which the destructor of a thread-local drops.
    Kept,
    /// The process forked while its threads used it.
    Forked,
    /// An urgent thread used it.
    Urgent,
    /// A thread with a real-time policy used it.
    RealTime,
    /// A thread used it and held a lock of another kind, or the other way round.
    Pair,
}

impl Use {
    const ALL: [Self; 6] =
        [Self::Ended, Self::Kept, Self::Forked, Self::Urgent, Self::RealTime, Self::Pair];

    /// True if there can be such a use of a kind at all.
    fn is_possible(self, kind: LockKind) -> bool {
        match self {
            Self::Kept => kind.has_guards(),
            Self::RealTime => kind.sleeps(),
            _ => true,
        }
    }
}

macro_rules! methods {
    ($($method:ident = $name:literal;)+) => {
        /// A public method.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Method {
            $($method),+
        }
        impl Method {
            pub const ALL: &[Self] = &[$(Self::$method),+];
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$method => $name),+
                }
            }
        }
    };
}
methods! {
    New = "new"; Drop = "drop"; Move = "(moved)"; Swap = "(swapped)"; IntoInner = "into_inner"; GetMut = "get_mut";
    Lock = "lock"; TryLock = "try_lock"; TryLockFor = "try_lock_for"; TryLockUntil = "try_lock_until";
    LockFor = "lock_for"; ToldHeld = "(AlreadyHeld)"; ToldDeadlock = "(Deadlock)"; ToldTimedOut = "(TimedOut)";
    ToldDissolved = "(QueueDissolved)";
    Write = "write"; TryWrite = "try_write"; TryWriteFor = "try_write_for"; TryWriteUntil = "try_write_until";
    Read = "read"; TryRead = "try_read"; TryReadFor = "try_read_for"; TryReadUntil = "try_read_until";
    Upgradable = "upgradable_read"; TryUpgradable = "try_upgradable_read";
    TryUpgradableFor = "try_upgradable_read_for"; TryUpgradableUntil = "try_upgradable_read_until";
    ReadRecursive = "read_recursive"; TryReadRecursive = "try_read_recursive";
    ReadInterruptible = "read_interruptible"; WriteInterruptible = "write_interruptible";
    Acquire = "acquire"; AcquireMany = "acquire_many"; TryAcquire = "try_acquire";
    TryAcquireFor = "try_acquire_for"; TryAcquireUntil = "try_acquire_until";
    TryAcquireMany = "try_acquire_many"; TryAcquireManyFor = "try_acquire_many_for";
    TryAcquireManyUntil = "try_acquire_many_until";
    Release = "add_permits"; Available = "available_permits";
    Put = "write (SeqLock)"; Update = "update";
    CallOnce = "call_once"; CallForce = "call_once_force"; CallFail = "call_once_force (panics)"; WaitForce = "wait_force";
    IsCompleted = "is_completed"; IsLocked = "is_locked"; IsLockedExclusive = "is_locked_exclusive"; Debug = "{:?}";
    GuardTouch = "Guard: deref"; GuardDrop = "Guard: drop"; GuardForget = "Guard: forget"; GuardLeak = "Guard::leak";
    GuardMap = "Guard::map"; GuardTryMap = "Guard::try_map"; GuardDowngrade = "Guard::downgrade";
    GuardDowngradeToUpgradable = "Guard::downgrade_to_upgradable"; GuardUpgrade = "Guard::upgrade";
    GuardTryUpgrade = "Guard::try_upgrade"; GuardTryUpgradeFor = "Guard::try_upgrade_for";
    GuardTryUpgradeUntil = "Guard::try_upgrade_until"; GuardWithUpgraded = "Guard::with_upgraded";
    GuardTryWithUpgraded = "Guard::try_with_upgraded"; GuardTryWithUpgradedFor = "Guard::try_with_upgraded_for";
    GuardTryWithUpgradedUntil = "Guard::try_with_upgraded_until";
    GuardUnlockFair = "Guard::unlock_fair"; GuardUnlocked = "Guard::unlocked";
    GuardUnlockedFair = "Guard::unlocked_fair"; GuardBump = "Guard::bump"; GuardSend = "Guard: sent";
    CondvarWait = "Condvar::wait"; CondvarWaitWhile = "Condvar::wait_while"; CondvarWaitFor = "Condvar::wait_for";
    CondvarWaitUntil = "Condvar::wait_until"; CondvarWaitWhileFor = "Condvar::wait_while_for";
    CondvarWaitWhileUntil = "Condvar::wait_while_until";
    NotifyOne = "Condvar::notify_one"; NotifyAll = "Condvar::notify_all";
}

/// The method of an act.
pub fn method_of(act: Act) -> Method {
    match act {
        Act::Touch => Method::GuardTouch,
        Act::Drop | Act::DropOldest => Method::GuardDrop,
        Act::Forget => Method::GuardForget,
        Act::Leak => Method::GuardLeak,
        Act::Map => Method::GuardMap,
        Act::TryMap(_) => Method::GuardTryMap,
        Act::Downgrade => Method::GuardDowngrade,
        Act::DowngradeToUpgradable => Method::GuardDowngradeToUpgradable,
        Act::Upgrade(wait) => match wait {
            Limit::Forever => Method::GuardUpgrade,
            Limit::For(Time::Past) | Limit::Until(_) => Method::GuardTryUpgradeUntil,
            Limit::For(_) => Method::GuardTryUpgradeFor,
            _ => Method::GuardTryUpgrade,
        },
        Act::WithUpgraded(wait) => match wait {
            Limit::Forever => Method::GuardWithUpgraded,
            Limit::For(Time::Past) | Limit::Until(_) => Method::GuardTryWithUpgradedUntil,
            Limit::For(_) => Method::GuardTryWithUpgradedFor,
            _ => Method::GuardTryWithUpgraded,
        },
        Act::UnlockFair => Method::GuardUnlockFair,
        Act::Unlocked => Method::GuardUnlocked,
        Act::UnlockedFair => Method::GuardUnlockedFair,
        Act::Bump => Method::GuardBump,
        Act::Send => Method::GuardSend,
        Act::WaitFor(_) => Method::CondvarWaitFor,
        Act::WaitUntil(_) => Method::CondvarWaitUntil,
        Act::WaitWhileFor(_) => Method::CondvarWaitWhileFor,
        Act::WaitWhileUntil(_) => Method::CondvarWaitWhileUntil,
        Act::Wait => Method::CondvarWait,
        Act::WaitWhile => Method::CondvarWaitWhile,
    }
}

/// What a thread takes of a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Take {
    Exclusive,
    Shared,
    Upgradable,
    Permits(u32),
}

/// The method that takes it.
pub fn method(kind: LockKind, take: Take, wait: Limit) -> Method {
    use Method::*;
    let of = |now, attempt, within, until| match wait {
        Limit::Forever => now,
        Limit::Attempt => attempt,
        Limit::For(Time::Past) | Limit::Until(_) => until,
        Limit::For(_) => within,
        Limit::Again => ReadRecursive,
        Limit::AttemptAgain => TryReadRecursive,
        Limit::Interruptible | Limit::Interrupted if take == Take::Shared => ReadInterruptible,
        Limit::Interruptible | Limit::Interrupted => WriteInterruptible,
    };
    match take {
        Take::Exclusive if kind.is_resilient() => of(Lock, TryLock, LockFor, LockFor),
        Take::Exclusive if kind.is_mutex() => of(Lock, TryLock, TryLockFor, TryLockUntil),
        Take::Exclusive => of(Write, TryWrite, TryWriteFor, TryWriteUntil),
        Take::Shared => of(Read, TryRead, TryReadFor, TryReadUntil),
        Take::Upgradable => of(Upgradable, TryUpgradable, TryUpgradableFor, TryUpgradableUntil),
        Take::Permits(1) => of(Acquire, TryAcquire, TryAcquireFor, TryAcquireUntil),
        Take::Permits(_) => of(AcquireMany, TryAcquireMany, TryAcquireManyFor, TryAcquireManyUntil),
    }
}

/// What a resilient spinlock says.
pub fn told(error: AcquireError) -> Method {
    match error {
        AcquireError::Held => Method::ToldHeld,
        AcquireError::Crossed { .. } => Method::ToldDeadlock,
        AcquireError::TimedOut => Method::ToldTimedOut,
        AcquireError::Dissolved | AcquireError::Deadlock => Method::ToldDissolved,
    }
}

const KINDS: usize = LockKind::ALL.len();
const STATES: usize = State::ALL.len();
const USES: usize = Use::ALL.len();
const CALLS: usize = KINDS * Method::ALL.len() * STATES;
const CELLS: usize = CALLS + KINDS * USES;

/// The counts, in memory that children share.
fn cells() -> &'static [AtomicU64] {
    struct Shared(NonNull<AtomicU64>);
    // SAFETY: it is memory of atomic numbers that stays.
    unsafe impl Send for Shared {}
    // SAFETY: as above.
    unsafe impl Sync for Shared {}
    static SHARED: OnceLock<Shared> = OnceLock::new();
    let shared = SHARED.get_or_init(|| {
        let (read_write, shared) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        if cfg!(miri) {
            let cells = Vec::leak((0..CELLS).map(|_| AtomicU64::new(0)).collect::<Vec<_>>());
            return Shared(NonNull::from(cells).cast());
        }
        // SAFETY: new memory, which no other thread knows.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), CELLS * 8, read_write, shared, -1, 0) };
        assert!(at != libc::MAP_FAILED, "no memory for the coverage");
        Shared(NonNull::new(at).expect("not null").cast())
    });
    // SAFETY: `CELLS` numbers, zero at first, never unmapped.
    unsafe { std::slice::from_raw_parts(shared.0.as_ptr(), CELLS) }
}

/// The counts of one method of one kind begin there.
fn row(kind: LockKind, method: Method) -> usize {
    (kind as usize * Method::ALL.len() + method as usize) * STATES
}

/// Counts a call.
pub fn count(kind: LockKind, method: Method, state: State) {
    cells()[row(kind, method) + state as usize].fetch_add(1, Relaxed);
}

/// The count of a use.
fn cell_of(kind: LockKind, of: Use) -> &'static AtomicU64 {
    &cells()[CALLS + kind as usize * USES + of as usize]
}

/// Counts a use.
pub fn count_use(kind: LockKind, of: Use) {
    cell_of(kind, of).fetch_add(1, Relaxed);
}

/// Makes sure that children share the counts.
pub fn begin() {
    cells();
}

/// True if a kind has a method.
fn has(kind: LockKind, method: Method) -> bool {
    use Method::*;
    let (is_mutex, has_readers) = (kind.is_mutex(), kind.has_readers());
    let has_guards = is_mutex || has_readers || kind == LockKind::Semaphore;
    match method {
        New | Drop | Move | Swap => true,
        IntoInner | GetMut | IsLocked | GuardTouch => is_mutex || has_readers,
        GuardMap | GuardTryMap | GuardUnlocked => is_mutex && !kind.is_resilient() || has_readers,
        Lock | TryLock => is_mutex,
        GuardLeak => is_mutex && !kind.is_reentrant() && !kind.is_resilient(),
        LockFor | ToldHeld | ToldDeadlock | ToldTimedOut | ToldDissolved => kind.is_resilient(),
        CallOnce | CallForce | CallFail | WaitForce | IsCompleted => kind == LockKind::Once,
        TryLockFor | TryLockUntil => is_mutex && kind.is_timed() && !kind.is_resilient(),
        Write | TryWrite | IsLockedExclusive | GuardDowngrade => has_readers,
        Read | TryRead => has_readers || kind == LockKind::SeqLock,
        TryWriteFor | TryWriteUntil | TryReadFor | TryReadUntil => has_readers && kind.is_timed(),
        Upgradable
        | TryUpgradable
        | TryUpgradableFor
        | TryUpgradableUntil
        | GuardDowngradeToUpgradable
        | GuardUpgrade
        | GuardTryUpgrade
        | GuardTryUpgradeFor
        | GuardTryUpgradeUntil
        | GuardWithUpgraded
        | GuardTryWithUpgraded
        | GuardTryWithUpgradedFor
        | GuardTryWithUpgradedUntil => kind.upgrades(),
        ReadRecursive | TryReadRecursive => kind.reads_again(),
        ReadInterruptible | WriteInterruptible => kind.is_interruptible(),
        Acquire | AcquireMany | TryAcquire | TryAcquireFor | TryAcquireUntil | TryAcquireMany
        | TryAcquireManyFor | TryAcquireManyUntil | Release | Available => {
            kind == LockKind::Semaphore
        }
        Put | Update => kind == LockKind::SeqLock,
        Debug => kind != LockKind::SeqLock,
        GuardDrop | GuardForget => has_guards,
        GuardUnlockFair | GuardUnlockedFair | GuardBump => kind.is_fair(),
        GuardSend => kind.sends(),
        CondvarWait
        | CondvarWaitWhile
        | CondvarWaitFor
        | CondvarWaitUntil
        | CondvarWaitWhileFor
        | CondvarWaitWhileUntil
        | NotifyOne
        | NotifyAll => kind == LockKind::Mutex,
    }
}

/// True if a method can be called in a state at all.
fn is_possible(kind: LockKind, method: Method, state: State) -> bool {
    use Method::*;
    let is_change = matches!(method, New | Drop | Move | Swap | IntoInner | GetMut);
    let waits_for_change = method.name().starts_with("Condvar::wait");
    let is_guard = method.name().starts_with("Guard") || waits_for_change;
    // These let others in and take the lock again, or wait for it, which must not go on for ever.
    let comes_back =
        waits_for_change || matches!(method, GuardUnlocked | GuardUnlockedFair | GuardBump);
    let waits = matches!(
        method,
        Lock | Write | Acquire | AcquireMany | GuardUpgrade | GuardWithUpgraded | WaitForce
    );
    let is_told = matches!(method, ToldHeld | ToldDeadlock | ToldTimedOut | ToldDissolved);
    match state {
        // The thread itself is one that waits.
        _ if is_told && state != State::Contended => false,
        _ if kind == LockKind::SeqLock => {
            matches!(state, State::Free | State::Forked) && !(is_change && state == State::Forked)
        }
        State::Free => !is_guard,
        // A closure that runs counts as a wait.
        State::Held if kind == LockKind::Once => false,
        State::Held | State::Contended => !is_change,
        // A mutex of which a guard is leaked has no other.
        State::Leaked if kind.is_mutex() && is_guard && !kind.is_reentrant() => false,
        State::Leaked | State::TimedOut if kind == LockKind::Once => false,
        State::Leaked => !(comes_back || waits || method == New),
        State::TimedOut => kind.is_timed() && method != New,
        State::Forked => {
            let waits_long = waits || matches!(method, Read | ReadRecursive | Upgradable);
            let ends_elsewhere = matches!(method, GuardSend | CondvarWait | CondvarWaitWhile);
            !(is_change || waits_long || ends_elsewhere)
        }
    }
}

/// The table, each public method in each state, and how many calls are fewer than `least`.
pub fn text(least: u64) -> String {
    let mut text = format!("{:<18}{:<31}", "lock", "method");
    for state in State::ALL {
        let _ = write!(text, "{:>11}", format!("{state:?}"));
    }
    let (mut rare, mut all) = (0, 0);
    let of_kind = |&kind| Method::ALL.iter().map(move |&method| (kind, method));
    let rows = LockKind::ALL.iter().flat_map(of_kind);
    for (kind, method) in rows.filter(|&(kind, method)| has(kind, method)) {
        let _ = write!(text, "\n{:<18}{:<31}", format!("{kind:?}"), method.name());
        for state in State::ALL {
            if !is_possible(kind, method, state) {
                text += "          -";
                continue;
            }
            let calls = cells()[row(kind, method) + state as usize].load(Relaxed);
            all += 1;
            rare += u64::from(calls < least);
            let _ = write!(text, "{calls:>11}");
        }
    }
    let _ = write!(text, "\n{rare} of {all} cells have fewer than {least} calls");
    text
}

/// The second table, each kind in each use, and which of these are rarer than `least`.
pub fn uses(least: u64, is_native: bool) -> String {
    let mut text = format!("{:<18}", "lock");
    for of in Use::ALL {
        let _ = write!(text, "{:>12}", format!("{of:?}"));
    }
    let mut rare = Vec::new();
    for &kind in LockKind::ALL {
        let _ = write!(text, "\n{:<18}", format!("{kind:?}"));
        for of in Use::ALL {
            let uses = cell_of(kind, of).load(Relaxed);
            if !of.is_possible(kind) {
                text += "           -";
            } else if of == Use::Forked && !is_native {
                text += " native only";
            } else {
                let _ = write!(text, "{uses:>12}");
                if uses < least {
                    rare.push(format!("{kind:?} {of:?}"));
                }
            }
        }
    }
    let list = if rare.is_empty() { "none".to_string() } else { rare.join(", ") };
    let _ = write!(text, "\nFewer than {least} times: {list}");
    text
}
