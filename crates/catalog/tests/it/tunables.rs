//! Tunables that the program or its environment sets.

use crate::process::{in_a_process_of_its_own, in_an_environment};
use lockwright_core::native::{numa_spinlock, set_tunable, topology, tunable};
use lockwright_core::tunables::{NUMA_AUTO, NUMA_OFF, NUMA_ON, NumaSpinlock, OutOfRange, Tunable};

const THRESHOLD: Tunable = Tunable::numa_spinlock_threshold;

#[test]
fn a_value_out_of_range_is_refused_and_changes_nothing() {
    in_a_process_of_its_own(|| {
        assert_eq!(tunable(THRESHOLD), None);
        assert_eq!(set_tunable(THRESHOLD, Some(31)), Ok(()));
        let refused = set_tunable(THRESHOLD, Some(32)).expect_err("out of range");
        assert_eq!(refused, OutOfRange { tunable: THRESHOLD, value: 32 });
        let said = "tunable `numa_spinlock_threshold` cannot be 32: give 0 to 31";
        assert_eq!(refused.to_string(), said);
        assert_eq!(tunable(THRESHOLD), Some(31));
        assert_eq!(set_tunable(THRESHOLD, None), Ok(()));
        assert_eq!(tunable(THRESHOLD), None);
    });
}

#[test]
fn the_environment_sets_tunables_and_the_program_has_the_last_word() {
    let variables = [
        ("LOCKWRIGHT_NUMA_SPINLOCK", "on"),
        ("LOCKWRIGHT_NUMA_SPINLOCK_THRESHOLD", "8"),
        ("LOCKWRIGHT_SPIN_PAUSES", "70"),
    ];
    let said = in_an_environment(&variables, || {
        // Before anything has read the environment.
        assert_eq!(set_tunable(Tunable::spin_pauses, Some(7)), Ok(()));
        assert_eq!(tunable(THRESHOLD), Some(8));
        assert_eq!(numa_spinlock(), NumaSpinlock::SetOn);
        assert_eq!(tunable(Tunable::spin_pauses), Some(7));
        assert_eq!(tunable(Tunable::rwsem_handoff_ns), None);
        assert_eq!(set_tunable(Tunable::numa_spinlock, Some(NUMA_OFF)), Ok(()));
        assert_eq!(numa_spinlock().to_string(), "off: it was set so");
    });
    assert!(!said.contains("lockwright: "), "{said}");
}

#[test]
fn each_variable_that_is_wrong_is_refused_with_a_line() {
    let refused = [
        ("LOCKWRIGHT_NUMA_SPINLOCK_THRESHOLD", "32", "is out of range, so the default is used."),
        ("LOCKWRIGHT_SPIN_PAUSES", "\n\u{e9}", "is out of range, so the default is used."),
        ("LOCKWRIGHT_MEMBARRIER", "maybe", "is out of range, so the default is used."),
        ("LOCKWRIGHT_NUMA_SPINLOK", "on", "is not a variable of lockwright, so it does nothing."),
    ];
    let taken = [("LOCKWRIGHT_NUMA_SPINLOCK", "auto"), ("LOCKWRIGHT_POLICY", "fair")];
    let variables: Vec<_> =
        refused.map(|(name, value, _)| (name, value)).into_iter().chain(taken).collect();
    let mut is_parent = true;
    let said = in_an_environment(&variables, || {
        is_parent = false;
        assert_eq!(tunable(THRESHOLD), None);
        assert_eq!(tunable(Tunable::numa_spinlock), Some(NUMA_AUTO));
    });
    let lines = refused.map(|(name, value, why)| {
        let value = value.replace('\n', "?").replace('\u{e9}', "??");
        format!("lockwright: {name}={value} {why}")
    });
    let said: Vec<_> = said.lines().filter(|line| line.starts_with("lockwright: ")).collect();
    let is_said = lines.iter().all(|line| said.contains(&&**line)) && said.len() == lines.len();
    assert!(!is_parent || is_said, "{said:?}");
}

#[test]
fn numa_aware_order_is_automatic_where_several_nodes_are_real() {
    in_a_process_of_its_own(|| {
        topology::set_fake(2, 1);
        assert_eq!(numa_spinlock(), NumaSpinlock::SeveralNodes);
        topology::set_fake(1, 1);
        assert_eq!(numa_spinlock(), NumaSpinlock::OneNode);
        topology::clear_fake();
    });
    let of = |setting, is_guest| NumaSpinlock::of(setting, || is_guest, || 4);
    assert_eq!(of(None, true), NumaSpinlock::Guest);
    assert_eq!(of(Some(NUMA_AUTO), true), NumaSpinlock::Guest);
    assert_eq!(of(Some(NUMA_ON), true), NumaSpinlock::SetOn);
    assert_eq!(of(Some(NUMA_OFF), false), NumaSpinlock::SetOff);
    let is_on =
        [NumaSpinlock::Guest, NumaSpinlock::SetOn, NumaSpinlock::SetOff].map(NumaSpinlock::is_on);
    assert_eq!(is_on, [false, true, false]);
}
