//! Bugs of the table of sleepers: its lock, its marks, and condition variables.

use crate::bug::bugs;
use crate::locks::*;
use crate::seen::*;

bugs! {
    "15" BucketTakenRelaxed in MUTEX, seen MEMORY {
        what: "The internal lock of the sleep table is taken by an exchange with no acquire ordering. The list may be read as it was before the last change.",
        source: "parking_lot WordLock, 2020 (PR 292)",
        edits: [relax "park/bucket.rs": "self.lock.compare_exchange(expected, free | 1, Acquire, Relaxed)"],
    }
    "16" CountedOutLate in MUTEX, seen EXPLORED {
        what: "A notifier moves a waiter and subtracts it from the count afterwards, when the waiter may have returned. It writes to memory that is no longer the condition variable.",
        source: "parking_lot ReentrantMutex, 2019 (da16c2c)",
        shown_by: [("mutex", "last-user")],
        edits: [
            change "park/moving.rs": r"leave();
                // SAFETY: wanted by a waiter that is in the table for as long as we hold its bucket.
                let mutex = unsafe { &*mutex };
                Ok(Self::move_first(name, target, (from, at, to), || is_free(mutex)))"
                => r"let mutex = unsafe { &*mutex };
                Ok(Self::move_first(name, target, (from, at, to), || is_free(mutex)))",
            change "park/moving.rs": r"if let Some(signal) = woken {
                        P::futex_wake(signal, 1);
                    }"
                => r"leave();
                    if let Some(signal) = woken {
                        P::futex_wake(signal, 1);
                    }",
        ],
    }
    "21" CountedOutTwice in MUTEX, seen EXPLORED {
        what: "A notifier finds that the only waiter has just given up, and still subtracts it from the count. A waiter that comes later is not counted.",
        source: "glibc condition variable, 2016 to 2024 (BZ 25847)",
        shown_by: [("mutex", "condvar-exact")],
        edits: [
            change "park/moving.rs": "Self::within(name, |_, section| wanted_by_first(section, name))"
                => r"{
            let wants = Self::within(name, |_, section| wanted_by_first(section, name));
            if wants.is_none() {
                leave();
            }
            wants
        }",
        ],
    }
    "22" NewcomerNotified in MUTEX, seen EXPLORED {
        what: "The waiter that came last is notified, and not the one that the notification was for.",
        source: "glibc condition variable before 2016 (BZ 12875, BZ 13165)",
        shown_by: [("mutex", "condvar-exact")],
        edits: [
            change "park/moving.rs": "section.first_of(name)?"
                => r"{
            let mut last = section.first_of(name)?;
            while let Some(next) = section.next_of(last, name) {
                last = next;
            }
            last
        }",
            change "park/moving.rs": "from.first_of(name)?"
                => r"{
            let mut last = from.first_of(name)?;
            while let Some(next) = from.next_of(last, name) {
                last = next;
            }
            last
        }",
        ],
    }
    "25" SignalKept in MUTEX, seen EXPLORED {
        what: "The word on which a waiter sleeps keeps the value of its last sleep. The waiter takes the old value for a new one.",
        source: "musl condition variable, 2011 (97c5b5a87c3d)",
        shown_by: [("mutex", "condvar-exact")],
        edits: [remove "park/mod.rs": "waiter::<P>(id).signal.store(ASLEEP, Relaxed);"],
    }
    "26" CountedAfterLook in MUTEX, seen EXPLORED {
        what: "A notifier checks whether the mutex is free, and counts the waiter that it moves there afterwards. A release in between finds no waiter to wake.",
        source: "Linux futex requeue, 2014 (69cd9eba3886)",
        shown_by: [("mutex", "condvar")],
        edits: [
            change "park/moving.rs": r"if !is_free() {
                return None;
            }
            to.change_wanted(-1);"
                => "return None;",
        ],
    }
    "37" MovedToFree in MUTEX, seen ASLEEP {
        what: "A waiter of a condition variable is moved to a mutex that no thread holds. No thread will wake it.",
        source: "nsync condition variables, 2017 (215217c)",
        shown_by: [("mutex", "condvar")],
        edits: [
            change "park/moving.rs": r"if !is_free() {
            Self::want(at, to);
            // The bucket is held, so the waiter cannot come back and the mutex go.
            if !is_free() {
                return None;
            }
            to.change_wanted(-1);
        }"
                => r"Self::want(at, to);
        return None;",
        ],
    }
    "43a" SleepUnordered in MUTEX, seen BY_LOOM {
        what: "A sleeper writes that it wants the lock and looks at the lock with no barrier in between. The owner's release does not see the sleeper, the sleeper does not see the release, and no thread wakes it.",
        source: "brpc ParkingLot, 2026 (PR 3539)",
        edits: [
            change "park/mod.rs": r"let mark = Self::mark(at);
        // ordering: Relaxed; written under the lock, W1.
        if mark.load(Relaxed) == RESTLESS {
            // ordering: full barrier; W3.
            return P::full_barrier(&Self::bucket(at).wanted);
        }
        // ordering: Relaxed; ordered by the heavy barrier, W2.
        mark.store(RESTLESS, Relaxed);
        P::count(Event::heavy_barrier);
        // Every owner sees the mark when it looks next.
        // ordering: heavy barrier; W2, W3.
        P::heavy_barrier();"
                => "Self::mark(at).store(RESTLESS, Relaxed);",
        ],
    }
    "43b" ReleaseUnordered in MUTEX, seen EXPLORED {
        what: "Where a thread may sleep, the owner releases the lock by a store and looks for sleepers with no barrier in between. This is the other side of bug 43a.",
        source: "HotSpot Parker (6822370)",
        shown_by: [("mutex", "condvar-exact")],
        edits: [
            remove "park/mod.rs": "P::full_barrier(&bucket.wanted);",
            change "mutex/mod.rs": "SleepTable::<P>::is_quiet(name)" => "true",
        ],
    }
    "55" MarkedTooSoon in MUTEX, seen EXPLORED {
        what: "A sleeper marks its bucket, so that owners need no barrier of their own, and interrupts all threads (membarrier) only after it has unlocked the bucket. In between a sleeper of another lock relies on the mark. An owner that looked earlier and released that lock by a plain store does not see the sleeper.",
        source: "our own finding, in review",
        shown_by: [("mutex", "neighbours")],
        edits: [
            remove "park/mod.rs": "P::heavy_barrier();",
            change "park/mod.rs": r"Self::within(name, |at, section| {
            let is_first = section.first_of(name).is_none();
            section.push(id, name);
            if is_first {
                Self::want(at, section);
            }
            is_first
        })"
                => r"let is_first = Self::within(name, |at, section| {
            let is_first = section.first_of(name).is_none();
            section.push(id, name);
            if is_first {
                Self::want(at, section);
            }
            is_first
        });
        if is_first {
            P::heavy_barrier();
        }
        is_first",
        ],
    }
    "56" OwnerSpeaksForAll in MUTEX, seen EXPLORED {
        what: "An owner leaves a sleeper behind and marks the bucket, so that later owners know, without interrupting the threads (membarrier). Later owners of its own lock see the sleeper; owners of another lock in the bucket may not.",
        source: "design: a mark of its own for what only later owners know",
        shown_by: [("mutex", "neighbours")],
        edits: [change "park/mod.rs": "mark.store(STIRRED, Relaxed);" => "mark.store(RESTLESS, Relaxed);"],
    }
}
