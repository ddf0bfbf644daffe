//! The machines, and which of them `--on` means.

use crate::cell::{LabMachine, On, Settings, Workload};
use crate::cli::MachineArgs;
use crate::error::Error;
use crate::native::NativeMachine;
use crate::simulated::SimulatedMachine;
use lockwright_sim::machine::Machine;
use std::path::Path;

/// The name of this computer in `--on`.
pub const NATIVE: &str = "native";

/// A machine of the list.
pub struct Listed {
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
pub fn all() -> Vec<Listed> {
    let mut listed = vec![this_computer()];
    for machine in Machine::builtin_names().filter_map(Machine::builtin) {
        listed.push(Listed {
            name: machine.name.clone(),
            kind: "simulated",
            cpus: machine.topology.cpus() as usize,
            numa_nodes: machine.topology.sockets,
            description: machine.description.clone(),
        });
    }
    listed
}

fn this_computer() -> Listed {
    let native = NativeMachine::new(&Settings::default());
    let On::Native { machine, cpus, numa_nodes, kernel } = native.on(Workload::Uncontended) else {
        unreachable!("this computer is not simulated");
    };
    let description = format!("this computer: {machine}, {kernel}");
    Listed { name: NATIVE.into(), kind: NATIVE, cpus, numa_nodes, description }
}

/// Opens the machine that was asked for.
pub fn open(args: &MachineArgs) -> Result<Box<dyn LabMachine>, Error> {
    let settings = args.settings();
    if args.on != NATIVE {
        return Ok(Box::new(open_simulated(&args.on, settings)?));
    }
    if args.placement.is_some() {
        return Err(Error::usage(
            "--placement is for simulated machines: native threads have a CPU each as long as \
             there are enough",
        ));
    }
    Ok(Box::new(NativeMachine::new(&settings)))
}

/// The file that whoever typed `name` may have meant, as `--on` wants it.
fn file_of(name: &str) -> Option<String> {
    let paths = [format!("{name}.toml"), format!("machines/{name}.toml")];
    paths.into_iter().find(|path| Path::new(path).is_file())
}

/// A simulated machine, by its name or by the path of its file.
fn open_simulated(on: &str, settings: Settings) -> Result<SimulatedMachine, Error> {
    let is_path = on.contains('/') || on.ends_with(".toml");
    let opened = match is_path {
        true => SimulatedMachine::from_path(on, settings),
        false => SimulatedMachine::builtin(on, settings).ok_or_else(|| match file_of(on) {
            Some(path) => Error::usage(format!(
                "`{on}` is not the name of a machine; for the file write `--on {path}`"
            )),
            None => {
                let names = Machine::builtin_names().chain([NATIVE]);
                Error::unknown("machine", on, names, "lockwright machines")
            }
        })?,
    };
    opened.map_err(|error| Error::Machine(error.to_string()))
}
