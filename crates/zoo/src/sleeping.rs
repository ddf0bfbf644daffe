//! Bugs of the marks of sleepers, and of condition variables.

use crate::bug::bugs;
use crate::locks::*;
use crate::seen::*;

bugs! {
    "37" MovedToFree in MUTEX, seen EXPLORED {
        what: "All waiters of a condition variable are moved to a mutex that no thread holds. No thread will wake them.",
        source: "nsync condition variables, 2017 (215217c)",
        shown_by: [("mutex", "condvar-all")],
        edits: [change "condvar.rs": "P::futex_requeue(1, &self.state, expected, mutex)"
                => "P::futex_requeue(0, &self.state, expected, mutex)"],
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
        edits: [change "park/marks.rs": "if seen & QUIET != 0 { STIRRED } else { seen & STIRRED }" => "0"],
    }
    "150" LeftToNobody in MUTEX, seen EXPLORED {
        what: "A notification leaves it to the release of the mutex to wake the thread, and does not ask if a thread owns the mutex. If none does, no thread wakes it.",
        source: "design: a notification may come without the mutex",
        shown_by: [("mutex", "condvar")],
        edits: [change "condvar.rs": "P::futex_holds(mutex, 0, sleepers.address)" => "false"],
    }
    "151" LeftAndForgotten in MUTEX, seen EXPLORED {
        what: "A release does not look for a thread that was notified and left to it.",
        source: "design: the other side of bug 150",
        shown_by: [("mutex", "condvar-timed")],
        edits: [change "park/marks.rs": "!self.state().left.load(Relaxed).is_null()" => "false"],
    }
    "152" LeftToOneThatGivesUp in MUTEX, seen EXPLORED {
        what: "A mutex was handed to a waiter, so a notification leaves it to that one to wake the thread. The waiter gives up, and does not look.",
        source: "our own finding, in review",
        shown_by: [("mutex", "condvar-left-to-waiter")],
        edits: [remove "mutex/wait.rs": "self.mark.wake_left_after_exchange();"],
    }
    "153" LeftUnordered in MUTEX, seen BY_LOOM {
        what: "A release looks for a thread that is left to it with no barrier after its exchange. The release does not see the thread, the notification does not see the release, and no thread wakes it.",
        source: "design: each of two threads has to see what the other wrote (Dekker)",
        edits: [remove "park/marks.rs": "P::barrier_after_exchange(&self.state().left);"],
    }
    "154" LeftToAnotherMutex in MUTEX, seen EXPLORED {
        what: "Two threads wait at one condition variable with different mutexes. A notification leaves it to the mutex of the first to wake the second. The first thread no longer waits, and its mutex is gone.",
        source: "our own finding, in review",
        shown_by: [("mutex", "condvar-another-mutex")],
        edits: [change "condvar.rs": "name.addr() & SEVERAL != 0" => "false"],
    }
    "155" LeftOneOverwritten in MUTEX, seen EXPLORED {
        what: "A notification is left where another was left before, and the thread of that one is forgotten.",
        source: "design: a place has one address",
        shown_by: [("mutex", "condvar-promise")],
        edits: [change "park/marks.rs": "!before.is_null()" => "name.is_null() && !before.is_null()"],
    }
    "180" NotifiedOneCountedStill in MUTEX, seen EXPLORED {
        what: "A waiter that was notified is still counted as one that waits. A later notification is for that one, which has left, and a thread sleeps for ever that waits in the next group.",
        source: "glibc condition variables, 2017 to 2025 (BZ 25847)",
        shown_by: [("mutex", "condvar-one-place")],
        edits: [change "condvar/state.rs": "state - OLDER + PERMIT" => "state + PERMIT"],
    }
    "181" SleeperCountedAwake in MUTEX, seen EXPLORED {
        what: "A waiter that has looked for a notification falls asleep, and the condition variable goes on saying that it looks. The next notification is for a waiter that looks, and wakes no thread.",
        source: "design: a notification for a waiter that is not where the state says (as in BZ 25847)",
        shown_by: [("mutex", "condvar-one-place")],
        edits: [remove "condvar.rs": "self.state.fetch_and(!AWAKE, Relaxed);"],
    }
    "198" PermitNotTaken in MUTEX, seen EXPLORED {
        what: "A waiter that sees a notification returns and leaves it for others to see: two waits end with one notification. Nothing else goes wrong.",
        source: "our own condition variable until November 2026; parking_lot promises that no wait ends like that (issues 152 and 318)",
        shown_by: [("mutex", "condvar-promise")],
        edits: [change "condvar.rs": "seen - PERMIT" => "seen"],
    }
    "199" PermitOfTheEarlier in MUTEX, seen EXPLORED {
        what: "A thread that begins to wait when there is a notification that no waiter has seen yet may take it. The one for which it was sleeps on.",
        source: "glibc condition variables before 2017 (BZ 13165)",
        shown_by: [("mutex", "condvar-promise")],
        edits: [change "condvar/state.rs": "state & (PERMITS | NEWERS) == 0" => "state & NEWERS == 0"],
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
    "64" KickOfAnotherKind in WORD_LOCK, seen BY_LOOM {
        what: "An owner wakes a waiter late, when the queue node is in use for a lock of another kind. What it writes means there that the waiter is no longer in the list.",
        source: "our own finding, by reading: two kinds of locks sleep on one word of a node",
        shown_by: [("word-lock", "two-kinds")],
        edits: [change "qspinlock/pv/wait.rs": "set_kick::<P>(&sleeper.kick);" => "sleeper.kick.swap(KICKED, Release);"],
    }
}
