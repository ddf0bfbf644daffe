//! Measuring how long it takes to get a lock, for any lock on any machine.

use crate::native::role::StarveRole;
use crate::stats::Histogram;
use lockwright_catalog::capabilities::{CondvarLock, LockCondvar, TimedLock};
use lockwright_catalog::registry::Platform;
use lockwright_core::events::Event;
use lockwright_core::platform::Clock as _;
use lockwright_core::raw::{Order, RawLock};
use lockwright_sim::{Sim, thread};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

thread_local! {
    /// Waits of this thread; in a simulation, of all simulated threads that it runs.
    static WAITED: RefCell<Waited> = RefCell::default();
    /// Simulated, within the window: the last release.
    static RELEASED: Cell<Option<Release>> = const { Cell::new(None) };
}

/// Waiting times by what a thread waits for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Waited {
    /// Those of owners.
    pub writers: Histogram,
    /// Those of readers, whether or not the lock lets several of them in at once.
    pub readers: Histogram,
    /// Those of readers that become the owner.
    pub upgraders: Histogram,
    /// Those of threads that were notified on a condition variable: from then until they own the lock.
    pub notified: Histogram,
    /// Simulated: what passes between a release and the next acquisition of a thread that waited.
    #[serde(skip)]
    pub transfers: LockTransfers,
}

/// What passes between a release and the next acquisition of a thread that waited.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LockTransfers {
    /// Nanoseconds.
    pub ns: Histogram,
    /// Waiters that NUMA-aware succession looked at meanwhile.
    pub looks: Histogram,
    /// The longest wait that a transfer ended, in nanoseconds.
    pub longest_wait_ns: u64,
}

impl LockTransfers {
    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        self.ns.merge(&other.ns);
        self.looks.merge(&other.looks);
        self.longest_wait_ns = self.longest_wait_ns.max(other.longest_wait_ns);
    }
}

/// The last release of a lock.
#[derive(Clone, Copy)]
struct Release {
    /// The lock, by its address.
    lock: usize,
    at_ns: u64,
    looks: u64,
}

impl Waited {
    /// Adds the waits of another thread.
    pub fn merge(&mut self, other: &Self) {
        self.writers.merge(&other.writers);
        self.readers.merge(&other.readers);
        self.upgraders.merge(&other.upgraders);
        self.notified.merge(&other.notified);
        self.transfers.merge(&other.transfers);
    }
    /// Those of the thread that waits again and again in a role.
    pub fn of(&mut self, role: StarveRole) -> &mut Histogram {
        match role {
            StarveRole::Writer | StarveRole::Owner => &mut self.writers,
            StarveRole::Reader => &mut self.readers,
            StarveRole::Upgrader => &mut self.upgraders,
            StarveRole::Notified => &mut self.notified,
        }
    }
    /// Those of all threads.
    pub fn all(&self) -> Histogram {
        let mut all = self.writers.clone();
        [&self.readers, &self.upgraders, &self.notified].iter().for_each(|it| all.merge(it));
        all
    }
    /// The transfers, if there were any.
    pub fn if_transferred(&self) -> Option<LockTransfers> {
        (self.transfers.ns.count() > 0).then(|| self.transfers.clone())
    }
    /// The same, if a thread did anything but own.
    pub fn if_roles(self) -> Option<Self> {
        (self.all().count() > self.writers.count()).then_some(self)
    }
}

/// The waits recorded on this thread since the last call.
pub fn take_waits() -> Waited {
    // The next run may have a lock at the same address.
    RELEASED.take();
    WAITED.take()
}

/// Records what a workload has timed itself on this thread.
pub fn record(add: impl FnOnce(&mut Waited)) {
    WAITED.with_borrow_mut(add);
}

/// Does `wait` and returns what it took, by the clock of `P`.
#[inline(always)]
fn timed<P: Platform>(wait: impl FnOnce()) -> u64 {
    let start_ns = P::now_ns();
    wait();
    P::now_ns().saturating_sub(start_ns)
}

/// Writes down that the simulated lock at this address is released.
fn released(lock: usize) {
    let looks = thread::count_of(Event::cna_scanned);
    RELEASED.set(looks.map(|looks| Release { lock, at_ns: Sim::now_ns(), looks }));
}

/// The address of a lock.
fn address<L>(lock: &L) -> usize {
    std::ptr::from_ref(lock).addr()
}

/// Records the transfer of the simulated lock at this address to the caller, which has waited for `wait_ns`.
fn transferred(lock: usize, wait_ns: u64) {
    let looks = thread::count_of(Event::cna_scanned);
    let (Some(release), Some(looks)) = (RELEASED.take(), looks) else { return };
    let transfer_ns = Sim::now_ns().saturating_sub(release.at_ns);
    if release.lock == lock && transfer_ns < wait_ns {
        record(|Waited { transfers, .. }| {
            transfers.ns.record(transfer_ns);
            transfers.looks.record(looks - release.looks);
            transfers.longest_wait_ns = transfers.longest_wait_ns.max(wait_ns);
        });
    }
}

/// A lock whose acquisitions are timed by the platform's clock and recorded on the thread.
pub struct Timed<P, L> {
    inner: L,
    _platform: PhantomData<fn() -> P>,
}

impl<P: Platform, L: RawLock> RawLock for Timed<P, L> {
    const ORDER: Order = L::ORDER;
    const WAITERS_SLEEP: bool = L::WAITERS_SLEEP;
    const READERS_SHARE: bool = L::READERS_SHARE;
    const NEXT_OWNER_MAY_FREE: bool = L::NEXT_OWNER_MAY_FREE;

    fn new() -> Self {
        Self { inner: L::new(), _platform: PhantomData }
    }
    #[inline]
    fn lock(&self) {
        let wait_ns = timed::<P>(|| self.inner.lock());
        WAITED.with_borrow_mut(|waited| waited.writers.record(wait_ns));
        if P::KNOWS_WHO_RUNS {
            transferred(address(self), wait_ns);
        }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.inner.try_lock()
    }
    #[inline]
    unsafe fn unlock(&self) {
        if P::KNOWS_WHO_RUNS {
            released(address(self));
        }
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.unlock() }
    }
    #[inline]
    fn lock_shared(&self) {
        let wait_ns = timed::<P>(|| self.inner.lock_shared());
        WAITED.with_borrow_mut(|waited| waited.readers.record(wait_ns));
    }
    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.inner.try_lock_shared()
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: the caller is a reader of the lock.
        unsafe { self.inner.unlock_shared() }
    }
    #[inline]
    unsafe fn downgrade(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.downgrade() }
    }
    fn is_locked(&self) -> bool {
        self.inner.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        L::word_is_legal(word)
    }
}

impl<P: Platform, L: TimedLock> TimedLock for Timed<P, L> {
    #[inline]
    fn lock_until(&self, deadline_ns: u64) -> bool {
        let start_ns = P::now_ns();
        let is_ours = self.inner.lock_until(deadline_ns);
        if is_ours {
            let wait_ns = P::now_ns().saturating_sub(start_ns);
            WAITED.with_borrow_mut(|waited| waited.writers.record(wait_ns));
        }
        is_ours
    }
}

/// The condition variable of a lock whose acquisitions are timed. What a wait takes is not timed.
pub struct TimedCondvar<L: CondvarLock>(L::Condvar);

impl<P: Platform, L: CondvarLock> CondvarLock for Timed<P, L> {
    type Condvar = TimedCondvar<L>;
}

impl<P: Platform, L: CondvarLock> LockCondvar<Timed<P, L>> for TimedCondvar<L> {
    fn new() -> Self {
        Self(L::Condvar::new())
    }
    #[inline]
    unsafe fn wait(&self, lock: &Timed<P, L>, deadline_ns: Option<u64>) -> bool {
        // SAFETY: the caller owns the lock.
        unsafe { self.0.wait(&lock.inner, deadline_ns) }
    }
    #[inline]
    fn notify_one(&self) -> bool {
        self.0.notify_one()
    }
    #[inline]
    fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_clients::plain_rw::PlainRwLock;
    use lockwright_core::native::Native;
    use lockwright_linux::ticket::TicketLock;

    #[test]
    fn every_acquisition_is_recorded_once() {
        take_waits();
        let lock = Timed::<Native, TicketLock<Native>>::new();
        for _ in 0..10 {
            lock.lock();
            // SAFETY: taken on the line above.
            unsafe { lock.unlock() };
        }
        assert_eq!(take_waits().all().count(), 10);
        assert_eq!(take_waits().all().count(), 0);
    }

    #[test]
    fn waits_of_readers_are_kept_apart_also_where_to_read_is_to_own() {
        fn is_kept_apart<L: RawLock>() {
            take_waits();
            let lock = Timed::<Native, L>::new();
            for _ in 0..3 {
                lock.lock_shared();
                // SAFETY: taken on the line above.
                unsafe { lock.unlock_shared() };
            }
            lock.lock();
            // SAFETY: taken on the line above.
            unsafe { lock.downgrade() };
            // SAFETY: taken above, and downgraded.
            unsafe { lock.unlock_shared() };
            assert!(!lock.is_locked());
            let waited = take_waits();
            assert_eq!((waited.writers.count(), waited.readers.count()), (1, 3));
        }
        is_kept_apart::<PlainRwLock<Native>>();
        is_kept_apart::<TicketLock<Native>>();
    }
}
