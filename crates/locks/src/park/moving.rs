//! Waiters of condition variables: moved to their mutex when they are notified, or given up.

use super::{ASLEEP, Awaited, BucketGuard, ParkPlatform, SleepTable, WOKEN, waiter};
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::NodeId;
use core::sync::atomic::Ordering::Relaxed;

impl<P: ParkPlatform> SleepTable<P> {
    /// Appends `id` to the waiters on the condition variable `name`, who want `mutex` afterwards.
    /// `enter` runs before anybody can notify it.
    pub(crate) fn enqueue_on(name: u64, id: NodeId, mutex: &P::Word, enter: impl FnOnce()) {
        let me = waiter::<P>(id);
        // ordering: Relaxed; published by W1.
        me.signal.store(ASLEEP, Relaxed);
        // ordering: Relaxed; published by W1.
        me.wants.store(core::ptr::from_ref(mutex).cast_mut().cast(), Relaxed);
        Self::within(name, |_, section| {
            enter();
            section.push(id, name);
        });
    }

    /// Takes `id` out of the condition variable `name`, unless it was notified. Returns `true` if it did. `leave`
    /// runs then, before anybody can know.
    pub(crate) fn give_up_on(name: u64, id: NodeId, leave: impl FnOnce()) -> bool {
        Self::within(name, |_, section| {
            // ordering: Relaxed; it changes from this name to another one under the lock, W1.
            let is_unnotified = waiter::<P>(id).name.load(Relaxed) == name;
            if is_unnotified {
                leave();
                section.remove(id);
            }
            is_unnotified
        })
    }

    /// Moves the first waiter on the condition variable `name` to the mutex that it wants, where it
    /// becomes the next owner if it is the first there and `is_free`. Returns `true` if there was one. `leave` runs
    /// then, before it can know.
    pub(crate) fn notify_first(
        name: u64,
        is_free: impl Fn(&P::Word) -> bool,
        leave: impl Fn(),
    ) -> bool {
        let mut wants = Self::within(name, |_, section| wanted_by_first(section, name));
        while let Some(mutex) = wants {
            let target = Self::name(Awaited::Mutex, mutex);
            let done = Self::within_both(name, target, |from, (at, to)| {
                let now_wants = wanted_by_first(from, name);
                if now_wants != Some(mutex) {
                    return Err(now_wants);
                }
                leave();
                // SAFETY: wanted by a waiter that is in the table for as long as we hold its bucket.
                let mutex = unsafe { &*mutex };
                Ok(Self::move_first(name, target, (from, at, to), || is_free(mutex)))
            });
            match done {
                Ok(woken) => {
                    if let Some(signal) = woken {
                        P::futex_wake(signal, 1);
                    }
                    return true;
                }
                Err(now_wants) => wants = now_wants,
            }
        }
        false
    }

    /// Moves the first waiter for `name` to `target`; what to wake it by if it is the next owner there.
    fn move_first(
        name: u64,
        target: u64,
        (from, at, to): (&BucketGuard<P>, usize, &BucketGuard<P>),
        is_free: impl Fn() -> bool,
    ) -> Option<*const P::U32> {
        let id = from.first_of(name)?;
        from.remove(id);
        let is_first = to.first_of(target).is_none();
        to.push(id, target);
        P::count(Event::condvar_requeue);
        if !is_first {
            return None;
        }
        if !is_free() {
            Self::want(at, to);
            // The bucket is held, so the waiter cannot come back and the mutex go.
            if !is_free() {
                return None;
            }
            to.change_wanted(-1);
        }
        let signal = &waiter::<P>(id).signal;
        // ordering: Relaxed; nothing is read through it.
        signal.swap(WOKEN, Relaxed);
        Some(&raw const *signal)
    }

    /// Runs `section` with the buckets of both names locked, in the order of their places, so that two
    /// threads do not wait for each other.
    fn within_both<R>(
        from: u64,
        to: u64,
        section: impl FnOnce(&BucketGuard<P>, (usize, &BucketGuard<P>)) -> R,
    ) -> R {
        let (at_from, at_to) = (Self::place(from), Self::place(to));
        let lock = |at| Self::bucket(at).lock();
        P::uninterrupted(|| match at_from.cmp(&at_to) {
            core::cmp::Ordering::Less => {
                let from = lock(at_from);
                section(&from, (at_to, &lock(at_to)))
            }
            core::cmp::Ordering::Equal => {
                let both = lock(at_from);
                section(&both, (at_to, &both))
            }
            core::cmp::Ordering::Greater => {
                let to = lock(at_to);
                section(&lock(at_from), (at_to, &to))
            }
        })
    }
}

/// The mutex that the first waiter for `name` wants.
fn wanted_by_first<P: ParkPlatform>(section: &BucketGuard<P>, name: u64) -> Option<*const P::Word> {
    let first = waiter::<P>(section.first_of(name)?);
    // ordering: Relaxed; written under the lock, W1.
    Some(first.wants.load(Relaxed).cast_const().cast())
}
