//! Bugs of the reader-writer locks for programs, of the semaphore and of the sequence lock.

use crate::bug::{Bug, Edit};
use crate::locks::*;
use crate::seen::*;

/// In the order of their numbers.
pub const BUGS: &[Bug] = &[
    Bug {
        row: "12b",
        name: "WaitsClearedUnlocked",
        what: "The last waiter for permits gives up and says that no thread waits when the list is no longer locked. A thread may have come in between, and sleeps for ever.",
        source: "parking_lot RwLock, 2025 (PR 466)",
        locks: SEMAPHORE,
        seen: EXPLORED,
        edits: &[Edit::new(
            "semaphore.rs",
            r"self.with_waiters(|waiters| {
            if !waiters.leave(id) {
                return (true, 0);
            }
            (false, self.publish(waiters.served_by(self.permits())))
        })",
            r"{
            let (is_ours, clears_late) = self.with_waiters(|waiters| {
                if !waiters.leave(id) {
                    return ((true, false), 0);
                }
                if waiters.is_empty() {
                    return ((false, true), 0);
                }
                ((false, false), self.publish(waiters.served_by(self.permits())))
            });
            if clears_late {
                use crate::platform::AtomicInt as _;
                self.word.fetch_and(!WAITS, Relaxed);
            }
            is_ours
        }",
        )],
        ..Bug::NONE
    },
    Bug {
        row: "13b",
        name: "GiveUpServesNobody",
        what: "A waiter for many permits gives up at the head of the list. There are enough permits for the waiter behind it, and no thread tells that one.",
        source: "parking_lot RwLock, 2025 (249cb2a)",
        locks: SEMAPHORE,
        seen: BY_LOOM,
        edits: &[Edit::new(
            "semaphore.rs",
            "waiters.served_by(self.permits())",
            "Served::nobody(self.permits(), waiters.is_empty())",
        )],
        ..Bug::NONE
    },
    Bug {
        row: "14b",
        name: "ModeReadRelaxed",
        what: "A reader finds with no acquire ordering that slots are in use. It may read what was there before the last write.",
        source: "parking_lot RwLock, 2020 to 2022 (PR 260, PR 344)",
        locks: PERCPU,
        seen: MEMORY,
        edits: &[Edit::new(
            "percpu_rwlock/mod.rs",
            "self.mode.load(Acquire) == mode",
            "self.mode.load(Relaxed) == mode",
        )],
        ..Bug::NONE
    },
    Bug {
        row: "14c",
        name: "SharedTakeRelaxed",
        what: "A waiting thread takes the lock by an exchange with no acquire ordering. It may read what was there before the last write.",
        source: "parking_lot RwLock, 2020 to 2022 (c866ba8, d26c284)",
        locks: RWLOCK,
        seen: MEMORY,
        edits: &[Edit::new(
            "rwlock/wait.rs",
            "self.word.compare_exchange(seen, kind.taken(seen), Acquire, Relaxed)",
            "self.word.compare_exchange(seen, kind.taken(seen), Relaxed, Relaxed)",
        )],
        ..Bug::NONE
    },
    Bug {
        row: "16b",
        name: "CountedAfterUnlock",
        what: "A writer releases the lock and counts afterwards. The next owner may have freed the lock.",
        source: "parking_lot ReentrantMutex, 2019 (da16c2c)",
        locks: PERCPU,
        seen: EXPLORED,
        shown_by: &[("percpu-rwlock-in_slots", "rwlock-last-user")],
        edits: &[Edit::new(
            "percpu_rwlock/mod.rs",
            r"// SAFETY: the caller holds the lock.
        unsafe { self.beneath.unlock() };",
            r"unsafe { self.beneath.unlock() };
        self.pace.end_calm();
        self.mode.load(Relaxed);",
        )],
        ..Bug::NONE
    },
    Bug {
        row: "17b",
        name: "LastByOneSide",
        what: "A waiter that gives up finds no waiter behind it and says that no thread waits. The waiters in front of it sleep for ever.",
        source: "parking_lot core, 2019 (fbd45c2)",
        locks: SEMAPHORE,
        seen: BY_LOOM,
        edits: &[
            Edit::new(
                "semaphore.rs",
                r"if !waiters.leave(id) {
                return (true, 0);
            }
            (false, self.publish(waiters.served_by(self.permits())))",
                r"let came_last = waiters.is_last(id);
            if !waiters.leave(id) {
                return (true, 0);
            }
            (false, self.publish(Served::nobody(self.permits(), came_last)))",
            ),
            Edit::always(
                "park/granting.rs",
                "impl<P: ParkPlatform> Waiters<'_, P> {",
                r"impl<P: ParkPlatform> Waiters<'_, P> {
    pub(crate) fn is_last(&self, id: NodeId) -> bool {
        self.section.next_of(id, self.name).is_none()
    }",
            ),
        ],
        ..Bug::NONE
    },
    Bug {
        row: "18",
        name: "ReadAfterRelease",
        what: "The owner looks at the lock after it has released it. The next owner may have freed it.",
        source: "glibc mutex and semaphore (BZ 13690, BZ 12674)",
        locks: &["mutex", "semaphore", "rwlock"],
        seen: EXPLORED,
        shown_by: &[
            ("mutex", "last-user"),
            ("rwlock", "rwlock-last-user"),
            ("semaphore", "semaphore-last-permit"),
        ],
        edits: &[
            Edit::new(
                "rwlock/mod.rs",
                r"if before & SLEEPER != 0 {
            wake_first::<P>(name, Wakes::Anybody);
        }",
                r"if before & SLEEPER != 0 {
            wake_first::<P>(name, Wakes::Anybody);
        }
        self.word.load(Relaxed);",
            ),
            Edit::new(
                "mutex/mod.rs",
                "SleepTable::<P>::released(name);",
                r"SleepTable::<P>::released(name);
            self.word.load(Relaxed);",
            ),
            Edit::new(
                "mutex/mod.rs",
                "SleepTable::<P>::released_by_exchange(name);",
                r"SleepTable::<P>::released_by_exchange(name);
            self.word.load(Relaxed);",
            ),
            Edit::new(
                "semaphore.rs",
                r"match self.add(permits) {
            Some(is_added) => is_added,
            None => self.add_slowpath(permits),
        }",
                r"let is_added = match self.add(permits) {
            Some(is_added) => is_added,
            None => self.add_slowpath(permits),
        };
        self.word.load(Relaxed);
        is_added",
            ),
        ],
        ..Bug::NONE
    },
    Bug {
        row: "35b",
        name: "RecursionForgotten",
        what: "A reader that may already hold the lock waits for a writer for which the lock is reserved, and this writer waits for the reader.",
        source: "s390 rwlock, 2018 (LP 1761674); parking_lot issue 212",
        locks: &["rwlock"],
        seen: BY_LOOM,
        shown_by: &[("rwlock", "rwlock-again")],
        edits: &[Edit::new(
            "rwlock/wait.rs",
            "may_be_reader.then_some(since_ns.saturating_add(RECURSION_NS))",
            "None",
        )],
        ..Bug::NONE
    },
    Bug {
        row: "36b",
        name: "LookBeforeWanted",
        what: "A writer looks at a reader's slot, and only then says that it waits for it. The reader leaves in between and wakes no thread.",
        source: "bcachefs six lock (e057a290ef71)",
        locks: PERCPU,
        seen: BY_LOOM,
        edits: &[
            Edit::new(
                "percpu_rwlock/slot.rs",
                r"self.wanted.fetch_add(1, Relaxed);
        // ordering: heavy barrier; B3.
        P::heavy_barrier();",
                r"if is_clear(entry.load(Relaxed)) {
            return true;
        }
        self.wanted.fetch_add(1, Relaxed);",
            ),
            Edit::new("percpu_rwlock/slot.rs", "is_clear(said)", "false"),
        ],
        ..Bug::NONE
    },
    Bug {
        row: "46",
        name: "SlotUnordered",
        what: "A reader says in its slot that it reads, and checks whether slots are in use, with no barrier in between, not even for the compiler. The writer does not see the reader, and the reader does not see the writer.",
        source: "FreeBSD rmlock, 2021 (1d44514fcd68)",
        locks: PERCPU,
        seen: BY_LOOM,
        edits: &[Edit::new("percpu_rwlock/mod.rs", "P::light_barrier();", "")],
        ..Bug::NONE
    },
    Bug {
        row: "60",
        name: "SlotsForgotten",
        what: "A writer that gives up while a thread reads in a slot leaves slots unused. The next writer does not look there.",
        source: "found by a test of this code",
        locks: PERCPU,
        seen: EXPLORED,
        edits: &[Edit::new(
            "percpu_rwlock/mod.rs",
            r"let is_free =
            (0..P::reader_slots()).all(|at| slot_at::<P>(at).await_clear(name, deadline_ns));
        if !is_free {
            self.allow_slots(name);
        }
        is_free",
            "(0..P::reader_slots()).all(|at| slot_at::<P>(at).await_clear(name, deadline_ns))",
        )],
        ..Bug::NONE
    },
    Bug {
        row: "70a",
        name: "ReadUnfenced",
        what: "A reader looks at the sequence for the second time without a fence behind its copy. The look may be older than the copy, which is torn.",
        source: "seqlocks in C11 (Boehm, 2012)",
        locks: SEQLOCK,
        seen: MEMORY,
        edits: &[Edit::new("seqlock.rs", "P::fence(Acquire);", "")],
        ..Bug::NONE
    },
    Bug {
        row: "70b",
        name: "WriteUnfenced",
        what: "A writer makes the sequence odd without a fence before its words. A reader may see some of the words first, and find the old sequence.",
        source: "seqlocks in C11 (Boehm, 2012)",
        locks: SEQLOCK,
        seen: MEMORY,
        edits: &[Edit::new("seqlock.rs", "P::fence(Release);", "")],
        ..Bug::NONE
    },
    Bug {
        row: "71",
        name: "SequenceWraps",
        what: "The sequence has two bits. After two writes it is the same again, and a slow reader believes that no thread wrote.",
        source: "design: the sequence has 64 bits",
        locks: SEQLOCK,
        seen: BY_LOOM,
        edits: &[Edit::new(
            "seqlock.rs",
            "self.sequence().wrapping_add(WRITE) & !WRITES",
            "self.sequence().wrapping_add(WRITE) & !WRITES & 3",
        )],
        ..Bug::NONE
    },
];
