//! The machines, and which of them `--on` means.

use crate::options::MachineArgs;
use lockwright_measure::error::Error;
use lockwright_measure::native::{ForeignLoad, NativeMachine};
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::trial::{LabMachine, On, Settings};
use lockwright_measure::workload::Workload;
use lockwright_sheets::Progress;
use lockwright_sim::machine::{Costs, Machine, Topology};
use std::path::Path;

/// The name of this computer in `--on`.
pub const NATIVE: &str = "native";

/// A machine of the list.
pub struct ListedMachine {
    /// What `--on` calls it.
    pub name: String,
    /// Native or simulated.
    pub kind: &'static str,
    /// CPUs (hardware threads).
    pub cpus: usize,
    /// NUMA nodes.
    pub numa_nodes: u32,
    /// One line about it.
    pub description: String,
}

/// Every machine that has a name.
pub fn all() -> Vec<ListedMachine> {
    let mut listed = vec![this_computer()];
    for machine in Machine::builtin_names().filter_map(Machine::builtin) {
        listed.push(ListedMachine {
            name: machine.name.clone(),
            kind: "simulated",
            cpus: machine.topology.cpus() as usize,
            numa_nodes: machine.topology.nodes(),
            description: machine.description.clone(),
        });
    }
    listed
}

fn this_computer() -> ListedMachine {
    let native = NativeMachine::new(&Settings::default());
    let On::Native { machine, cpus, numa_nodes, kernel } = native.on(Workload::counter(1, 0))
    else {
        unreachable!("this computer is not simulated");
    };
    let description = format!("this computer: {machine}, {kernel}");
    ListedMachine { name: NATIVE.into(), kind: NATIVE, cpus, numa_nodes, description }
}

/// Opens the machine that was asked for.
pub fn open(args: &MachineArgs) -> Result<Box<dyn LabMachine>, Error> {
    let settings = args.settings();
    if args.on != NATIVE {
        return Ok(Box::new(open_simulated(&args.on, settings)?));
    }
    if args.calibration.is_some() {
        return Err(Error::usage(
            "--calibration is for simulated machines: add --on with one, such as `--on x5-4`",
        ));
    }
    if args.placement.is_some() {
        return Err(Error::usage(
            "--placement is for simulated machines: leave it out, or add --on x5-4",
        ));
    }
    Ok(Box::new(NativeMachine::new(&settings)))
}

/// Before a command runs cells. Natively, what others use of the machine meanwhile is watched; simulated cells do not
/// mind, but Ctrl-C has to wait for those that run, which has to be said.
pub fn watch(machine: &dyn LabMachine, progress: Progress) -> Option<ForeignLoad> {
    if machine.is_simulated() {
        progress.answer_interrupts();
        return None;
    }
    Some(ForeignLoad::watch())
}

/// The file that may have been meant by `name`, as `--on` takes it.
fn file_of(name: &str) -> Option<String> {
    let paths = [format!("{name}.toml"), format!("machines/{name}.toml")];
    paths.into_iter().find(|path| Path::new(path).is_file())
}

/// The simulated machine that was asked for.
pub fn described(on: &str) -> Result<Machine, Error> {
    open_simulated(on, Settings::default()).map(SimulatedMachine::into_machine)
}

/// Two NUMA nodes with room for `threads` threads, for runs in which costs play no role.
pub fn two_nodes(threads: u32) -> Machine {
    Machine {
        name: "two-nodes".into(),
        description: "two NUMA nodes, and round numbers that nothing depends on".into(),
        topology: Topology {
            sockets: 2,
            cores_per_socket: threads.div_ceil(2).max(2),
            threads_per_core: 1,
            sockets_per_node: 1,
            distance: vec![vec![0, 1], vec![1, 0]],
        },
        costs: Costs {
            load_hit_ns: 1.0,
            store_issue_ns: 1.0,
            rmw_extra_ns: 1.0,
            pause_ns: 1.0,
            spin_reaction_ns: 1.0,
            transfer_local_ns: 1.0,
            transfer_remote_ns: vec![1.0],
            upgrade_local_factor: 1.0,
            upgrade_remote_factor: 1.0,
            shared_load_ns: 1.0,
            dram_local_ns: 1.0,
            dram_remote_ns: 1.0,
            remote_inflation: 0.0,
            smt_factor: 1.0,
            owner_retention: 0.0,
            arbitration: 0.0,
            arbitration_remote_factor: 1.0,
            transfer_jitter: 0.0,
            work_jitter: 0.0,
            heavy_barrier_ns: 1.0,
            heavy_barrier_per_cpu_ns: 1.0,
            wake_call_ns: 1.0,
            wake_latency_ns: 1.0,
            sleep_call_ns: 1.0,
            migratory: 0.0,
            rmw_shield: 0.0,
            width_mismatch_ns: 0.0,
        },
        scheduler: None,
    }
}

/// The same with other numbers than those of its file.
pub fn open_changed(on: &str, numbers: &[(String, f64)]) -> Result<SimulatedMachine, Error> {
    let machine = open_simulated(on, Settings::default())?;
    let unknown =
        numbers.iter().find(|(key, _)| !Machine::number_names().any(|known| known == key));
    if let Some((key, _)) = unknown {
        let names = Machine::number_names();
        return Err(Error::unknown("number", key, names, "lockwright machines show x5-4"));
    }
    machine.changed(numbers).map_err(|error| Error::Machine(error.to_string()))
}

/// A simulated machine, by its name or by the path of its file, with its calibration.
pub fn open_simulated(on: &str, settings: Settings) -> Result<SimulatedMachine, Error> {
    let is_path = on.contains('/') || on.ends_with(".toml");
    if is_path && !Path::new(on).exists() {
        return Err(Error::usage(format!(
            "there is no file {on}: write one with `lockwright machines show x5-4 > {}`",
            lockwright_sheets::quoted(on)
        )));
    }
    let opened = match is_path {
        true => SimulatedMachine::from_path(on, settings),
        false => SimulatedMachine::builtin(on, settings).ok_or_else(|| match file_of(on) {
            Some(path) => Error::usage(format!(
                "`{on}` is not the name of a machine: for the file write `--on {path}`"
            )),
            None => {
                let names = Machine::builtin_names().chain([NATIVE]);
                Error::unknown("machine", on, names, "lockwright machines")
            }
        })?,
    };
    opened.map_err(|error| Error::Machine(error.to_string()))
}
