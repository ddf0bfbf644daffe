//! A condition variable for [`RawMutex`], whose waiters sleep in the kernel's queue.
//!
//! 16 bytes. Nothing is listed in user space. A notification wakes a sleeper of the condition variable's own address,
//! or leaves that to the release of the mutex. Or it moves the sleepers to the address of their mutex, where its
//! releases wake them one after another.
//!
//! A wait ends only with a notification or at its deadline. Each wait that a notification of one ends has a
//! notification of its own, which was not over when the wait began. And a notification of one ends a wait if a thread
//! waits.
//!
//! ```text
//!   63   62        50 49        37 36   34 33       13 12         0
//! +-----+------------+------------+-------+-----------+------------+
//! |awake|   newer    |   older    | epoch |   group   |  permits   |   state; threads sleep on its lower half
//! +-----+------------+------------+-------+-----------+----+-------+
//! |     the mutex of the first waiter, 0 if there was none |several|   mutex
//! +--------------------------------------------------------+-------+
//! ```
//!
//! | state | what it says | moved by |
//! |---|---|---|
//! | older | how many waiters of the group *group* were not notified. 0: no thread waits | one more: a waiter that comes. One less: a notification of one, and a waiter at its deadline. 0: a notification of all |
//! | newer | the same of the next group, *group* + 1; 0 if *older* is | as *older* |
//! | permits | how many notified waiters of the older group did not see it yet; without meaning if *older* is 0 | one more: a notification. One less: a waiter that takes one, and returns |
//! | group | the number of the older group | by 1: a waiter that comes when no thread waits; what makes *older* 0 while *newer* is not, and makes the newer group the older one |
//! | epoch | the lowest bits of the process life in which it was used last | the first use in a forked child, see below |
//! | awake | one waiter of the older group looks at the state for a moment before it sleeps | set by that waiter; cleared by it before it sleeps, by a notification for it, and when its group ends |
//! | several | waiters may have different mutexes | set by a waiter that has another mutex than the first, for ever |
//!
//! # Which waiters are notified
//!
//! Waiters of one group are alike: a notification of one adds a permit for the older group, and a waiter of it that
//! sees the permit first takes it. A waiter that comes while there are permits must not take them. So it joins the
//! newer group. When all waiters of the older group were notified, that group is over: each of them returns and needs
//! no permit. So a waiter that is alone changes nothing to return.
//!
//! The kernel passes over sleepers of the newer group: groups with even numbers sleep as one kind, those with odd
//! numbers as the other.
//!
//! A notification of one is for the thread that looks for it, if there is one: that costs no system call. Every 256th
//! one is for a thread that sleeps, because the one that looks may have lost its CPU. A notification of all wakes one
//! sleeper and moves the rest: only one of them can own the mutex. Each of these, when it takes the mutex, says there
//! that others sleep, so its release wakes the next. A waiter that the kernel has not woken says nothing of the kind:
//! it may find threads that were woken and have no CPU yet, and its release would ask the kernel for no reason.
//!
//! Most notifications come from the owner of the mutex. A thread that is woken then finds the mutex held and sleeps
//! again. So a notification of one leaves the address of the sleeper in the mark of the mutex, and asks the kernel if
//! the mutex is free. If it is not, the next release of the mutex wakes the sleeper. If it is free, no release may
//! come, and the notification takes the address back and wakes the sleeper itself. On a single CPU the notification
//! wakes the sleeper at once. If it asked first, a notifier would always have used more of the CPU than its waiter, and
//! the scheduler would let the waiter preempt it at each notification.
//!
//! # Invariants
//!
//! 1. A waiter counts itself while it owns the mutex. So a thread that changes the condition with the mutex held, and
//!    notifies during that or later, finds every waiter that saw the condition before.
//! 2. A waiter returns if its group is over, or with a permit of its group. All permits were given after the last
//!    waiter of the group came. There are as many permits as waiters of the older group that were notified and did not
//!    return.
//! 3. Each notification changes the lower half of the state, so a waiter that did not see it does not fall asleep.
//! 4. While there is a permit, a waiter of the older group is awake and looks at the state before it sleeps, or a
//!    thread is about to wake one. The wake-up may reach a waiter of a group that is over and of the same kind. Then
//!    the notification that ended that group is about to wake all of that kind.
//! 5. While a thread sleeps whose group is over, the notification that ended the group is about to wake or to move all
//!    sleepers of its kind, or they are moved, or their address is in the mark of their mutex and a thread that owns
//!    the mutex, or was woken for it, looks there when it releases the mutex or gives up.
//! 6. The kernel moves sleepers only if the lower half of the state is what the notification of all has made it. A
//!    waiter that comes changes the group. So none is moved that was not notified, and all that are moved have the
//!    mutex that the condition variable names.
//! 7. While a moved thread sleeps, a thread that the kernel has woken for the same mutex is awake, sleeps for the mutex
//!    and says so, or says that others sleep and owns it or naps: the one that the moving notification woke, or one
//!    that a release woke later. A thread that sleeps and is not counted may be the one that the notification woke.
//! 8. While *awake* is set, the waiter that set it, or one that set it later, is about to clear it or to see that its
//!    group is over. So a notification for it need not wake a thread.
//! 9. While *several* is not set, all waiters that are counted have the mutex that the condition variable names.
//!
//! A notification of one does not access the condition variable after the exchange that notifies; one of all may. The
//! mutex is not accessed by either, and may be gone. If it is, the kernel's answer may be wrong, but then no thread
//! sleeps that was notified: one that sleeps refers to its mutex.
//!
//! Waiters with different mutexes at one condition variable are woken at once, instead of moved or left.
//!
//! *Fork.* Threads of the parent that waited do not exist in a child. The first thread that uses the condition variable
//! there sees another epoch and begins with two groups further on and no waiters. A thread that forks in a signal
//! handler, and goes on with its wait in the child, returns then. Lives of a process that are 8 forks apart look alike.
//!
//! *Overflow.* A group has room for 8,191 waiters. A thread that finds no room in both is not counted; its wait ends by
//! itself after 10 ms. The number of a group wraps after 2^21 groups. A waiter of a group that is over, and that does
//! not run while 2^21 come, may take itself for one that was not notified.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | N2 | the exchange that notifies, Release | the load or exchange that ends a wait, Acquire | that the thread that notifies one no longer uses the condition variable: the waiter may free it; all other changes of the state are exchanges that carry it on |
//! | N5 | the exchange that counts a waiter, Release | the look of a notification, Acquire | the name of the waiter's mutex, or *several*; other changes of the state carry it on, too |

mod state;

use crate::events::Event;
use crate::mutex::{Between, RawMutex, SLEEPER_KIND, WOKEN_KIND, WokenHow};
use crate::park::{Counted, Mark, NotifiedSleepers, ParkPlatform, WaiterKind};
use crate::platform::{Atomic, AtomicInt, Bound, Cells, ConstCells, ConstZeroed, Zeroed, low_half};
use crate::qspinlock::Succession;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use state::{
    AWAKE, EPOCH, EPOCHS, GROUPS, NEWER, OLDER, OLDERS, PERMIT, PERMITS, Verdict, all_notified,
    group_of, joined, next_group, one_notified, settled, verdict, waiters,
};

/// The mark *several* in the name of the mutex.
const SEVERAL: usize = 1;

/// The kind of a thread that is not counted: no wake-up is for it alone.
const UNCOUNTED_KIND: u32 = 16;
/// The time that such a thread sleeps.
const UNCOUNTED_NS: u64 = 10_000_000;

/// A waiter that finds more misses than this sleeps at once, and takes one miss away. A waiter that finds this number
/// or less looks.
const UNLUCKY: u32 = 64;
/// The number of misses is at most this.
const MISSES_MAX: u32 = 127;
/// The number of misses that a notification takes away if it comes soon.
const GAIN: u32 = 8;
/// The number of misses that a notification adds if it comes late, ...
const LATE: u32 = 4;
/// ... and the number added if none comes while the waiter looks.
const LOSS: u32 = 16;
/// The time that a waiter usually looks: twice what it costs to put a thread to sleep and to wake it.
const AWAKE_NS: u64 = 20_000;
/// The time that a waiter looks if the number of misses is [`UNLUCKY`]: longer than a notifier that sleeps needs to
/// wake up. Two threads that notify each other gain nothing by a look unless both look. If the notification comes late,
/// the next look decides.
const PROBE_NS: u64 = 60_000;
/// A notification that comes after this time is late: the CPU would have had less to do with a sleep. Where threads
/// share the CPUs, the other threads need it.
const SOON_NS: u64 = 5_000;

/// A condition variable, without the interface of guards.
#[repr(C)]
pub struct RawCondvar<P: Cells> {
    state: P::U64,
    mutex: P::Ptr,
}

impl<P: ConstCells> RawCondvar<P> {
    /// A condition variable on which no thread waits, for statics.
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
    /// Its group. A thread that finds no room in any group has none.
    group: Option<u32>,
    /// The lower half of the state when the caller last looked.
    expected: u32,
    is_awake: bool,
    was_woken: bool,
    /// The answer of [`RawCondvar::give_up`], if that was called.
    gave_up: Option<CondvarWake>,
    mark: Mark<P>,
    counted: Counted,
}

/// The way in which a wait has ended.
#[derive(Clone, Copy)]
pub struct CondvarWake {
    /// False if the deadline has passed and the caller was not notified before.
    pub is_notified: bool,
    how: WokenHow,
}

/// Returns the kind of the sleepers of a group.
fn kind_of(group: u32) -> WaiterKind {
    if group % 2 == 0 { WaiterKind::Even } else { WaiterKind::Odd }
}

impl<P: ParkPlatform> CondvarWait<P> {
    /// Returns what the word at the address held when the caller last found by [`woken`](RawCondvar::woken) that it is
    /// not woken. The word holds something else when the caller is woken.
    pub fn expected(&self) -> u32 {
        self.expected
    }

    /// Returns the kinds as which the caller sleeps there: its own, and those of the mutex to which it may be moved.
    pub fn kinds(&self) -> u32 {
        SLEEPER_KIND | WOKEN_KIND | self.group.map_or(UNCOUNTED_KIND, |group| kind_of(group) as u32)
    }

    /// Notes that the kernel says that it has woken the caller.
    pub fn was_woken(&mut self) {
        self.was_woken = true;
    }

    /// Returns the end of the wait.
    fn ended(&self, is_notified: bool) -> CondvarWake {
        let how = if self.was_woken { WokenHow::OfMany } else { WokenHow::Alone };
        CondvarWake { is_notified, how }
    }

    /// Takes the mutex again: the last step of a wait.
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
    /// Returns a condition variable on which no thread waits.
    pub fn new() -> Self {
        Self { state: Zeroed::zeroed(), mutex: Zeroed::zeroed() }
    }

    /// Returns a condition variable at which no more threads can wait, for tests.
    pub fn full() -> Self {
        let condvar = Self::new();
        // ordering: Relaxed; no other thread knows of it yet.
        condvar.state.fetch_or(OLDERS | state::NEWERS, Relaxed);
        condvar
    }

    /// Releases `mutex`, waits to be notified, and takes `mutex` again. Returns `false` if the deadline has passed
    /// and the caller was not notified before.
    ///
    /// # Safety
    /// The caller holds `mutex`, and holds it again afterwards.
    pub unsafe fn wait<S: Succession<P>, B: Between>(
        &self,
        mutex: &RawMutex<P, S, B>,
        deadline_ns: Option<u64>,
    ) -> bool {
        let mut waiting = self.begin_wait(mutex, deadline_ns);
        // SAFETY: the caller holds `mutex`.
        unsafe { mutex.unlock_to_sleep() };
        self.look(&mut waiting);
        let woken = self.sleep(&mut waiting, mutex.state(), deadline_ns);
        waiting.take_again(mutex, woken);
        woken.is_notified
    }

    /// Counts the caller, which owns `mutex`. This is the first step of a wait, for a thread that has to sleep by other
    /// means than the platform's. Then the caller releases `mutex`, [looks](Self::look), and sleeps on the
    /// [address](Self::address) while [`woken`](Self::woken) says that it is not woken. At the end it takes `mutex`
    /// [again](CondvarWait::take_again).
    pub fn begin_wait<S: Succession<P>, B: Between>(
        &self,
        mutex: &RawMutex<P, S, B>,
        deadline_ns: Option<u64>,
    ) -> CondvarWait<P> {
        let mark = Mark::<P>::of(mutex.state());
        let counted = mark.count_waiter();
        let has_time = |deadline_ns| deadline_ns > P::now_ns().saturating_add(PROBE_NS);
        let may_look = deadline_ns.is_none_or(has_time);
        self.name_mutex(core::ptr::from_ref(mutex.state()).cast_mut().cast());
        let (group, is_awake) = self.begin(may_look);
        let was_woken = false;
        CondvarWait { group, expected: 0, is_awake, was_woken, gave_up: None, mark, counted }
    }

    /// Counts the caller, which owns the mutex. Returns its group, and `true` if it is to look for a notification
    /// awake.
    fn begin(&self, may_look: bool) -> (Option<u32>, bool) {
        let may_look = self.is_lucky() && may_look && P::usable_cpus() > 1;
        let mut seen = self.load_in_this_process();
        loop {
            let looks = may_look && (seen & AWAKE == 0 || seen & OLDERS == 0);
            let Some((next, group)) = joined(seen, looks) else { return (None, false) };
            // ordering: Release; N5. N2 is carried on. On failure Relaxed: only a hint, re-checked.
            match self.state.compare_exchange(seen, next, Release, Relaxed) {
                Ok(_) => return (Some(group), looks && next & AWAKE != 0),
                Err(now) => seen = now,
            }
        }
    }

    /// Returns `true` if the caller may look for a notification, because that did not cost too much before.
    fn is_lucky(&self) -> bool {
        let mark = Mark::<P>::of(&self.state);
        let misses = mark.misses();
        if misses > UNLUCKY {
            mark.set_misses(misses - 1);
        }
        misses <= UNLUCKY
    }

    /// Returns the state. Threads that a fork left behind do not count in it.
    fn load_in_this_process(&self) -> u64 {
        let epoch = (u64::from(P::epoch()) * EPOCH) & EPOCHS;
        // ordering: Acquire; N5.
        let mut seen = self.state.load(Acquire);
        while seen & EPOCHS != epoch {
            let next = next_group(next_group(seen)) & GROUPS | epoch;
            // ordering: Relaxed; N2 and N5 are carried on. On failure Acquire: N5.
            match self.state.compare_exchange(seen, next, Relaxed, Acquire) {
                Ok(_) => {
                    if waiters(seen) > 0 {
                        // One waiter may exist: the thread that has forked, in a signal handler.
                        Self::wake_all(self.address());
                    }
                    return next;
                }
                Err(now) => seen = now,
            }
        }
        seen
    }

    /// Says which mutex the waiters have, or that they have several.
    fn name_mutex(&self, mutex: *mut ()) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.mutex.load(Relaxed);
        loop {
            let next = match seen.addr() {
                0 => mutex,
                named if named == mutex.addr() || named & SEVERAL != 0 => return,
                named => seen.with_addr(named | SEVERAL),
            };
            // ordering: Relaxed; published by N5. On failure Relaxed: as above.
            match self.mutex.compare_exchange(seen, next, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Waits for a notification, or for the deadline. The caller takes `mutex` afterwards.
    fn sleep(
        &self,
        waiting: &mut CondvarWait<P>,
        mutex: &P::U32,
        deadline_ns: Option<u64>,
    ) -> CondvarWake {
        loop {
            if let Some(woken) = self.woken(waiting) {
                return woken;
            }
            if deadline_ns.is_some_and(P::is_over) {
                return self.give_up(waiting);
            }
            P::count(Event::mutex_sleep);
            let (kinds, expected) = (waiting.kinds(), waiting.expected());
            if P::futex_wait_low(kinds, &self.state, expected, Some(mutex), deadline_ns) {
                waiting.was_woken();
            }
        }
    }

    /// Returns the address where the caller sleeps while the word holds what is [`expected`](CondvarWait::expected).
    pub fn address(&self) -> *const P::U32 {
        low_half::<P>(&self.state)
    }

    /// Returns how the wait of the caller has ended, if it has.
    pub fn woken(&self, waiting: &mut CondvarWait<P>) -> Option<CondvarWake> {
        let Some(group) = waiting.group else { return Some(waiting.ended(true)) };
        loop {
            // ordering: Acquire; N2.
            let seen = self.state.load(Acquire);
            match verdict(seen, group) {
                Verdict::Waits => {
                    waiting.expected = seen as u32;
                    return None;
                }
                Verdict::MayTake => {}
                Verdict::Notified => return Some(waiting.ended(true)),
            }
            // ordering: Acquire; N2, which is carried on. On failure Relaxed: looked at again.
            if self.state.compare_exchange(seen, seen - PERMIT, Acquire, Relaxed).is_ok() {
                return Some(waiting.ended(true));
            }
        }
    }

    /// Looks for a notification for a moment, if the caller is to do so. Sleeps for a moment if the caller is not
    /// counted.
    pub fn look(&self, waiting: &mut CondvarWait<P>) {
        match waiting.group {
            Some(group) if waiting.is_awake => self.look_for_notification(group),
            Some(_) => {}
            None => {
                let until_ns = P::now_ns().saturating_add(UNCOUNTED_NS);
                // ordering: Relaxed; nothing is read through it.
                let expected = self.state.load(Relaxed) as u32;
                if P::futex_wait_low(UNCOUNTED_KIND, &self.state, expected, None, Some(until_ns)) {
                    waiting.was_woken();
                }
            }
        }
    }

    fn look_for_notification(&self, group: u32) {
        let is_over = |state| state & AWAKE == 0 || group_of(state) != group;
        let start_ns = P::now_ns();
        let mark = Mark::<P>::of(&self.state);
        let misses = mark.misses();
        let is_probe = misses == UNLUCKY;
        let bound = Bound::nanoseconds(if is_probe { PROBE_NS } else { AWAKE_NS });
        // ordering: Relaxed; only a hint, re-checked in `woken`.
        let looked = self.state.cond_load_bounded(Relaxed, bound, is_over, || false);
        let is_soon = P::now_ns().saturating_sub(start_ns) < SOON_NS;
        let next_misses = match (looked.is_ok(), is_soon) {
            (true, true) => misses.saturating_sub(GAIN),
            (true, false) if is_probe => UNLUCKY - 1,
            _ if misses >= UNLUCKY - 1 => MISSES_MAX,
            (true, false) => misses + LATE,
            (false, _) => misses + LOSS,
        };
        if next_misses != misses {
            mark.set_misses(next_misses);
        }
        if looked.is_err() {
            // Perhaps the bit is another thread's by now. Then a notification for that thread wakes a sleeper, which
            // sleeps again.
            // ordering: Relaxed; N2 and N5 are carried on.
            self.state.fetch_and(!AWAKE, Relaxed);
        }
    }

    /// Takes the caller, whose deadline has passed, out of the count, unless it was notified. If it has given up
    /// before, gives the same answer again.
    pub fn give_up(&self, waiting: &mut CondvarWait<P>) -> CondvarWake {
        let said = match waiting.gave_up {
            Some(said) => said,
            None => self.discount(waiting),
        };
        waiting.gave_up = Some(said);
        said
    }

    fn discount(&self, waiting: &mut CondvarWait<P>) -> CondvarWake {
        loop {
            if let Some(woken) = self.woken(waiting) {
                return woken;
            }
            let group = waiting.group.unwrap_or_default();
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let seen = self.state.load(Relaxed);
            if !matches!(verdict(seen, group), Verdict::Waits) {
                continue;
            }
            let one = if group == group_of(seen) { OLDER } else { NEWER };
            let next = settled(seen - one);
            // ordering: Relaxed; N2 and N5 are carried on. On failure Relaxed: only a hint, re-checked.
            if self.state.compare_exchange(seen, next, Relaxed, Relaxed).is_ok() {
                P::count(Event::mutex_timeout);
                return waiting.ended(false);
            }
        }
    }

    /// Notifies one thread that waits. Returns `true` if there was one.
    #[inline]
    pub fn notify_one(&self) -> bool {
        // ordering: Relaxed; ordered by the mutex, see above.
        self.state.load(Relaxed) & OLDERS != 0 && self.notify(false) > 0
    }

    /// Notifies all threads that wait. Returns their number.
    #[inline]
    pub fn notify_all(&self) -> u32 {
        // ordering: Relaxed; ordered by the mutex, see above.
        if self.state.load(Relaxed) & OLDERS == 0 { 0 } else { self.notify(true) }
    }

    #[cold]
    fn notify(&self, all: bool) -> u32 {
        let address = self.address();
        let mut seen = self.load_in_this_process();
        let has_older = |seen: u64| seen & OLDERS > OLDER;
        let is_turn_of_sleepers = !all
            && seen & AWAKE != 0
            && has_older(seen)
            && Mark::<P>::of(&self.state).is_turn_of_sleepers();
        let (next, is_looked_for, mutex) = loop {
            if seen & OLDERS == 0 {
                return 0;
            }
            let is_looked_for = seen & AWAKE != 0 && !(is_turn_of_sleepers && has_older(seen));
            let next = if all { all_notified(seen) } else { one_notified(seen, is_looked_for) };
            // ordering: Relaxed; N5.
            let name: *const P::U32 = self.mutex.load(Relaxed).cast_const().cast();
            let has_several = name.addr() & SEVERAL != 0;
            let mutex = (!has_several && !name.is_null()).then_some(name);
            // ordering: Release; N2, and N5 is carried on. On failure Acquire: N5.
            match self.state.compare_exchange(seen, next, Release, Acquire) {
                Ok(_) => break (next, is_looked_for, mutex),
                Err(now) => seen = now,
            }
        };
        // From here on the condition variable may no longer exist, except after a notification of all.
        let count = if all { waiters(seen) } else { 1 };
        let ends_group = all || !has_older(seen);
        let sleepers =
            NotifiedSleepers { address, kind: kind_of(group_of(seen)), is_all: ends_group };
        match mutex {
            // The waiter that looks is notified, and no other waiter of its group may sleep and was notified.
            _ if count == 1 && is_looked_for && !(ends_group && seen & PERMITS != 0) => {}
            Some(mutex) if count > 1 => self.move_waiters(next as u32, mutex),
            Some(mutex) if !P::has_single_cpu() && !P::has_forked() => Self::leave(sleepers, mutex),
            _ if count > 1 => Self::wake_all(address),
            _ => sleepers.wake(),
        }
        count
    }

    /// Leaves it to the release of the mutex to wake the sleepers, or wakes them if the mutex is free. The mutex and
    /// the word on which they sleep may no longer exist.
    fn leave(sleepers: NotifiedSleepers<P>, mutex: *const P::U32) {
        let mark = Mark::<P>::of(mutex);
        mark.leave(sleepers);
        // law: S10; the kernel looks at the mutex after the address is in the mark, N3.
        if P::futex_holds(mutex, 0, sleepers.address) {
            mark.wake_left();
        } else {
            P::count(Event::condvar_leave);
        }
    }

    /// Wakes all threads that were notified and sleep until their mutex is released: those whose address was left in
    /// its mark, and those that were moved to it. The caller ends the condition variable, perhaps with the mutex held,
    /// and has to see that these threads no longer use it. No thread begins to wait or notifies meanwhile.
    pub fn wake_notified(&self) {
        Self::wake_all(self.address());
        // ordering: Relaxed; the caller comes after all notifications.
        let name = self.mutex.load(Relaxed);
        let mutex: *const P::U32 = name.map_addr(|name| name & !SEVERAL).cast_const().cast();
        if !mutex.is_null() {
            // Other sleepers there wake for no reason, and sleep again.
            Self::wake_all(mutex);
        }
    }

    fn wake_all(address: *const P::U32) {
        P::count(Event::mutex_wake);
        P::futex_wake(address, u32::MAX);
    }

    /// Wakes a waiter and moves the others to their mutex, if no waiter has come since they were notified. Otherwise
    /// wakes all of them.
    fn move_waiters(&self, expected: u32, mutex: *const P::U32) {
        if P::futex_requeue(1, &self.state, expected, mutex).is_none() {
            return Self::wake_all(self.address());
        }
        P::count(Event::condvar_requeue);
    }
}
