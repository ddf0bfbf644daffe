//! Numbers that were fitted to published measurements.
//!
//! A calibration belongs to one machine and says what was fitted, on which columns of which table,
//! and how well it fits. It carries a hash of the machine's numbers and of its own, so that a
//! calibration whose machine changed is refused instead of quietly meaning something else. A copy of
//! the machine with other numbers may borrow it, if its file says so: `calibrated_as = "x5-4"`.

use super::costs::Scalar;
use super::error::{MachineError, Problem};
use super::{Costs, Machine, Topology};
use std::collections::BTreeMap;

/// Fitted numbers of one machine, and how they were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The file as people know it.
    pub file: String,
    /// The machine it was made for.
    pub machine: String,
    /// Hash of the machine's numbers and of everything below.
    pub hash: String,
    /// The numbers to use.
    pub parameters: Parameters,
    /// What they were fitted on.
    pub fits: Vec<Fit>,
    /// Other numbers that fit as well: how much the data leaves open.
    pub alternatives: Vec<Alternative>,
}

/// One set of fitted numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// Costs of the machine that replace those of its file, by key: hardware numbers, shared by
    /// all workloads.
    pub hardware: BTreeMap<String, f64>,
    /// Nanoseconds that the parts of each workload take in software, by workload and part.
    pub software: BTreeMap<String, BTreeMap<String, f64>>,
}

/// One published column that took part in the fit, and how well it is met.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The published table: its file name without `.csv`.
    pub table: String,
    /// Its columns that were used, all of unpatched code.
    pub columns: Vec<String>,
    /// The workload that stands for the table's benchmark.
    pub workload: String,
    /// The lock that stands for the columns' lock.
    pub lock: String,
    /// The rows that were used, by the number of threads, or of vCPUs.
    pub threads: Vec<u32>,
    /// The placement policy of the threads, or `guest`.
    pub placement: String,
    /// How the runs began, if a scheduler shared out the CPUs.
    pub start_state: Option<String>,
    /// The seeds averaged over; each also chooses a placement.
    pub seeds: Vec<u64>,
    /// Simulated microseconds before counting began.
    pub warmup_us: u64,
    /// Simulated microseconds counted.
    pub window_us: u64,
    /// Root mean square of the relative errors over the rows, in percent.
    pub residual_rms_percent: f64,
}

/// A set of numbers that fits nearly as well as the one chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// Its residual over all fits together, in percent, by the weights of the fit.
    pub residual_rms_percent: f64,
    /// The numbers.
    pub parameters: Parameters,
}

impl Parameters {
    /// Nanoseconds of a part of a workload; 0 if the calibration does not know it.
    pub fn software_ns(&self, workload: &str, part: &str) -> f64 {
        self.software.get(workload).and_then(|parts| parts.get(part)).copied().unwrap_or(0.0)
    }

    /// `machine` with these costs, checked.
    pub fn applied_to(&self, machine: &Machine) -> Result<Machine, MachineError> {
        let mut fitted = machine.clone();
        for (key, &value) in &self.hardware {
            let scalar = Scalar::named(key).ok_or_else(|| MachineError {
                file: format!("calibration of {}", machine.name),
                key: format!("hardware.{key}"),
                problem: Problem::UnknownKey,
            })?;
            *(scalar.slot)(&mut fitted.costs) = value;
        }
        fitted.validate()?;
        Ok(fitted)
    }
}

impl Machine {
    /// This machine with the costs of `calibration`, which must have been made for exactly these
    /// numbers.
    pub fn with(&self, calibration: &Calibration) -> Result<Self, MachineError> {
        calibration.check_for(self)?;
        calibration.parameters.applied_to(self)
    }

    /// The built-in machine that this one looks like a changed copy of, if there is one: most of their
    /// costs are the same.
    pub fn resembles(&self) -> Option<&'static str> {
        let same = |other: &Self| {
            let all = super::costs::SCALARS.iter();
            all.filter(|cost| (cost.get)(&self.costs) == (cost.get)(&other.costs)).count()
        };
        let all =
            Calibration::builtin_names().filter_map(|name| Some((name, Self::builtin(name)?)));
        let (same, name) = all.map(|(name, other)| (same(&other), name)).max()?;
        (same * 4 >= super::costs::SCALARS.len() * 3).then_some(name)
    }

    /// The text of [`numbers`](Self::numbers) with those of the scheduler.
    fn scheduled_numbers(&self) -> String {
        let scheduler = self.scheduler.iter().flat_map(|scheduler| {
            let is_used = move |s: &&Scalar<_>| !is_left_out(s, scheduler);
            super::costs::SCHEDULER.iter().filter(is_used).map(move |s| (s.key, (s.get)(scheduler)))
        });
        format!("{} {:?}", self.numbers(), scheduler.collect::<Vec<_>>())
    }

    /// A text with every number of the machine's hardware and nothing else: what a calibration depends
    /// on.
    fn numbers(&self) -> String {
        let Topology { sockets, cores_per_socket, threads_per_core, sockets_per_node, distance } =
            &self.topology;
        // A calibration from before the count existed stays valid.
        let per_node = match sockets_per_node {
            1 => String::new(),
            several => format!("{several} "),
        };
        let Costs { transfer_remote_ns, .. } = &self.costs;
        let costs = super::costs::SCALARS.iter();
        // Without arbitration its numbers decide nothing.
        let has_arbitration = self.costs.arbitration > 0.0;
        let costs = costs.filter(|s| has_arbitration || !s.key.starts_with("arbitration"));
        let costs = costs.filter(|s| !is_left_out(s, &self.costs));
        let costs: Vec<_> = costs.map(|s| (s.key, (s.get)(&self.costs))).collect();
        format!(
            "{sockets} {cores_per_socket} {threads_per_core} {per_node}{distance:?} {costs:?} {transfer_remote_ns:?}"
        )
    }
}

impl Calibration {
    /// A calibration with its hash.
    pub fn sealed(
        machine: &Machine,
        parameters: Parameters,
        fits: Vec<Fit>,
        alternatives: Vec<Alternative>,
    ) -> Self {
        let mut calibration = Self {
            file: format!("machines/{}.calibration.toml", machine.name),
            machine: machine.name.clone(),
            hash: String::new(),
            parameters,
            fits,
            alternatives,
        };
        calibration.hash = calibration.hash_for(machine);
        calibration
    }

    /// The hash that this calibration has if it was made for `machine`.
    pub fn hash_for(&self, machine: &Machine) -> String {
        let is_scheduled = self.fits.iter().any(|fit| fit.start_state.is_some());
        let numbers = if is_scheduled { machine.scheduled_numbers() } else { machine.numbers() };
        let text = [numbers, self.body()].concat();
        format!("{:016x}", fnv1a(text.as_bytes()))
    }

    /// Checks that the calibration was made for the numbers that `machine` has now; says what is wrong if
    /// not. The machine's name does not matter.
    pub fn check_for(&self, machine: &Machine) -> Result<(), MachineError> {
        let computed = self.hash_for(machine);
        if self.hash == computed {
            return Ok(());
        }
        let recorded = self.hash.clone();
        self.check_name(&machine.name)?;
        Err(self.refuse("hash", Problem::Stale { recorded, computed }))
    }

    /// Checks that the calibration may be borrowed by a machine whose file says that it is calibrated as the
    /// built-in machine `named`: it is that machine's, and as it was made.
    pub fn check_as(&self, named: &str) -> Result<(), MachineError> {
        self.check_name(named)?;
        Machine::builtin(named).map_or(Ok(()), |original| self.check_for(&original))
    }

    fn check_name(&self, machine: &str) -> Result<(), MachineError> {
        let (calibrated, machine) = (self.machine.clone(), machine.to_string());
        match calibrated == machine {
            true => Ok(()),
            false => Err(self.refuse("machine", Problem::OtherMachine { calibrated, machine })),
        }
    }

    fn refuse(&self, key: &str, problem: Problem) -> MachineError {
        MachineError { file: self.file.clone(), key: key.into(), problem }
    }

    /// Root mean square of the relative errors over all rows of all fits, in percent.
    pub fn residual_rms_percent(&self) -> f64 {
        let rows: usize = self.fits.iter().map(|fit| fit.threads.len()).sum();
        let squares = self.fits.iter().map(|fit| {
            fit.residual_rms_percent * fit.residual_rms_percent * fit.threads.len() as f64
        });
        (squares.sum::<f64>() / rows.max(1) as f64).sqrt()
    }
}

/// Returns true if a number is one that a file may leave out, and it switches nothing on.
fn is_left_out<T>(scalar: &Scalar<T>, numbers: &T) -> bool {
    super::costs::OPTIONAL.contains(&scalar.key) && (scalar.get)(numbers) == 0.0
}

/// Fowler, Noll and Vo's hash, 64 bits: detects a change, not an attack.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
