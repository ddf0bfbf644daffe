//! The rules in which the policies that sleep differ.

use super::policy::{Hybrid, Park, ParkFullSpin, PvPlatform, StealOnce, StealOnceFullSpin};
use super::wait;
use crate::events::Event;
use crate::platform::{Atomic, Bound, Budget, LockWordOps};
use crate::qspinlock::{Word, word};
use crate::queue::{NodeId, QNode};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The number of looks of a waiter before it sleeps, unless the rules say another one.
pub(super) const SPIN_LOOKS: u32 = 1 << 15;
/// The number of looks between two looks at the predecessor.
const LOOKS_PER_PREDECESSOR: u32 = 256;
/// The value of the pending byte while the head of the queue spins: newcomers do not steal.
pub(super) const PENDING_BYTE: u8 = 1;

/// The rules of one policy.
pub(super) trait Rules: Send + Sync + Sized + 'static {
    /// True if a newcomer may take a free lock in front of the queue.
    const STEALS: bool;
    /// True if a waiter stops spinning when its predecessor says in its node that it does not run.
    const ASKS_STATE: bool = true;
    /// True if a waiter stops spinning when the hypervisor says that the CPU of its predecessor does not run.
    const ASKS_HYPERVISOR: bool = false;
    /// True if the head of the queue says in its node whether it runs.
    const SAYS_STATE_AS_HEAD: bool = true;
    /// True if the head makes the lock slow by an exchange, and owns it if it was free. False if it does so by a
    /// compare-exchange, and takes a free lock as usual.
    const EXCHANGES_FOR_SLOW: bool = true;
    /// The number of looks of a waiter before it sleeps.
    const LOOKS: u32 = SPIN_LOOKS;
    /// The time for which the head competes before it reserves the lock, in nanoseconds; 0 if it never does.
    const UNFAIR_NS: u64 = 0;

    /// Competes for the lock before it queues. Returns `true` if it has it.
    fn steal<P: PvPlatform>(word: &P::Word) -> bool {
        let _ = word;
        false
    }
    /// Spins as a waiter that is not the head, until it is granted. Returns the granted value if it was. At the first
    /// look, and then every 256 looks, the waiter asks if its predecessor has stopped running, and if so gives up.
    fn spin_in_queue<P: PvPlatform>(
        me: &QNode<P>,
        prev_has_stopped: impl FnMut() -> bool,
    ) -> Result<u32, u32> {
        let bound = Bound::of(Budget::Looks(Self::LOOKS), LOOKS_PER_PREDECESSOR).asked_first();
        // ordering: Acquire; Q3.
        me.locked.cond_load_bounded(Acquire, bound, |granted| granted != 0, prev_has_stopped)
    }
    /// Waits for the lock as the head of the queue, and takes it.
    fn take_as_head<P: PvPlatform>(word: &P::Word, id: NodeId, me: &QNode<P>) {
        wait::take_as_head::<P, Self>(word, id, me);
    }
    /// Notes that the owner has taken the entry of `id` out of the hash, and is about to release the lock.
    fn entry_is_gone<P: PvPlatform>(id: NodeId) {
        let _ = id;
    }
    /// Waits, as the owner, until the next waiter has linked itself.
    fn wait_for_link<P: PvPlatform>(me: &QNode<P>) {
        // ordering: Acquire; Q2.
        me.next.cond_load(Acquire, |link| link != 0);
    }
}

impl Rules for Park {
    const STEALS: bool = false;
    const ASKS_HYPERVISOR: bool = true;
}

impl Rules for ParkFullSpin {
    const STEALS: bool = false;
    const ASKS_STATE: bool = false;
    const SAYS_STATE_AS_HEAD: bool = false;
    const EXCHANGES_FOR_SLOW: bool = false;
}

impl Rules for StealOnce {
    const STEALS: bool = true;
    const ASKS_HYPERVISOR: bool = true;

    fn steal<P: PvPlatform>(word: &P::Word) -> bool {
        steal_once::<P>(word)
    }
}

impl Rules for StealOnceFullSpin {
    const STEALS: bool = true;
    const ASKS_STATE: bool = false;

    fn steal<P: PvPlatform>(word: &P::Word) -> bool {
        steal_once::<P>(word)
    }
}

impl Rules for Hybrid {
    const STEALS: bool = true;
    const ASKS_HYPERVISOR: bool = true;

    fn steal<P: PvPlatform>(word: &P::Word) -> bool {
        steal_unless::<P>(word, |seen, _lost| must_queue(seen))
    }
}

/// Returns true if a newcomer of the hybrid queues when it sees this word: no thread is queued, or the head spins.
pub(super) fn must_queue(seen: Word) -> bool {
    seen.tail().bits() == 0 || seen.is_pending()
}

/// Waits until the lock is free, and takes it in front of the queue, unless the newcomer has to queue. `must_queue` is
/// told what the newcomer sees, and how often another thread took the free lock before it.
pub(super) fn steal_unless<P: PvPlatform>(
    word: &P::Word,
    must_queue: impl Fn(Word, u32) -> bool,
) -> bool {
    let mut lost = 0;
    loop {
        let decides = |bits| {
            let seen = Word::from_bits(bits);
            seen.is_free_for_head() || must_queue(seen, lost)
        };
        // ordering: Relaxed; only a hint, re-checked by `try_steal`.
        let seen = Word::from_bits(word.cond_load(Relaxed, decides));
        if seen.is_free_for_head() {
            if try_steal::<P>(word) {
                return true;
            }
            lost = lost.saturating_add(1);
        }
        if must_queue(seen, lost) {
            return false;
        }
    }
}

/// Takes the lock in front of the queue, if it is free now and the head of the queue does not spin.
#[doc(alias = "pv_queued_spin_steal_lock")]
fn steal_once<P: PvPlatform>(word: &P::Word) -> bool {
    // ordering: Relaxed; only a hint, re-checked by `try_steal`.
    Word::from_bits(word.load(Relaxed)).is_free_for_head() && try_steal::<P>(word)
}

/// Takes the lock, which was just seen free, in front of the queue.
fn try_steal<P: PvPlatform>(word: &P::Word) -> bool {
    // (*,0,0) -> (*,0,1). The head of the queue may have become pending since the look. Then it has to do without the
    // lock once more.
    // ordering: Acquire; Q4. On failure Relaxed: the failure value is not used.
    let is_ours = word.compare_exchange_byte0(0, word::LOCKED, Acquire, Relaxed).is_ok();
    if is_ours {
        P::count(Event::pv_lock_stealing);
    }
    is_ours
}

/// Spins for the lock as the head of the queue. Meanwhile newcomers do not steal. Returns `true` if it has the lock.
#[doc(alias = "set_pending")]
#[doc(alias = "clear_pending")]
#[doc(alias = "trylock_clear_pending")]
pub(super) fn spin_as_head<P: PvPlatform, R: Rules>(word: &P::Word) -> bool {
    let bound = Bound::looks(R::LOOKS);
    let mut waiting = 0;
    if R::STEALS {
        // (n,0,*) -> (n,1,*)
        // ordering: Relaxed; only keeps thieves away, nothing is read through it.
        word.store_byte1(PENDING_BYTE, Relaxed);
        waiting = word::PENDING as u16;
    }
    let is_free = |bits| !Word::from_bits(bits).is_locked();
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
    while word.cond_load_bounded(Relaxed, bound, is_free, || false).is_ok() {
        // (n,1,0) or (n,0,0) -> (n,0,1)
        // ordering: Acquire; Q4. On failure Relaxed: the failure value is not used.
        if word.compare_exchange_half0(waiting, word::LOCKED_HALF, Acquire, Relaxed).is_ok() {
            return true;
        }
    }
    if R::STEALS {
        // (n,1,*) -> (n,0,*)
        // ordering: Relaxed; as above.
        word.store_byte1(0, Relaxed);
    }
    false
}
