//! Bugs of the small spinlocks and of `is_locked`.

use crate::bug::{Bug, Edit};
use crate::locks::*;
use crate::seen::*;

/// In the order of their numbers.
pub const BUGS: &[Bug] = &[
    Bug {
        row: "10",
        name: "LinkRelaxed",
        what: "A waiter links itself behind another waiter by a store that orders nothing. The initialisation of its node may overwrite the owner's grant, and the waiter hangs.",
        source: "DPDK mcslock, about 2020 (021b698eb56e)",
        locks: &["mcs"],
        seen: MEMORY,
        edits: &[Edit::new(
            "mcs.rs",
            "prev.next.store(id.code().bits().into(), Release)",
            "prev.next.store(id.code().bits().into(), Relaxed)",
        )],
        ..Bug::NONE
    },
    Bug {
        row: "11",
        name: "LookUnordered",
        what: "Taking one lock and asking whether another lock is held are not ordered. Two threads that each take one lock and ask about the other's both find it free, and both go on.",
        source: "Linux qspinlock and System V semaphores, 2016",
        locks: ALL,
        seen: BY_LOOM,
        edits: &[Edit::new("platform/is_locked.rs", "P::full_barrier(on);", "")],
        ..Bug::NONE
    },
    Bug {
        row: "34",
        name: "HalfCompared",
        what: "A try-lock compares only one half of the word, the one that it changes (an ABA problem). When the tickets have gone around once in between, this half is the same again and the lock is held, so there are two owners. Tickets have two bits here, for at most three threads that hold or wait.",
        source: "arm64 ticket spinlock, about 2015 (202fb4ef81e3)",
        locks: &["ticket"],
        seen: SOON,
        edits: &[
            Edit::new(
                "ticket.rs",
                "self.word.fetch_add(ONE_MORE, Acquire)",
                "self.word.fetch_add(ONE_MORE << 14, Acquire)",
            ),
            Edit::new(
                "ticket.rs",
                "self.word.compare_exchange(word, word.wrapping_add(ONE_MORE), Acquire, Relaxed).is_ok()",
                r"let mut word = word;
        loop {
            let taken = word.wrapping_add(ONE_MORE << 14);
            match self.word.compare_exchange(word, taken, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) if next(now) == next(word) => word = now,
                Err(_) => return false,
            }
        }",
            ),
            Edit::new(
                "ticket.rs",
                "serving(word).wrapping_add(1)",
                "serving(word).wrapping_add(1 << 14)",
            ),
        ],
        ..Bug::NONE
    },
    Bug {
        row: "35",
        name: "UrgentReaderQueues",
        what: "A reader in an interrupt handler waits behind a queued writer, and that writer waits for readers, of which one is the interrupted thread.",
        source: "s390 rwlock, 2018 (Launchpad 1761674)",
        locks: QRWLOCK,
        seen: BY_LOOM,
        edits: &[Edit::new(
            "qrwlock.rs",
            r"if P::is_urgent() {
            return self.await_writer();
        }",
            "",
        )],
        ..Bug::NONE
    },
    Bug {
        row: "52",
        name: "HeadStoresBesideThief",
        what: "The head of the queue sees that the lock is free and takes it by a plain store, although a thief may take it at the same time.",
        source: "design: only where nobody steals is the lock taken by a store",
        locks: HYBRID_OR_QRWLOCK,
        seen: BY_LOOM,
        edits: &[
            Edit::new(
                "qrwlock.rs",
                "self.word.compare_exchange(WAITING, WRITER, Acquire, Relaxed).is_ok()",
                r"if self.word.compare_exchange(WAITING, WRITER, Acquire, Relaxed).is_err() {
            self.word.fetch_sub(WAITING - WRITER, Relaxed);
        }
        true",
            ),
            Edit::new(
                "qspinlock/pv/bounded.rs",
                "reservation::compete::<P>(word, || patience.pause(), || take_free::<P>(word))",
                r"let take = || {
        if !take_free::<P>(word) {
            word.store_half0(word::LOCKED_HALF, Relaxed);
        }
        true
    };
    reservation::compete::<P>(word, || patience.pause(), take)",
            ),
            Edit::new(
                "qspinlock/pv/rules.rs",
                "word.compare_exchange_half0(waiting, word::LOCKED_HALF, Acquire, Relaxed).is_ok()",
                r"(word.compare_exchange_half0(waiting, word::LOCKED_HALF, Acquire, Relaxed).is_ok() || {
            word.store_half0(word::LOCKED_HALF, Relaxed);
            true
        })",
            ),
        ],
        ..Bug::NONE
    },
    Bug {
        row: "57",
        name: "NextNotTaken",
        what: "The head makes the waiter behind it the new head, without keeping this waiter where it is. If the waiter is leaving, the queue has no head, and threads that come later wait for ever.",
        source: "design: a link is taken before what it names is used",
        locks: OSQ,
        seen: BY_LOOM,
        edits: &[Edit::new(
            "osq/leave.rs",
            "link.fetch_or(TAKEN, Acquire)",
            "link.fetch_or(0, Acquire)",
        )],
        ..Bug::NONE
    },
    Bug {
        row: "58",
        name: "MarkOutlived",
        what: "The last waiter leaves, and the one in front of it, now the last, leaves before the mark in its link is cleared. The mark is cleared in a node that another thread uses.",
        source: "design: a node is given back when nobody will write to it",
        locks: OSQ,
        seen: BY_LOOM,
        edits: &[Edit::new(
            "osq/leave.rs",
            "link.cond_load(Relaxed, |bits| !Link::from_bits(bits).is_leaving());",
            "",
        )],
        ..Bug::NONE
    },
];
