//! The knobs of the workloads whose locks put their waiters to sleep, `handoff`, `aim7` and `starve`.

use super::{StarveParams, Workload};

/// The knobs of a workload as they are typed; empty for one that is not of these.
pub fn typed(workload: Workload) -> String {
    match workload {
        Workload::Handoff { section, section_ns } => {
            format!("--section {} --section-ns {section_ns}", section.name())
        }
        Workload::Aim7 { lock_count, unit_ops, compute_ns, section_ns, .. } => format!(
            "--lock-count {lock_count} --unit-ops {unit_ops} --compute-ns {compute_ns} --section-ns {section_ns}"
        ),
        Workload::Starve(StarveParams {
            role,
            section,
            section_ns,
            priority,
            waiter_priority,
            forked,
        }) => format!(
            "--role {} --section {} --section-ns {section_ns} --priority {priority} --waiter-priority \
             {waiter_priority} --forked {}",
            role.name(),
            section.name(),
            if forked { "on" } else { "off" }
        ),
        _ => String::new(),
    }
}
