//! The locks of the public interface, as one type.

use crate::guards::{
    Exclusive, ExclusivePart, Guard, HeldAgain, HeldPermits, Read, ReadPart, SentGuard, Upgradable,
    Write, WritePart,
};
use crate::once::OnceSite;
use crate::program::{Act, Limit, LockKind, PERMITS, Time};
use crate::resilient::ResilientSite;
use crate::watched::WatchedCondvar;
use crate::world::{Data, TwoNumbers, World};
use lock_api::{
    MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard, Mutex, MutexGuard, RwLock,
    RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use lockwright::api::{Sendable, ThreadNumber};
use lockwright::mutex::{RawFairMutex, RawMutex};
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::rwlock::{Fair, RawRwLock, Unlisted};
use lockwright::{Interrupt, InterruptibleRwLock, SeqLock};
use lockwright_linux::qrwlock::RawQRwLock;
use lockwright_linux::qspinlock::{CnaSpinlock, QSpinlock};
use lockwright_linux::rwsem::RwSem;
use std::cell::RefCell;
use std::fmt::Debug;
use std::time::{Duration, Instant};

fn duration(time: Time) -> Duration {
    match time {
        Time::Past | Time::Now => Duration::ZERO,
        Time::Micros(micros) => Duration::from_micros(micros.into()),
        Time::Far => Duration::from_secs(3600),
        Time::Never => Duration::MAX,
    }
}
fn instant(time: Time) -> Instant {
    let now = Instant::now();
    match time {
        Time::Past => now.checked_sub(Duration::from_millis(1)).unwrap_or(now),
        Time::Never => now + Duration::from_secs(100 * 365 * 24 * 3600),
        _ => now + duration(time),
    }
}

/// Mutexes of the interface.
pub trait MutexKind<P: World>: lock_api::RawMutex + Sized + 'static {
    fn within(mutex: &Mutex<Self, Data>, wait: Limit) -> Option<MutexGuard<'_, Self, Data>>;
    fn send<'a>(guard: MutexGuard<'a, Self, Data>) -> Option<SentGuard<'a, P>>;
    fn send_part<'a>(guard: MappedMutexGuard<'a, Self, TwoNumbers>) -> Option<SentGuard<'a, P>>;
    fn unlock_fair(guard: MutexGuard<'_, Self, Data>) {
        drop(guard);
    }
    fn unlock_part_fair(guard: MappedMutexGuard<'_, Self, TwoNumbers>) {
        drop(guard);
    }
    fn unlocked_fair(_guard: &mut MutexGuard<'_, Self, Data>) {}
    fn bump(_guard: &mut MutexGuard<'_, Self, Data>) {}
    /// Waits on a condition variable. Returns true if the wait ended by its deadline.
    fn wait(
        _guard: &mut MutexGuard<'_, Self, Data>,
        _act: Act,
        _condvar: &WatchedCondvar<P>,
        _phase: usize,
    ) -> bool {
        false
    }
}

/// Reader-writer locks of the interface.
pub trait RwKind<P: World>: lock_api::RawRwLockDowngrade + Sized + 'static {
    fn read(lock: &RwLock<Self, Data>, wait: Limit) -> Option<RwLockReadGuard<'_, Self, Data>>;
    fn write(lock: &RwLock<Self, Data>, wait: Limit) -> Option<RwLockWriteGuard<'_, Self, Data>>;
    fn send<'a>(guard: RwLockWriteGuard<'a, Self, Data>) -> Option<SentGuard<'a, P>>;
    fn send_part<'a>(
        guard: MappedRwLockWriteGuard<'a, Self, TwoNumbers>,
    ) -> Option<SentGuard<'a, P>>;
    fn send_read<'a>(guard: RwLockReadGuard<'a, Self, Data>) -> Option<SentGuard<'a, P>>;
    fn send_read_part<'a>(
        guard: MappedRwLockReadGuard<'a, Self, TwoNumbers>,
    ) -> Option<SentGuard<'a, P>>;
    fn upgradable(_lock: &RwLock<Self, Data>, _wait: Limit) -> Option<Guard<'_, P>> {
        None
    }
    fn downgrade_to_upgradable<'a>(guard: RwLockWriteGuard<'a, Self, Data>) -> Guard<'a, P> {
        Box::new(Write(guard))
    }
}

/// Reader-writer locks with a reader that may become the writer.
pub trait UpgradeKind<P: World>: RwKind<P> + lock_api::RawRwLockUpgradeDowngrade {
    /// The guard of the writer, or the same guard if the attempt has failed.
    fn upgraded<'a>(
        guard: RwLockUpgradableReadGuard<'a, Self, Data>,
        wait: Limit,
    ) -> Result<RwLockWriteGuard<'a, Self, Data>, RwLockUpgradableReadGuard<'a, Self, Data>>;
    fn with_upgraded<T>(
        guard: &mut RwLockUpgradableReadGuard<'_, Self, Data>,
        wait: Limit,
        body: impl FnOnce(&mut Data) -> T,
    ) -> Option<T>;
    fn send_upgradable<'a>(
        guard: RwLockUpgradableReadGuard<'a, Self, Data>,
    ) -> Option<SentGuard<'a, P>>;
}

macro_rules! within {
    (timed, $lock:ident, $wait:ident, $now:ident, $attempt:ident, $for:ident, $until:ident) => {
        match $wait {
            Limit::For(Time::Past) | Limit::Until(Time::Past) => $lock.$until(instant(Time::Past)),
            Limit::For(time) => $lock.$for(duration(time)),
            Limit::Until(time) => $lock.$until(instant(time)),
            Limit::Forever => Some($lock.$now()),
            _ => $lock.$attempt(),
        }
    };
    (plain, $lock:ident, $wait:ident, $now:ident, $attempt:ident, $for:ident, $until:ident) => {
        if $wait == Limit::Forever { Some($lock.$now()) } else { $lock.$attempt() }
    };
}
macro_rules! sending {
    (sends, $guard:expr) => {
        Some(Box::new($guard))
    };
    (stays, $guard:expr) => {{
        drop($guard);
        None
    }};
}

macro_rules! fair {
    (fair) => {
        fn unlock_fair(guard: MutexGuard<'_, Self, Data>) {
            MutexGuard::unlock_fair(guard);
        }
        fn unlock_part_fair(guard: MappedMutexGuard<'_, Self, TwoNumbers>) {
            MappedMutexGuard::unlock_fair(guard);
        }
        fn unlocked_fair(guard: &mut MutexGuard<'_, Self, Data>) {
            MutexGuard::unlocked_fair(guard, P::pause);
        }
        fn bump(guard: &mut MutexGuard<'_, Self, Data>) {
            MutexGuard::bump(guard);
        }
    };
    (ordered) => {};
}
macro_rules! waits {
    (waits) => {
        fn wait(
            guard: &mut MutexGuard<'_, Self, Data>,
            act: Act,
            condvar: &WatchedCondvar<P>,
            phase: usize,
        ) -> bool {
            match act {
                Act::WaitFor(time) => {
                    let is_late = condvar.condvar.wait_for(guard, duration(time)).timed_out();
                    condvar.notified((!is_late).into());
                    is_late
                }
                Act::WaitUntil(time) => {
                    let is_late = condvar.condvar.wait_until(guard, instant(time)).timed_out();
                    condvar.notified((!is_late).into());
                    is_late
                }
                Act::WaitWhileFor(_) | Act::WaitWhileUntil(_) | Act::WaitWhile => {
                    // Before the first wait and after each one.
                    let mut looks = 0;
                    let is_early = |data: &mut Data| {
                        looks += 1;
                        data.phases <= phase
                    };
                    let of = &condvar.condvar;
                    let is_late = match act {
                        Act::WaitWhileFor(time) => {
                            of.wait_while_for(guard, is_early, duration(time)).timed_out()
                        }
                        Act::WaitWhileUntil(time) => {
                            of.wait_while_until(guard, is_early, instant(time)).timed_out()
                        }
                        _ => {
                            of.wait_while(guard, is_early);
                            false
                        }
                    };
                    // The deadline may have ended the last one.
                    let may_be_late = if act == Act::WaitWhile { 0 } else { 1 };
                    condvar.notified(u64::saturating_sub(looks, 1 + may_be_late));
                    is_late
                }
                _ => {
                    while guard.phases <= phase {
                        condvar.condvar.wait(guard);
                        condvar.notified(1);
                    }
                    false
                }
            }
        }
    };
    (never) => {};
}
macro_rules! mutex_kinds {
    ($($raw:ty, $fair:ident, $sends:ident, $waits:ident;)+) => {$(
        impl<P: World> MutexKind<P> for $raw {
            fn within(
                mutex: &Mutex<Self, Data>,
                wait: Limit,
            ) -> Option<MutexGuard<'_, Self, Data>> {
                within!(timed, mutex, wait, lock, try_lock, try_lock_for, try_lock_until)
            }
            fn send<'a>(guard: MutexGuard<'a, Self, Data>) -> Option<SentGuard<'a, P>> {
                sending!($sends, Exclusive(guard))
            }
            fn send_part<'a>(guard: MappedMutexGuard<'a, Self, TwoNumbers>) -> Option<SentGuard<'a, P>> {
                sending!($sends, ExclusivePart(guard))
            }
            fair!($fair);
            waits!($waits);
        }
    )+};
}
mutex_kinds! {
    RawMutex<P>, fair, stays, waits;
    Sendable<RawMutex<P>>, fair, sends, never;
    RawFairMutex<P>, fair, stays, never;
    QSpinlock<P>, ordered, sends, never;
    CnaSpinlock<P>, ordered, sends, never;
}

macro_rules! again {
    (again, $lock:ident, $wait:ident) => {
        match $wait {
            Limit::Again => return Some($lock.read_recursive()),
            Limit::AttemptAgain => return $lock.try_read_recursive(),
            _ => {}
        }
    };
    (once, $lock:ident, $wait:ident) => {};
}
macro_rules! upgrades {
    (upgrades) => {
        fn upgradable(lock: &RwLock<Self, Data>, wait: Limit) -> Option<Guard<'_, P>> {
            let guard = within!(
                timed,
                lock,
                wait,
                upgradable_read,
                try_upgradable_read,
                try_upgradable_read_for,
                try_upgradable_read_until
            );
            Some(Box::new(Upgradable(guard?)))
        }
        fn downgrade_to_upgradable<'a>(guard: RwLockWriteGuard<'a, Self, Data>) -> Guard<'a, P> {
            Box::new(Upgradable(RwLockWriteGuard::downgrade_to_upgradable(guard)))
        }
    };
    (never) => {};
}
macro_rules! upgrade_kinds {
    ($($raw:ty, $sends:ident;)+) => {$(
        impl<P: World> UpgradeKind<P> for $raw {
            fn upgraded<'a>(
                guard: RwLockUpgradableReadGuard<'a, Self, Data>,
                wait: Limit,
            ) -> Result<RwLockWriteGuard<'a, Self, Data>, RwLockUpgradableReadGuard<'a, Self, Data>>
            {
                use RwLockUpgradableReadGuard as Of;
                match wait {
                    Limit::Forever => Ok(Of::upgrade(guard)),
                    Limit::For(Time::Past) | Limit::Until(Time::Past) => {
                        Of::try_upgrade_until(guard, instant(Time::Past))
                    }
                    Limit::For(time) => Of::try_upgrade_for(guard, duration(time)),
                    Limit::Until(time) => Of::try_upgrade_until(guard, instant(time)),
                    _ => Of::try_upgrade(guard),
                }
            }
            fn with_upgraded<T>(
                guard: &mut RwLockUpgradableReadGuard<'_, Self, Data>,
                wait: Limit,
                body: impl FnOnce(&mut Data) -> T,
            ) -> Option<T> {
                match wait {
                    Limit::Forever => Some(guard.with_upgraded(body)),
                    Limit::For(Time::Past) | Limit::Until(Time::Past) => {
                        guard.try_with_upgraded_until(instant(Time::Past), body)
                    }
                    Limit::For(time) => guard.try_with_upgraded_for(duration(time), body),
                    Limit::Until(time) => guard.try_with_upgraded_until(instant(time), body),
                    _ => guard.try_with_upgraded(body),
                }
            }
            fn send_upgradable<'a>(
                guard: RwLockUpgradableReadGuard<'a, Self, Data>,
            ) -> Option<SentGuard<'a, P>> {
                sending!($sends, Upgradable(guard))
            }
        }
    )+};
}
upgrade_kinds! {
    RawRwLock<P>, stays;
    RawRwLock<P, Fair>, stays;
    Sendable<RawRwLock<P, Unlisted>>, sends;
}
macro_rules! rw_kinds {
    ($($raw:ty, $timed:ident, $again:ident, $sends:ident, $upgrades:ident;)+) => {$(
        impl<P: World> RwKind<P> for $raw {
            fn read(
                lock: &RwLock<Self, Data>,
                wait: Limit,
            ) -> Option<RwLockReadGuard<'_, Self, Data>> {
                again!($again, lock, wait);
                within!($timed, lock, wait, read, try_read, try_read_for, try_read_until)
            }
            fn write(
                lock: &RwLock<Self, Data>,
                wait: Limit,
            ) -> Option<RwLockWriteGuard<'_, Self, Data>> {
                within!($timed, lock, wait, write, try_write, try_write_for, try_write_until)
            }
            fn send<'a>(guard: RwLockWriteGuard<'a, Self, Data>) -> Option<SentGuard<'a, P>> {
                sending!($sends, Write(guard))
            }
            fn send_part<'a>(
                guard: MappedRwLockWriteGuard<'a, Self, TwoNumbers>,
            ) -> Option<SentGuard<'a, P>> {
                sending!($sends, WritePart(guard))
            }
            fn send_read<'a>(guard: RwLockReadGuard<'a, Self, Data>) -> Option<SentGuard<'a, P>> {
                sending!($sends, Read(guard))
            }
            fn send_read_part<'a>(
                guard: MappedRwLockReadGuard<'a, Self, TwoNumbers>,
            ) -> Option<SentGuard<'a, P>> {
                sending!($sends, ReadPart(guard))
            }
            upgrades!($upgrades);
        }
    )+};
}
rw_kinds! {
    RawRwLock<P>, timed, again, stays, upgrades;
    RawRwLock<P, Fair>, timed, once, stays, upgrades;
    Sendable<RawRwLock<P, Unlisted>>, timed, again, sends, upgrades;
    RawPercpuRwLock<P>, timed, again, stays, never;
    RawQRwLock<P>, plain, once, sends, never;
    RwSem<P>, timed, once, sends, never;
}

/// A lock of the interface.
pub trait ProgramLock<P: World> {
    fn exclusive(&self, _wait: Limit) -> Option<Guard<'_, P>> {
        None
    }
    fn shared(&self, _wait: Limit) -> Option<Guard<'_, P>> {
        None
    }
    fn upgradable(&self, _wait: Limit) -> Option<Guard<'_, P>> {
        None
    }
    fn acquire(&self, _permits: u32, _wait: Limit) -> Option<Guard<'_, P>> {
        None
    }
    fn is_locked(&self) -> bool {
        false
    }
    fn is_locked_exclusive(&self) -> bool {
        false
    }
    fn get_mut(&mut self) -> Option<&mut Data> {
        None
    }
}

impl<P: World, R: MutexKind<P>> ProgramLock<P> for Mutex<R, Data> {
    fn exclusive(&self, wait: Limit) -> Option<Guard<'_, P>> {
        Some(Box::new(Exclusive(R::within(self, wait)?)))
    }
    fn is_locked(&self) -> bool {
        Self::is_locked(self)
    }
    fn get_mut(&mut self) -> Option<&mut Data> {
        Some(Self::get_mut(self))
    }
}
/// A mutex that its owner may take again.
pub type Reentrant<P> = lock_api::ReentrantMutex<RawMutex<P>, ThreadNumber<P>, RefCell<Data>>;
impl<P: World> ProgramLock<P> for Reentrant<P> {
    fn exclusive(&self, wait: Limit) -> Option<Guard<'_, P>> {
        let guard = within!(timed, self, wait, lock, try_lock, try_lock_for, try_lock_until);
        Some(Box::new(HeldAgain(guard?)))
    }
    fn is_locked(&self) -> bool {
        Self::is_locked(self)
    }
    fn get_mut(&mut self) -> Option<&mut Data> {
        Some(Self::get_mut(self).get_mut())
    }
}
/// A reader-writer lock; apart from mutexes for the compiler.
pub struct Rw<R>(RwLock<R, Data>);
impl<R: lock_api::RawRwLock> Debug for Rw<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
impl<P: World, R: RwKind<P>> ProgramLock<P> for Rw<R> {
    fn exclusive(&self, wait: Limit) -> Option<Guard<'_, P>> {
        Some(Box::new(Write(R::write(&self.0, wait)?)))
    }
    fn shared(&self, wait: Limit) -> Option<Guard<'_, P>> {
        Some(Box::new(Read(R::read(&self.0, wait)?)))
    }
    fn upgradable(&self, wait: Limit) -> Option<Guard<'_, P>> {
        R::upgradable(&self.0, wait)
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
    fn is_locked_exclusive(&self) -> bool {
        self.0.is_locked_exclusive()
    }
    fn get_mut(&mut self) -> Option<&mut Data> {
        Some(self.0.get_mut())
    }
}
/// A reader-writer lock whose waits another thread can end, and the interrupts by which it could.
pub struct InterruptibleRw<P: World> {
    lock: Rw<RwSem<P>>,
    never: Interrupt<P>,
    already: Interrupt<P>,
}
impl<P: World> Debug for InterruptibleRw<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.lock.fmt(f)
    }
}
impl<P: World> InterruptibleRw<P> {
    /// The interrupt of an operation that has one.
    fn interrupt(&self, wait: Limit) -> Option<&Interrupt<P>> {
        match wait {
            Limit::Interruptible => Some(&self.never),
            Limit::Interrupted => {
                self.already.interrupt();
                Some(&self.already)
            }
            _ => None,
        }
    }
}
impl<P: World> ProgramLock<P> for InterruptibleRw<P> {
    fn exclusive(&self, wait: Limit) -> Option<Guard<'_, P>> {
        let Some(interrupt) = self.interrupt(wait) else { return self.lock.exclusive(wait) };
        Some(Box::new(Write(self.lock.0.write_interruptible(interrupt)?)))
    }
    fn shared(&self, wait: Limit) -> Option<Guard<'_, P>> {
        let Some(interrupt) = self.interrupt(wait) else { return self.lock.shared(wait) };
        Some(Box::new(Read(self.lock.0.read_interruptible(interrupt)?)))
    }
    fn is_locked(&self) -> bool {
        ProgramLock::<P>::is_locked(&self.lock)
    }
    fn is_locked_exclusive(&self) -> bool {
        ProgramLock::<P>::is_locked_exclusive(&self.lock)
    }
    fn get_mut(&mut self) -> Option<&mut Data> {
        ProgramLock::<P>::get_mut(&mut self.lock)
    }
}
impl<P: World> ProgramLock<P> for lockwright::Semaphore<P> {
    fn acquire(&self, permits: u32, wait: Limit) -> Option<Guard<'_, P>> {
        let past = Limit::Until(Time::Past);
        let wait = if wait == Limit::For(Time::Past) { past } else { wait };
        let permits = match (permits, wait) {
            (1, Limit::Forever) => Some(self.acquire()),
            (1, Limit::For(time)) => self.try_acquire_for(duration(time)),
            (1, Limit::Until(time)) => self.try_acquire_until(instant(time)),
            (1, _) => self.try_acquire(),
            (_, Limit::Forever) => Some(self.acquire_many(permits)),
            (_, Limit::For(time)) => self.try_acquire_many_for(permits, duration(time)),
            (_, Limit::Until(time)) => self.try_acquire_many_until(permits, instant(time)),
            _ => self.try_acquire_many(permits),
        };
        Some(Box::new(HeldPermits(permits?)))
    }
}
impl<P: World> ProgramLock<P> for ResilientSite<P> {
    fn exclusive(&self, wait: Limit) -> Option<Guard<'_, P>> {
        Some(Box::new(self.acquire(wait).ok()?))
    }
    fn is_locked(&self) -> bool {
        Self::is_locked(self)
    }
    fn get_mut(&mut self) -> Option<&mut Data> {
        Some(Self::get_mut(self))
    }
}
impl<P: World> ProgramLock<P> for OnceSite<P> {}
/// A sequence lock; it has no guards.
pub type Seq<P> = SeqLock<[u64; 2], P>;
impl<P: World> ProgramLock<P> for Seq<P> {}

macro_rules! objects {
    ($($kind:ident($type:ty) = $new:expr, $inner:expr;)+) => {
        /// Any of the locks, in place.
        #[repr(C)]
        pub enum LockObject<P: World> {
            $($kind($type)),+
        }
        impl<P: World> LockObject<P> {
            pub fn new(kind: LockKind) -> Self {
                match kind {
                    $(LockKind::$kind => Self::$kind($new(Data::default()))),+
                }
            }
            /// Gives a new semaphore its permits, which a simulated one gets only where it stays.
            pub fn begin(&self) -> bool {
                match self {
                    Self::Semaphore(lock) => lock.add_permits(PERMITS),
                    _ => true,
                }
            }
            pub fn kind(&self) -> LockKind {
                match self {
                    $(Self::$kind(_) => LockKind::$kind),+
                }
            }
            pub fn lock(&self) -> &dyn ProgramLock<P> {
                match self {
                    $(Self::$kind(lock) => lock),+
                }
            }
            pub fn lock_mut(&mut self) -> &mut dyn ProgramLock<P> {
                match self {
                    $(Self::$kind(lock) => lock),+
                }
            }
            /// A new lock with what was in this one.
            pub fn renewed(self) -> Self {
                match self {
                    $(Self::$kind(lock) => Self::$kind($new(($inner)(lock)))),+
                }
            }
            pub fn debug(&self) -> String {
                match self {
                    $(Self::$kind(lock) => format!("{lock:?}")),+
                }
            }
        }
    };
}
fn reentrant<P: World>(data: Data) -> Reentrant<P> {
    lock_api::ReentrantMutex::new(RefCell::new(data))
}
fn rw<R: lock_api::RawRwLock>(data: Data) -> Rw<R> {
    Rw(RwLock::new(data))
}
fn inner<R: lock_api::RawMutex>(mutex: Mutex<R, Data>) -> Data {
    mutex.into_inner()
}
fn interruptible<P: World>(data: Data) -> InterruptibleRw<P> {
    InterruptibleRw { lock: rw(data), never: Interrupt::default(), already: Interrupt::default() }
}
fn rw_inner<R: lock_api::RawRwLock>(lock: Rw<R>) -> Data {
    lock.0.into_inner()
}
objects! {
    Mutex(Mutex<RawMutex<P>, Data>) = Mutex::new, inner;
    SendMutex(Mutex<Sendable<RawMutex<P>>, Data>) = Mutex::new, inner;
    FairMutex(Mutex<RawFairMutex<P>, Data>) = Mutex::new, inner;
    ReentrantMutex(Reentrant<P>) = reentrant, |lock: Reentrant<P>| lock.into_inner().into_inner();
    SpinLock(Mutex<QSpinlock<P>, Data>) = Mutex::new, inner;
    CnaSpinLock(Mutex<CnaSpinlock<P>, Data>) = Mutex::new, inner;
    ResilientSpinLock(ResilientSite<P>) = ResilientSite::new, ResilientSite::into_inner;
    RwLock(Rw<RawRwLock<P>>) = rw, rw_inner;
    FairRwLock(Rw<RawRwLock<P, Fair>>) = rw, rw_inner;
    SendRwLock(Rw<Sendable<RawRwLock<P, Unlisted>>>) = rw, rw_inner;
    PercpuRwLock(Rw<RawPercpuRwLock<P>>) = rw, rw_inner;
    QRwLock(Rw<RawQRwLock<P>>) = rw, rw_inner;
    RwSemLock(InterruptibleRw<P>) = interruptible, |lock: InterruptibleRw<P>| rw_inner(lock.lock);
    Semaphore(lockwright::Semaphore<P>) = |_| lockwright::Semaphore::new_on(), |_| Data::default();
    SeqLock(Seq<P>) = |_| Seq::with_value([0; 2]), |_| Data::default();
    Once(OnceSite<P>) = |_| OnceSite::new(), |_| Data::default();
}
