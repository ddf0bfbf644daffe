//! The knobs of the workloads whose locks put their waiters to sleep, `handoff` and `aim7`.

use super::Workload;

/// The knobs of a workload as they are typed; empty for one that is not of these two.
pub fn typed(workload: Workload) -> String {
    match workload {
        Workload::Handoff { section, section_ns } => {
            format!("--section {} --section-ns {section_ns}", section.name())
        }
        Workload::Aim7 { lock_count, unit_ops, compute_ns, section_ns, .. } => format!(
            "--lock-count {lock_count} --unit-ops {unit_ops} --compute-ns {compute_ns} --section-ns {section_ns}"
        ),
        _ => String::new(),
    }
}
