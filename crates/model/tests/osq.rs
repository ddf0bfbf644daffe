//! The queue of optimistic spinners: every schedule of two that leave, and spinners that could leave and never do.

use lockwright_clients::Client;
use lockwright_clients::osq::Leave;
use lockwright_core::platform::{Guarded, QueueNodes};
use lockwright_linux::osq::OsqLock;
use lockwright_model::{Loom, LoomRun};

#[test]
fn nobody_is_left_behind_in_any_schedule_of_two_threads() {
    let seen = LoomRun::all(2).client::<Leave<Loom>>();
    assert!(seen.executions > 1, "nothing was explored");
}

/// Each thread asks again and again whether to give up, and never does.
struct Patient {
    queue: OsqLock<Loom>,
    turns: Guarded<Loom, usize>,
    threads: usize,
}

impl Client for Patient {
    const NAME: &'static str = "patient";

    fn new(threads: usize) -> Self {
        Self { queue: OsqLock::new(), turns: Guarded::new(0), threads }
    }
    fn body(&self, _thread: usize) {
        let me = Loom::claim_node().expect("a node for each thread");
        // SAFETY: claimed above, and in no queue.
        let is_head = unsafe { self.queue.lock(me, || false) };
        assert!(is_head, "it gave up");
        // SAFETY: this thread is the head.
        let turns = unsafe { self.turns.get() };
        // SAFETY: as above.
        unsafe { self.turns.set(turns + 1) };
        // SAFETY: as above, with this node.
        unsafe { self.queue.unlock(me) };
        // SAFETY: claimed above, and in no queue any more.
        unsafe { Loom::release_node(me) };
    }
    fn finish(&self) {
        // SAFETY: all threads have ended.
        assert_eq!(unsafe { self.turns.get() }, self.threads);
        assert!(!self.queue.is_locked(), "somebody was left in the queue");
    }
}

#[test]
fn a_spinner_that_never_wants_to_give_up_becomes_the_head() {
    for run in [LoomRun::bounded(2, 3), LoomRun::bounded(3, 2)] {
        assert!(run.client::<Patient>().executions > 1, "nothing was explored");
    }
}
