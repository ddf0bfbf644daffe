//! Bugs of the small spinlocks and of `is_locked`.

use crate::bug::bugs;
use crate::locks::*;
use crate::seen::*;

bugs! {
    "10" LinkRelaxed in &["mcs"], seen MEMORY {
        what: "A waiter links itself behind another waiter by a store that orders nothing. The initialisation of its node may overwrite the owner's grant, and the waiter hangs.",
        source: "DPDK mcslock, about 2020 (021b698eb56e)",
        edits: [relax "mcs.rs": "prev.next.store(id.code().bits().into(), Release)"],
    }
    "11" LookUnordered in ALL, seen BY_LOOM {
        what: "Taking one lock and asking whether another lock is held are not ordered. Two threads that each take one lock and ask about the other's both find it free, and both go on.",
        source: "Linux qspinlock and System V semaphores, 2016",
        edits: [remove "platform/cells.rs": "P::full_barrier(on);"],
    }
    "34" HalfCompared in &["ticket"], seen SOON {
        what: "A try-lock compares only one half of the word, the one that it changes (an ABA problem). When the tickets have gone around once in between, this half is the same again and the lock is held, so there are two owners. Tickets have two bits here, for at most three threads that hold or wait.",
        source: "arm64 ticket spinlock, about 2015 (202fb4ef81e3)",
        edits: [
            change "ticket.rs": "ticket.wrapping_sub(serving(word)) >= THREADS_MAX" => "false",
            change "ticket.rs": "self.word.fetch_add(ONE_MORE, Acquire)"
                => "self.word.fetch_add(ONE_MORE << 14, Acquire)",
            change "ticket.rs":
                "self.word.compare_exchange(word, word.wrapping_add(ONE_MORE), Acquire, Relaxed).is_ok()"
                => r"let mut word = word;
        loop {
            let taken = word.wrapping_add(ONE_MORE << 14);
            match self.word.compare_exchange(word, taken, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) if next(now) == next(word) => word = now,
                Err(_) => return false,
            }
        }",
            change "ticket.rs": "serving(word).wrapping_add(1)" => "serving(word).wrapping_add(1 << 14)",
        ],
    }
    "35" UrgentReaderQueues in QRWLOCK, seen BY_LOOM {
        what: "A reader in an interrupt handler waits behind a queued writer, and that writer waits for readers, of which one is the interrupted thread.",
        source: "s390 rwlock, 2018 (Launchpad 1761674)",
        edits: [
            remove "qrwlock.rs": r"if P::is_urgent() {
            return self.await_writer();
        }",
        ],
    }
    "52" HeadStoresBesideThief in HYBRID_OR_QRWLOCK, seen BY_LOOM {
        what: "The head of the queue sees that the lock is free and takes it by a plain store, although a thief may take it at the same time.",
        source: "design: only where nobody steals is the lock taken by a store",
        edits: [
            change "qrwlock.rs": "self.word.compare_exchange(WAITING, WRITER, Acquire, Relaxed).is_ok()"
                => r"if self.word.compare_exchange(WAITING, WRITER, Acquire, Relaxed).is_err() {
            self.word.fetch_sub(WAITING - WRITER, Relaxed);
        }
        true",
            change "qspinlock/pv/bounded.rs":
                "reservation::compete::<P>(word, || patience.pause(), || take_free::<P>(word))"
                => r"let take = || {
        if !take_free::<P>(word) {
            word.store_half0(word::LOCKED_HALF, Relaxed);
        }
        true
    };
    reservation::compete::<P>(word, || patience.pause(), take)",
            change "qspinlock/pv/rules.rs":
                "word.compare_exchange_half0(waiting, word::LOCKED_HALF, Acquire, Relaxed).is_ok()"
                => r"(word.compare_exchange_half0(waiting, word::LOCKED_HALF, Acquire, Relaxed).is_ok() || {
            word.store_half0(word::LOCKED_HALF, Relaxed);
            true
        })",
        ],
    }
    "57" NextNotTaken in OSQ, seen BY_LOOM {
        what: "The head makes the waiter behind it the new head, without keeping this waiter where it is. If the waiter is leaving, the queue has no head, and threads that come later wait for ever.",
        source: "design: a link is taken before what it names is used",
        edits: [change "osq/leave.rs": "link.fetch_or(TAKEN, Acquire)" => "link.fetch_or(0, Acquire)"],
    }
    "58" MarkOutlived in OSQ, seen BY_LOOM {
        what: "The last waiter leaves, and the one in front of it, now the last, leaves before the mark in its link is cleared. The mark is cleared in a node that another thread uses.",
        source: "design: a node is given back when nobody will write to it",
        edits: [remove "osq/leave.rs": "link.cond_load(Relaxed, |bits| !Link::from_bits(bits).is_leaving());"],
    }
}
