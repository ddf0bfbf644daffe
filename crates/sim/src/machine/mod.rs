//! Machines: topology and costs.
//!
//! A machine is a TOML file in `machines/` ([`MachineFile`]): what hardware costs, each number with its source. Numbers
//! that had to be fitted to published measurements are in a second file next to it ([`Calibration`]), so that a reader
//! can tell the two apart; [`Machine::with`] puts them together. [`Scheduler`] is the part that only runs with more
//! threads than CPUs need. [`ThreadPlacement`] says which CPUs a benchmark's threads run on.

mod calibration;
mod calibration_file;
mod changed;
mod costs;
mod error;
mod load;
mod placement;
mod provenance;
mod scheduler;
mod section;
mod validate;

#[cfg(test)]
mod refusal_tests;

pub use calibration::{Alternative, Calibration, Fit, Parameters};
pub use costs::Unit;
pub use error::{MachineError, Problem};
pub use load::{MachineFile, read_text};
pub use placement::{PlacementError, ThreadPlacement};
pub use provenance::{Origin, Sourced};
pub use scheduler::Scheduler;

/// A machine to simulate: what its file says, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Short name: the file's stem, for instance `x5-4`.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// Sockets, cores, threads, distances.
    pub topology: Topology,
    /// What accesses and instructions cost.
    pub costs: Costs,
    /// How its host shares out the CPUs, if the file says so: without it no run has more threads
    /// than CPUs.
    pub scheduler: Option<Scheduler>,
}

impl Machine {
    /// The machine with one hardware thread for each core, as where hyper-threading is off.
    pub fn without_siblings(&self) -> Self {
        let topology = Topology { threads_per_core: 1, ..self.topology.clone() };
        Self { topology, ..self.clone() }
    }
}

/// How CPUs are arranged. CPU numbers go over all first threads of all cores, socket by socket,
/// then over all second threads: `cpu = thread * cores + socket * cores_per_socket + core`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Sockets: sets of cores whose transfers among themselves cost the same. On a machine with several caches of the
    /// last level in a package, such a cache makes a socket.
    pub sockets: u32,
    /// Cores in each socket.
    pub cores_per_socket: u32,
    /// Hardware threads of each core (SMT).
    pub threads_per_core: u32,
    /// How many sockets, in the order of their numbers, are one NUMA node.
    pub sockets_per_node: u32,
    /// `distance[a][b]` is the distance class of two sockets: 0 for the same, 1 for the nearest
    /// other, and so on; symmetric.
    pub distance: Vec<Vec<u32>>,
}

impl Topology {
    /// Cores of the machine.
    pub fn cores(&self) -> u32 {
        self.sockets * self.cores_per_socket
    }
    /// CPUs (hardware threads) of the machine.
    pub fn cpus(&self) -> u32 {
        self.cores() * self.threads_per_core
    }
    /// The core of a CPU.
    pub fn core_of(&self, cpu: u32) -> u32 {
        cpu % self.cores()
    }
    /// The socket of a CPU.
    pub fn socket_of(&self, cpu: u32) -> u32 {
        self.core_of(cpu) / self.cores_per_socket
    }
    /// NUMA nodes of the machine.
    pub fn nodes(&self) -> u32 {
        self.sockets / self.sockets_per_node
    }
    /// The NUMA node of a CPU.
    pub fn node_of(&self, cpu: u32) -> u32 {
        self.socket_of(cpu) / self.sockets_per_node
    }
}

/// Costs in nanoseconds, and factors. Converted to integer picoseconds once, before a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Load that hits the own core's cache (or the SMT sibling's).
    pub load_hit_ns: f64,
    /// Issuing a store into the store buffer.
    pub store_issue_ns: f64,
    /// What a locked read-modify-write costs beyond a load of the same line.
    pub rmw_extra_ns: f64,
    /// One spin-loop hint.
    pub pause_ns: f64,
    /// From a line being invalidated until a spinner acts on it.
    pub spin_reaction_ns: f64,
    /// Line modified or exclusive in another core of the same socket.
    pub transfer_local_ns: f64,
    /// Same in another socket, by distance class: index 0 is class 1.
    pub transfer_remote_ns: Vec<f64>,
    /// Shared to modified with sharers in the same socket only, as a factor of `transfer_local_ns`.
    pub upgrade_local_factor: f64,
    /// Shared to modified with a remote sharer, as a factor of the remote transfer.
    pub upgrade_remote_factor: f64,
    /// Load of a line that is shared in this socket (the L3 supplies it).
    pub shared_load_ns: f64,
    /// First touch of a line, memory of the own socket.
    pub dram_local_ns: f64,
    /// First touch of a line, memory of another socket.
    pub dram_remote_ns: f64,
    /// Remote latency grows by this fraction when all CPUs are active (linear in active CPUs).
    pub remote_inflation: f64,
    /// Work takes this many times longer while the SMT sibling is busy.
    pub smt_factor: f64,
    /// Fraction of a transfer during which the old owner still hits.
    pub owner_retention: f64,
    /// Chance that an owner that comes back to its line is served after those that wait for it.
    pub arbitration: f64,
    /// How often a waiter in another socket than the line's home is served first then, relative to one
    /// in that socket.
    pub arbitration_remote_factor: f64,
    /// Relative uniform jitter of every transfer, for instance 0.25 for plus or minus 25 percent.
    pub transfer_jitter: f64,
    /// Relative uniform jitter of software work.
    pub work_jitter: f64,
    /// A heavy barrier, alone.
    pub heavy_barrier_ns: f64,
    /// What a heavy barrier costs its caller, and each interrupted CPU, per other CPU that runs the
    /// process.
    pub heavy_barrier_per_cpu_ns: f64,
    /// The system call that wakes a sleeper, for the waker.
    pub wake_call_ns: f64,
    /// From a wake-up until the sleeper runs.
    pub wake_latency_ns: f64,
    /// Going to sleep.
    pub sleep_call_ns: f64,
    /// Chance that a read of a line that another core has written takes it away instead of sharing it.
    pub migratory: f64,
    /// Fraction of a read-modify-write that may be left when the snoop reaches the old owner: it is
    /// completed first.
    pub rmw_shield: f64,
    /// What a read-modify-write waits for a store of its own thread just before it that does not hold all of its bytes.
    pub width_mismatch_ns: f64,
}
