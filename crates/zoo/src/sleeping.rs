//! Bugs of the marks of sleepers, and of condition variables.

use crate::bug::bugs;
use crate::locks::*;
use crate::seen::*;

bugs! {
    "37" MovedToFree in MUTEX, seen EXPLORED {
        what: "All waiters of a condition variable are moved to a mutex that no thread holds. No thread will wake them.",
        source: "nsync condition variables, 2017 (215217c)",
        shown_by: [("mutex", "condvar-all")],
        edits: [change "condvar.rs": "P::futex_requeue(1, &self.state, sequence, to)"
                => "P::futex_requeue(0, &self.state, sequence, to)"],
    }
    "43a" SleepUnordered in MUTEX, seen BY_LOOM {
        what: "A sleeper counts itself and looks at the lock with no barrier in between. The owner's release does not see the sleeper, the sleeper does not see the release, and no thread wakes it.",
        source: "brpc ParkingLot, 2026 (PR 3539)",
        edits: [remove "park/marks.rs": "P::heavy_barrier();"],
    }
    "43b" ReleaseUnordered in MUTEX, seen BY_LOOM {
        what: "The owner releases the lock by a store and looks for sleepers with no barrier in between. This is the other side of bug 43a.",
        source: "HotSpot Parker (6822370)",
        edits: [remove "park/marks.rs": "P::light_barrier();"],
    }
    "55" MarkedTooSoon in MUTEX, seen EXPLORED {
        what: "A sleeper changes its mark, so that owners need no barrier of their own, and interrupts all threads (membarrier) afterwards. In between a sleeper of another lock relies on the mark. An owner that looked earlier and released that lock by a plain store does not see the sleeper.",
        source: "our own finding, in review",
        shown_by: [("mutex", "neighbours")],
        edits: [
            change "park/marks.rs": "if seen & QUIET != 0 { STIRRED } else { seen & STIRRED }" => "0",
        ],
    }
    "61" WokenForgetsSleepers in FUTEX3, seen ASLEEP {
        what: "A thread that was woken takes the lock as a newcomer does, and does not say that threads may sleep. Its release wakes none of those that sleep still.",
        source: "design: a woken thread cannot know who sleeps (Drepper, Futexes Are Tricky)",
        edits: [
            change "futex3/mod.rs": "P::futex_wait(&self.state, CONTENDED, deadline_ns);"
                => r"P::futex_wait(&self.state, CONTENDED, deadline_ns);
            if self.take_free() {
                return true;
            }",
        ],
    }
    "62" HandedAndFree in WORD_LOCK, seen BY_LOOM {
        what: "A release hands the lock to a sleeper and frees it all the same, so another thread takes it, too.",
        source: "design: a lock that is handed over stays held",
        edits: [change "word_lock.rs": "if hands_over { HELD } else { 0 }" => "0"],
    }
    "63" PickedUpByAnother in KERNEL_MUTEX, seen EXPLORED {
        what: "A thread that finds the lock handed over picks it up, although it was handed to another thread.",
        source: "design: only the thread in the owner word picks the lock up",
        edits: [change "kernel_mutex/mod.rs": "seen & PICKUP != 0 && owner == me" => "seen & PICKUP != 0"],
    }
}
