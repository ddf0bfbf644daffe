//! The suite that every platform has to pass: the laws of `PLATFORM.md`, as functions.
//!
//! A platform's test walks [`laws`] and calls each [`Law::check`], in as many executions as it can
//! afford: a checker explores them, the others repeat. A law gets its threads from a [`Threads`],
//! which also decides where the cells are. A platform that has not all groups of functions walks [`spin_laws`] or
//! [`park_laws`].
//!
//! The crate needs no operating system, because kernel code runs it, too.
#![no_std]
#![warn(missing_docs)]

mod barriers;
mod cells;
mod hints;
mod machine;
mod nodes;
mod note;
mod platform;
mod sleeping;
mod storage;
mod waiting;
mod word;

pub use platform::{CommonPlatform, Threads};

use lockwright::percpu_rwlock::ReaderPlatform;
use lockwright_catalog::registry::{Platform, SpinPlatform};
use lockwright_core::park::ParkPlatform;

/// One checked sentence of `PLATFORM.md`.
pub struct Law<T> {
    /// The number of the law there, for instance `C1`. Several functions may check one law.
    pub number: &'static str,
    /// What is checked.
    pub name: &'static str,
    /// Checks it once; panics if it does not hold.
    pub check: fn(&T),
}

/// All laws.
pub fn laws<P: Platform, T: Threads>() -> impl Iterator<Item = &'static Law<T>> {
    spin_laws::<P, T>().chain(of_sleepers::<P, T>()).chain(of_readers::<P, T>())
}
/// Those of a platform for locks that only spin.
pub fn spin_laws<P: SpinPlatform, T: Threads>() -> impl Iterator<Item = &'static Law<T>> {
    of_all::<P, T>().chain(of_spinners::<P, T>())
}
/// Those of a platform for locks whose waiters sleep.
pub fn park_laws<P: ParkPlatform, T: Threads>() -> impl Iterator<Item = &'static Law<T>> {
    of_all::<P, T>().chain(of_sleepers::<P, T>())
}

macro_rules! laws {
    ($($list:ident: $bound:ident { $($number:literal $module:ident::$name:ident;)+ })+) => {$(
        fn $list<P: $bound, T: Threads>() -> impl Iterator<Item = &'static Law<T>> {
            let laws: &[_] = const {
                &[$(Law {
                    number: $number,
                    name: stringify!($name),
                    check: $module::$name::<P, T>,
                },)+]
            };
            laws.iter()
        }
    )+};
}

laws! {
    of_all: CommonPlatform {
        "C1" cells::zeroed_cells_hold_zero;
        "C2" cells::a_load_returns_the_last_store;
        "C3" cells::compare_exchange_reports_the_old_value;
        "C3" cells::compare_exchange_does_not_fail_spuriously;
        "C4" cells::fetch_operations_return_the_value_before;
        "C5" cells::no_read_modify_write_is_lost;
        "C6" cells::a_release_store_publishes_to_an_acquire_load;
        "C6" cells::a_release_swap_publishes_to_an_acquire_compare_exchange;
        "C6" cells::a_read_modify_write_continues_a_release;
        "C7" cells::one_cell_never_goes_backwards;
        "C8" cells::a_guarded_field_holds_what_was_set;
        "W1" word::a_narrow_store_changes_its_part_only;
        "W2" word::a_narrow_swap_returns_the_old_part;
        "W3" word::a_narrow_compare_exchange_looks_at_its_part_only;
        "W3" word::a_narrow_compare_exchange_does_not_fail_for_the_other_part;
        "W4" word::narrow_accesses_to_different_parts_lose_nothing;
        "W5" word::a_narrow_release_publishes_to_a_whole_acquire;
        "W5" word::a_narrow_swap_publishes_to_the_next;
        "A1" waiting::cond_load_returns_the_value_that_pleased;
        "A2" waiting::cond_load_acquires_what_it_waited_for;
        "A3" waiting::a_bounded_wait_looks_at_least_once;
        "A3" waiting::a_bounded_wait_gives_up_and_returns_the_last_value;
        "A3" waiting::a_wait_bounded_by_time_gives_up;
        "A4" waiting::the_stop_condition_ends_a_bounded_wait;
        "A5" waiting::stepping_goes_on_until_the_value_pleases;
        "A5" waiting::stepping_ends_when_there_is_no_more_to_do;
        "B1" barriers::fences_publish_between_relaxed_accesses;
        "B2" barriers::full_barriers_forbid_store_buffering;
        "B3" barriers::a_light_and_a_heavy_barrier_forbid_store_buffering;
        "B4" barriers::delay_returns;
        "B6" barriers::barriers_after_exchanges_forbid_store_buffering;
        "N1" nodes::claimed_nodes_are_distinct;
        "N1" nodes::threads_claim_different_nodes;
        "N2" nodes::the_storage_of_a_node_stays_where_it_is;
        "N3" nodes::claiming_ends_in_none;
        "N5" nodes::a_node_has_a_name_in_a_lock_word;
        "N8" nodes::claims_that_interrupt_each_other_nest;
        "K1" storage::cells_of_the_hash_are_distinct_and_zero;
        "K2" storage::locks_have_names_of_their_own;
        "L1" machine::every_cpu_is_on_a_numa_node;
        "T1" machine::the_clock_does_not_go_backwards;
        "E1" machine::counting_and_tunables_answer;
    }
    of_spinners: SpinPlatform {
        "D6" storage::a_thread_has_a_table_of_its_own_that_is_empty;
        "M1" storage::entries_and_queues_of_metadata_are_distinct_and_free;
    }
    of_sleepers: ParkPlatform {
        "N3" nodes::a_release_makes_a_node_claimable;
        "N4" nodes::a_node_given_back_by_another_thread_is_ordered;
        "D1" storage::buckets_marks_and_waiters_are_distinct_and_zero;
        "D7" storage::a_thread_has_a_list_of_its_own;
        "H1" hints::hints_answer;
        "H2" hints::threads_have_numbers_of_their_own;
        "H3" hints::a_thread_waits_as_before_while_its_policy_is_the_same;
        "S1" sleeping::a_wait_for_another_value_returns;
        "S2" sleeping::a_wake_after_a_change_is_not_lost;
        "S2" sleeping::a_wake_of_a_waiter_is_not_lost;
        "S2" sleeping::everybody_can_be_woken_at_once;
        "S3" sleeping::a_deadline_ends_a_wait;
        "S4" sleeping::waking_nobody_does_nothing;
        "S6" sleeping::a_wake_passes_over_sleepers_of_another_kind;
        "S7" sleeping::who_was_woken_was_counted;
        "S8" sleeping::moved_sleepers_are_woken_where_they_were_moved_to;
        "S8" sleeping::only_the_lower_half_is_compared;
        "S10" sleeping::a_wake_that_is_left_to_the_owner_is_not_lost;
    }
    of_readers: ReaderPlatform {
        "D4" storage::a_thread_has_a_slot_of_its_own_that_is_empty;
        "D5" storage::no_two_locks_get_the_same_number;
    }
}
