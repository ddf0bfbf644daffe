//! Bugs of the reader-writer locks for programs, of the semaphore and of the sequence lock.

use crate::bug::bugs;
use crate::locks::*;
use crate::seen::*;

bugs! {
    "12b" WaitsClearedUnlocked in SEMAPHORE, seen EXPLORED {
        what: "The last waiter for permits gives up and says that no thread waits when the list is no longer locked. A thread may have come in between, and sleeps for ever.",
        source: "parking_lot RwLock, 2025 (PR 466)",
        edits: [
            change "semaphore.rs": r"self.with_waiters(|waiters| {
            if !waiters.leave(id) {
                return (true, 0);
            }
            (false, self.publish(waiters.served_by(self.permits())))
        })"
                => r"{
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
        ],
    }
    "13b" GiveUpServesNobody in SEMAPHORE, seen BY_LOOM {
        what: "A waiter for many permits gives up at the head of the list. There are enough permits for the waiter behind it, and no thread tells that one.",
        source: "parking_lot RwLock, 2025 (249cb2a)",
        edits: [
            change "semaphore.rs": "waiters.served_by(self.permits())"
                => "Served::nobody(self.permits(), waiters.is_empty())",
        ],
    }
    "14b" ModeReadRelaxed in PERCPU, seen MEMORY {
        what: "A reader finds with no acquire ordering that slots are in use. It may read what was there before the last write.",
        source: "parking_lot RwLock, 2020 to 2022 (PR 260, PR 344)",
        edits: [relax "percpu_rwlock/mod.rs": "self.mode.load(Acquire) == mode"],
    }
    "14c" SharedTakeRelaxed in RWLOCK, seen MEMORY {
        what: "A waiting thread takes the lock by an exchange with no acquire ordering. It may read what was there before the last write.",
        source: "parking_lot RwLock, 2020 to 2022 (c866ba8, d26c284)",
        edits: [relax "rwlock/wait.rs": "self.word.compare_exchange(seen, kind.taken(seen), Acquire, Relaxed)"],
    }
    "16b" CountedAfterUnlock in PERCPU, seen EXPLORED {
        what: "A writer releases the lock and counts afterwards. The next owner may have freed the lock.",
        source: "parking_lot ReentrantMutex, 2019 (da16c2c)",
        shown_by: [("percpu-rwlock-in_slots", "rwlock-last-user")],
        edits: [
            change "percpu_rwlock/mod.rs": r"// SAFETY: the caller holds the lock.
        unsafe { self.beneath.unlock() };"
                => r"unsafe { self.beneath.unlock() };
        self.pace.end_calm();
        self.mode.load(Relaxed);",
        ],
    }
    "17b" LastByOneSide in SEMAPHORE, seen BY_LOOM {
        what: "A waiter that gives up finds no waiter behind it and says that no thread waits. The waiters in front of it sleep for ever.",
        source: "parking_lot core, 2019 (fbd45c2)",
        edits: [
            change "semaphore.rs": r"if !waiters.leave(id) {
                return (true, 0);
            }
            (false, self.publish(waiters.served_by(self.permits())))"
                => r"let came_last = waiters.is_last(id);
            if !waiters.leave(id) {
                return (true, 0);
            }
            (false, self.publish(Served::nobody(self.permits(), came_last)))",
            add "park/granting.rs": "impl<P: ParkPlatform> Waiters<'_, P> {"
                => r"impl<P: ParkPlatform> Waiters<'_, P> {
    /// If it is the last.
    pub fn is_last(&self, id: NodeId) -> bool {
        self.section.next_of(id, self.name).is_none()
    }",
        ],
    }
    "18" ReadAfterRelease in &["mutex", "semaphore", "rwlock"], seen EXPLORED {
        what: "The owner looks at the lock after it has released it. The next owner may have freed it.",
        source: "glibc mutex and semaphore (BZ 13690, BZ 12674)",
        shown_by: [("mutex", "last-user"), ("rwlock", "rwlock-last-user"), ("semaphore", "semaphore-last-permit")],
        edits: [
            change "rwlock/mod.rs": r"if before & SLEEPER != 0 {
            Self::serve_after_write(name, entry);
        }"
                => r"if before & SLEEPER != 0 {
            Self::serve_after_write(name, entry);
        }
        self.word.load(Relaxed);",
            change "mutex/mod.rs": r"if !mark.is_quiet_still() {
                wake_late::<P>(address);
            }"
                => r"if !mark.is_quiet_still() {
                wake_late::<P>(address);
            }
            self.state.load(Relaxed);",
            change "mutex/mod.rs": "mark.end_release();"
                => r"mark.end_release();
            self.state.load(Relaxed);",
            change "semaphore.rs": r"match self.add(permits) {
            Some(is_added) => is_added,
            None => self.add_slowpath(permits),
        }"
                => r"let is_added = match self.add(permits) {
            Some(is_added) => is_added,
            None => self.add_slowpath(permits),
        };
        self.word.load(Relaxed);
        is_added",
        ],
    }
    "35b" RecursionForgotten in &["rwlock-unlisted"], seen BY_LOOM {
        what: "A reader that may already hold the lock waits for a writer for which the lock is reserved, and this writer waits for the reader.",
        source: "s390 rwlock, 2018 (LP 1761674); parking_lot issue 212",
        shown_by: [("rwlock-unlisted", "rwlock-again")],
        edits: [
            change "rwlock/wait.rs": "self.may_read_already(kind).then_some(since_ns.saturating_add(RECURSION_NS))" => "None",
        ],
    }
    "35c" ReadsUnlisted in &["rwlock"], seen BY_LOOM {
        what: "A thread that reads gives back its second reading and forgets the first one, too. It waits for a writer that waits for it.",
        source: "found in the design of the list",
        shown_by: [("rwlock", "rwlock-again")],
        edits: [change "platform/read_list.rs": "self.places.iter().filter(|place| place.load(Relaxed) & !TIMED == lock).count()" => "1"],
    }
    "185" GrantedTooFew in &["rwlock"], seen BY_LOOM {
        what: "A release grants the lock to waiting readers and counts one too few. A writer comes in next to the last of them.",
        source: "found in the design of the phases",
        edits: [change "rwlock/sleepers.rs": "readers * READER" => "READER"],
    }
    "94" WriterBetween in &["rwlock"], seen EXPLORED {
        what: "A reader that upgrades gives back its share and waits for the other readers. A writer comes in between, so what the reader read is no longer true.",
        source: "parking_lot, upgradable reads (documentation of upgrade)",
        shown_by: [("rwlock", "rwlock-upgrade")],
        edits: [
            change "rwlock/upgrade.rs": "self.wait_in_table(LockMode::Upgrader, deadline_ns, false)"
                => r"{
            self.word.fetch_and(!UPGRADABLE, Relaxed);
            self.wait_in_table(LockMode::Writer, deadline_ns, false)
        }",
        ],
    }
    "93" ShareLost in &["rwlock"], seen EXPLORED {
        what: "A reader gives up to upgrade and goes on reading, but is no longer counted. A writer comes in.",
        source: "found in the design of the upgrade",
        shown_by: [("rwlock", "rwlock-upgrade-timed")],
        edits: [remove "rwlock/upgrade.rs": "self.word.fetch_add(READER, Relaxed);"],
    }
    "36b" LookBeforeWanted in PERCPU, seen BY_LOOM {
        what: "A writer looks at a reader's slot, and only then says that it waits for it. The reader leaves in between and wakes no thread.",
        source: "bcachefs six lock (e057a290ef71)",
        edits: [
            change "readers/slot.rs": r"self.count_writers(|count| count + 1);
        // ordering: heavy barrier; B3.
        P::heavy_barrier();"
                => r"if is_clear(entry.load(Relaxed)) {
            return true;
        }
        self.count_writers(|count| count + 1);",
            change "readers/slot.rs": "is_clear(said)" => "false",
        ],
    }
    "46" SlotUnordered in PERCPU, seen BY_LOOM {
        what: "A reader says in its slot that it reads, and checks whether slots are in use, with no barrier in between, not even for the compiler. The writer does not see the reader, and the reader does not see the writer.",
        source: "FreeBSD rmlock, 2021 (1d44514fcd68)",
        edits: [remove "percpu_rwlock/mod.rs": "P::light_barrier();"],
    }
    "60" SlotsForgotten in PERCPU, seen EXPLORED {
        what: "A writer that gives up while a thread reads in a slot leaves slots unused. The next writer does not look there.",
        source: "found by a test of this code",
        edits: [
            change "percpu_rwlock/mod.rs": r"let is_free =
            (0..P::reader_slots()).all(|at| slot_at::<P>(at).await_clear(name, deadline_ns));
        if !is_free {
            self.allow_slots(name);
        }
        is_free"
                => "(0..P::reader_slots()).all(|at| slot_at::<P>(at).await_clear(name, deadline_ns))",
        ],
    }
    "70a" ReadUnfenced in SEQLOCK, seen MEMORY {
        what: "A reader looks at the sequence for the second time without a fence behind its copy. The look may be older than the copy, which is torn.",
        source: "seqlocks in C11 (Boehm, 2012)",
        edits: [remove "seqlock.rs": "P::fence(Acquire);"],
    }
    "70b" WriteUnfenced in SEQLOCK, seen MEMORY {
        what: "A writer makes the sequence odd without a fence before its words. A reader may see some of the words first, and find the old sequence.",
        source: "seqlocks in C11 (Boehm, 2012)",
        edits: [remove "seqlock.rs": "P::fence(Release);"],
    }
    "71" SequenceWraps in SEQLOCK, seen BY_LOOM {
        what: "The sequence has two bits. After two writes it is the same again, and a slow reader believes that no thread wrote.",
        source: "design: the sequence has 64 bits",
        edits: [
            change "seqlock.rs": "self.sequence().wrapping_add(WRITE) & !WRITES"
                => "self.sequence().wrapping_add(WRITE) & !WRITES & 3",
        ],
    }
}
