//! What the moves of an explored run did, in words.

use super::cell::Shape;
use super::{CellRef, Engine};
use crate::explore::{Action, Traced, letter};
use core::ops::Range;

impl Engine {
    /// Returns true if what happens is to be put into words.
    #[inline]
    pub fn is_tracing(&self) -> bool {
        self.exploration.as_ref().is_some_and(|exploration| exploration.is_tracing())
    }
    /// Adds a line about `thread` to the trace, if there is one.
    #[inline]
    pub fn trace(&mut self, thread: usize, what: &'static str) {
        if self.is_tracing() {
            self.add_to_trace(thread, what.to_owned(), None, String::new());
        }
    }
    /// Says that the client uses the lock that lies there.
    pub fn trace_lock(&mut self, lock: Range<usize>) {
        if let Some(exploration) = self.exploration.as_mut().filter(|it| it.is_tracing())
            && !exploration.locks.contains(&lock)
        {
            exploration.locks.push(lock);
        }
    }
    /// As [`trace`](Self::trace), for something that `thread` does to the cell or field at an address.
    #[inline]
    pub(super) fn trace_at(&mut self, thread: usize, what: &'static str, address: usize) {
        if self.is_tracing() {
            let place = self.place(self.region.offset_of(address));
            self.add_to_trace(thread, what.to_owned(), Some(place), String::new());
        }
    }
    /// As [`trace`](Self::trace), for a thread that has seen `old` in a cell and left `new` there.
    #[inline]
    pub(super) fn trace_access(
        &mut self,
        thread: usize,
        what: &'static str,
        cell: CellRef,
        values: (u64, Option<u64>),
    ) {
        if self.is_tracing() {
            self.add_access_to_trace(thread, what, cell, values);
        }
    }
    #[cold]
    fn add_access_to_trace(
        &mut self,
        thread: usize,
        what: &'static str,
        cell: CellRef,
        (old, new): (u64, Option<u64>),
    ) {
        let (mut place, is_of_lock) = self.place(self.region.offset_of(cell.address()));
        if cell.is_word() {
            place = format!("lock word of {place}");
        }
        let mut values = self.value_in_words(cell, old);
        if let Some(new) = new {
            values += &format!(" -> {}", self.value_in_words(cell, new));
        }
        self.add_to_trace(thread, what.to_owned(), Some((place, is_of_lock)), values);
    }
    /// As [`trace`](Self::trace), for a thread that wakes another one.
    pub(super) fn trace_wake(&mut self, other: usize) {
        if self.is_tracing() {
            let what = format!("wakes thread {}", letter(other));
            self.add_to_trace(self.current, what, None, String::new());
        }
    }
    /// Adds a move that touches no memory.
    pub(super) fn trace_move(&mut self, thread: usize, action: Action) {
        match action {
            Action::Step | Action::Commit => {}
            Action::TimeOut => self.trace(thread, "has waited for its whole time-out"),
            Action::WakeUp => self.trace(thread, "wakes up for no reason"),
            Action::Preempt => self.trace(thread, "loses its CPU"),
            Action::Dispatch => self.trace(thread, "gets a CPU again"),
            Action::Signal => self.trace(thread, "is interrupted by a signal"),
            Action::Fork => self.trace(thread, "forks; from here on this is the child"),
        }
    }
    /// The place at an offset, in words, and whether it is part of a lock, or the link or the grant of a waiter.
    fn place(&self, offset: usize) -> (String, bool) {
        let place = self.region.place_at(offset);
        let locks = self.exploration.as_ref().map_or(&[][..], |exploration| &exploration.locks);
        let is_of_lock = match place.split(['[', ' ', '.']).next() {
            Some("QNode") => [".next", ".locked", ".prev"].iter().any(|it| place.ends_with(it)),
            Some("Waiter") => true,
            Some("Bucket" | "SimCell") => false,
            _ => locks.is_empty() || locks.iter().any(|lock| lock.contains(&offset)),
        };
        (place, is_of_lock)
    }
    #[cold]
    fn add_to_trace(
        &mut self,
        thread: usize,
        what: String,
        place: Option<(String, bool)>,
        values: String,
    ) {
        let (place, is_of_lock) = place.unwrap_or((String::new(), true));
        if let Some(exploration) = &mut self.exploration {
            exploration.add(|number| Traced { number, thread, what, place, is_of_lock, values });
        }
    }
    /// A value as people read it. A pointer is named by the place that it points to, because addresses are the host's.
    fn value_in_words(&self, cell: CellRef, value: u64) -> String {
        match cell.shape() {
            Shape::Word => format!("{value:#010x}"),
            Shape::U32 | Shape::U64 => format!("{value:#x}"),
            Shape::Pointer if value == 0 => "null".to_owned(),
            Shape::Pointer => match self.region.offset_at(value as usize) {
                Some(offset) => format!("&{}", self.region.place_at(offset)),
                None => "a pointer".to_owned(),
            },
        }
    }
}
