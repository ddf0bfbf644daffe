//! A resilient spinlock of a program, and which of its errors are right.
//!
//! The model knows, for each thread, which locks it holds and for which it waits, and since when. So a deadlock that is
//! reported must have been one, and one that lasts must be reported.

use crate::program::Limit;
use crate::world::{Allowed, Data, LIVES_MAX, LOCKS_MAX, THREADS_MAX, World, change};
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::resilient::{
    AcquireError, AcquireLimits, InPrograms, RawResilientSpinLock,
};
use std::cell::UnsafeCell;
use std::fmt::{Debug, Formatter};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

/// A resilient spinlock with what it guards.
pub struct ResilientSite<P: World> {
    raw: RawResilientSpinLock<P, InPrograms>,
    data: UnsafeCell<Data>,
}

impl<P: World> ResilientSite<P> {
    pub fn new(data: Data) -> Self {
        Self { raw: RawResilientSpinLock::new(), data: UnsafeCell::new(data) }
    }
    pub fn into_inner(self) -> Data {
        self.data.into_inner()
    }
    pub fn get_mut(&mut self) -> &mut Data {
        self.data.get_mut()
    }
    pub fn is_locked(&self) -> bool {
        self.raw.is_locked()
    }
    /// What the tables of threads call it.
    pub fn name(&self) -> u64 {
        P::lock_name(std::ptr::from_ref(&self.raw).cast())
    }
    /// Takes it. An attempt fails without an error.
    pub fn acquire(&self, wait: Limit) -> Result<HeldResilient<'_, P>, Option<AcquireError>> {
        let outcome = match wait {
            Limit::Forever => self.raw.acquire(AcquireLimits::IN_PROGRAMS).map_err(Some),
            Limit::For(time) => {
                let end_ns = P::now_ns().saturating_add(time.least_ns());
                self.raw.acquire(AcquireLimits::until(end_ns)).map_err(Some)
            }
            _ => self.raw.try_lock().then_some(()).ok_or(None),
        };
        outcome.map(|()| HeldResilient(self))
    }
}

impl<P: World> Debug for ResilientSite<P> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResilientSpinLock")
            .field("is_free", &self.acquire(Limit::Attempt).is_ok())
            .finish()
    }
}

/// The guard.
pub struct HeldResilient<'a, P: World>(&'a ResilientSite<P>);

impl<P: World> Drop for HeldResilient<'_, P> {
    fn drop(&mut self) {
        // SAFETY: the guard holds it.
        unsafe { self.0.raw.unlock() };
    }
}

impl<P: World> HeldResilient<'_, P> {
    pub fn touch(&mut self) -> Allowed {
        // SAFETY: the guard holds the lock.
        change::<P>(unsafe { &mut (*self.0.data.get()).pair })
    }
}

/// `lock` gives up no earlier.
const PATIENCE_NS: u64 = 250_000_000;
/// A deadlock that has lasted for so long must have been seen by a thread that waits with no deadline.
const SEEN_NS: u64 = 100_000_000;

/// What a thread does with resilient spinlocks. Locks are named by their places. Nothing here orders anything between
/// threads, except that a thread whose queue has dissolved sees what the threads before it have written.
#[derive(Default)]
pub struct Holder {
    /// The number of its table of locks, plus one.
    table: AtomicUsize,
    /// Guards that it has forgotten. Its table keeps them, whatever becomes of the lock.
    pub forgotten: [AtomicU32; LOCKS_MAX],
    /// When it waited last for a lock, the second one, while it held another one, the first.
    waits: [[Span; LOCKS_MAX]; LOCKS_MAX],
    /// When it was last told that it does not get a lock.
    failed_ns: [AtomicU64; LOCKS_MAX],
    /// It wants a lock, or has not written yet what became of that.
    wants: [AtomicBool; LOCKS_MAX],
}

#[derive(Default)]
struct Span {
    begin_ns: AtomicU64,
    /// The largest number as long as it lasts.
    end_ns: AtomicU64,
}

/// One for each thread, and for each that came in its place. A table that a thread has left is another one's later.
pub type Holders = [Holder; THREADS_MAX * LIVES_MAX];

/// A thread that wants a lock.
pub struct Acquisition<'a> {
    holders: &'a Holders,
    /// The number of its holder.
    holder: usize,
    lock: usize,
    /// The locks of which it has a guard.
    guards: [bool; LOCKS_MAX],
    begin_ns: u64,
}

impl<'a> Acquisition<'a> {
    /// Before it tries to take it.
    pub fn begin<P: World>(
        holders: &'a Holders,
        holder: usize,
        lock: usize,
        guards: [bool; LOCKS_MAX],
    ) -> Self {
        let begin_ns = P::now_ns();
        let acquisition = Self { holders, holder, lock, guards, begin_ns };
        let is_own = |at: &usize| P::held_table_at(*at) == P::held_table();
        let table = (0..P::held_tables()).find(is_own).map_or(0, |at| at + 1);
        acquisition.me().table.store(table, Relaxed);
        acquisition.me().wants[lock].store(true, Relaxed);
        for span in acquisition.spans() {
            span.begin_ns.store(begin_ns, Relaxed);
            span.end_ns.store(u64::MAX, Relaxed);
        }
        acquisition
    }
    fn me(&self) -> &'a Holder {
        &self.holders[self.holder]
    }
    /// True if its table says that it holds a lock.
    fn holds(&self, lock: usize) -> bool {
        self.guards[lock] || self.me().forgotten[lock].load(Relaxed) > 0
    }
    fn spans(&self) -> impl Iterator<Item = &'a Span> {
        let (lock, me) = (self.lock, self.me());
        (0..LOCKS_MAX).filter(|held| self.holds(*held)).map(move |held| &me.waits[held][lock])
    }

    /// When it has the lock, or was told why not. `names` are those of the locks, and `has_waiters` is true if other
    /// threads wait for this one.
    pub fn end<P: World>(
        &self,
        wait: Limit,
        error: Option<AcquireError>,
        names: impl Fn(usize) -> Option<u64>,
        has_waiters: bool,
    ) -> Allowed {
        let now_ns = P::now_ns();
        for span in self.spans() {
            span.end_ns.store(now_ns, Relaxed);
        }
        if error.is_some() {
            self.me().failed_ns[self.lock].store(now_ns, Relaxed);
        }
        // ordering: Release; the time above comes before it.
        self.me().wants[self.lock].store(false, Release);
        let Some(error) = error else { return Ok(()) };
        let must_be_held =
            self.guards[self.lock] && self.me().table.load(Relaxed) > 0 && !P::is_child();
        let is_right = match error {
            // Other forms of the lock say this.
            AcquireError::Deadlock => false,
            AcquireError::Held => self.holds(self.lock),
            _ if must_be_held => false,
            AcquireError::Crossed { other, wanted } => {
                let wanted = (0..LOCKS_MAX).find(|at| names(*at) == Some(wanted));
                wanted.is_some_and(|wanted| self.was_deadlock(other, wanted))
            }
            AcquireError::TimedOut => {
                let least_ns = match wait {
                    Limit::For(time) => time.least_ns(),
                    _ => PATIENCE_NS,
                };
                now_ns.saturating_sub(self.begin_ns) >= least_ns && !self.misses_deadlock(now_ns)
            }
            AcquireError::Dissolved => {
                let failed = |other: &Holder| {
                    // The one that gave up may not have written it yet.
                    // ordering: Acquire; with the store of a thread that no longer wants it.
                    !std::ptr::eq(other, self.me())
                        && (other.wants[self.lock].load(Acquire)
                            || other.failed_ns[self.lock].load(Relaxed) >= self.begin_ns)
                };
                has_waiters || self.holders.iter().any(failed)
            }
        };
        let waited_ns = now_ns.saturating_sub(self.begin_ns);
        if is_right { Ok(()) } else { Err(format!("after {waited_ns} ns it is told {error:?}")) }
    }
    /// True if the thread with this table held the lock and waited for `wanted`, which this thread holds.
    fn was_deadlock(&self, table: usize, wanted: usize) -> bool {
        // A guard that is forgotten may be of a lock that is there no more, and another one has its name.
        let is_forgotten = self.holds(wanted) && !self.guards[wanted];
        let was_it = |other: &Holder| {
            let end_ns = other.waits[self.lock][wanted].end_ns.load(Relaxed);
            let overlaps = self.guards[wanted] && end_ns >= self.begin_ns;
            let has_table = other.table.load(Relaxed) == table + 1;
            has_table && !std::ptr::eq(other, self.me()) && (overlaps || is_forgotten)
        };
        wanted != self.lock && self.holders.iter().any(was_it)
    }
    /// True if a deadlock with another thread has lasted for long.
    fn misses_deadlock(&self, now_ns: u64) -> bool {
        let is_old = |begin_ns: u64| now_ns.saturating_sub(begin_ns) >= SEEN_NS;
        let crosses = |span: &Span| {
            span.end_ns.load(Relaxed) == u64::MAX && is_old(span.begin_ns.load(Relaxed))
        };
        let others = self.holders.iter().filter(|other| !std::ptr::eq(*other, self.me()));
        let mut spans = others.flat_map(|other| &other.waits[self.lock]).enumerate();
        is_old(self.begin_ns)
            && spans.any(|(at, span)| self.guards[at % LOCKS_MAX] && crosses(span))
    }
}
