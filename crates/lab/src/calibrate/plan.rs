//! What is fitted on what.

use super::rounded;
use crate::cell::Workload;
use crate::published::Unpatched;
use lockwright_clients::workload::locktorture::part;
use lockwright_sim::machine::{Parameters, Placement};

/// A number to be fitted, with the range it is looked for in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variable {
    /// The cost of the machine or the part of the software.
    pub name: &'static str,
    /// Which of the two.
    pub is_hardware: bool,
    /// Least value.
    pub low: f64,
    /// Greatest value.
    pub high: f64,
}

impl Variable {
    /// The value at `share` of the way through the range, with three decimals.
    pub fn value(&self, share: f64) -> f64 {
        rounded(self.low + share * (self.high - self.low), 3)
    }
}

/// What is fitted on which column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The machine.
    pub machine: &'static str,
    /// The published table.
    pub table: &'static str,
    /// Its column, of unpatched code.
    pub column: &'static str,
    /// One operation per second in the unit of the column.
    pub column_per_ops_per_s: f64,
    /// The workload that stands for the benchmark.
    pub workload: Workload,
    /// The lock that stands for the column's lock.
    pub lock: &'static str,
    /// Where the threads run.
    pub placement: Placement,
    /// What is fitted.
    pub variables: &'static [Variable],
}

/// Oracle X5-4 on the stock column of locktorture: 30 s, in units of 10^7 operations.
///
/// The ranges, and why: *inside* is three 64-bit divisions and two indirect calls with retpolines,
/// 60 to 80 ns on that processor; *outside* is less than the 110 ns that the one-thread cell leaves
/// for everything but the delays. The local transfer starts from the literature's 42 to 50 ns but may
/// go far above it, because the two-thread cell shows that a handoff inside this benchmark costs more
/// than its cache lines explain; what it really stands for is not known. The inflation is there
/// because stock alone slows down from 36 to 142 threads.
const X5_4: Plan = Plan {
    machine: "x5-4",
    table: "cna_v10_locktorture_x5_4",
    column: "stock_ops_1e7",
    column_per_ops_per_s: 30.0 / 1e7,
    workload: Workload::Locktorture { long_hold: true },
    lock: "qspinlock",
    placement: Placement::Scheduler56,
    variables: &[
        Variable { name: part::OUTSIDE, is_hardware: false, low: 0.0, high: 55.0 },
        Variable { name: part::INSIDE, is_hardware: false, low: 60.0, high: 80.0 },
        Variable { name: "transfer_local", is_hardware: true, low: 40.0, high: 110.0 },
        Variable { name: "remote_inflation", is_hardware: true, low: 0.0, high: 1.0 },
    ],
};

impl Plan {
    /// The plan for a machine, if there is data for one.
    pub fn of(machine: &str) -> Option<&'static Self> {
        [&X5_4].into_iter().find(|plan| plan.machine == machine)
    }

    /// The machines that can be calibrated.
    pub fn machines() -> impl Iterator<Item = &'static str> {
        [X5_4.machine].into_iter()
    }

    /// Thread counts and numbers of the column.
    pub(super) fn rows(&self, table: &Unpatched) -> Vec<(u32, f64)> {
        let column = table.column(self.column).unwrap_or_default();
        table.threads().into_iter().zip(column.iter().copied()).collect()
    }

    /// The numbers at a place in the unit cube.
    pub(super) fn parameters(&self, at: &[f64]) -> Parameters {
        let mut parameters = Parameters::default();
        let software = parameters.software.entry(self.workload.name().into()).or_default();
        for (variable, &share) in self.variables.iter().zip(at) {
            let values =
                if variable.is_hardware { &mut parameters.hardware } else { &mut *software };
            values.insert(variable.name.into(), variable.value(share));
        }
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_sim::machine::Machine;

    #[test]
    fn every_plan_fits_an_unpatched_column_of_a_builtin_machine() {
        for name in Plan::machines() {
            let plan = Plan::of(name).expect("it is in the list");
            let machine = Machine::builtin(name).expect("it is built in");
            let table = Unpatched::of(plan.table).expect("the table is built in");
            assert!(plan.rows(&table).len() >= plan.variables.len(), "more numbers than data");
            for corner in [0.0, 1.0] {
                let parameters = plan.parameters(&vec![corner; plan.variables.len()]);
                let applied = parameters.applied_to(&machine);
                assert!(applied.is_ok(), "{name}: {applied:?}");
            }
        }
        assert_eq!(Plan::of("x5-5"), None);
    }
}
