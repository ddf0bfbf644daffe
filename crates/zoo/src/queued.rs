//! Bugs of the queued spinlocks: queue, CNA and paravirtual waiting.

use crate::bug::bugs;
use crate::locks::*;
use crate::seen::*;

bugs! {
    "9" LinkBeforeInit in QUEUED, seen MEMORY {
        what: "A waiter links itself behind another waiter before the initialisation of its node is visible. The exchange of the tail and the store of the link order nothing.",
        source: "Linux qspinlock, 2018 (95bcade33a8a)",
        edits: [
            relax "qspinlock/queue.rs": "word.swap_half1(id.code().bits(), AcqRel)",
            relax "qspinlock/queue.rs": "node::<P>(prev).next.store(link_to(id), Release)",
        ],
    }
    "27" HaltUnordered in SLEEPING, seen BY_LOOM {
        what: "A waiter says that it sleeps and looks at its grant with no full barrier in between (store buffering). The granter does not see it sleep, the waiter does not see the grant, and the wake-up is lost.",
        source: "Linux futex, 2014 (76835b0ebf8a)",
        edits: [remove "qspinlock/pv/wait.rs": "P::full_barrier(&me.state);"],
    }
    "28" KickUnordered in SLEEPING, seen BY_LOOM {
        what: "There is no full barrier between the grant and the check whether the waiter sleeps. This is the other side of bug 27.",
        source: "Xen paravirtual spinlock, about 2009 (2496afbf1e50)",
        edits: [remove "qspinlock/pv/mod.rs": "P::full_barrier(&granted.state);"],
    }
    "29" HeadSaysHalted in SAYING_STATE, seen ASLEEP {
        what: "The head of the queue says before it sleeps that it sleeps, but not that it has an entry in the hash. The owner that has just granted it enters it a second time. One of the entries stays, and a later owner kicks the thread that it names.",
        source: "pvqspinlock, 2016 (229ce6315747)",
        edits: [
            change "qspinlock/pv/wait.rs": "me.state.store(HASHED, Relaxed);"
                => "me.state.store(HALTED, Relaxed);",
            change "qspinlock/pv/bounded.rs": "me.state.load(Acquire) != HASHED"
                => "me.state.load(Acquire) != super::policy::HALTED",
            change "qspinlock/pv/bounded.rs": "me.state.load(Relaxed) == HASHED"
                => "me.state.load(Relaxed) == super::policy::HALTED",
            change "qspinlock/pv/bounded.rs": "me.state.store(HASHED, Relaxed);"
                => "me.state.store(super::policy::HALTED, Relaxed);",
        ],
    }
    "30" KickForgottenUnseen in SLEEPING, seen ASLEEP {
        what: "A waiter checks whether it has to sleep, and only then prepares what it sleeps on. A kick in between is forgotten.",
        source: "Xen PVHVM, 2013 (1fb3a8b2cfb2)",
        edits: [
            change "qspinlock/pv/wait.rs": r"forget_kick(me);
    if !must_sleep() {
        return;
    }"
                => r"if !must_sleep() {
        return;
    }
    forget_kick(me);",
        ],
    }
    "31a" CutUnpublished in SETTING_ASIDE, seen MEMORY {
        what: "The head cuts the circle of those set aside and publishes its end without a release. The cut may overwrite the link of a newly arriving thread.",
        source: CNA_VERIFIED,
        edits: [relax "qspinlock/succession.rs": "word.compare_exchange(seen.bits(), left, Release, Relaxed)"],
    }
    "31b" ScanUnordered in CNA_LOOKING_TWICE, seen MEMORY {
        what: "The head scans the queue without acquiring the links. It may read a waiter's NUMA node, or grant it the lock, as it was before the waiter initialised its queue node.",
        source: CNA_VERIFIED,
        edits: [relax "qspinlock/cna/v10.rs": "node::<P>(last).next.load(Ordering::Acquire)"],
    }
    "31c" NeighbourUnordered in CNA_LOOKING_AT_NEIGHBOURS, seen MEMORY {
        what: "The head looks at its neighbour without acquiring the link. This is bug 31b where the head looks at one neighbour at a time.",
        source: CNA_VERIFIED,
        edits: [relax "qspinlock/cna/v11_to_v15.rs": "linked(me.next.load(Acquire))"],
    }
    "31d" BehindUnordered in CNA_LOOKING_AT_NEIGHBOURS, seen MEMORY {
        what: "The head looks at the waiter behind its neighbour without acquiring the link. This is bug 31c, one waiter further.",
        source: CNA_VERIFIED,
        edits: [relax "qspinlock/cna/v11_to_v15.rs": "node::<P>(next).next.load(Acquire)"],
    }
    "32a" NeverDue in CNA, seen LATE {
        what: "The threshold is never reached. Waiters that were set aside wait as long as the preferred NUMA node has any waiter.",
        source: CNA_REVIEWED,
        edits: [
            change "qspinlock/cna/threshold.rs":
                "me.intra_count.load(Relaxed) >= handoffs_max(log2, &P::tunable)"
                => "false",
            change "qspinlock/cna/threshold.rs":
                "now_ns.saturating_sub(since_ns) > set_ns.unwrap_or(ns)"
                => "false && set_ns.unwrap_or(ns) > 0",
        ],
    }
    "32b" ScanUnlimited in &["cna-v10_limited"], seen LATE {
        what: "The head scans the whole queue after it has seen the lock free, when it could run its critical section.",
        source: CNA_REVIEWED,
        edits: [
            change "qspinlock/cna/v10.rs": "waiters_per_node.saturating_mul(P::numa_nodes())"
                => "waiters_per_node.saturating_mul(u32::MAX)",
        ],
    }
    "120" FreeLockScanned in &["cna-v10_limited"], seen LATE {
        what: "The head scans the whole queue before it waits for the lock, although the lock may be free already.",
        source: CNA_REVIEWED,
        edits: [
            change "qspinlock/cna/v10.rs": "!matches!(R::SCAN, Scan::Once { .. })" => "true",
        ],
    }
    "190" ListsForgotten in TWO_LEVEL, seen BY_LOOM {
        what: "The head takes the lock from the end of the queue and grants the first list, but not the other ones with it. Their waiters wait for ever.",
        source: "design: all lists go with the head",
        edits: [change "qspinlock/two_level.rs": "Alone::Granted(first_of_list::<P>(first))" => "Alone::Granted(Grant::plain(first))"],
    }
    "191" LastNotMoved in TWO_LEVEL, seen EXPLORED {
        what: "A waiter is appended to a list whose first waiter still names the one before as the last. The next one that is appended takes its place, and it is forgotten.",
        source: "design: who appends moves the end",
        edits: [remove "qspinlock/two_level.rs": "first_node.prev.store(link_to(id), Relaxed);"],
    }
    "192" ListTwice in TWO_LEVEL, seen SOON {
        what: "A list is put in front of the queue and stays among those that are set aside. Its waiters are granted twice.",
        source: "design: a waiter is in one list",
        edits: [change "qspinlock/two_level.rs": "list_behind::<P>(to)" => "list_behind::<P>(to).or(Some(first))"],
    }
    "193" TurnNeverOver in TWO_LEVEL, seen LATE {
        what: "The threshold is never reached. Lists wait as long as another NUMA node has any waiter.",
        source: CNA_REVIEWED,
        edits: [change "qspinlock/two_level.rs": "me.intra_count.load(Relaxed) >= handoffs_max(P::tunable)" => "false"],
    }
    "195" SortedUnordered in TWO_LEVEL, seen MEMORY {
        what: "The head looks at the next waiter without acquiring the link. It may read a waiter's NUMA node as it was before the waiter initialised its queue node.",
        source: CNA_VERIFIED,
        edits: [relax "qspinlock/two_level.rs": "linked(me.next.load(Acquire))"],
    }
    "197" SortedBehindUnordered in TWO_LEVEL, seen MEMORY {
        what: "The head sets the next waiter aside and goes on with the one behind it without having acquired its link. This is bug 195, one waiter further.",
        source: CNA_VERIFIED,
        edits: [relax "qspinlock/two_level.rs": "node::<P>(waiter).next.load(Acquire)"],
    }
    "196" CircleLeftOpen in SETTING_ASIDE, seen BY_LOOM {
        what: "The head cuts the circle of those set aside, finds that a thread has joined, and does not close it again. The first waiter of the circle is forgotten.",
        source: "design: a head that fails leaves the queues as they were",
        edits: [remove "qspinlock/succession.rs": "last_node.next.store(first, Relaxed);"],
    }
    "47" GrantChosenEarly in CNA_LOOKING_TWICE, seen SOON {
        what: "The head chooses the waiter to grant and then reorders the queues. This waiter may be in the secondary queue by then, and the next one is forgotten.",
        source: "design: a grant is chosen after the last reordering",
        edits: [
            remove "qspinlock/cna/v10.rs": "turn.search_on::<P, R>(me);",
            change "qspinlock/cna/v10.rs": "behind(me)"
                => r"{
            let early = behind(me);
            turn.search_on::<P, R>(me);
            early
        }",
        ],
    }
    "48" GrantForgotten in CNA, seen SOON {
        what: "The head takes the lock from the end of the primary queue and forgets to grant the head of the secondary queue, which waits for ever.",
        source: "design: every grant goes through one place",
        edits: [change "qspinlock/queue.rs": "return self.deliver(grant)" => "return"],
    }
    "49" PendingTakenForQueued in QUEUED, seen BY_LOOM {
        what: "The head cannot leave alone because a thread has just set the pending bit, and takes this for a sign that a thread queues behind it. With no queue node left, that thread takes its bit back and competes for the word. The head, now the owner, waits for a link that no thread writes.",
        source: "our own finding, from the rules of the kernel's slow path",
        edits: [
            change "qspinlock/queue.rs": "seen = W::wait_for_lock(&self.word, (id, me), false, || false);" => "break;",
        ],
    }
    "50" KickComputedEarly in SLEEPING_CNA, seen BY_LOOM {
        what: "The owner reads from its link which waiter to kick and then reorders the queues. It kicks another waiter than it grants, and the granted one sleeps for ever.",
        source: "design: the succession returns the waiter that it grants",
        edits: [
            change "qspinlock/queue.rs": "self.deliver(S::choose(id, me, turn));"
                => r"let next = me.next.load(Relaxed);
        make_head::<P>(S::choose(id, me, turn));
        W::kick(&self.word, crate::queue::named(next));",
        ],
    }
    "51" KickForgotten in SLEEPING_CNA, seen BY_LOOM {
        what: "The owner takes the lock from the end of the primary queue, grants the head of the secondary queue and does not kick it.",
        source: "design: every grant is kicked",
        edits: [change "qspinlock/queue.rs": "return self.deliver(grant)" => "return make_head::<P>(grant)"],
    }
    "53" PrevTrusted in SLEEPING_EARLY, seen BY_LOOM {
        what: "A waiter sees that its predecessor does not run, concludes that it cannot have been granted the lock, and sleeps without another look. The predecessor may have granted it the lock before, and wait again, for this lock or another one.",
        source: "design: the predecessor's node is a hint",
        edits: [
            change "qspinlock/pv/wait.rs": "me.locked.load(Relaxed) == 0" => "is_early || me.locked.load(Relaxed) == 0",
        ],
    }
    "54" SlowTakenForHeld in SELDOM_SLEEPING, seen ASLEEP {
        what: "The head of the queue wakes up spuriously, marks the lock word as slow and finds that it is marked already. It takes this for an owner that will kick it. But that owner has taken out the head's last entry and is about to overwrite the mark, so the wake-up is lost.",
        source: "our own finding, by the Promela model",
        edits: [
            change "qspinlock/pv/bounded.rs": "word.swap_byte0(word::SLOW, AcqRel)"
                => r"match word.swap_byte0(word::SLOW, AcqRel) {
        word::SLOW => word::LOCKED,
        was => was,
    }",
        ],
    }
    "140" GrantLost in TIMED_SPIN, seen BY_LOOM {
        what: "A waiter whose time is over says by a store that it has left. It overwrites a grant that has come in between, and the queue has no head any more.",
        source: "design: a waiter leaves by an exchange that fails if it was granted",
        edits: [
            change "qspinlock/timed.rs": "me.locked.compare_exchange(0, LEFT, Relaxed, Acquire).err()"
                => r"{
        me.locked.store(LEFT, Relaxed);
        None
    }",
        ],
    }
    "141" NodeNotLeft in TIMED_SPIN, seen BY_LOOM {
        what: "A waiter whose time is over releases its queue node, which is still in the queue. The thread that grants the node releases it a second time, or grants another use of it.",
        source: "design: a node that is left in a queue belongs to the thread that grants it",
        edits: [
            change "qspinlock/timed.rs": "P::leave_node(id);"
                => r"// SAFETY: a bug.
                unsafe { P::release_node(id) };",
        ],
    }
    "142" LeftTakenForHead in TIMED_SPIN, seen BY_LOOM {
        what: "The granter does not look whether the waiter that it grants has left. The waiters behind that one wait for ever.",
        source: "design: a waiter that may leave is granted by an exchange",
        edits: [
            change "qspinlock/timed.rs": "to.locked.compare_exchange(0, grant.value, Release, Relaxed).is_ok()"
                => "to.locked.swap(grant.value, Release) <= LEFT",
        ],
    }
    "143" TailCleared in RESILIENT, seen BY_LOOM {
        what: "The head of the queue gives up and clears the tail, although other waiters are behind it. They wait for ever, and the queue that forms meanwhile has a head of its own.",
        source: "design: a queue dissolves in order, from its head to its end",
        edits: [
            change "qspinlock/timed.rs": "seen = now"
                => r"{
                    crate::platform::LockWordOps::swap_half1(&self.word, 0, Relaxed);
                    return None;
                }",
        ],
    }
    "144" TopTakenForHeld in RESILIENT, seen BY_LOOM {
        what: "The search for deadlocks takes the topmost entry of a table, the lock for which its thread waits, for a lock that the thread holds. A thread that waits for a lock is told that it holds it.",
        source: "design: a thread holds what is below the top of its table",
        edits: [
            change "held.rs": "self.counted().split_last().map_or(&[][..], |(_, below)| below)" => "self.counted()",
        ],
    }
    "145" NotPopped in RESILIENT, seen BY_LOOM {
        what: "A waiter that gives up leaves the lock in its table. It is told later that it holds the lock.",
        source: "design: a table names what its thread holds or waits for",
        edits: [change "qspinlock/resilient/mod.rs": "held.pop(self.name())" => "{ _ = held; }"],
    }
    "146" PoppedLate in RESILIENT, seen BY_LOOM {
        what: "An owner releases the lock before it clears the entry in its table. The next owner finds there that the last one waits for the lock, and takes that for a deadlock.",
        source: "design: the entry is cleared before the lock is released",
        edits: [
            change "qspinlock/resilient/mod.rs": "!F::COVERS_LOCK && held.is_some_and(|held| held.clear_last(lock))"
                => "false",
        ],
    }
    "170" DeadlockOfOneSide in RESILIENT, seen EXPLORED_EDIT {
        what: "The search for deadlocks takes a thread that waits for a lock of the caller, without a look whether it holds the lock for which the caller waits. The caller is told of a deadlock that there is not.",
        source: "design: both threads hold what the other one waits for",
        tests: [RANDOM_PROGRAMS],
        edits: [
            remove "qspinlock/resilient/watch.rs": r"if !table.holds_below_top(self.name) {
                continue;
            }",
        ],
    }
    "171" NoSearch in RESILIENT, seen EXPLORED_EDIT {
        what: "A waiter does not search for deadlocks. Two threads that wait for each other are told after 250 ms that the time is over.",
        source: "design: a waiter looks for a deadlock every millisecond",
        tests: [RANDOM_PROGRAMS],
        edits: [change "qspinlock/resilient/watch.rs": "self.search(is_over)" => "{ let _ = is_over; Ok(()) }"],
    }
}
