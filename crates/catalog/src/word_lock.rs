//! `WordLock`: a barging lock with a list of sleepers and eventual fairness.
//!
//! It is a reference to measure against. Its design is that of WebKit's `WTF::Lock` and `WTF::WordLock` (Pizlo,
//! "Locking in WebKit", 2016) and of parking_lot before version 0.13, from their published descriptions. A newcomer
//! takes a free lock although others wait. A waiter spins with growing pauses while no thread sleeps, and then sleeps
//! in a list. A release wakes the first sleeper, which competes again. About every 0.5 ms a release hands the lock to
//! the first sleeper instead.
//!
//! WebKit's mutex and parking_lot's keep two bits in the lock, *held* and *parked*, and the list in a table of the
//! process. Here the list hangs on the lock, as that of `WTF::WordLock` does, so that no table is measured with it.
//! *Parked* means here that the list is not empty. The lock has 16 bytes:
//!
//! ```text
//!  31             16 15            2 1     0
//! +-----------------+---------------+------+------+
//! |      first      |       0       | list | held |   word
//! +-----------------+---------------+------+------+
//! |                  random numbers               |   seed
//! +-----------------------------------------------+
//! |   time of the next handoff, in nanoseconds    |   fair_ns
//! +-----------------------------------------------+
//! ```
//!
//! - `first`: the tail code of the first sleeper, or 0. `next` in its queue node names the sleeper behind it, and
//!   `prev` in the node of the first sleeper names the last one.
//! - `list`: a thread changes the list. The bit is set only while the lock is held, and then only this thread writes
//!   the word. Newcomers wait, and so does the owner, for a few accesses.
//!
//! A state is written (first, list, held).
//!
//! | state | means | moved by |
//! |---|---|---|
//! | (0,0,0) | free | any thread, to (0,0,1) |
//! | (f,0,0) | free, and a thread was woken | any thread, to (f,0,1) |
//! | (0,0,1) | held, and no thread sleeps | the owner, to (0,0,0); a waiter, to (0,1,1) |
//! | (f,0,1) | held | the owner or a waiter, to (f,1,1) |
//! | (\*,1,1) | held, and a thread changes the list | that thread: a waiter, to (f,0,1) with itself as the last sleeper; the owner, to (g,0,0) or, if it hands the lock over, to (g,0,1), without its first sleeper |
//!
//! The word on which a sleeper sleeps is `kick` of its node. It is `ASLEEP` until a release takes the sleeper out of
//! the list, then `WOKEN` or `HANDED`. Every release that finds a sleeper takes one out. So if the lock is free and
//! threads sleep, a thread that was woken competes for it. Or another thread has taken it, and its release wakes the
//! next one.
//!
//! Fairness: none in the short run, and a sleeper that was woken and has lost goes to the end of the list. A release
//! that finds a sleeper hands the lock over if the time in `fair_ns` has passed, and sets it to between 0 and 1 ms from
//! now, at random. So at each of these moments the first sleeper of the list gets the lock, but there is no bound for
//! one thread. The first such time is chosen when the first thread sleeps. A thread without a queue node tries every
//! millisecond, in no order.
//!
//! The next owner may free the lock: the last access of a release to the lock is the store of the word.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | L1 | `compare_exchange` in `unlock`, `store` in `leave_list`, Release | `compare_exchange` in `take`, Acquire | the owner's work |
//! | L2 | `store` in `leave_list`, Release | `compare_exchange` in `enter_list`, Acquire | the list, seed and time |
//! | L3 | `store` of `kick` in `wake`, Release | `load` of `kick` in `sleep`, Acquire | the owner's work, if it hands the lock over; that the list is done with the node |

use crate::events::Event;
use crate::platform::{
    Atomic, Cells, ConstCells, ConstZeroed, Guarded, SchedulerHints, Sleeping, Zeroed,
    barrier_before_look,
};
use crate::queue::{NodeId, Patience, QueuePlatform, TailCode, UNTIL_OVER, node};
use crate::raw::{Order, RawLock, Schedules};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const HELD: u32 = 1;
const LIST: u32 = 1 << 1;
const FIRST_SHIFT: u32 = 16;

/// The value of `kick` on which a sleeper sleeps: it is in the list. No other lock gives `kick` these values: a late
/// kick of the locks in `qspinlock::pv` changes 0 and 1.
const ASLEEP: u32 = 2;
/// The sleeper is no longer in the list, and competes for the lock.
const WOKEN: u32 = 3;
/// The sleeper is no longer in the list, and owns the lock.
const HANDED: u32 = 4;
/// The thread does not use the word.
const UNUSED: u32 = 0;

/// The longest time between two handoffs, if there are sleepers and releases.
const FAIR_NS: u64 = 1_000_000;
/// The time that a thread without a queue node sleeps between its attempts.
const NAP_NS: u64 = 1_000_000;

/// A platform for this lock.
pub trait WordPlatform: QueuePlatform + SchedulerHints + Sleeping {}
impl<P: QueuePlatform + SchedulerHints + Sleeping> WordPlatform for P {}

/// A barging lock whose waiters spin for a moment and then sleep.
#[repr(C)]
pub struct WordLock<P: Cells> {
    word: P::Word,
    /// Written with the list locked. Threads without a queue node nap on it.
    seed: P::U32,
    /// The time at which the lock is to be handed over; 0 if no thread has slept yet. The lock of the list guards it.
    fair_ns: Guarded<P, u64>,
}

impl<P: ConstCells> WordLock<P> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self {
        word: ConstZeroed::ZEROED,
        seed: ConstZeroed::ZEROED,
        fair_ns: Guarded::const_new(0),
    };
}

const fn first_in(word: u32) -> TailCode {
    TailCode::from_bits((word >> FIRST_SHIFT) as u16)
}
const fn with_first(first: TailCode) -> u32 {
    (first.bits() as u32) << FIRST_SHIFT
}

impl<P: WordPlatform> RawLock for WordLock<P> {
    const ORDER: Order = Order::None;
    const WAITERS_SLEEP: bool = true;
    const SCHEDULES: Schedules = Schedules::OfRows;

    fn new() -> Self {
        Self { word: Zeroed::zeroed(), seed: Zeroed::zeroed(), fair_ns: Guarded::new(0) }
    }
    #[inline]
    fn lock(&self) {
        if !self.take(0) {
            self.lock_slowpath();
        }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        self.take(0) || self.take(self.word.load(Relaxed))
    }
    #[inline]
    unsafe fn unlock(&self) {
        // (0,0,1) -> (0,0,0)
        // ordering: Release; L1. On failure Relaxed: the failure value is not used.
        if self.word.compare_exchange(HELD, 0, Release, Relaxed).is_err() {
            self.unlock_slowpath();
        }
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.word);
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) & HELD != 0
    }
    fn word_is_legal(word: u32) -> bool {
        let first = first_in(word);
        let is_node = first == TailCode::NONE || first.node().is_some();
        is_node && word & 0xffff <= (HELD | LIST) && word & (HELD | LIST) != LIST
    }
}

impl<P: WordPlatform> WordLock<P> {
    /// Returns `true` if no thread holds the lock, and the word names no sleeper.
    pub fn is_unused(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) == 0
    }
}

impl<P: WordPlatform> WordLock<P> {
    /// Takes the lock if the word is `seen`, which is free. Returns `true` if it did.
    #[inline(always)]
    fn take(&self, seen: u32) -> bool {
        // (*,0,0) -> (*,0,1)
        // ordering: Acquire; L1. On failure Relaxed: the failure value is not used.
        seen & HELD == 0 && self.word.compare_exchange(seen, seen | HELD, Acquire, Relaxed).is_ok()
    }

    #[cold]
    fn lock_slowpath(&self) {
        while !self.spin() {
            let Some(id) = P::claim_node() else {
                P::count(Event::lock_no_node);
                // ordering: Relaxed; nothing is read through it.
                let seed = self.seed.load(Relaxed);
                P::futex_wait(&self.seed, seed, Some(P::now_ns().saturating_add(NAP_NS)));
                continue;
            };
            let is_ours = self.take_or_join(id) || sleep::<P>(id) == HANDED;
            // ordering: Relaxed; the thread that claims the node next comes after it.
            node::<P>(id).kick.store(UNUSED, Relaxed);
            // SAFETY: claimed above, and no longer in a list.
            unsafe { P::release_node(id) };
            if is_ours {
                return;
            }
        }
    }

    /// Competes for the lock, with pauses that double, while no thread sleeps. Returns `true` if it is taken.
    fn spin(&self) -> bool {
        let mut patience = Patience::<P>::short();
        let is_news = |seen| seen & HELD == 0 || first_in(seen) != TailCode::NONE;
        loop {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            match self.word.cond_load_bounded(Relaxed, UNTIL_OVER, is_news, || patience.pause()) {
                Ok(seen) if self.take(seen) => return true,
                Ok(seen) if seen & HELD == 0 && !patience.pause() => {}
                Ok(_) | Err(_) => return false,
            }
        }
    }

    /// Takes the lock and returns `true`, or becomes the last sleeper of the list and returns `false`.
    fn take_or_join(&self, id: NodeId) -> bool {
        let me = node::<P>(id);
        // ordering: Relaxed; published by L2.
        me.kick.store(ASLEEP, Relaxed);
        // ordering: Relaxed; published by L2.
        me.next.store(0, Relaxed);
        loop {
            let is_ready = |seen| seen & (HELD | LIST) != HELD | LIST;
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let seen = self.word.cond_load(Relaxed, is_ready);
            if self.take(seen) {
                return true;
            }
            if seen & HELD != 0 && self.enter_list(seen) {
                let first = self.push(first_in(seen), id);
                self.leave_list(with_first(first) | HELD);
                return false;
            }
        }
    }

    /// Locks the list if the word is `seen`, in which the list is not locked. Returns `true` if it did.
    fn enter_list(&self, seen: u32) -> bool {
        // (*,0,1) -> (*,1,1)
        // ordering: Acquire; L2. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(seen, seen | LIST, Acquire, Relaxed).is_ok()
    }
    /// Unlocks the list and stores the next word, `word`. No other thread has written the word since the list was
    /// locked.
    fn leave_list(&self, word: u32) {
        // (*,1,1) -> (*,0,*)
        // ordering: Release; L1, if it frees the lock, and L2.
        self.word.store(word, Release);
    }

    /// Appends `id` to the locked list, which begins with `first`. Returns the first sleeper of the list afterwards.
    fn push(&self, first: TailCode, id: NodeId) -> TailCode {
        let code = id.code();
        let Some(head) = first.node() else {
            // ordering: Relaxed; published by L2.
            node::<P>(id).prev.store(code.bits().into(), Relaxed);
            // SAFETY: the list is locked.
            if unsafe { self.fair_ns.get() } == 0 {
                self.begin_period();
            }
            return code;
        };
        // ordering: Relaxed; acquired by L2.
        let last = node::<P>(head).prev.load(Relaxed);
        let last = TailCode::from_bits(last as u16).node_or_first();
        // ordering: Relaxed; published by L2.
        node::<P>(last).next.store(code.bits().into(), Relaxed);
        // ordering: Relaxed; published by L2.
        node::<P>(head).prev.store(code.bits().into(), Relaxed);
        first
    }
    /// Takes the first sleeper, `head`, out of the locked list. Returns the first sleeper of the list afterwards.
    fn pop(&self, head: NodeId) -> TailCode {
        let head = node::<P>(head);
        // ordering: Relaxed; acquired by L2.
        let next = TailCode::from_bits(head.next.load(Relaxed) as u16);
        if let Some(next) = next.node() {
            // ordering: Relaxed; acquired by L2.
            let last = head.prev.load(Relaxed);
            // ordering: Relaxed; published by L2.
            node::<P>(next).prev.store(last, Relaxed);
        }
        next
    }

    /// Returns `true` if the lock is to be handed over, and then chooses the time of the next handoff. The list is
    /// locked.
    fn is_time_to_be_fair(&self) -> bool {
        // SAFETY: the list is locked.
        let is_due = P::now_ns() > unsafe { self.fair_ns.get() };
        if is_due {
            self.begin_period();
        }
        is_due
    }
    /// Chooses the time of the next handoff. The list is locked.
    fn begin_period(&self) {
        // ordering: Relaxed; acquired by L2.
        let seed = self.seed.load(Relaxed).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // ordering: Relaxed; published by L2.
        self.seed.store(seed, Relaxed);
        let wait_ns = (u64::from(seed) * FAIR_NS) >> u32::BITS;
        // SAFETY: the list is locked.
        unsafe { self.fair_ns.set(P::now_ns().saturating_add(wait_ns)) };
    }

    /// Releases the lock if threads sleep, or if one is about to.
    #[cold]
    fn unlock_slowpath(&self) {
        let head = loop {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let seen = self.word.cond_load(Relaxed, |seen| seen & LIST == 0);
            let Some(head) = first_in(seen).node() else {
                debug_assert!(false, "word-lock: released by a thread that does not hold it");
                return;
            };
            if self.enter_list(seen) {
                break head;
            }
        };
        let hands_over = self.is_time_to_be_fair();
        let held = if hands_over { HELD } else { 0 };
        self.leave_list(with_first(self.pop(head)) | held);
        // From here on the lock may no longer exist.
        wake::<P>(head, if hands_over { HANDED } else { WOKEN });
    }
}

/// Tells `id`, which was taken out of its list, `how` it is woken, and wakes it.
fn wake<P: WordPlatform>(id: NodeId, how: u32) {
    P::count(if how == HANDED { Event::mutex_handoff } else { Event::mutex_wake });
    let kick = &node::<P>(id).kick;
    let address = &raw const *kick;
    // ordering: Release; L3.
    kick.store(how, Release);
    // Its thread may use the node for something else by now.
    P::futex_wake(address, 1);
}

/// Sleeps as `id` until a release takes it out of the list. Returns how it was woken.
fn sleep<P: WordPlatform>(id: NodeId) -> u32 {
    let kick = &node::<P>(id).kick;
    loop {
        // ordering: Acquire; L3.
        match kick.load(Acquire) {
            ASLEEP => {
                P::count(Event::mutex_sleep);
                P::futex_wait(kick, ASLEEP, None);
            }
            how => return how,
        }
    }
}
