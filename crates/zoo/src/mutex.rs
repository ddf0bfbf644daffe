//! Bugs of the mutex, and of other locks whose waiters sleep.

use crate::bug::bugs;
use crate::locks::*;
use crate::seen::*;

bugs! {
    "12" WaitersClearedUnlocked in RWSEM_TODAY_OR_FAIR_RWLOCK, seen EXPLORED {
        what: "The last waiter leaves and says outside the internal lock that no thread waits. A thread may have come in between.",
        source: "parking_lot RwLock, 2025 (PR 466)",
        shown_by: [("rwlock-fair", "rwlock-timed-reader")],
        edits: [
            change "rwlock/sleepers.rs": r"wake::<P>(woken);
        later.wake();
        is_granted"
                => r"if SleepTable::<P>::within(name, |_, section| section.first_of(name).is_none()) {
            self.word.fetch_and(!SLEEPER, Relaxed);
        }
        wake::<P>(woken);
        later.wake();
        is_granted",
            change "rwlock/sleepers.rs": r"match next {
            Some(_) if is_awake => SLEEPER,
            Some(_) if self.is_fair => 0,
            Some(next) if self.is_read_without_end(next) => {
                self.keep_newcomers_out();
                0
            }
            Some(_) => RESERVED,
            None => RESERVED | SLEEPER,
        }"
                => r"match next {
            Some(_) if is_awake => SLEEPER,
            Some(_) if self.is_fair => 0,
            _ => RESERVED,
        }",
            change "rwsem/mod.rs": "list.remove(id);"
                => r"list.remove(id);
        if list.is_empty() {
            drop(list);
            self.sem.count.fetch_and(!(WAITERS | HANDOFF), Relaxed);
            return;
        }",
        ],
    }
    "13" TimeoutWakesNobody in RWSEM_OR_FAIR_RWLOCK, seen EXPLORED {
        what: "A waiter at the head of the list gives up and leaves. The waiters behind it could have the lock, and no thread wakes them.",
        source: "parking_lot RwLock, 2025 (249cb2a)",
        shown_by: [("rwlock-fair", "rwlock-timed-reader")],
        edits: [
            change "rwlock/sleepers.rs": r"if self.is_held_against(section.mode(next)) {
            return None;
        }"
                => r"self.is_held_against(section.mode(next));
        return None;",
            change "rwsem/mod.rs": "self.wake_in(list, wake::Wake::Any, false);"
                => "if kind != HoldMode::Writer { self.wake_in(list, wake::Wake::Any, false); }",
        ],
    }
    "17" FirstAfterRemoval in RWLOCK, seen EXPLORED {
        what: "A waiter that gives up asks whether it was the first one after it has left the list. The answer is no, so the next waiter is never woken.",
        source: "parking_lot core, 2019 (PR 129)",
        shown_by: [("rwlock", "rwlock-timed-reader")],
        tests: [RANDOM_PROGRAMS],
        edits: [change "rwlock/sleepers.rs": "section.first_of(name) == Some(id)" => "false"],
    }
    "19" RobbedSleepsUnannounced in HYBRID_OR_MUTEX, seen ASLEEP {
        what: "The head of the queue was woken, lost the lock to a thief, and sleeps again without saying so in the lock word. The thief sees no sleeper when it releases the lock.",
        source: "musl stdio lock, 2018 (c21f75072751, 0db393d3a77b)",
        shown_by: [("mutex", "mutex-fair")],
        edits: [
            change "mutex/wait.rs": "(WOKEN, WOKEN_KIND)" => "(0, WOKEN_KIND)",
            change "qspinlock/pv/wait.rs": "word.load(Relaxed) as u8 == word::SLOW"
                => "round > 0 || word.load(Relaxed) as u8 == word::SLOW",
            change "qspinlock/pv/bounded.rs": "me.state.load(Acquire) != HASHED"
                => r"{
            if has_slept {
                me.state.store(HASHED, Relaxed);
            }
            me.state.load(Acquire) != HASHED
        }",
        ],
    }
    "24" StaleExpected in MUTEX, seen EXPLORED {
        what: "A thread that is about to sleep expects the value that its word has now, and not the value that means sleep. If it was told in between, it sleeps for ever.",
        source: "Darwin pthread_rwlock, 2026 (ClickHouse PR 112267)",
        shown_by: [("mutex", "condvar")],
        edits: [
            change "condvar.rs": "(waiting.kinds(), waiting.expected())"
                => "(waiting.kinds(), self.state.load(Relaxed) as u32)",
        ],
    }
    "33" SlowTakeRelaxed in SLEEPING_OR_MUTEX, seen MEMORY {
        what: "In the slow path, the head of the queue or a thief takes the lock by an exchange with no acquire ordering. Its critical section may not see what the last owner wrote.",
        source: "Linux rtmutex, 2022 (no acquire in the slow path on arm64)",
        edits: [
            relax "mutex/wait.rs": "state.compare_exchange(seen, held, Acquire, Relaxed).is_ok()",
            relax "qspinlock/pv/bounded.rs": "word.compare_exchange_half0(0, word::LOCKED_HALF, Acquire, Relaxed)",
            relax "qspinlock/pv/bounded.rs":
                "word.compare_exchange_half0(RESERVED_HALF, word::LOCKED_HALF, Acquire, Relaxed)",
            relax "qspinlock/pv/rules.rs": "word.compare_exchange_byte0(0, word::LOCKED, Acquire, Relaxed)",
            relax "qspinlock/pv/rules.rs":
                "word.compare_exchange_half0(waiting, word::LOCKED_HALF, Acquire, Relaxed).is_ok()",
        ],
    }
    "36" LookBeforeMark in RWLOCK, seen BY_LOOM {
        what: "The first waiter checks whether the lock is held, and only then says that it sleeps. A release in between wakes no thread.",
        source: "bcachefs six lock (e057a290ef71)",
        edits: [
            change "rwlock/sleepers.rs": "self.word.fetch_or(SLEEPER, Relaxed) & kind.held_against() != 0"
                => r"let is_held = self.word.load(Relaxed) & kind.held_against() != 0;
        self.word.fetch_or(SLEEPER, Relaxed);
        is_held",
        ],
    }
    "42" SleeperMissed in SLEEPING_OR_MUTEX, seen ASLEEP {
        what: "The owner releases the lock and does not check whether a thread sleeps for it.",
        source: "gperftools SpinLock (93a69c4df287)",
        shown_by: [("mutex", "mutex-timed")],
        edits: [
            change "mutex/mod.rs": r"if said != 0 {
            Self::wake(address, mark, said);
        }"
                => "{ let _ = (address, said); }",
            change "qspinlock/pv/mod.rs": "hash::remove::<P>(word, |_| true)" => "None",
            change "qspinlock/pv/mod.rs": "sleeper.is_none() && !P::has_forked()" => "false",
        ],
    }
    "45" WakeTakenForHandoff in SLEEPING_OR_MUTEX, seen ASLEEP {
        what: "The owner finds a sleeper and leaves the lock to it without a release, because the thread that wakes up is the owner. But the sleeper woke up by itself before, and does not know.",
        source: "litebox RwLock, 2026 (PR 809)",
        shown_by: [("mutex", "condvar")],
        tests: [RANDOM_PROGRAMS],
        edits: [
            change "mutex/wait.rs": "self.compete()" => "self.woken != WokenHow::No || self.compete()",
            change "qspinlock/pv/mod.rs": "word.store_byte0(0, Release);"
                => "word.store_byte0(LOCKED, Release);",
            change "qspinlock/pv/wait.rs": "sleep_while(me, || word.load(Relaxed) as u8 == word::SLOW);"
                => r"sleep_while(me, || word.load(Relaxed) as u8 == word::SLOW);
        if forget_kick(me) {
            return;
        }",
            change "qspinlock/pv/bounded.rs": "sleep_while(me, || me.state.load(Relaxed) == HASHED);"
                => r"sleep_while(me, || me.state.load(Relaxed) == HASHED);
            if super::wait::forget_kick(me) {
                return;
            }",
        ],
    }
    "88" GivenToSleeper in HANDING_OVER, seen EXPLORED {
        what: "The owner wakes a waiter, and then leaves the lock to it. In between the waiter finds the lock held and sleeps again, and the owner does not wake it once more.",
        source: "our own finding, by explore",
        shown_by: [("mutex", "mutex-fair")],
        edits: [change "mutex/mod.rs": "said & WOKEN != 0" => "said & WOKEN != said & WOKEN"],
    }
    "89" ReleaseLosesSleepers in MUTEX, seen EXPLORED {
        what: "A release takes off the lock what several sleepers said, and wakes one of them. This one takes the lock and does not say that others sleep.",
        source: "our own finding, by explore",
        shown_by: [("mutex", "mutex-timed")],
        edits: [change "mutex/wait.rs": "self.mark.has_others([self.as_waiter, self.as_sleeper])" => "false"],
    }
    "90" GivenToNobody in MUTEX, seen EXPLORED {
        what: "The owner wakes a waiter, and then leaves the lock to it. In between the deadline of the waiter passes, and it gives up without a word to the owner. No thread ever gets the lock again.",
        source: "our own finding, by random programs",
        shown_by: [("mutex", "mutex-timed")],
        edits: [change "mutex/wait.rs": "said & !KEPT | WOKEN" => "said & !RESERVED | WOKEN"],
    }
    "91" LateForSleep in MUTEX, seen LATE {
        what: "A waiter that could not fall asleep, because a release came first, does not compete as one that was woken. If sections are short that happens to it again and again: each release wakes nobody, and no time begins after which it may not be overtaken.",
        source: "our own finding, by simulated benchmarks",
        edits: [change "mutex/wait.rs": "is_woken || is_too_late" => "is_woken"],
    }
    "92" GrantedTooLate in &["rwlock"], seen EXPLORED {
        what: "A reader gives up at its deadline, and does not see that another reader has just let it in. It holds the lock for ever.",
        source: "our own finding, while readers that wait were first let in together",
        shown_by: [("rwlock", "rwlock-timed-reader")],
        edits: [change "rwlock/wait.rs": "is_ours || is_granted" => "is_ours"],
    }
}
