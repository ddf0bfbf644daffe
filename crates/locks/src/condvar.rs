//! A condition variable for [`RawMutex`], whose waiters sleep in the kernel's queue.
//!
//! 16 bytes. Nothing is listed in user space: a notification wakes a sleeper of the condition variable's own address,
//! leaves that to the release of the mutex, or moves the sleepers to the address of their mutex, where its releases
//! wake them one after another.
//!
//! ```text
//!  63    62      61      60   54 53           32 31                      0
//! +-----+-------+-------+-------+---------------+-------------------------+
//! |awake| moved |several| misses|    waiters    |        sequence         |   state
//! +-----+-------+-------+-------+---------------+-------------------------+
//! |        the mutex of the first waiter, 0 if there was none              |   mutex
//! +------------------------------------------------------------------------+
//! ```
//!
//! | state | what it says | moved by |
//! |---|---|---|
//! | sequence | waiters sleep on it | by 2, or by 1 if it moves them: each notification. To the next even number: a waiter that finds it odd |
//! | waiters | at least as many as sleep and were not notified | one more: a waiter. One less: a notification of a sleeper, and a waiter whose deadline has passed and that finds the sequence it saw. None: a notification of all, and a waiter that is alone with its mutex |
//! | awake | one waiter looks at the sequence for a moment before it sleeps | set by that waiter; cleared by every change of the sequence, or when it is counted and sleeps |
//! | moved | a notification of all has moved sleepers | set by it; cleared by a waiter that is alone |
//! | several | waiters may have different mutexes | set by a waiter that counts itself and has another mutex than the first |
//! | misses | how often looking for a notification cost more than a sleep | waiters that looked |
//!
//! # Who is woken
//!
//! A notification of one takes the thread that looks for it, if there is one: that costs no system call. Every 64th
//! notification goes to the thread that has slept longest, too, because the one that looks may have lost its CPU. A
//! notification of all wakes one sleeper and moves the rest: only one of them can own the mutex. Each of these, when it
//! takes the mutex, says there that others sleep, so its release wakes the next.
//!
//! Most notifications come from the owner of the mutex. A thread that is woken then finds the mutex held and sleeps
//! again. So a notification of one leaves the address of the sleeper in the mark of the mutex, and asks the kernel if
//! the mutex is free. If it is not, the next release of the mutex wakes the sleeper. If it is free, no release may
//! come, and the notification takes the address back and wakes the sleeper itself.
//!
//! # Invariants
//!
//! 1. A waiter counts itself while it owns the mutex. So a thread that changes the condition with the mutex held, and
//!    notifies during that or later, finds every waiter that saw the condition before.
//! 2. While the sequence is odd no thread waits for a notification: all were notified, and none has come since. So the
//!    kernel, which moves sleepers only if the sequence is still the odd one, moves none that was not notified, and all
//!    that it moves have the mutex that the condition variable names. If the sequence has changed, all are woken.
//! 3. A thread that the kernel wakes returns, even if its sequence says that it was not notified. The wake-up may have
//!    been for a waiter that came before it, for the kernel prefers real-time threads. That one has its place in the
//!    count now.
//! 4. The thread that a moving notification wakes is awake after the move, so it takes the mutex and says that others
//!    sleep, or sleeps for it and says so.
//! 5. While *several* is not set, all waiters that are counted have the mutex that the condition variable names.
//! 6. While a thread that was notified sleeps, a notifier is about to wake it, or its address is in the mark of its
//!    mutex and a thread that owns the mutex, or was woken for it, looks there when it releases the mutex or gives up.
//!
//! Waits may end for no reason, and the number that a notification returns is an upper bound. A notification of one
//! does not access the condition variable after the exchange that notifies; one of all may. The mutex is not accessed
//! by either, and may be gone. If it is, the kernel's answer may be wrong, but then no thread sleeps that was notified:
//! one that sleeps refers to its mutex.
//!
//! Waiters with different mutexes at one condition variable are woken at once, instead of moved or left.
//!
//! *Overflow.* The sequence wraps after 2^31 notifications. A waiter that does not run while exactly as many come, and
//! looks then, takes itself for one that was not notified, and waits for one more.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | N2 | the exchange that notifies, Release | the load of another sequence that ends a wait, Acquire | that the thread that notifies one no longer uses the condition variable: the waiter may free it; all other changes of the state are exchanges that carry it on |

use crate::events::Event;
use crate::mutex::{Between, RawMutex, WokenHow};
use crate::park::{Counted, Mark, ParkPlatform};
use crate::platform::{Atomic, Bound, Cells, ConstCells, ConstZeroed, Zeroed, low_half};
use crate::qspinlock::Succession;
use crate::raw::RawLock;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const SEQUENCE: u64 = WAITER - 1;
const WAITER: u64 = 1 << 32;
const WAITERS: u64 = MISS - WAITER;
const MISS: u64 = 1 << 54;
const MISSES_MAX: u64 = 0x7f;
const MISSES: u64 = MISSES_MAX * MISS;
const SEVERAL: u64 = 1 << 61;
const MOVED: u64 = 1 << 62;
const AWAKE: u64 = 1 << 63;

/// With this many misses a waiter sleeps at once, and takes one away. The one that finds this number looks.
const UNLUCKY: u64 = 64;
/// What a notification takes away that came soon.
const GAIN: u64 = 8;
/// What one adds that came late, ...
const LATE: u64 = 4;
/// ... and one that did not come while the waiter looked.
const LOSS: u64 = 16;
/// How long a waiter looks: two times what it costs to put a thread to sleep and to wake it.
const AWAKE_NS: u64 = 20_000;
/// A notification later than this was late: the CPU would have had less to do with a sleep. Where threads share the
/// CPUs, the others need it.
const SOON_NS: u64 = 5_000;
/// One notification of this many is for a thread that sleeps, too, if another looks for it.
const FOR_SLEEPERS: u64 = 64;

/// A condition variable, without the interface of guards.
#[repr(C)]
pub struct RawCondvar<P: Cells> {
    state: P::U64,
    mutex: P::Ptr,
}

impl<P: ConstCells> RawCondvar<P> {
    /// One on which nobody waits, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { state: ConstZeroed::ZEROED, mutex: ConstZeroed::ZEROED };
}

impl<P: ParkPlatform> Default for RawCondvar<P> {
    fn default() -> Self {
        Self::new()
    }
}

/// A waiter that was counted, until it takes its mutex again. It is discounted once:
///
/// ```compile_fail,E0382
/// use lockwright::condvar::RawCondvar;
/// use lockwright::mutex::RawMutex;
/// use lockwright::native::Native;
///
/// let (condvar, mutex) = (RawCondvar::<Native>::new(), RawMutex::<Native>::INIT);
/// let mut waiting = condvar.begin_wait(&mutex, None);
/// let woken = condvar.give_up(&mut waiting);
/// waiting.take_again(&mutex, woken);
/// waiting.take_again(&mutex, woken);
/// ```
pub struct CondvarWait<P> {
    sequence: u32,
    is_awake: bool,
    /// What [`RawCondvar::give_up`] has said.
    gave_up: Option<CondvarWake>,
    mark: Mark<P>,
    counted: Counted,
}

/// How a wait has ended.
#[derive(Clone, Copy)]
pub struct CondvarWake {
    /// False if the deadline has passed and nobody was notified meanwhile.
    pub is_notified: bool,
    how: WokenHow,
}

/// The sequence for a waiter that comes when it is `sequence`: an odd one is over.
fn even(sequence: u32) -> u32 {
    sequence.wrapping_add(sequence & 1)
}

/// One more waiter. The count stays at its maximum, which is more than Linux has threads.
fn one_more(state: u64) -> u64 {
    if state & WAITERS == WAITERS { state } else { state + WAITER }
}

impl CondvarWake {
    fn notified(seen: u64) -> Self {
        let how = if seen & MOVED == 0 { WokenHow::Alone } else { WokenHow::OfMany };
        Self { is_notified: true, how }
    }
}

impl<P: ParkPlatform> CondvarWait<P> {
    /// What the word at the address holds until the caller is notified.
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// The last step of a wait: takes the mutex again.
    pub fn take_again<S: Succession<P>, B: Between>(
        self,
        mutex: &RawMutex<P, S, B>,
        woken: CondvarWake,
    ) {
        mutex.sleep(None, woken.how, Some(self.counted));
        self.mark.discount(self.counted);
    }
}

impl<P: ParkPlatform> RawCondvar<P> {
    /// One on which nobody waits.
    pub fn new() -> Self {
        Self { state: Zeroed::zeroed(), mutex: Zeroed::zeroed() }
    }

    /// Releases `mutex`, waits to be notified, and takes `mutex` again. Returns `false` if the deadline has passed
    /// and nobody was notified meanwhile. May return at any time for no reason.
    ///
    /// # Safety
    /// The caller holds `mutex`, and holds it again afterwards.
    pub unsafe fn wait<S: Succession<P>, B: Between>(
        &self,
        mutex: &RawMutex<P, S, B>,
        deadline_ns: Option<u64>,
    ) -> bool {
        let mut waiting = self.begin_wait(mutex, deadline_ns);
        // SAFETY: the caller holds it.
        unsafe { mutex.unlock() };
        self.look(&waiting);
        let woken = self.sleep(&mut waiting, mutex.state(), deadline_ns);
        waiting.take_again(mutex, woken);
        woken.is_notified
    }

    /// The first step of a wait, for a thread that has to sleep by other means than the platform's: counts the caller,
    /// which owns `mutex`. Then the caller releases `mutex`, [looks](Self::look), sleeps on the
    /// [address](Self::address) while [`woken`](Self::woken) says that it is not, and takes `mutex`
    /// [again](CondvarWait::take_again).
    pub fn begin_wait<S: Succession<P>, B: Between>(
        &self,
        mutex: &RawMutex<P, S, B>,
        deadline_ns: Option<u64>,
    ) -> CondvarWait<P> {
        let mark = Mark::<P>::of(mutex.state());
        // In a forked child the caller may be one of two that wait, and the mark does not count both.
        let is_alone = !P::has_forked() && !mark.has_waiters();
        let counted = mark.count_waiter();
        let has_time = |deadline_ns| deadline_ns > P::now_ns().saturating_add(AWAKE_NS);
        let may_look = deadline_ns.is_none_or(has_time);
        let (sequence, is_awake) = self.begin(mutex.state(), may_look, is_alone);
        CondvarWait { sequence, is_awake, gave_up: None, mark, counted }
    }

    /// Counts the caller, which owns the mutex; the sequence that it waits to change, and if it looks for that awake.
    /// `is_alone` says that no other thread waits with this mutex.
    fn begin(&self, mutex: &P::U32, may_look: bool, is_alone: bool) -> (u32, bool) {
        let is_named = self.name_mutex(core::ptr::from_ref(mutex).cast_mut().cast());
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.state.load(Relaxed);
        let misses = |seen: u64| (seen & MISSES) / MISS;
        let may_look =
            may_look && seen & AWAKE == 0 && misses(seen) <= UNLUCKY && P::usable_cpus() > 1;
        loop {
            // Another mutex may have waiters that the mark of this one does not count.
            let is_first = is_alone && is_named && seen & SEVERAL == 0;
            let mut others = if is_first { seen & !(WAITERS | MOVED | AWAKE) } else { seen };
            if !is_named {
                others |= SEVERAL;
            }
            let sequence = even(seen as u32);
            let is_awake = may_look && others & AWAKE == 0;
            let mut next = (others & !SEQUENCE) + u64::from(sequence);
            next = if is_awake { next | AWAKE } else { one_more(next) };
            if misses(seen) > UNLUCKY {
                next -= MISS;
            }
            // ordering: Relaxed; N2 is carried on. On failure Relaxed: as above.
            match self.state.compare_exchange(seen, next, Relaxed, Relaxed) {
                Ok(_) => return (sequence, is_awake),
                Err(now) => seen = now,
            }
        }
    }

    /// Says which mutex the waiters have, if none had one before. Returns `true` if it is this one.
    fn name_mutex(&self, mutex: *mut ()) -> bool {
        // ordering: Relaxed; the name does not change once there is one.
        let seen = self.mutex.load(Relaxed);
        if !seen.is_null() {
            return seen.addr() == mutex.addr();
        }
        // ordering: Relaxed; a notification that does not see it yet wakes the sleepers itself. On failure Relaxed: as
        // above.
        match self.mutex.compare_exchange(seen, mutex, Relaxed, Relaxed) {
            Ok(_) => true,
            Err(now) => now.addr() == mutex.addr(),
        }
    }

    /// Waits for another sequence, to take `mutex` then, or for the deadline.
    fn sleep(
        &self,
        waiting: &mut CondvarWait<P>,
        mutex: &P::U32,
        deadline_ns: Option<u64>,
    ) -> CondvarWake {
        let sequence = waiting.sequence;
        loop {
            if let Some(woken) = self.woken(waiting) {
                return woken;
            }
            if deadline_ns.is_some_and(P::is_over) {
                return self.give_up(waiting);
            }
            P::count(Event::mutex_sleep);
            if P::futex_wait_low(&self.state, sequence, Some(mutex), deadline_ns) {
                return self.woken_by_kernel();
            }
        }
    }

    /// Where the caller sleeps while the word holds its [`sequence`](CondvarWait::sequence).
    pub fn address(&self) -> *const P::U32 {
        low_half::<P>(&self.state)
    }

    /// How the wait of the caller has ended, if it has.
    pub fn woken(&self, waiting: &CondvarWait<P>) -> Option<CondvarWake> {
        // ordering: Acquire; N2.
        let seen = self.state.load(Acquire);
        (seen as u32 != waiting.sequence).then(|| CondvarWake::notified(seen))
    }

    /// The kernel says that it has woken the caller. Perhaps for a waiter that came before: that one has the caller's
    /// place in the count now.
    pub fn woken_by_kernel(&self) -> CondvarWake {
        // ordering: Acquire; N2.
        CondvarWake::notified(self.state.load(Acquire) | MOVED)
    }

    /// Looks for another sequence for a moment, if the caller is to. If there is none, it is counted as one that
    /// sleeps.
    pub fn look(&self, waiting: &CondvarWait<P>) {
        if waiting.is_awake {
            self.look_for_change(waiting.sequence);
        }
    }

    fn look_for_change(&self, sequence: u32) {
        let is_new = |state| state as u32 != sequence;
        let start_ns = P::now_ns();
        // ordering: Relaxed; only a hint, re-checked in `sleep`.
        let looked =
            self.state.cond_load_bounded(Relaxed, Bound::nanoseconds(AWAKE_NS), is_new, || false);
        let (Ok(mut seen) | Err(mut seen)) = looked;
        let is_soon = P::now_ns().saturating_sub(start_ns) < SOON_NS;
        loop {
            let misses = (seen & MISSES) / MISS;
            let is_over = is_new(seen);
            let next_misses = match (is_over, is_soon) {
                (true, true) => misses.saturating_sub(GAIN),
                _ if misses >= UNLUCKY => MISSES_MAX,
                (true, false) => misses + LATE,
                (false, _) => misses + LOSS,
            };
            if is_over && next_misses == misses {
                return;
            }
            let mut next = (seen & !MISSES) + next_misses * MISS;
            if !is_over {
                next = one_more(next & !AWAKE);
            }
            // ordering: Relaxed; N2 is carried on. On failure Relaxed: only a hint, re-checked.
            match self.state.compare_exchange(seen, next, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// The deadline has passed. Takes the caller out of the count, unless a waiter was notified since it was counted.
    /// If it has given up before, says again what was said then.
    pub fn give_up(&self, waiting: &mut CondvarWait<P>) -> CondvarWake {
        *waiting.gave_up.get_or_insert_with(|| self.discount(waiting.sequence))
    }

    /// Takes a waiter that came at this sequence out of the count, unless a waiter was notified since.
    fn discount(&self, sequence: u32) -> CondvarWake {
        // ordering: Acquire; N2.
        let mut seen = self.state.load(Acquire);
        while seen as u32 == sequence && seen & WAITERS != 0 {
            // ordering: Relaxed; N2 is carried on. On failure Acquire: N2.
            match self.state.compare_exchange(seen, seen - WAITER, Relaxed, Acquire) {
                Ok(_) => {
                    P::count(Event::mutex_timeout);
                    return CondvarWake { is_notified: false, ..CondvarWake::notified(seen) };
                }
                Err(now) => seen = now,
            }
        }
        CondvarWake::notified(seen)
    }

    /// Notifies one thread that waits. Returns `true` if there was one.
    #[inline]
    pub fn notify_one(&self) -> bool {
        // ordering: Relaxed; ordered by the mutex, see above.
        self.state.load(Relaxed) & (AWAKE | WAITERS) != 0 && self.notify(false) > 0
    }

    /// Notifies all threads that wait; returns how many, at most.
    #[inline]
    pub fn notify_all(&self) -> u32 {
        // ordering: Relaxed; ordered by the mutex, see above.
        if self.state.load(Relaxed) & (AWAKE | WAITERS) == 0 { 0 } else { self.notify(true) }
    }

    #[cold]
    fn notify(&self, all: bool) -> u32 {
        let address = low_half::<P>(&self.state);
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.state.load(Relaxed);
        let (sequence, woken, is_looked_for, mutex) = loop {
            let waiters = (seen & WAITERS) / WAITER;
            let is_looked_for = seen & AWAKE != 0;
            if waiters == 0 && !is_looked_for {
                return 0;
            }
            let woken = match all {
                true => waiters,
                false => waiters.min(Self::is_for_sleepers(seen).into()),
            };
            let has_several = seen & SEVERAL != 0;
            let moves = all && waiters + u64::from(is_looked_for) > 1;
            let sequence = (seen as u32).wrapping_add(if moves { 1 } else { 2 });
            let mut next = (seen & !(SEQUENCE | WAITERS | AWAKE)) + u64::from(sequence);
            next += (waiters - woken) * WAITER;
            if moves {
                next |= MOVED;
            }
            // ordering: Relaxed; it never changes from one mutex to another. An old look finds none, and then nobody is
            // moved or left.
            let name: *const P::U32 = self.mutex.load(Relaxed).cast_const().cast();
            let mutex = (!has_several && !name.is_null()).then_some(name);
            // ordering: Release; N2. On failure Relaxed: only a hint, re-checked.
            match self.state.compare_exchange(seen, next, Release, Relaxed) {
                Ok(_) => break (sequence, woken as u32, is_looked_for, mutex),
                Err(now) => seen = now,
            }
        };
        // From here on the condition variable may no longer exist, except after a notification of all.
        match mutex {
            Some(mutex) if sequence % 2 == 1 => self.move_waiters(sequence, mutex),
            Some(mutex) if woken == 1 && !P::has_forked() => Self::leave(address, mutex),
            _ if woken > 0 => Self::wake(address, if all { u32::MAX } else { 1 }),
            _ => {}
        }
        woken + u32::from(is_looked_for)
    }

    /// Leaves it to the release of the mutex to wake the sleeper at `address`, or wakes it if the mutex is free. Both
    /// may no longer exist.
    fn leave(address: *const P::U32, mutex: *const P::U32) {
        let mark = Mark::<P>::of(mutex);
        mark.leave(address);
        // law: S10; the kernel looks at the mutex after the address is in the mark, N3.
        if P::futex_holds(mutex, 0, address) {
            mark.wake_left();
        } else {
            P::count(Event::condvar_leave);
        }
    }

    /// Returns `true` if a notification of one thread is for a thread that sleeps: none looks for it, or it is the
    /// sleepers' turn. The one that looks may not exist in a forked child.
    fn is_for_sleepers(seen: u64) -> bool {
        // Every sequence here is even.
        seen & AWAKE == 0 || (seen / 2) % FOR_SLEEPERS == 0 || P::has_forked()
    }

    /// Wakes all threads that were notified and sleep until their mutex is released: those whose address was left in
    /// its mark, and those that were moved to it. For a caller that ends the condition variable, perhaps with the mutex
    /// held, and has to see that they no longer use it. Nobody waits anew or notifies meanwhile.
    pub fn wake_notified(&self) {
        Self::wake(self.address(), u32::MAX);
        // ordering: Relaxed; the caller comes after all notifications.
        let mutex: *const P::U32 = self.mutex.load(Relaxed).cast_const().cast();
        if !mutex.is_null() {
            // Other sleepers there wake for no reason, and sleep again.
            Self::wake(mutex, u32::MAX);
        }
    }

    fn wake(address: *const P::U32, count: u32) {
        P::count(Event::mutex_wake);
        P::futex_wake(address, count);
    }

    /// Wakes a waiter and moves the others to their mutex, if none has come since they were notified. Otherwise it
    /// wakes all of them.
    fn move_waiters(&self, sequence: u32, mutex: *const P::U32) {
        if P::futex_requeue(1, &self.state, sequence, mutex).is_none() {
            return Self::wake(low_half::<P>(&self.state), u32::MAX);
        }
        P::count(Event::condvar_requeue);
    }
}
