//! Slots of readers in forked children: each thread has one of its own, however the child was made, and what counts of
//! the others depends on how.

use crate::handler::drawn;
use crate::{BeginInChild, Client, Fork};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::{Atomic, Zeroed};
use lockwright_core::raw::RawLock;

/// What [`SlotsInChild`] is selected by.
pub const SLOTS: &str = "slots-fork";

/// As many as there is room for in one object.
const THREADS_MAX: usize = 16;

/// This many threads are the parent's. The others begin in the child.
const PARENTS: usize = 2;

/// What a thread of the parent does with the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Reads {
    Not,
    /// It reads soon or no more, or without a slot.
    Somehow,
    InSlot,
}

/// Threads read in their slots, and may fork before and meanwhile. No thread writes, except in the child. Threads begin
/// in the child, and ask for slots as well. No two threads of a process have the same slot. Where handlers of `fork`
/// run, the thread that has forked has a slot afterwards, even if it had none, since the others are gone, and what
/// these read in slots is forgotten. Elsewhere it stays.
pub struct SlotsInChild<P: Platform> {
    lock: InSlots<P>,
    /// Seen by the machine: a thread that is gone had come as far as what it has stored says.
    reads: [P::U32; PARENTS],
    /// The address of each thread's slot; 0 if the thread has none or is gone. What no lock depends on.
    slots: [AtomicUsize; THREADS_MAX],
    fork: Fork,
    begin_in_child: BeginInChild,
}

impl<P: Platform> SlotsInChild<P> {
    /// Asks for the slot of `thread`. Returns true if it has one.
    fn asks(&self, thread: usize) -> bool {
        let slot = P::reader_slot().map_or(0, |slot| slot.addr().get());
        let before = self.slots[thread].swap(slot, Relaxed);
        assert!(before == 0 || before == slot, "a thread has another slot than before");
        let has_it = |other: &AtomicUsize| slot != 0 && other.load(Relaxed) == slot;
        let owners = self.slots.iter().filter(|other| has_it(other)).count();
        assert!(owners <= 1, "two threads of a process have the same slot");
        slot != 0
    }
    fn set(&self, thread: usize, reads: Reads) {
        self.reads[thread].store(reads as u32, Relaxed);
    }
    /// The thread that has forked gives back what it reads, and tries to write.
    fn writes(&self, thread: usize, runs_handlers: bool, is_reader: bool) {
        if is_reader {
            // SAFETY: called by a reader.
            unsafe { self.lock.unlock_shared() };
        }
        let other = self.reads[PARENTS - 1 - thread].load(Relaxed);
        if other == Reads::Somehow as u32 {
            return;
        }
        let is_kept_out = other == Reads::InSlot as u32 && !runs_handlers;
        if is_kept_out {
            assert!(
                !self.lock.try_lock(),
                "a gone thread reads in its slot, and another one writes"
            );
            return;
        }
        // No attempt: what a gone thread has left may be seen while another thread is about to clear it.
        self.lock.lock();
        // SAFETY: called by the owner.
        unsafe { self.lock.unlock() };
    }
    /// Returns true if the thread is done.
    fn forks(&self, thread: usize, is_reader: bool) -> bool {
        let runs_handlers = drawn::<P>(2) == 0;
        let is_child = (self.fork)(runs_handlers);
        if is_child {
            let others = self.slots.iter().enumerate().filter(|&(other, _)| other != thread);
            others.for_each(|(_, slot)| slot.store(0, Relaxed));
            // With a handler only if it was registered, before the first claim.
            let has_slot = self.asks(thread);
            assert!(has_slot || !runs_handlers, "all slots are free in a child, and it has none");
            self.writes(thread, runs_handlers, is_reader);
            self.asks(thread);
            P::delay(1);
            self.slots[thread].store(0, Relaxed);
        }
        is_child
    }
}

impl<P: Platform> Client for SlotsInChild<P> {
    const NAME: &'static str = SLOTS;

    fn new(threads: usize) -> Self {
        assert!(threads <= THREADS_MAX, "as many as there is room for");
        Self {
            slots: [const { AtomicUsize::new(0) }; THREADS_MAX],
            fork: |_| false,
            begin_in_child: || false,
            lock: InSlots::new(),
            reads: core::array::from_fn(|_| Zeroed::zeroed()),
        }
    }
    fn set_fork(&mut self, fork: Fork) {
        self.fork = fork;
    }
    fn set_begin_in_child(&mut self, begin: BeginInChild) {
        self.begin_in_child = begin;
    }
    fn body(&self, thread: usize) {
        if thread < PARENTS {
            if self.forks(thread, false) {
                return;
            }
            let has_slot = self.asks(thread);
            self.set(thread, Reads::Somehow);
            self.lock.lock_shared();
            self.set(thread, if has_slot { Reads::InSlot } else { Reads::Somehow });
            if self.forks(thread, true) {
                return;
            }
            self.set(thread, Reads::Somehow);
            // SAFETY: called by a reader.
            unsafe { self.lock.unlock_shared() };
            self.set(thread, Reads::Not);
        } else if (self.begin_in_child)() {
            P::delay(1);
            self.asks(thread);
            P::delay(1);
        }
        self.slots[thread].store(0, Relaxed);
    }
    fn finish(&self) {}
}
