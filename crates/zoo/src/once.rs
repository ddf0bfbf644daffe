//! Bugs of the once and of the barrier.

use crate::bug::bugs;
use crate::locks::*;
use crate::seen::*;

bugs! {
    "95" DoneUnordered in ONCE, seen MEMORY {
        what: "The thread that has run the closure says so with no release ordering. Another thread finds it done, and may not see what the closure did.",
        source: "design: double-checked initialization needs a release and an acquire",
        edits: [relax "once/mod.rs": "self.word.swap(state, Release)"],
    }
    "96" BeginForgetsSleepers in ONCE, seen ASLEEP {
        what: "A thread that begins says that a closure runs, and no longer that threads sleep. Those that waited for it before it began sleep for ever.",
        source: "design: a thread may wait for a closure that no thread has begun",
        shown_by: [("once", "once-call")],
        edits: [change "once/mod.rs": "seen & SLEEPER | RUNNING" => "RUNNING"],
    }
    "97" EndForgetsSleepers in ONCE, seen ASLEEP {
        what: "The end reads the word, and stores that it is done then. A thread that has said in between that it sleeps is not woken.",
        source: "design: the end is one exchange",
        shown_by: [("once", "once-call")],
        edits: [
            change "once/mod.rs": "self.word.swap(state, Release)"
                => r"{
            let before = self.word.load(Relaxed);
            self.word.store(state, Release);
            before
        }",
        ],
    }
    "98" CountedInOld in ONCE, seen BY_LOOM {
        what: "The last thread that arrives at a barrier ends the generation and sets the count back then. A thread that arrives again in between counts together with those of the generation that is over.",
        source: "design: to arrive and to end a generation is one exchange",
        shown_by: [("once", "barrier-meet")],
        edits: [
            change "barrier.rs": "next_generation(seen)" => "next_generation(seen) | arrived(seen) << ARRIVED_SHIFT",
            change "barrier.rs": r"if seen & SLEEPER != 0 {
            P::futex_wake(address, u32::MAX);
        }"
                => r"use crate::platform::AtomicInt as _;
        self.state.fetch_and(GENERATION_MASK | SLEEPER, Relaxed);
        if seen & SLEEPER != 0 {
            P::futex_wake(address, u32::MAX);
        }",
        ],
    }
    "99" WokenForTheEnd in ONCE, seen ASLEEP {
        what: "A thread that wakes up at a barrier takes that for the end of its generation, and it was for no reason.",
        source: "design: a sleep may end for no reason",
        shown_by: [("once", "barrier-meet")],
        edits: [
            change "barrier.rs": "P::futex_wait_low(EVERY_KIND, &self.state, (seen | SLEEPER) as u32, None, None);"
                => r"P::futex_wait_low(EVERY_KIND, &self.state, (seen | SLEEPER) as u32, None, None);
                return;",
        ],
    }
}
