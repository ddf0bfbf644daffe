//! Bugs of the hierarchical queued spinlock.

use crate::bug::{Test, bugs};
use crate::locks::*;
use crate::seen::*;

/// A test in simulated runs.
const fn simulated(name: &'static str) -> Test {
    let program = &["--test", "it"];
    Test { package: "lockwright-sim", program, name, checker: Checker::Explored }
}

bugs! {
    "110" LateJoinsNewerUse in HQ, seen BY_LOOM {
        what: "A thread that read the number of the use some time ago joins the queue of a newer use. It waits with the waiters of another lock, and is told that it is the head of that one.",
        source: "design: a queue never goes back to an older number",
        edits: [
            remove "hq/pool.rs": r"if of > sequence {
                return Joined::TooLate;
            }",
        ],
    }
    "111" OwnerUnread in HQ, seen BY_LOOM {
        what: "A thread that saw the lock in HQ mode reads the number of the use and does not look whose use it is. The metadata belong to another lock meanwhile, and it joins that one's waiters.",
        source: "design: a number counts only with its owner",
        edits: [change "hq/pool.rs": "self.owner.load(Acquire) != name" => "false"],
    }
    "112" TailOverwritten in HQ, seen EXPLORED {
        what: "The head takes the last queue out of the list while a thread appends another one, and overwrites the end of the list. The turn never comes to the queue that was appended.",
        source: "design: the end of the list is changed by an exchange",
        edits: [change "hq/list.rs": "seen.queues().tail == own" => "true"],
    }
    "113" LeavesBeforeItsQueue in HQ, seen EXPLORED {
        what: "The last waiter leaves its queue before the queue leaves the list. A thread that comes in between finds the queue empty and appends it, so that it is in the list twice.",
        source: "design: a queue leaves the list before its last waiter leaves the queue",
        edits: [
            change "hq/list.rs": "self.take_out(metadata, own)"
                => r"{
                leave(metadata, own, id);
                self.take_out(metadata, own)
            }",
            remove "hq/list.rs": r"if next.is_none() {
            leave(metadata, own, id);
        }",
        ],
    }
    "114" HeadQueueStarves in HQ, seen EXPLORED_EDIT {
        what: "Nothing counts how often the turn leaves out the head queue. Two queues that run empty and come back pass the turn to each other, and the waiters of the head queue wait for ever.",
        source: "HQ, postings of November and December 2025: the reason for the counter of remote handoffs",
        tests: [simulated("hq::two_queues_that_pass_the_turn_to_each_other_do_not_starve_the_head_queue")],
        edits: [change "hq/list.rs": "left_out >= P::numa_nodes()" => "false"],
    }
    "115" LocalForEver in HQ, seen EXPLORED_EDIT {
        what: "The head does not look how many handoffs its NUMA node has had. Waiters of other nodes wait until the queue of that node is empty.",
        source: "design: the threshold of local handoffs",
        tests: [simulated("hq::waiters_of_another_numa_node_are_passed_for_at_most_the_threshold")],
        edits: [change "hq/list.rs": "u64::from(handoffs) <= fairness_threshold::<P>()" => "true"],
    }
    "116" NextNotTold in HQ, seen BY_LOOM {
        what: "The last waiter leaves its queue when that is out of the list, and a thread has joined behind it meanwhile. It is not told that it is the first waiter now, and waits for ever.",
        source: "design: a waiter that leaves looks who is behind it",
        edits: [remove "hq/queue.rs": "Role::Appender.tell::<P>(wait_for_next(node::<P>(id)));"],
    }
    "117" QueuesInOldForm in HQ, seen BY_LOOM {
        what: "A thread that saw the lock in queued mode exchanges the tail alone. If the lock has left that mode, it overwrites both ends of the list of queues, or an invalid tail.",
        source: "HQ, postings of November and December 2025: the reason for the invalid tail",
        edits: [
            change "hq/queue.rs": "self.word.compare_exchange(seen.bits(), joined.bits(), AcqRel, Relaxed)"
                => r"Ok::<u32, u32>({
                let tail = (joined.bits() >> 16) as u16;
                let before = crate::platform::LockWordOps::swap_half1(&self.word, tail, AcqRel);
                seen = seen.queued(TailCode::from_bits(before));
                before.into()
            })",
        ],
    }
    "118" GivenBackEarly in HQ, seen BY_LOOM {
        what: "The last waiter gives the metadata back before the lock has left HQ mode. Another lock takes them, while threads still queue for this one.",
        source: "design: a lock in HQ mode owns its metadata",
        edits: [
            change "hq/list.rs": "self.word.compare_exchange(seen.bits(), left.bits(), Relaxed, Relaxed).is_ok()"
                => r"{
                metadata.entry.give_back();
                self.word.compare_exchange(seen.bits(), left.bits(), Relaxed, Relaxed).is_ok()
            }",
            remove "hq/list.rs": "metadata.entry.give_back();",
        ],
    }
    "119" QueueLinkedBeforeInit in HQ, seen MEMORY {
        what: "A thread links its queue behind another one with a store that orders nothing. The head reads an older first waiter there, and makes a thread the head that no longer waits.",
        source: "design: H6 of the lock's table of orderings",
        edits: [relax "hq/queue.rs": "metadata.queue(before).next.store(own.into(), Release)"],
    }
    "173" PendingForgetsMode in HQ, seen EXPLORED_EDIT {
        what: "The pending waiter takes over by a store of the lower half, as in the queued spinlock, in every mode. The lock was undecided, and is in queued mode now, with an invalid tail.",
        source: "hq-bounded: its pending waiter stores in queued mode only",
        tests: [simulated("hq::it_queues_by_numa_node_after_many_handoffs_and_not_before")],
        edits: [change "hq/mod.rs": "F::TURN.is_under_load() && before.mode() == Mode::Queued" => "true"],
    }
    "174" WithdrawalForgetsMode in HQ, seen EXPLORED_EDIT {
        what: "A thread that finds a queue takes its pending bit back by a store of the byte, as in the queued spinlock. The mode is in that byte, and the ends of the list of queues become the newest waiter.",
        source: "design: the mode shares a byte with the pending bit",
        tests: [simulated("hq::a_thread_that_takes_its_pending_bit_back_keeps_the_mode")],
        edits: [
            change "hq/mod.rs": "self.word.fetch_and(!word::PENDING, Relaxed)"
                => r"{
                    self.word.store_byte1(2, Relaxed);
                    0
                }",
        ],
    }
    "160" NotReserved in HQ_BOUNDED, seen BY_LOOM {
        what: "The owner turns the lock to HQ mode while the queue for its waiters is open. A thread of its node finds this queue empty and appends it, so that it is in the list twice.",
        source: "design: the owner reserves the queue before the lock turns",
        edits: [change "hq/under_load.rs": "!queue.reserve(sequence, id)" => "false"],
    }
    "161" NewestLookedUpEarly in HQ_BOUNDED, seen BY_LOOM {
        what: "The owner reads the newest waiter, and then turns the lock to HQ mode. A thread that joined the one queue in between is behind the end of its queue. It waits for ever.",
        source: "design: the exchange that turns the lock says who is the newest waiter",
        edits: [
            change "hq/under_load.rs": "queue.open(sequence, self.exchange_queues(own));"
                => r"{
                let newest = HqWord::from_bits(self.word.load(Relaxed)).tail();
                self.exchange_queues(own);
                queue.open(sequence, newest);
            }",
        ],
    }
    "162" ReservedInNewUse in HQ_BOUNDED, seen BY_LOOM {
        what: "The owner reserves the queue with the number of the new use. A thread of its node joins behind the owner before the queue is open, and takes the place of the next waiter in the owner's link.",
        source: "design: a queue is reserved with a number that no use has",
        edits: [change "hq/pool.rs": "tail_of(sequence - 1, id.code())" => "tail_of(sequence, id.code())"],
    }
    "163" QueueOfOwnNode in HQ_BOUNDED, seen BY_LOOM {
        what: "A waiter that queued in order of arrival, and finds the lock in HQ mode, acts for the queue of its own NUMA node. It is in the queue of the node of the owner that turned the lock.",
        source: "design: the metadata name the queue that was the one queue",
        edits: [change "hq/queue.rs": "metadata.entry.first_queue()" => "metadata.own_queue()"],
    }
    "164" ModeUnread in HQ_BOUNDED, seen BY_LOOM {
        what: "A waiter that queued in order of arrival does not look if the lock has turned to HQ mode. It takes the ends of the list of queues for the newest waiter, and waits for one behind it that does not come.",
        source: "design: what the tail means depends on the mode",
        edits: [change "hq/queue.rs": "F::TURN.is_under_load() && seen.mode() == Mode::Hq" => "false"],
    }
    "165" LateThreadOverwritten in HQ_BOUNDED, seen BY_LOOM {
        what: "The owner reserves a queue in which a late thread of an older use waits. That thread is the first waiter of a queue that is not in the list, as it believes, and appends it: the queue is in the list twice.",
        source: "design: only an empty queue is reserved",
        edits: [change "hq/pool.rs": "code_of(tail).node().is_none()" => "true"],
    }
    "166" TurnsForFew in HQ_BOUNDED, seen EXPLORED_EDIT {
        what: "The head does not look how many wait. With few threads the lock turns to HQ mode, where each of them is alone on its NUMA node, and is slower than a plain queue.",
        source: "HQ, postings of November and December 2025: below about eight threads it is slower than the queued spinlock",
        tests: [simulated("hq::the_bounded_lock_turns_while_many_wait_and_not_for_few")],
        edits: [
            change "hq/queue.rs": "waiters.is_some_and(|waiters| has_waiters::<P>(id, waiters))" => "waiters.is_some()",
        ],
    }
}
