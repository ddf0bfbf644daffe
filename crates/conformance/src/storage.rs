//! Laws D, K and M: the storage of the table of sleepers, that of the lock hash, and that of metadata.

use super::note::{Note, alone};
use crate::platform::{CommonPlatform, Threads};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright::percpu_rwlock::ReaderPlatform;
use lockwright_core::park::ParkPlatform;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_linux::hq::HqPlatform;
use lockwright_linux::qspinlock::resilient::HolderPlatform;

pub fn buckets_marks_and_waiters_are_distinct_and_zero<P: ParkPlatform, T: Threads>(threads: &T) {
    alone(threads, (), |()| {
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
    });
}

pub fn entries_and_queues_of_metadata_are_distinct_and_free<P: HqPlatform, T: Threads>(
    threads: &T,
) {
    alone(threads, (), |()| {
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
    });
}

/// Two threads find something of their own, of which `find` returns the address; 0 if there is none. Both exist until
/// both have theirs.
pub(super) struct Own<P: Cells> {
    find: fn() -> u64,
    found: [Note; 2],
    has_looked: [P::U32; 2],
}

impl<P: CommonPlatform> Own<P> {
    pub(super) fn check<T: Threads>(threads: &T, find: fn() -> u64) {
        let has_looked = [P::U32::zeroed(), P::U32::zeroed()];
        let bodies: [fn(&Self); 2] = [|own| own.body(0), |own| own.body(1)];
        threads.run(Self { find, found: Default::default(), has_looked }, &bodies, |own| {
            let [one, other] = [own.found[0].read(), own.found[1].read()];
            assert!(one == 0 || one != other, "two threads have the same");
        });
    }
    fn body(&self, me: usize) {
        self.found[me].write((self.find)());
        self.has_looked[me].store(1, Release);
        self.has_looked[1 - me].cond_load(Acquire, |has_looked| has_looked == 1);
        assert_eq!((self.find)(), self.found[me].read(), "a thread has another one than before");
    }
}

pub fn a_thread_has_a_slot_of_its_own_that_is_empty<P: ReaderPlatform, T: Threads>(threads: &T) {
    Own::<P>::check(threads, || {
        let slot = P::reader_slot().expect("a slot, D4");
        // SAFETY: by the contract of `ReaderSlots` it lives as long as the machine.
        assert!(unsafe { slot.as_ref() }.is_empty(), "no lock was used");
        assert!((0..P::reader_slots()).any(|at| P::reader_slot_at(at) == slot), "not counted");
        slot.addr().get() as u64
    });
}

pub fn a_thread_has_a_table_of_its_own_that_is_empty<P: HolderPlatform, T: Threads>(threads: &T) {
    Own::<P>::check(threads, || {
        let Some(table) = P::held_table() else { return 0 };
        // SAFETY: by the contract of `HeldLocks` it lives as long as the machine.
        assert_eq!(unsafe { table.as_ref() }.count(), 0, "no lock was used");
        let is_it = |at| P::held_table_at(at) == Some(table);
        assert!((0..P::held_tables()).any(is_it), "not counted");
        table.addr().get() as u64
    });
}

pub fn a_thread_has_a_list_of_its_own<P: ParkPlatform, T: Threads>(threads: &T) {
    Own::<P>::check(threads, || P::read_list().map_or(0, |list| list.addr().get() as u64));
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

pub fn cells_of_the_hash_are_distinct_and_zero<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, (), |()| {
        let slots = P::hash_slots();
        assert!(slots >= 8, "a lock hash of {slots} cells");
        let (first, last) = (P::hash_slot(0), P::hash_slot(slots - 1));
        assert_ne!(first, last);
        for cell in [first, last] {
            assert_eq!(P::hash_slot(if cell == first { 0 } else { slots - 1 }), cell);
            // SAFETY: by the contract of `LockHash` the cell lives as long as the machine.
            let cell = unsafe { cell.as_ref() };
            assert_eq!(cell.load(Relaxed), 0, "no lock was used");
        }
    });
}

pub fn locks_have_names_of_their_own<P: CommonPlatform, T: Threads>(threads: &T) {
    fn body<P: CommonPlatform>(words: &[P::Word; 3]) {
        let names = words.each_ref().map(|word| P::lock_name(core::ptr::from_ref(word).cast()));
        assert!(names.iter().all(|name| (1..1 << 48).contains(name)), "names {names:x?}");
        assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2]);
        assert_eq!(
            names,
            words.each_ref().map(|word| P::lock_name(core::ptr::from_ref(word).cast()))
        );
    }
    let words: [P::Word; 3] = core::array::from_fn(|_| Zeroed::zeroed());
    alone(threads, words, body::<P>);
}
