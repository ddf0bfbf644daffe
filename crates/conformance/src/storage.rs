//! Laws D and M: the storage of the table of sleepers, and that of metadata.

use super::note::{Note, nothing_more};
use crate::threads::Threads;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright::percpu_rwlock::ReaderPlatform;
use lockwright_core::park::ParkPlatform;
use lockwright_core::platform::{Atomic, Zeroed};
use lockwright_linux::hq::HqPlatform;
use lockwright_linux::qspinlock::resilient::HolderPlatform;

pub fn buckets_marks_and_waiters_are_distinct_and_zero<P: ParkPlatform, T: Threads>(threads: &T) {
    fn body<P: ParkPlatform>() {
        let buckets = P::sleep_buckets();
        assert!(buckets.is_power_of_two(), "{buckets} buckets");
        let last = buckets - 1;
        for at in [0, last] {
            assert_eq!(P::sleep_bucket(at), P::sleep_bucket(at));
            // SAFETY: by the contract of `SleepStorage` it lives as long as the machine.
            let bucket = unsafe { P::sleep_bucket(at).as_ref() };
            // SAFETY: this is the only thread.
            assert!(unsafe { bucket.is_empty() }, "no lock was used");
            // SAFETY: as above.
            assert_eq!(unsafe { P::sleep_mark(at).as_ref() }.load(Relaxed), 0, "no lock was used");
        }
        let is_one = last == 0;
        assert_eq!(P::sleep_bucket(0) == P::sleep_bucket(last), is_one);
        assert_eq!(P::sleep_mark(0) == P::sleep_mark(last), is_one);
        let ids = [P::claim_node(), P::claim_node()].map(|id| id.expect("two nodes, N1"));
        assert_ne!(P::waiter(ids[0]), P::waiter(ids[1]));
        assert_eq!(P::waiter(ids[0]), P::waiter(ids[0]));
        for id in ids {
            // SAFETY: claimed above and shown to no thread.
            unsafe { P::release_node(id) };
        }
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}

pub fn entries_and_queues_of_metadata_are_distinct_and_free<P: HqPlatform, T: Threads>(
    threads: &T,
) {
    fn body<P: HqPlatform>() {
        let (entries, queues) = (P::metadata_entries(), P::metadata_queues());
        assert!(entries.is_power_of_two(), "{entries} entries");
        assert!((1..=255).contains(&queues), "{queues} queues");
        let corners = [(0, 0), (0, queues - 1), (entries - 1, 0), (entries - 1, queues - 1)];
        for (at, (entry, queue)) in corners.into_iter().enumerate() {
            let place = P::metadata_queue(entry, queue);
            // SAFETY: by the contract of `MetadataPool` it lives as long as the machine.
            assert!(unsafe { place.as_ref() }.is_empty(), "no lock was used");
            // SAFETY: as above.
            assert!(unsafe { P::metadata_entry(entry).as_ref() }.is_free(), "no lock was used");
            for other in &corners[..at] {
                let is_same = *other == (entry, queue);
                assert_eq!(P::metadata_queue(other.0, other.1) == place, is_same);
                let is_same = other.0 == entry;
                assert_eq!(P::metadata_entry(other.0) == P::metadata_entry(entry), is_same);
            }
        }
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}

pub fn a_thread_has_a_slot_of_its_own_that_is_empty<P: ReaderPlatform, T: Threads>(threads: &T) {
    /// Where the slots are, and cells by which both threads exist until both have theirs.
    struct State<P: ReaderPlatform>([Note; 2], [P::U32; 2]);
    fn body<P: ReaderPlatform>(State(found, has_slot): &State<P>, me: usize) {
        let slot = P::reader_slot().expect("a slot, D4");
        assert_eq!(P::reader_slot(), Some(slot));
        // SAFETY: by the contract of `ReaderSlots` it lives as long as the machine.
        assert!(unsafe { slot.as_ref() }.is_empty(), "no lock was used");
        found[me].write(slot.addr().get() as u64);
        has_slot[me].store(1, Release);
        has_slot[1 - me].cond_load(Acquire, |has_slot| has_slot == 1);
        assert!((0..P::reader_slots()).any(|at| P::reader_slot_at(at) == slot), "not counted");
    }
    let bodies: [fn(&State<P>); 2] = [|state| body(state, 0), |state| body(state, 1)];
    let cells = [P::U32::zeroed(), P::U32::zeroed()];
    threads.run(State(Default::default(), cells), &bodies, |State(found, _)| {
        assert_ne!(found[0].read(), found[1].read(), "two threads have one slot");
    });
}

pub fn a_thread_has_a_table_of_its_own_that_is_empty<P: HolderPlatform, T: Threads>(threads: &T) {
    /// Where the tables are, and cells by which both threads exist until both have theirs.
    struct State<P: HolderPlatform>([Note; 2], [P::U32; 2]);
    fn body<P: HolderPlatform>(State(found, has_table): &State<P>, me: usize) {
        let table = P::held_table();
        assert_eq!(P::held_table(), table);
        has_table[me].store(1, Release);
        has_table[1 - me].cond_load(Acquire, |has_table| has_table == 1);
        let Some(table) = table else { return };
        // SAFETY: by the contract of `HeldLocks` it lives as long as the machine.
        assert_eq!(unsafe { table.as_ref() }.count(), 0, "no lock was used");
        found[me].write(table.addr().get() as u64);
        let is_it = |at| P::held_table_at(at) == Some(table);
        assert!((0..P::held_tables()).any(is_it), "not counted");
    }
    let bodies: [fn(&State<P>); 2] = [|state| body(state, 0), |state| body(state, 1)];
    let cells = [P::U32::zeroed(), P::U32::zeroed()];
    threads.run(State(Default::default(), cells), &bodies, |State(found, _)| {
        let [one, other] = [found[0].read(), found[1].read()];
        assert!(one == 0 || one != other, "two threads have one table");
    });
}

pub fn a_thread_has_a_list_of_its_own<P: ParkPlatform, T: Threads>(threads: &T) {
    /// Where the lists are, and cells by which both threads exist until both have theirs.
    struct State<P: ParkPlatform>([Note; 2], [P::U32; 2]);
    fn body<P: ParkPlatform>(State(found, has_list): &State<P>, me: usize) {
        let list = P::read_list();
        assert_eq!(P::read_list(), list);
        has_list[me].store(1, Release);
        has_list[1 - me].cond_load(Acquire, |has_list| has_list == 1);
        let Some(list) = list else { return };
        found[me].write(list.addr().get() as u64);
    }
    let bodies: [fn(&State<P>); 2] = [|state| body(state, 0), |state| body(state, 1)];
    let cells = [P::U32::zeroed(), P::U32::zeroed()];
    threads.run(State(Default::default(), cells), &bodies, |State(found, _)| {
        let [one, other] = [found[0].read(), found[1].read()];
        assert!(one == 0 || one != other, "two threads have one list");
    });
}

pub fn no_two_locks_get_the_same_number<P: ReaderPlatform, T: Threads>(threads: &T) {
    fn body<P: ReaderPlatform>(found: &[Note; 4], me: usize) {
        for note in &found[2 * me..2 * me + 2] {
            note.write(P::lock_number());
        }
    }
    let bodies: [fn(&[Note; 4]); 2] = [|found| body::<P>(found, 0), |found| body::<P>(found, 1)];
    threads.run(<[Note; 4]>::default(), &bodies, |found| {
        let numbers = found.each_ref().map(Note::read);
        assert!(numbers.iter().all(|number| (1..1 << 63).contains(number)), "{numbers:?}");
        let is_new = |at: usize| !numbers[..at].contains(&numbers[at]);
        assert!((0..numbers.len()).all(is_new), "two locks have one number");
    });
}
