//! Programs that somebody watches: a filter of system calls, or a sanitizer.

use crate::tools::{has_filters, listed_calls};
use crate::{compiled, run, with_library};

#[test]
fn no_function_makes_a_system_call_that_the_readme_does_not_list() {
    if !has_filters() {
        return;
    }
    let listed = listed_calls("README.md", "A filter of system calls has to allow", "\n- ");
    let program = compiled("duties", "cc");
    let affinity = "sched_getaffinity sched_setaffinity";
    let none = &format!("membarrier {affinity}");
    for policy in ["default", "fair", "cna"] {
        for (membarrier, refused, without, is_child) in [
            ("off", "", none.as_str(), "no"),
            ("off", "sched_getscheduler sched_yield", none, "yes"),
            ("on", "", affinity, "no"),
            ("on", "membarrier", "", "yes"),
        ] {
            let mut command = with_library(&program);
            command.arg(&listed).args(["refused", refused, "without", without, "fork", is_child]);
            command.env("LOCKWRIGHT_POLICY", policy).env("LOCKWRIGHT_NUMA_SPINLOCK", "on");
            command.env("LOCKWRIGHT_MEMBARRIER", membarrier);
            assert_eq!(run(command), "", "{policy}, membarrier {membarrier}");
        }
    }
}
