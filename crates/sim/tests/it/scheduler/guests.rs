//! What a guest sees, how it begins, and locks in it.

use super::{MS, U32, US, host, run, run_as};
use lockwright::platform::{Placement as _, SchedulerHints, Sleeping};
use lockwright_sim::{ScheduledKind, Sim, StartState, thread};

#[test]
fn a_guest_with_virtual_numa_keeps_each_vcpu_on_its_socket() {
    let kind = ScheduledKind::Guest { virtual_numa: true };
    let body = |word: &U32| {
        let me = thread::index() as u32;
        assert_eq!((Sim::this_cpu(), Sim::numa_nodes()), (me, 2));
        assert_eq!(Sim::numa_node_of(me), me % 2);
        if me.is_multiple_of(2) {
            // The even ones are done soon: socket 0 has nothing to do, and takes nobody over.
            return;
        }
        for _ in 0..10 {
            thread::hold_ps(MS);
            Sim::futex_wait(word, 0, Some((thread::now_ps() + 10 * US) / 1_000));
        }
    };
    let bodies: Vec<&dyn Fn(&U32)> = vec![&body; 12];
    let report = run_as(&host(2, 2), kind, StartState::Running, &bodies);
    assert_eq!(report.failures, []);
    // Six threads of 10 ms on the two CPUs of socket 1.
    assert!(report.end_ps >= 30 * MS, "{} ps", report.end_ps);

    let one = |_: &U32| assert_eq!((Sim::numa_nodes(), Sim::numa_node_of(3)), (1, 0));
    let bodies: Vec<&dyn Fn(&U32)> = vec![&one; 4];
    assert_eq!(run(&host(2, 1), &bodies).failures, []);
}

#[test]
fn hints_are_exact() {
    let report = run(
        &host(1, 2),
        &[
            &|_| {
                assert!(!Sim::need_resched(), "the second CPU has the third thread behind it");
                thread::hold_ps(100 * US);
            },
            &|word| {
                thread::hold_ps(50 * US);
                assert_eq!(Sim::idle_cpus(), 0);
                Sim::futex_wait(word, 0, Some(100_000));
                thread::hold_ps(100 * US);
                assert_eq!((Sim::need_resched(), Sim::idle_cpus()), (false, 1));
            },
        ],
    );
    assert_eq!(report.failures, []);
    let report = run(
        &host(1, 1),
        &[&|_| assert!(Sim::need_resched()), &|_| {
            assert!(!Sim::need_resched());
        }],
    );
    assert_eq!(report.failures, []);
}
