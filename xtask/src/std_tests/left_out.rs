//! The tests of std that Lockwright's types do not take, and why.

use crate::peer_tests::left_out::{LeftOut, Table, Why, differs, missing};
use std::borrow::Cow;

/// What no lock here does.
const POISONED: &str = "that a panic poisons the lock";

/// The tests that are left out. All but two are about poisoning.
pub const LEFT_OUT: Table =
    Table { library: "std", here: "xtask/src/std_tests/left_out.rs", rows: Cow::Borrowed(&ROWS) };

static ROWS: [LeftOut; 21] = [
    missing("mutex", "test_into_inner_poison", "is_poisoned"),
    missing("mutex", "test_get_cloned_poison", "is_poisoned"),
    missing("mutex", "test_get_mut_poison", "is_poisoned"),
    missing("mutex", "test_set_poison", "is_poisoned"),
    missing("mutex", "test_replace_poison", "is_poisoned"),
    missing("mutex", "test_mutex_arc_poison", "is_poisoned"),
    missing("mutex", "test_mutex_arc_poison_mapped", "is_poisoned"),
    differs("mutex", "panic_while_mapping_unlocked_poison", POISONED),
    missing("condvar", "test_arc_condvar_poison", "poison"),
    missing("rwlock", "test_into_inner_poison", "is_poisoned"),
    missing("rwlock", "test_get_cloned_poison", "is_poisoned"),
    missing("rwlock", "test_get_mut_poison", "is_poisoned"),
    missing("rwlock", "test_set_poison", "is_poisoned"),
    missing("rwlock", "test_replace_poison", "is_poisoned"),
    missing("rwlock", "test_rw_arc_poison_wr", "is_err"),
    missing("rwlock", "test_rw_arc_poison_mapped_w_r", "is_err"),
    missing("rwlock", "test_rw_arc_poison_ww", "is_poisoned"),
    missing("rwlock", "test_rw_arc_poison_mapped_w_w", "is_poisoned"),
    differs("rwlock", "panic_while_mapping_write_unlocked_poison", POISONED),
    // Since Rust 1.96.
    differs(
        "rwlock",
        "test_rwlock_max_readers",
        "2^30 - 2 readers at once, where Lockwright counts 2^23",
    ),
    // `lock_api` has a reference to the lock in the guard, std one to the value.
    LeftOut {
        file: "rwlock",
        test: "test_read_guard_covariance",
        why: Why::Rejected("does not live long enough", "a read guard that is covariant"),
    },
];
