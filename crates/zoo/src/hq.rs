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
        source: "HQ, posting of November 2025: the reason for the number in each queue",
        edits: [change "hq/meta.rs": "(seen >> TAIL_BITS) as u32 == number" => "true"],
    }
    "111" WordUnread in HQ, seen BY_LOOM {
        what: "A thread that saw the lock in HQ mode reads the number of the use and does not look at the word again. The metadata belong to another lock meanwhile, and it joins that one's waiters.",
        source: "HQ, posting of November 2025: the word is read before and after the number",
        edits: [
            change "hq/queue.rs": "HqWord::from_bits(self.word.load(Acquire)).mode() == Mode::Hq" => "true",
        ],
    }
    "112" EndOverwritten in HQ, seen EXPLORED {
        what: "The owner takes the last queue out of the list while a thread appends another one, and overwrites the end of the list. The turn never comes to the queue that was appended.",
        source: "HQ, posting of November 2025: the end of the list is moved by a compare-exchange",
        edits: [
            change "hq/handover.rs": "entry.exchange(seen, Ends { last: before, ..seen })"
                => r"{
            entry.exchange_last(before);
            true
        }",
        ],
    }
    "113" NotAppendedAgain in HQ, seen EXPLORED {
        what: "An owner has taken the last queue out of the list, and a thread has joined this queue. The owner hands over to that thread and does not append the queue again. Its last waiter waits for a queue behind it for ever.",
        source: "HQ, posting of November 2025: a queue that was taken out and is not empty is appended",
        edits: [
            change "hq/handover.rs": r"append(metadata, own);
                hand_over(metadata, id);" => "hand_over(metadata, id);",
        ],
    }
    "114" FirstQueueStarves in HQ, seen EXPLORED_EDIT {
        what: "Nothing counts how often the turn leaves out the first queue. Two queues that run empty and come back pass the turn to each other, and the waiters of the first queue wait for ever.",
        source: "HQ, posting of November 2025: the reason for the counter of remote handoffs",
        tests: [simulated("hq::two_queues_that_pass_the_turn_to_each_other_do_not_starve_the_first_queue")],
        edits: [change "hq/handover.rs": "left >= online::<P>().into()" => "false"],
    }
    "115" LocalForEver in HQ, seen EXPLORED_EDIT {
        what: "The owner does not look how many handoffs its NUMA node has had. Waiters of other nodes wait until the queue of that node is empty.",
        source: "HQ, posting of November 2025: the threshold of local handoffs",
        tests: [simulated("hq_storm::waiters_of_another_numa_node_are_passed_for_at_most_the_threshold")],
        edits: [change "hq/handover.rs": "u64::from(me.count()) <= threshold" => "true"],
    }
    "116" FirstWaiterStays in HQ, seen EXPLORED_EDIT {
        what: "An owner that has emptied the list appends its queue behind a newer one and does not say that the next waiter is the first one now. The turn goes to the owner's old node, and that waiter waits for ever.",
        source: "HQ, posting of November 2025: the first waiter is written in each case",
        tests: [simulated("hq::a_waiter_that_finds_the_list_empty_takes_the_turn_and_the_owner_grants_nobody")],
        edits: [change "hq/handover.rs": "queue.set_first_waiter(wait_for_next::<P>(id))" => "{}"],
    }
    "117" QueuesInOldForm in HQ, seen BY_LOOM {
        what: "A thread that saw the lock in queued mode exchanges the tail alone, and takes an invalid tail for none. It believes that it is the head, as the first waiter of the list does.",
        source: "HQ, posting of November 2025: the reason for the invalid tail",
        edits: [change "hq/queue.rs": "self.join_by_node(waiter, newest)" => "{ let _ = newest; Place::Front }"],
    }
    "118" GivenBackEarly in HQ, seen BY_LOOM {
        what: "The last waiter gives the metadata back before the lock has left HQ mode. Another lock takes them, while threads still queue for this one.",
        source: "HQ, posting of November 2025: a lock in HQ mode owns its metadata",
        edits: [
            change "hq/handover.rs": r"if !metadata.end_use() {
            return;
        }" => r"if !metadata.end_use() {
            return;
        }
        metadata.entry.give_back();",
            remove "hq/handover.rs": "return metadata.entry.give_back();",
        ],
    }
    "119" QueueLinkedBeforeInit in HQ, seen MEMORY {
        what: "A thread links its queue behind another one with a store that orders nothing. The owner reads an older first waiter there, and grants a thread that no longer waits.",
        source: "design: H6 of the lock's table of orderings",
        edits: [relax "hq/queue.rs": "metadata.queue(before).next.store(own.into(), Release)"],
    }
    "173" PendingForgetsMode in HQ, seen EXPLORED_EDIT {
        what: "The pending waiter takes over by the store of queued mode in every mode. The lock had none, and is in queued mode now, with an invalid tail.",
        source: "HQ, posting of November 2025: the store has the mode that was seen",
        tests: [simulated("hq::a_pending_waiter_takes_over_by_one_store_of_the_lower_half")],
        edits: [
            change "hq/mod.rs": "self.word.store_half0(seen.half0_held(), Relaxed)"
                => "{ let _ = seen; self.word.store_half0(HqWord::FREE.half0_held(), Relaxed) }",
        ],
    }
    "174" WithdrawalForgetsMode in HQ, seen EXPLORED_EDIT {
        what: "A thread that finds a queue takes its pending bit back by the store of queued mode in every mode. New waiters exchange an invalid tail.",
        source: "HQ, posting of November 2025: the mode shares a byte with the pending bit",
        tests: [simulated("hq::a_pending_bit_is_taken_back_by_a_store_of_type_and_mode")],
        edits: [
            change "hq/mod.rs": "self.word.store_byte1(seen.byte1_without_pending(), Relaxed)"
                => "{ let _ = seen; self.word.store_byte1(HqWord::FREE.byte1_without_pending(), Relaxed) }",
        ],
    }
    "160" NumbersStayAway in HQ, seen EXPLORED_EDIT {
        what: "The last owner finds a waiter when it ends the use of the queues, and does not restore the numbers that it has cleared. Threads of these nodes cannot join, and look at the word again and again, until HQ mode ends.",
        source: "HQ, posting of November 2025: the numbers are restored",
        tests: [simulated("hq::an_end_of_hq_mode_that_fails_restores_the_number_of_each_queue")],
        edits: [
            change "hq/meta.rs": "self.queues().for_each(|queue| queue.resume(number));"
                => "self.queues().take(0).for_each(|queue| queue.resume(number));",
        ],
    }
    "161" JoinsWithoutThoseBehind in HQ, seen BY_LOOM {
        what: "A late thread joins the queue of its node as the newest waiter there, although another thread has come behind it. That one is behind the end of the queue. It waits for ever.",
        source: "HQ, posting of November 2025: the tail is the one that the repair has replaced",
        edits: [
            change "hq/queue.rs": "metadata.queue(own).join(number, newest)"
                => "metadata.queue(own).join(number, waiter.id.code())",
        ],
    }
    "162" QueueClosedOnWaiter in HQ, seen BY_LOOM {
        what: "The last owner ends the use of a queue by a store. A thread that has joined it since the owner looked is forgotten. It waits for ever, or for the word of a lock that has no such waiter.",
        source: "HQ, posting of November 2025: the use of a queue ends by a compare-exchange of number and tail",
        edits: [
            change "hq/meta.rs": "self.unit.compare_exchange(used, 0, Relaxed, Relaxed).is_ok()"
                => r"{
            let _ = used;
            self.unit.store(0, Relaxed);
            true
        }",
        ],
    }
    "163" QueueOfOwnNode in HQ, seen BY_LOOM {
        what: "A waiter that a late thread has brought to the queue of another NUMA node acts for the queue of its own node.",
        source: "HQ, posting of November 2025: the node travels along the late threads",
        edits: [remove "hq/handover.rs": "to.set_queue(me.queue());"],
    }
    "164" ForeignUnread in HQ, seen BY_LOOM {
        what: "A waiter that queued in order of arrival does not look if a late thread has brought it to the queue of a NUMA node. It takes the lock as in queued mode, and the list of queues is as it was.",
        source: "HQ, posting of November 2025: a waiter that was brought takes the lock as those in HQ mode",
        edits: [
            change "hq/handover.rs": "waiter.aware || Fields::<P>::of(waiter.id).is_foreign()"
                => "waiter.aware",
        ],
    }
    "165" LateThreadOverwritten in HQ, seen BY_LOOM {
        what: "A late thread reads the tail and then makes it invalid by an exchange. A thread that came in between is behind the end of the queue. It waits for ever.",
        source: "HQ, posting of November 2025: the word is repaired by a compare-exchange",
        edits: [
            change "hq/queue.rs": "self.word.compare_exchange(seen.bits(), repaired, Acquire, Relaxed)"
                => r"Ok::<u32, u32>({
                let _ = repaired;
                u32::from(self.word.swap_half1(INVALID_TAIL.bits(), Acquire))
            })",
        ],
    }
    "166" TurnsForTwo in HQ, seen EXPLORED_EDIT {
        what: "Each handoff in queued mode counts, also one back to the waiter that was in front. Two threads alone make the lock give its one queue up.",
        source: "HQ, posting of November 2025: such a handoff is not counted",
        tests: [simulated("hq::a_handoff_to_the_waiter_that_was_in_front_is_not_counted")],
        edits: [
            change "hq/handover.rs": "place != Place::Behind(next)" => "{ let _ = (place, next); true }",
        ],
    }
}
