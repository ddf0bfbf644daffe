//! Bugs that show on the real machine, under tests of the locks there, and some in explored schedules of clients.

use crate::bug::{Test, bugs};
use crate::locks::RESILIENT_IN_PROGRAMS;
use crate::seen::{Checker, EDIT, EXPLORED_EDIT, NATIVE_EDIT};

const OURS: &str = "this project, until November 2026";

/// A test of the locks on the real machine.
const fn native(name: &'static str) -> Test {
    Test {
        package: "lockwright-catalog",
        program: &["--test", "it"],
        name,
        checker: Checker::Native,
    }
}
/// One that explores simulated schedules of clients.
const fn explored(program: &'static [&'static str], name: &'static str) -> Test {
    Test { package: "lockwright-clients", program, name, checker: Checker::Explored }
}
const SIM: &[&str] = &["--test", "sim"];
const GUARDS: Test =
    explored(SIM, "a_lock_holds_whoever_gives_it_back_and_in_whatever_order_or_never");
const LIMITS: Test = explored(SIM, "a_lock_holds_at_its_limits");
const DISTURBED: Test = explored(
    &["--test", "explored"],
    "locks_hold_where_signals_interrupt_their_threads_and_in_forked_children",
);

const PRIORITIES: Test =
    explored(&["--test", "explored"], "locks_hold_where_a_thread_that_is_woken_runs_at_once");

const BEHIND_A_READER: Test = Test {
    package: "lockwright-sim",
    program: &["--test", "it"],
    name: "rwlock::a_writer_behind_a_reader_keeps_the_door_closed",
    checker: Checker::Explored,
};

const WITHOUT_END: Test = Test {
    package: "lockwright-sim",
    program: &["--test", "it"],
    name: "rwlock::a_writer_next_to_readers_without_end_waits_for_one_section_and_ten_milliseconds",
    checker: Checker::Explored,
};

bugs! {
    "80" AddressReused in &["percpu-rwlock"], seen EDIT {
        what: "Slots name a lock by its address, so the entry of a forgotten guard is taken for the next lock at this address.",
        source: OURS,
        tests: [
            native("reuse::a_read_guard_that_was_forgotten_opens_no_later_lock_at_its_address_and_keeps_nobody_out_of_it"),
            GUARDS,
        ],
        edits: [
            change "percpu_rwlock/mod.rs": "P::lock_number() << 1" => "(core::ptr::from_ref(self).addr() as u64) << 1",
        ],
    }
    "81" DepthWraps in &["percpu-rwlock"], seen EDIT {
        what: "The depth of a thread that reads again and again wraps around in 16 bits, and a writer gets the lock while there are readers.",
        source: OURS,
        tests: [native("reuse::a_thread_may_hold_more_read_guards_than_sixteen_bits_count"), LIMITS],
        edits: [
            change "readers/slot.rs": "depth < P::DEPTH_MAX" => "depth < u32::MAX",
            change "readers/slot.rs": "self.set_depth(at, self.depth(at) + 1)"
                => "self.set_depth(at, (self.depth(at) + 1) & P::DEPTH_MAX.saturating_add(1).min(0xffff))",
        ],
    }
    "83" EntryUnconfirmed in &["percpu-rwlock"], seen EDIT {
        what: "A reader believes an entry of its slot before its thread has looked at the mode, so a signal handler in between reads while there is a writer.",
        source: OURS,
        tests: [native("reuse::a_handler_does_not_trust_an_entry_that_its_thread_has_not_confirmed"), DISTURBED],
        edits: [
            change "readers/slot.rs": "entry.load(Relaxed) == name | CONFIRMED"
                => "entry.load(Relaxed) & !CONFIRMED == name",
        ],
    }
    "84" TimeoutIgnored in &["mutex"], seen EDIT {
        what: "A timed wait for a condition variable says that it was notified, even after its time-out.",
        source: OURS,
        tests: [native("limits::a_timed_wait_without_a_queue_node_times_out"), LIMITS],
        edits: [change "condvar.rs": "waiting.ended(false)" => "waiting.ended(true)"],
    }
    "85" GoneWaitersHeeded in &["rwlock-fair"], seen NATIVE_EDIT {
        what: "An attempt in a forked child respects waiters that do not exist there, and never gets a free lock.",
        source: OURS,
        tests: [native("children::an_attempt_in_a_forked_child_gets_a_free_reader_writer_lock")],
        edits: [change "rwlock/mod.rs": "self.shared().forget_the_gone()" => "false"],
    }
    "86" ParentSlotsUnseen in &["percpu-rwlock"], seen EDIT {
        what: "In a child that was made without the fork handlers, writers do not look at the slots of the parent, in which the child reads.",
        source: OURS,
        tests: [native("children::a_writer_in_a_child_sees_who_reads_in_a_slot"), DISTURBED],
        edits: [change "readers/claims.rs": "process.life().load(Relaxed)" => "u64::from(process.epoch()) << 32"],
    }
    "87" BarrierRefused in &["mutex", "percpu-rwlock"], seen NATIVE_EDIT {
        what: "A heavy barrier that a system call filter refuses ends the process, although another barrier would do.",
        source: OURS,
        tests: [native("limits::locks_go_on_where_membarrier_is_refused_after_prepare")],
        edits: [change "native/barrier.rs": "!visit_all_cpus()" => "true"],
    }
    "100" ReservedByNoWaiter in &["rwlock", "rwlock-fair"], seen EXPLORED_EDIT {
        what: "A reader becomes the writer without a queue node. It has reserved the lock meanwhile, and no thread in the table ends that: the lock is free, and no thread may take it.",
        source: OURS,
        tests: [LIMITS],
        edits: [
            remove "rwlock/wait.rs": r"if kind == LockMode::Upgrader {
                // It has reserved the lock, and is not in the table, where it would end that when it leaves.
                self.shared().forget_the_gone();
            }",
        ],
    }
    "101" NumberUsedAgain in &["mutex"], seen NATIVE_EDIT {
        what: "A thread has the number of one that has ended, since its stack is where that of the other one was. It gets a reentrant lock that the other one still holds.",
        source: OURS,
        tests: [native("reentrant::the_lock_of_a_thread_that_ended_with_it_stays_locked")],
        edits: [
            change "native/thread_number.rs": "DRAWN.fetch_add(1, Relaxed).wrapping_mul(APART)"
                => "(&raw const place).addr() as u64 & !0xffff",
        ],
    }
    "79" BucketSpunFor in &["mutex", "rwlock"], seen EXPLORED_EDIT {
        what: "A thread that finds a bucket of the table of sleepers in use spins until it is free. If it goes before the thread that uses it, it spins for ever.",
        source: OURS,
        tests: [PRIORITIES],
        edits: [remove "park/bucket.rs": "P::futex_wait(&self.lock, awaited, None);"],
    }
    "102" SlotShared in &["percpu-rwlock"], seen EDIT {
        what: "A thread of a forked child asks the kernel for the owner of a slot by a number that means nothing there, and shares the slot with a living thread.",
        source: OURS,
        tests: [
            native("fresh::a_child_without_a_handler_leaves_its_first_thread_its_slot"),
            DISTURBED,
        ],
        edits: [change "readers/claims.rs": "epoch_of(owner) != epoch_of(me)" => "false"],
    }
    "103" FirstForkUnknown in &["percpu-rwlock"], seen EXPLORED_EDIT {
        what: "A slot is claimed before any thread has asked for the fork epoch. The child does not know that it is one, and waits for readers of its parent.",
        source: OURS,
        tests: [DISTURBED],
        edits: [
            change "readers/claims.rs": "u64::from(process.epoch()) + 1" => "1",
            change "readers/claims.rs": "u64::from(process.epoch()) << 32 | u64::from(process.thread_number())"
                => "u64::from(process.thread_number())",
            remove "readers/claims.rs": r"// For `begin_life`.
    process.epoch();",
        ],
    }
    "104" FreeAndRefused in &["mutex"], seen NATIVE_EDIT {
        what: "An attempt does not take a lock that no thread holds, because it is reserved for one that was woken.",
        source: OURS,
        tests: [native("results::attempts_on_a_mutex_have_the_results_of_the_table")],
        edits: [change "mutex/mod.rs": "said & (HELD | GIVEN) != 0" => "said & (HELD | KEPT) != 0"],
    }
    "105" FreeAndRefusedToReaders in &["rwlock", "rwlock-fair", "percpu-rwlock"], seen NATIVE_EDIT {
        what: "An attempt does not take a lock that is reserved, and does not join readers where only readers wait.",
        source: OURS,
        tests: [native("results::attempts_on_a_reader_writer_lock_have_the_results_of_the_table")],
        edits: [
            change "rwlock/mod.rs": "self.take_unless_reserved(kind) || self.attempt_kept(kind)"
                => "self.take_unless_reserved(kind)",
        ],
    }
    "106" FaultsBlocked in &["rwlock", "rwlock-fair", "semaphore"], seen NATIVE_EDIT {
        what: "The signals of faults are blocked while a thread changes the word of a lock, which may lie in memory that its program protects. The kernel ends the process.",
        source: OURS,
        tests: [native("faults::a_handler_mends_a_fault_that_a_waiter_of_the_table_makes")],
        edits: [
            change "native/syscall.rs": "set_signals(SIG_BLOCK, WAITING, &raw mut before.0)"
                => "set_signals(SIG_BLOCK, u64::MAX, &raw mut before.0)",
        ],
    }
    "107" ReadersUncounted in &["rwlock", "rwlock-fair", "percpu-rwlock"], seen NATIVE_EDIT {
        what: "A reader that can no longer be counted waits until another reader leaves, which may be the caller.",
        source: OURS,
        tests: [native("limits::a_reader_that_cannot_be_counted_does_not_wait")],
        edits: [
            remove "rwlock/wait.rs": r"if kind.is_shared() && self.is_full() {
            return false;
        }",
        ],
    }
    "108" SlotSoughtForEver in &["percpu-rwlock"], seen NATIVE_EDIT {
        what: "A thread without a slot asks the kernel for its number in each read.",
        source: OURS,
        tests: [native("quiet::a_thread_without_a_slot_reads_without_a_system_call_and_its_child_has_a_slot")],
        edits: [change "readers/claims.rs": "process.found_none() == as_found" => "false"],
    }
    "109" SleepersForgotten in &["rwlock", "rwlock-fair", "percpu-rwlock"], seen NATIVE_EDIT {
        what: "A forked child keeps what the word says of a waiter of its parent, and each release looks for that waiter.",
        source: OURS,
        tests: [native("quiet::a_child_forgets_that_a_writer_of_its_parent_slept")],
        edits: [
            remove "rwlock/mod.rs": r"if P::has_forked() {
            let shared = self.shared();
            shared.forget_the_gone();
        }",
            remove "rwlock/wait.rs": "self.begin_to_wait();",
        ],
    }
    "182" DoorNeverClosed in &["rwlock"], seen EXPLORED_EDIT {
        what: "A writer that sleeps waits for a release that leaves the lock free. Readers whose sections overlap keep it waiting for ever.",
        source: "this lock, until 2026; golang 76808, async-std 705",
        tests: [WITHOUT_END],
        edits: [remove "rwlock/wait.rs": "shared.close_door(me.id);"],
    }
    "182b" MutexNeverReserved in &["mutex"], seen EXPLORED_EDIT {
        what: "A waiter that was woken, and finds the mutex held again, sleeps without a word. Owners that take it again at once keep the waiter out for ever.",
        source: "std Mutex, which has no bound",
        tests: [DISTURBED],
        edits: [change "mutex/wait.rs": "self.announce(bit | reserves)" => "self.announce(bit | reserves & 0)"],
    }
    "182c" PermitsForNewcomers in &["semaphore"], seen EXPLORED_EDIT {
        what: "A newcomer takes a permit although a thread waits for more permits than there are. Newcomers without end keep that thread waiting for ever.",
        source: OURS,
        tests: [DISTURBED],
        edits: [
            change "semaphore.rs": "waiters.is_empty() && available >= permits" => "available >= permits",
            change "semaphore.rs": "Self::word_of(available - permits)"
                => "Self::word_of(available - permits) | word & WAITS",
        ],
    }
    "183" UpgraderPassed in &["rwlock"], seen EXPLORED_EDIT {
        what: "A reader passes a thread that waits to upgrade, after 10 ms, because it may read already. Readers that sleep keep the other one waiting for ever.",
        source: "this lock, until 2026",
        tests: [DISTURBED],
        edits: [change "rwlock/wait.rs": "kind.is_shared() && self.reads_already() != Reads::No" => "kind.is_shared()"],
    }
    "184" DoorOpenedForTheNext in &["rwlock"], seen EXPLORED_EDIT {
        what: "A waiter in front of a writer gets the lock to read, and opens the door that the writer had closed. The writer waits for a release that does not come.",
        source: OURS,
        tests: [BEHIND_A_READER],
        edits: [change "rwlock/sleepers.rs": "is_read && has_waited_long::<P>(next)" => "false"],
    }
    "125" LostInChild in &["mutex"], seen EDIT {
        what: "In a forked child no reservation counts, because a thread of the parent may have made it. Newly arriving threads take a lock that was given to a thread of the child.",
        source: OURS,
        tests: [
            native("kept::a_mutex_that_is_given_to_a_thread_of_a_forked_child_is_for_that_thread"),
            native("kept::a_mutex_that_is_reserved_for_a_thread_of_a_forked_child_is_kept_from_newcomers"),
            DISTURBED,
        ],
        edits: [
            change "mutex/mod.rs": "said & (HELD | GIVEN) != 0"
                => "said & HELD != 0 || said & GIVEN != 0 && P::epoch() == 0",
            change "mutex/wait.rs": "said & KEPT != 0 && self.woken == WokenHow::No"
                => "said & KEPT != 0 && self.woken == WokenHow::No && P::epoch() == 0",
        ],
    }
    "126" KeptForTheGone in &["mutex"], seen NATIVE_EDIT {
        what: "A forked child believes that a lock was given to a thread that does not exist there. No thread of the child gets it.",
        source: OURS,
        tests: [native("kept::a_forked_child_takes_a_mutex_that_was_kept_for_a_thread_of_its_parent")],
        edits: [change "mutex/mod.rs": "word & !SAID != P::epoch() << LIFE_SHIFT" => "false"],
    }
    "127" GivesForEver in &["mutex"], seen NATIVE_EDIT {
        what: "A fair release begins anew whenever the waiter that it woke has given up, however often that happens. With enough waiters that have deadlines it ends only if they are slow.",
        source: OURS,
        tests: [native("fair_mutex::a_fair_release_ends_after_two_attempts_however_many_waiters_give_up")],
        edits: [change "mutex/mod.rs": "0..GIFTS_MAX" => "0..GIFTS_MAX.max(u32::MAX)"],
    }
    "128" SleepersDropped in &["mutex"], seen NATIVE_EDIT {
        what: "A fair release takes off the lock what a waiter says after the wake-up. The woken waiter need not see the count of that one, and does not say it again.",
        source: OURS,
        tests: [native("fair_mutex::a_fair_release_keeps_what_a_waiter_says_after_the_wake_up")],
        edits: [change "mutex/mod.rs": "given | SLEEPERS" => "given"],
    }
    "129" ReleasedOnTheWay in &["qspinlock", "cna"], seen NATIVE_EDIT {
        what: "An owner that passes the node of a waiter that has left releases it at once. The thread of that waiter queues again, and leaves again, before the owner has come to the next head.",
        source: OURS,
        tests: [Test {
            package: "lockwright-core",
            program: &["--lib", "--features", "std"],
            name: "qspinlock::timed::tests::a_thread_whose_node_was_passed_cannot_leave_another_one_before_there_is_a_head",
            checker: Checker::Native,
        }],
        edits: [
            change "qspinlock/timed.rs": "passed = grant.to.code();"
                => r"passed = TailCode::NONE;
            // SAFETY: a bug.
            unsafe { P::release_node(grant.to) };",
        ],
    }
    "172" ClearedEarly in RESILIENT_IN_PROGRAMS, seen EXPLORED_EDIT {
        what: "An owner clears the entry in its table before it releases the lock. A signal handler in between waits for its own thread until the time is over.",
        source: "Linux 6.15 to 6.17, where an interrupt that cannot be masked does",
        tests: [DISTURBED],
        edits: [
            change "qspinlock/resilient/mod.rs": "!F::COVERS_LOCK && held.is_some_and(|held| held.clear_last(lock))"
                => "held.is_some_and(|held| held.clear_last(lock))",
        ],
    }
}
