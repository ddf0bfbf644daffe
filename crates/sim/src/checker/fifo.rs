//! Order: locks are taken in the order in which the threads queued.
//!
//! Lock code knows nothing of checkers, so it does not tell when a thread queues. But every queue lock queues with a
//! read-modify-write of the lock itself (taking a ticket, swapping the tail), and waits afterwards. So the *place* of a
//! thread is the moment of the last successful one on the lock's line between its request and its first wait after one.
//! A step that a thread takes back before it waits, such as a pending bit that it could not use, moves its place, too.
//! So a thread that got an ordered lock before that step has not overtaken it. A thread that only attempts to take the
//! lock does not count as overtaken: it may be leaving the queue.

use super::place::QueuePlace;
use super::{Call, Checkers};
use crate::arena::LINE_BYTES;
use crate::report::FailureKind;

impl Checkers {
    pub(super) fn queue_up(&mut self, thread: usize, lock: usize) {
        self.turns += 1;
        self.places[thread] =
            QueuePlace { lock: Some(lock), turn: self.turns, ..QueuePlace::default() };
    }
    /// `thread` has changed a cell at `offset` by a read-modify-write.
    #[inline]
    pub fn rmw(&mut self, thread: usize, offset: usize) {
        let Some(QueuePlace { lock: Some(lock), is_settled: false, .. }) = self.places.get(thread)
        else {
            return;
        };
        if self.line_of_lock(*lock) == offset / LINE_BYTES {
            self.turns += 1;
            self.places[thread].turn = self.turns;
            self.places[thread].has_queued = true;
            if self.checks.fifo {
                self.places[thread].overtaken = 0;
            }
        }
    }
    /// `thread` begins to wait.
    #[inline]
    pub fn settled(&mut self, thread: usize) {
        if let Some(place) = self.places.get_mut(thread) {
            place.is_settled = place.has_queued;
        }
    }
    /// The turn of a thread that has just got `lock`: the newest if it did not ask before.
    pub(super) fn turn_of(&self, thread: usize, lock: usize) -> u64 {
        let place = &self.places[thread];
        if place.lock == Some(lock) { place.turn } else { u64::MAX }
    }
    pub(super) fn check_fifo(&mut self, call: Call, lock: usize) {
        if !self.checks.fifo {
            return;
        }
        let turn = self.turn_of(call.thread, lock);
        let is_passed = |other: &QueuePlace| {
            let stays = other.is_settled && !other.may_withdraw;
            other.lock == Some(lock) && stays && other.turn < turn
        };
        let passed = self.places.iter().position(is_passed);
        if let Some(passed) = passed {
            self.failed(call.at_ps, call.thread, FailureKind::OutOfOrder { passed });
        }
    }
}
