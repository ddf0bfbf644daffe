//! What the columns of the tables are, in words for a report.

/// How the name of a column begins, and what it is about.
const SUBJECTS: [(&str, &str); 20] = [
    ("stock_", "the unpatched kernel"),
    ("patch_cna_", "with the CNA patch"),
    ("speedup_patch_cna_over_stock", "with the CNA patch, divided by the unpatched kernel"),
    ("pvqlock_", "a guest with the paravirtual queued spinlock, before the patch"),
    ("unfair_lock_", "a guest without paravirtual support, with a test-and-set lock"),
    ("hybrid_pvqlock_", "a guest with the hybrid paravirtual spinlock, after the patch"),
    ("queued_mode_", "a vCPU that had to wait got the hybrid lock through the queue"),
    ("unfair_mode_", "a vCPU that had to wait got the hybrid lock by lock stealing"),
    ("vanilla_", "the unpatched kernel"),
    ("before_", "with patches 1 to 4 of the series"),
    ("limit_rspin_", "with patches 1 to 4, and one spinning reader at a time"),
    ("no_rspin_", "with the whole series, in which readers do not spin"),
    ("locking_rate_ratio_to_unpatched", "the rate, divided by that of the unpatched kernel"),
    ("threads_with_one_operation", "threads that did one operation; simulated, at most one"),
    ("jpm_without_patches", "without the nine patches, in jobs per minute"),
    ("jpm_with_patches", "with all nine patches, in jobs per minute"),
    ("jpm_without_patch", "without the patch, in jobs per minute"),
    ("jpm_with_patch", "with the patch, in jobs per minute"),
    ("change_percent", "how much more the jobs per minute are with the patch than without it"),
    ("self_percent_of_cycles", "share of the function in all CPU time"),
];

/// How the name of a column ends, and its unit.
const UNITS: [(&str, &str); 8] = [
    ("_ops_1e7", "10^7 operations of all threads together in 30 s"),
    ("_ops_per_us", "operations of all threads together per microsecond"),
    ("_build_time_s", "seconds of a kernel build"),
    ("_min_ops_per_thread_in_5_s", "operations of the slowest thread in 5 s"),
    ("_avg_ops_per_thread_in_5_s", "operations of a thread in 5 s, on average"),
    ("_max_ops_per_thread_in_5_s", "operations of the fastest thread in 5 s"),
    ("_acquisitions", "how many times in a build"),
    ("_kops_per_s", "thousand operations per second"),
];

/// Columns that need sentences of their own.
const OTHERS: [(&str, &str); 4] = [
    ("min_ops_per_thread", "operations of the slowest of the threads in 5 s"),
    ("max_ops_per_thread", "operations of the fastest of the threads in 5 s"),
    (
        "caller_share_of_symbol_percent",
        "share of the function's time in which the caller had called it",
    ),
    (
        "reported_locking_rate_kops_per_s",
        "the rate as it was printed. That number is too high for a critical section of 1 us, which allows \
         at most 1000. The simulated number is the rate of all threads together, in \
         thousand operations per second, times the number of threads (60): the reading under which the printed \
         one is possible",
    ),
];

/// What a column is and its unit, in words.
pub fn meaning(column: &str) -> String {
    if let Some((_, words)) = OTHERS.iter().find(|(name, _)| *name == column) {
        return (*words).into();
    }
    let known = SUBJECTS.iter().find(|(begins, _)| column.starts_with(begins));
    let subject = match (known, column.split_once("_over_")) {
        (Some((_, words)), _) => words.to_string(),
        (None, Some((lock, base))) => {
            format!("the lock `{lock}`, divided by `{base}`; both simulated")
        }
        (None, None) => format!("the lock `{}`", subject_and_unit(column).0),
    };
    let unit = UNITS.iter().find(|(ends, _)| column.ends_with(ends));
    let parts = [Some(subject), unit.map(|(_, words)| words.to_string())].into_iter().flatten();
    parts.collect::<Vec<_>>().join("; ")
}

/// What the name of a column says first, and its unit.
pub(super) fn subject_and_unit(column: &str) -> (&str, &str) {
    let unit = UNITS.iter().find(|(ends, _)| column.ends_with(ends)).map_or("", |(ends, _)| ends);
    (column.strip_suffix(unit).unwrap_or(column), unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::TABLES;

    #[test]
    fn every_column_says_what_it_is() {
        for table in TABLES {
            for column in table.columns {
                assert!(meaning(column.name).len() > 10, "{}: {}", table.name, column.name);
            }
        }
        let stock = "the unpatched kernel; 10^7 operations of all threads together in 30 s";
        assert_eq!(meaning("stock_ops_1e7"), stock);
    }
}
