//! Bugs of the reader-writer semaphore.

use crate::bug::bugs;
use crate::locks::*;
use crate::seen::*;

bugs! {
    "1" HandoffClearedStale in RWSEM_TODAY, seen BY_LOOM {
        what: "A waiter whose wait is over clears the handoff bit that it believes to have set. It never set it, so the count is wrong from then on.",
        source: "Linux rwsem, 2021 (d257cc8cb8d5)",
        edits: [
            change "rwsem/mod.rs": "list.remove(id);"
                => r"list.remove(id);
        if list.is_due(id) {
            self.sem.count.fetch_sub(HANDOFF, Relaxed);
        }",
        ],
    }
    "3" HandoffToAnybody in RWSEM_TODAY, seen BY_LOOM {
        what: "A writer that is not the first waiter asks for the handoff, and gets it for itself. The first waiter is overtaken, however long it has waited.",
        source: "Linux rwsem, 2023 (b613c7f31476)",
        edits: [
            change "rwsem/write.rs": "!me.is_first && self.yields_to_first(list)"
                => "!list.has_handoff(me.id)",
            change "rwsem/write.rs": "self.policy.handoff.is_inherited()" => "true",
        ],
    }
    "4" WokenBeforeGranted in RWSEM, seen BY_LOOM {
        what: "A reader is woken first and told afterwards that it was granted the lock. It finds nothing and sleeps for ever.",
        source: "Linux rwsem, 2018",
        edits: [
            change "rwsem/wake.rs": r"grant.store(GRANTED, Release);
            queue.add(id);
            self.flush_if_inside(queue);"
                => r"P::futex_wake(grant, 1);
            grant.store(GRANTED, Release);",
        ],
    }
    "5" FastReadRelaxed in RWSEM_TODAY, seen MEMORY {
        what: "A reader finds the list empty and the writer gone, and enters with no acquire ordering. It may not see what the writer wrote.",
        source: "Linux rwsem, 2019 (e1b98fa31664)",
        edits: [relax "rwsem/read.rs": "self.sem.count.load(Acquire)"],
    }
    "6" GrantPolledRelaxed in RWSEM, seen MEMORY {
        what: "A waiting reader sees its grant with a load that has no acquire ordering. Its critical section may read what was there before the last write.",
        source: "Linux rwsem, 2019 (99143f82a255)",
        edits: [relax "rwsem/read.rs": "grant.fetch_and(!NUDGED, Acquire)"],
    }
    "7" WriterReleaseRelaxed in RWSEM, seen MEMORY {
        what: "A writer unlocks with no release ordering. The next owner may not see what the writer wrote.",
        source: "Linux rwbase, 2021",
        edits: [
            relax "rwsem/mod.rs": "self.sem.count.fetch_sub(WRITER, Release)",
            relax "rwsem/mod.rs": "self.sem.count.fetch_sub(write, Release)",
        ],
    }
    "23" StaleCount in RWSEM_LOOKING, seen BY_LOOM {
        what: "A writer that wakes up decides by the count from before its sleep whether it sleeps again.",
        source: "glibc rwlock, 2018 (BZ 23861)",
        edits: [remove "rwsem/write.rs": "me.seen = self.sem.count.load(Relaxed);"],
    }
    "38" DowngradeUnguarded in RWSEM, seen BY_LOOM {
        what: "A writer that becomes a reader walks the list without `wait_lock`, to take other readers along.",
        source: "Rust std RwLock, 2024 (PR 128219)",
        edits: [
            change "rwsem/wake.rs": "self.wake_in(self.lock_wait_list(Site::Wake), Wake::ReadOwned, false);"
                => r"let unguarded = core::mem::ManuallyDrop::new(super::list::WaitListGuard(self));
        let mut queue = WakeQueue::new();
        self.mark(&unguarded, Wake::ReadOwned, false, &mut queue);
        queue.flush();",
        ],
    }
    "41" ReadersOverflow in RWSEM_TODAY, seen BY_LOOM {
        what: "Readers are counted in four bits, and a reader does not check for the greatest number. After some more of them the lock is free while they read.",
        source: "spin RwLock, 2022 (0.9.4)",
        edits: [
            change "rwsem/count.rs": "(count & !GUARD) / READER" => "(count & !GUARD) / (1 << 59)",
            change "rwsem/count.rs": r"match self {
            Self::Bits => READER,
            Self::Biased(_) => ACTIVE,
        }"
                => r"match self {
            Self::Bits => 1 << 59,
            Self::Biased(_) => ACTIVE,
        }",
            change "rwsem/count.rs": "count & READER_WAITS_MASK == 0" => "count & (READER_WAITS_MASK & !GUARD) == 0",
            remove "rwsem/wake.rs": r"if is_full {
                return None;
            }",
        ],
    }
    "44" OldValueTested in RWSEM, seen BY_LOOM {
        what: "The last reader looks for other readers in the value from before its own subtraction. It finds itself there, so it wakes no thread.",
        source: "Asterinas RwMutex, 2024 (issue 1303)",
        edits: [
            change "rwsem/mod.rs": "before.wrapping_sub(reader)" => "before",
            change "rwsem/mod.rs": "before.wrapping_sub(ACTIVE)" => "before",
        ],
    }
    "59" GrantUnacquired in RWSEM, seen MEMORY {
        what: "Readers are granted the lock by an addition with no acquire ordering. What the last writer released does not reach them.",
        source: "design: a thread that grants has acquired",
        edits: [
            relax "rwsem/wake.rs": "count.fetch_add(reader, Acquire)",
            relax "rwsem/wake.rs": "count.fetch_add(ACTIVE, Acquire)",
        ],
    }
}
