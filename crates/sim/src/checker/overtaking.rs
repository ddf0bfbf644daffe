//! Fairness: a bound on how many may come later and be served earlier.

use super::{Call, Checkers};
use crate::report::FailureKind;

impl Checkers {
    pub(super) fn check_overtaking(&mut self, call: Call, lock: usize) {
        let Some(max) = self.checks.overtaking_max else { return };
        let turn = self.turn_of(call.thread, lock);
        let mut starved = None;
        for (thread, place) in self.places.iter_mut().enumerate() {
            if place.lock == Some(lock) && place.turn < turn {
                place.overtaken += 1;
                // Once per wait.
                if place.overtaken == max.saturating_add(1) {
                    starved = Some(thread);
                }
            }
        }
        if let Some(passed) = starved {
            self.failed(call.at_ps, call.thread, FailureKind::Overtaken { passed, max });
        }
    }
    /// `thread` has got `lock`.
    pub(super) fn note_overtakes(&mut self, thread: usize, lock: usize) {
        let place = &self.places[thread];
        if place.lock == Some(lock) {
            self.most_overtakes = self.most_overtakes.max(place.overtaken);
        }
    }
    /// The most overtakes of one wait so far, waits that go on included.
    pub fn most_overtakes(&self) -> Option<u32> {
        self.checks.overtaking_max?;
        let waiting = self.places.iter().map(|place| place.overtaken);
        Some(waiting.fold(self.most_overtakes, u32::max))
    }
}
