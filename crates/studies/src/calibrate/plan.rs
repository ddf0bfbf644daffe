//! What is fitted on what.

use super::cell::rounded;
use crate::tables::{SimulatedTable, TableDepth, Variable};
use lockwright_sim::machine::Parameters;

/// What is fitted of a machine: numbers of its hardware, and the software numbers of all its tables.
#[derive(Clone, Debug)]
pub struct FitPlan {
    /// The machine.
    pub machine: &'static str,
    /// Its numbers that are fitted, on all tables together.
    pub hardware: &'static [Variable],
    /// How hard to try.
    pub effort: FitEffort,
}

/// How much of each cell of a table is simulated.
pub type DepthOf = fn(&SimulatedTable) -> TableDepth;

/// How hard to try.
#[derive(Clone, Copy, Debug)]
pub struct FitEffort {
    /// Places looked at before the first descent.
    pub places: usize,
    /// Descents, each from another place.
    pub descents: usize,
    /// Steps of each descent.
    pub steps: usize,
    /// An alternative fits as well if its residual is at most this many percentage points above
    /// the best.
    pub tolerance_percent: f64,
    /// How much of each cell is simulated while searching.
    pub search: DepthOf,
    /// How much of each cell is simulated for the judgement.
    pub judged: DepthOf,
}

impl FitEffort {
    /// A few minutes on two cores.
    const USUAL: Self = Self {
        places: 8,
        descents: 3,
        steps: 5,
        tolerance_percent: 1.0,
        search: |table| table.search,
        judged: |table| table.full,
    };
}

/// Whose a number is: that of the table with this index, or the hardware's.
pub type VariableOwner = Option<usize>;

/// What can be calibrated, and the ranges of the hardware's numbers.
///
/// *x5-4*: the local transfer within and a little above what was measured on this generation, 42 to 50
/// ns; what the published handoffs take beyond it belongs to the benchmarks. The growth of remote latency
/// with the CPUs in use is in no literature: the published difference between one socket and four grows
/// from 36 threads to 142 by more than anything else in the model explains.
///
/// *haswell-2s*: there is nothing to go by in literature but that an owner that comes back nearly
/// always wins, and that the published threads differ by a factor of ten although each has a CPU of its own.
///
/// *broadwell-2s-e5-2620v4*: nothing; its one table does not tell.
///
/// *cascade-lake-2s*: a pause takes about 140 cycles, and the clock is not known. What decides whether the thread
/// that gives the semaphore back has it again before the next spinner does: how long it keeps the line, how long
/// that spinner takes to see it, a few pauses at most, and whether its look takes the line along. And, as on x5-4,
/// the growth of remote latency, of which this machine needs seven times as much: the published rate falls by half
/// from 32 threads to 96, and the model knows nothing else that grows.
///
/// *broadwell-2s-80t*: nothing; one run of one number of threads, and no cost of sleeping and waking brings its
/// counts of threads nearer.
///
/// *dl980*: making a task runnable, from a busy-polling core to one in deep idle, which is what the internal lock
/// is held for; no other number moves its two profiled callers towards each other.
static PLANS: &[FitPlan] = &[
    FitPlan {
        machine: "x5-4",
        hardware: &[
            Variable { name: "transfer_local", low: 42.0, high: 60.0 },
            Variable { name: "remote_inflation", low: 0.0, high: 0.6 },
        ],
        effort: FitEffort::USUAL,
    },
    FitPlan {
        machine: "haswell-2s",
        hardware: &[
            Variable { name: "arbitration", low: 0.01, high: 0.6 },
            Variable { name: "arbitration_remote", low: 0.03, high: 0.3 },
        ],
        // A second of simulated guest takes half a minute.
        effort: FitEffort {
            places: 6,
            descents: 2,
            steps: 3,
            judged: |table| table.quick,
            ..FitEffort::USUAL
        },
    },
    FitPlan {
        machine: "broadwell-2s-e5-2620v4",
        hardware: &[],
        effort: FitEffort { places: 12, descents: 4, ..FitEffort::USUAL },
    },
    FitPlan {
        machine: "cascade-lake-2s",
        hardware: &[
            Variable { name: "pause", low: 22.0, high: 36.0 },
            Variable { name: "spin_reaction", low: 30.0, high: 110.0 },
            Variable { name: "owner_retention", low: 0.4, high: 0.7 },
            Variable { name: "migratory", low: 0.2, high: 1.0 },
            Variable { name: "remote_inflation", low: 0.5, high: 2.0 },
        ],
        effort: FitEffort { places: 24, judged: |table| table.quick, ..FitEffort::USUAL },
    },
    FitPlan {
        machine: "broadwell-2s-80t",
        hardware: &[],
        effort: FitEffort { judged: |table| table.quick, ..FitEffort::USUAL },
    },
    FitPlan {
        machine: "dl980",
        hardware: &[
            Variable { name: "wake_call", low: 1_000.0, high: 5_000.0 },
            Variable { name: "wake_latency", low: 2_000.0, high: 50_000.0 },
        ],
        effort: FitEffort { places: 16, judged: |table| table.quick, ..FitEffort::USUAL },
    },
];

impl FitPlan {
    /// The plan for a machine, if there is data for one.
    pub fn of(machine: &str) -> Option<&'static Self> {
        PLANS.iter().find(|plan| plan.machine == machine)
    }

    /// The machines that can be calibrated.
    pub fn machines() -> impl Iterator<Item = &'static str> {
        PLANS.iter().map(|plan| plan.machine)
    }

    /// The tables that are fitted.
    pub fn tables(&self) -> Vec<&'static SimulatedTable> {
        SimulatedTable::of_machine(self.machine)
            .filter(|table| !table.fitted_rows.is_empty())
            .collect()
    }

    /// All variables, those of the hardware first, and whose they are.
    pub fn variables(&self) -> Vec<(VariableOwner, Variable)> {
        let hardware = self.hardware.iter().map(|&variable| (None, variable));
        let tables = self.tables().into_iter().enumerate();
        let software =
            tables.flat_map(|(at, table)| table.software.iter().map(move |&v| (Some(at), v)));
        hardware.chain(software).collect()
    }

    /// The numbers at a place in the unit cube.
    pub fn parameters(&self, at: &[f64]) -> Parameters {
        let tables = self.tables();
        let mut parameters = Parameters::default();
        for ((owner, variable), &share) in self.variables().into_iter().zip(at) {
            let values = match owner {
                None => &mut parameters.hardware,
                Some(table) => {
                    let workload = workload_name(tables[table]);
                    parameters.software.entry(workload.into()).or_default()
                }
            };
            values.insert(variable.name.into(), variable.value(share));
        }
        parameters
    }
}

/// The name of a table's workload.
pub fn workload_name(table: &SimulatedTable) -> &'static str {
    let workload = |row| (table.workload)(&Parameters::default(), &table.search, row);
    table.rows.first().map_or("", |row| workload(row).name())
}

impl Variable {
    /// The value at `share` of the way through the range: three decimals, of seconds if it takes
    /// seconds.
    pub fn value(&self, share: f64) -> f64 {
        const SECOND_NS: f64 = 1e9;
        let value = self.low + share * (self.high - self.low);
        match value > SECOND_NS {
            true => rounded(value / SECOND_NS, 3) * SECOND_NS,
            false => rounded(value, 3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::Unpatched;
    use lockwright_sim::machine::Machine;

    #[test]
    fn every_plan_is_about_unpatched_columns_of_a_builtin_machine_and_there_is_enough_data() {
        for name in FitPlan::machines() {
            let plan = FitPlan::of(name).expect("it is in the list");
            let machine = Machine::builtin(name).expect("it is built in");
            let mut cells = 0;
            for table in plan.tables() {
                let unpatched = Unpatched::of(table.name).expect("the table is built in");
                let fitted = table.columns.iter().filter(|column| column.weight > 0.0);
                let fitted: Vec<_> = fitted.collect();
                for row in table.fitted_rows {
                    let is_there = |name| unpatched.at(&table.key_of(row), name).is_some();
                    assert!(fitted.iter().all(|column| is_there(column.name)), "{}", row.label());
                }
                cells += fitted.len() * table.fitted_rows.len();
            }
            let variables = plan.variables();
            assert!(cells >= variables.len(), "{name}: too little data");
            for corner in [0.0, 1.0] {
                let parameters = plan.parameters(&vec![corner; variables.len()]);
                let applied = parameters.applied_to(&machine);
                assert!(applied.is_ok(), "{name}: {applied:?}");
            }
        }
        assert!(FitPlan::of("x5-5").is_none());
    }

    #[test]
    fn hardware_is_shared_and_software_belongs_to_its_workload() {
        let plan = FitPlan::of("x5-4").expect("there is a plan");
        let parameters = plan.parameters(&vec![0.5; plan.variables().len()]);
        assert_eq!(parameters.hardware.len(), plan.hardware.len());
        let workloads: Vec<_> = parameters.software.keys().map(String::as_str).collect();
        assert_eq!(workloads, ["lock2", "locktorture", "open1", "readrandom"]);
        let seconds = Variable { name: "serial", low: 0.0, high: 1e11 }.value(0.123_456_78);
        assert_eq!(seconds, 12.346 * 1e9);
    }
}
