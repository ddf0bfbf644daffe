#![doc = include_str!("README.md")]

mod count;
mod list;
mod object;
mod owner;
mod policy;
mod read;
mod spin;
mod testing;
mod until;
mod wake;
mod write;

pub use policy::*;
pub use until::{Interrupt, Until};

use crate::osq::OsqLock;
use crate::park::{HoldMode, NAP_NS, ParkPlatform, waiter};
use crate::platform::{
    Atomic, AtomicInt, Cells, ConstCells, ConstZeroed, Zeroed, barrier_before_look,
};
use crate::queue::NodeId;
use crate::raw::{FairnessThreshold, Order, RawLock, Schedules};
use crate::tunables::Tunable;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use count::{ACTIVE, HANDOFF, HELD_MASK, WAITERS, WRITER};
use object::{ASLEEP, Sem, Slow};

/// The kernel's reader-writer semaphore: zero is unlocked. Its waiters spin, if they do, and then sleep in a list in
/// the object.
///
/// `C` says which patches the semaphore has. The default is for programs. The fairness bound, costs and orderings are
/// in the module's documentation. The object must outlive every call of its functions: a release touches it after it is
/// free for others.
#[repr(C)]
pub struct RwSem<P: Cells, C = CurrentInPrograms> {
    sem: Sem<P>,
    _policy: PhantomData<fn() -> C>,
}

impl<P: ConstCells, C: RwSemPolicy> RwSem<P, C> {
    /// An unlocked semaphore, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = {
        let () = Self::CHECK_POLICY;
        let sem = Sem {
            count: ConstZeroed::ZEROED,
            owner: ConstZeroed::ZEROED,
            spinners: OsqLock::INIT,
            flag: ConstZeroed::ZEROED,
            wait_lock: list::WaitLock::FREE,
            list: list::List::EMPTY,
        };
        Self { sem, _policy: PhantomData }
    };
}

impl<P: Cells, C: RwSemPolicy> RwSem<P, C> {
    /// Does not compile for a policy under which a reader and a writer might hold the lock together.
    const CHECK_POLICY: () =
        assert!(C::POLICY.fits_its_format(), "the count is too small for the policy");
}

impl<P: ParkPlatform, C: RwSemPolicy> RawLock for RwSem<P, C> {
    const ORDER: Order = Order::None;
    const SCHEDULES: Schedules = Schedules::OfRows;
    const WAITERS_SLEEP: bool = true;
    const READERS_SHARE: bool = true;
    const NEXT_OWNER_MAY_FREE: bool = false;

    fn fairness_threshold(
        _numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        let ns = match C::POLICY.handoff {
            Handoff::Never => 0,
            _ => set(Tunable::rwsem_handoff_ns).unwrap_or(C::POLICY.patience_ns()),
        };
        FairnessThreshold { ns, ..FairnessThreshold::default() }
    }
    fn new() -> Self {
        let () = Self::CHECK_POLICY;
        let sem = Sem {
            count: Zeroed::zeroed(),
            owner: Zeroed::zeroed(),
            spinners: OsqLock::new(),
            flag: Zeroed::zeroed(),
            wait_lock: Zeroed::zeroed(),
            list: Zeroed::zeroed(),
        };
        Self { sem, _policy: PhantomData }
    }
    #[inline]
    fn lock(&self) {
        self.lock_within(Until::FOREVER);
    }
    #[inline]
    fn try_lock(&self) -> bool {
        let is_ours = match C::POLICY.format {
            Format::Bits => self.take_free(),
            Format::Biased(_) => self.slow().try_write_biased(),
        };
        if is_ours {
            self.slow().own();
        }
        is_ours
    }
    #[inline]
    unsafe fn unlock(&self) {
        if C::POLICY.owner != OwnerWord::WriterLate && C::POLICY.owner != OwnerWord::None {
            self.slow().disown();
        }
        match C::POLICY.format {
            Format::Bits => {
                // (1,*,*) -> (0,*,*)
                // ordering: Release; R1.
                let before = self.sem.count.fetch_sub(WRITER, Release);
                if before & WAITERS != 0 {
                    self.slow().wake_after_release(before);
                }
            }
            format @ Format::Biased(_) => {
                let write = format.writer();
                // n -> n-WRITE
                // ordering: Release; R1.
                let left = self.sem.count.fetch_sub(write, Release).wrapping_sub(write);
                if count::is_negative(left) && !format.is_held(left) {
                    self.slow().wake_after_release(left);
                }
            }
        }
        if C::POLICY.owner == OwnerWord::WriterLate {
            self.slow().disown();
        }
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.sem.count);
        // ordering: Relaxed; nothing is read through it.
        C::POLICY.format.is_held(self.sem.count.load(Relaxed))
    }

    #[inline]
    fn lock_shared(&self) {
        self.lock_shared_within(Until::FOREVER);
    }
    #[inline]
    fn try_lock_shared(&self) -> bool {
        let is_ours = self.slow().try_read();
        if is_ours {
            self.slow().own_as_reader();
        }
        is_ours
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        let slow = self.slow();
        match C::POLICY.format {
            Format::Bits => {
                let reader = Format::Bits.reader();
                // (0,*,r) -> (0,*,r-1)
                // ordering: Release; R2.
                let before = self.sem.count.fetch_sub(reader, Release);
                let left = before.wrapping_sub(reader);
                if left & (HELD_MASK | WAITERS) == WAITERS {
                    slow.last_reader_left(left);
                }
            }
            format @ Format::Biased(_) => {
                // n -> n-1
                // ordering: Release; R2.
                let before = self.sem.count.fetch_sub(ACTIVE, Release);
                let left = before.wrapping_sub(ACTIVE);
                if count::is_negative(left) && !format.is_held(left) {
                    slow.wake_after_release(left);
                }
            }
        }
    }
    #[inline]
    unsafe fn downgrade(&self) {
        let slow = self.slow();
        let has_waiters = match C::POLICY.format {
            Format::Bits => {
                let change = Format::Bits.reader().wrapping_sub(WRITER);
                // (1,*,0) -> (0,*,1)
                // ordering: Release; R1.
                let before = self.sem.count.fetch_add(change, Release);
                slow.own_as_reader();
                before & WAITERS != 0
            }
            format @ Format::Biased(_) => {
                let waiting = format.waiters();
                slow.own_as_reader();
                // n -> n-WAITING
                // ordering: Release; R1.
                let left = self.sem.count.fetch_sub(waiting, Release).wrapping_sub(waiting);
                count::is_negative(left)
            }
        };
        if has_waiters {
            slow.wake_readers();
        }
        if C::POLICY.owner == OwnerWord::WriterLate {
            slow.disown();
        }
    }
}

impl<P: ParkPlatform, C: RwSemPolicy> Default for RwSem<P, C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: ParkPlatform, C: RwSemPolicy> core::fmt::Debug for RwSem<P, C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RwSem").field("is_locked", &self.is_locked()).finish_non_exhaustive()
    }
}

impl<P: ParkPlatform, C: RwSemPolicy> RwSem<P, C> {
    /// Takes the lock as its owner, unless the wait is over before. Returns `true` if it did. Makes one attempt even if
    /// the wait is over already. Acquires what the last owner and all readers since have released.
    #[doc(alias = "down_write_killable")]
    #[inline]
    pub fn lock_within(&self, until: Until<'_, P>) -> bool {
        if self.take_free() {
            self.slow().own();
            return true;
        }
        self.slow().write_slowpath(until)
    }

    /// Takes the lock as a reader, unless the wait is over before. Returns `true` if it did. Makes one attempt even if
    /// the wait is over already. Acquires what the last owner has released.
    #[doc(alias = "down_read_killable")]
    #[inline]
    pub fn lock_shared_within(&self, until: Until<'_, P>) -> bool {
        let slow = self.slow();
        let format = C::POLICY.format;
        let reader = format.reader();
        // (w,h,r) -> (w,h,r+1), or n -> n+1
        // ordering: Acquire; R1.
        let seen = self.sem.count.fetch_add(reader, Acquire).wrapping_add(reader);
        if !format.lets_reader(seen) {
            return slow.read_slowpath(seen, until);
        }
        slow.own_as_reader();
        true
    }

    /// Makes the first attempt to own the lock. In the biased form a failed attempt stays in the count.
    #[inline(always)]
    fn take_free(&self) -> bool {
        match C::POLICY.format {
            // (0,0,0,0) -> (1,0,0,0)
            // ordering: Acquire; R1, R2. On failure Relaxed: the failure value is not used.
            Format::Bits => self.sem.count.compare_exchange(0, WRITER, Acquire, Relaxed).is_ok(),
            format @ Format::Biased(_) => {
                // n -> n+WRITE
                // ordering: Acquire; R1, R2.
                let before = self.sem.count.fetch_add(format.writer(), Acquire);
                !format.is_held(before)
            }
        }
    }

    #[inline(always)]
    fn slow(&self) -> Slow<'_, P> {
        Slow { sem: &self.sem, policy: &C::POLICY }
    }

    /// Returns `true` if a writer holds the lock. The answer may be stale when it is returned, and acquires nothing.
    /// Where the count is biased, one reader with waiters cannot be told from a writer without waiters. Nor can a
    /// writer be told from readers while an attempt of a reader is under way.
    pub fn is_owned(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        let count = self.sem.count.load(Relaxed);
        match C::POLICY.format {
            Format::Bits => count & WRITER != 0,
            format @ Format::Biased(_) => {
                format.is_below_waiting(count) || count == format.writer()
            }
        }
    }
}

impl<P: ParkPlatform> Slow<'_, P> {
    /// Makes an attempt of a reader, which never waits. Returns `true` if it got the lock.
    fn try_read(self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.sem.count.load(Relaxed);
        loop {
            let taken = seen.wrapping_add(self.policy.format.reader());
            if !self.policy.format.lets_reader(taken) {
                return false;
            }
            // (0,0,r) -> (0,0,r+1), or n -> n+1
            // ordering: Acquire; R1. On failure Relaxed: only a hint, as above.
            match self.sem.count.compare_exchange(seen, taken, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
    }

    /// Makes an attempt of a writer in the biased form. It never waits, and overtakes the threads that do. Returns
    /// `true` if it got the lock.
    fn try_write_biased(self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.sem.count.load(Relaxed);
        let format = self.policy.format;
        while !format.is_held(seen) {
            // n -> n+WRITE
            let taken = seen.wrapping_add(format.writer());
            // ordering: Acquire; R1, R2. On failure Relaxed: only a hint, as above.
            match self.sem.count.compare_exchange(seen, taken, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Wakes waiters after the last reader has left.
    #[cold]
    fn last_reader_left(self, count: u64) {
        if self.policy.has_flags() {
            self.allow_spinning();
        }
        self.wake_after_release(count);
    }

    /// Sleeps as `id` until it is woken or until the wait may be over.
    fn sleep(self, id: NodeId, until: Until<'_, P>) {
        P::futex_wait(&waiter::<P>(id).grant, ASLEEP, until.deadline_ns);
    }

    /// Naps, as a thread without a queue node does between its attempts.
    fn nap(self, until: Until<'_, P>) {
        // ordering: Relaxed; nothing is read through it.
        let flag = self.sem.flag.load(Relaxed);
        let nap_ns = P::now_ns().saturating_add(NAP_NS);
        let until_ns = until.deadline_ns.map_or(nap_ns, |ns| P::earlier(ns, nap_ns));
        P::futex_wait(&self.sem.flag, flag, Some(until_ns));
    }

    /// Takes the waiter `id` out of the list. The waiter was not granted anything and gives up. `asks_alone` is true
    /// for a writer that wants the handoff and is the only one that may ask for it.
    #[cold]
    #[doc(alias = "rwsem_del_wake_waiter")]
    fn leave(self, list: list::WaitListGuard<'_, P>, id: NodeId, asks_alone: bool) {
        let (was_first, kind) = (list.first() == Some(id), list.kind(id));
        list.remove(id);
        if list.is_empty() {
            match self.policy.format {
                // (*,1,*,*) -> (*,0,0,*)
                // ordering: Release; R8, that it is no longer the first.
                Format::Bits => self.sem.count.fetch_and(!(WAITERS | HANDOFF), Release),
                // n -> n-WAITING
                // ordering: Relaxed; nothing is read through it.
                format @ Format::Biased(_) => self.sem.count.fetch_sub(format.waiters(), Relaxed),
            };
            return;
        }
        if asks_alone {
            // (*,1,*,*) -> (*,1,0,*)
            // ordering: Relaxed; nothing is read through it.
            self.sem.count.fetch_and(!HANDOFF, Relaxed);
        }
        let wakes = match self.policy.handoff.first_wakes_when_it_leaves() {
            true => was_first,
            false => kind == HoldMode::Writer,
        };
        if wakes {
            if self.policy.unlock_wake == UnlockWake::UnlessWoken {
                // ordering: full barrier; R8.
                P::full_barrier(&self.sem.count);
            }
            self.wake_in(list, wake::Wake::Any, false);
        }
    }
}
