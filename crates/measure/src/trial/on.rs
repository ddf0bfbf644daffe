//! The machine of a document, and what shares its CPUs.

use crate::simulated::Fitted;
use lockwright_sim::ScheduledKind;
use serde::Serialize;

/// The machine of a document: the `on` of the JSON schema.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum On {
    /// This computer.
    Native {
        /// Its processor.
        machine: String,
        /// CPUs this process may use.
        cpus: usize,
        /// NUMA nodes.
        numa_nodes: u32,
        /// Operating system and version.
        kernel: String,
    },
    /// A described machine. Nothing here may depend on the computer that simulates it.
    Simulated {
        /// Its short name.
        machine: String,
        /// One line about it.
        description: String,
        /// CPUs (hardware threads).
        cpus: usize,
        /// Sockets, each a NUMA node.
        numa_nodes: u32,
        /// What shares the CPUs; `None` if every thread has one.
        scheduled: Option<Scheduled>,
        /// Where threads run that have a CPU each; `None` for vCPUs, which their host moves.
        placement: Option<String>,
        /// What was fitted for the workload, and on what; `None` if nothing was.
        calibration: Option<Fitted>,
    },
}

/// What shares the CPUs of a simulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Scheduled {
    /// The vCPUs of a guest.
    Guest {
        /// True if the guest sees the sockets as NUMA nodes; otherwise it sees one node.
        virtual_numa: bool,
    },
    /// The threads of a program, if there are more than CPUs.
    Program,
    /// The tasks of a kernel that is not preemptible.
    Kernel,
}

impl From<ScheduledKind> for Scheduled {
    fn from(kind: ScheduledKind) -> Self {
        match kind {
            ScheduledKind::Guest { virtual_numa } => Self::Guest { virtual_numa },
            ScheduledKind::Program => Self::Program,
            ScheduledKind::Kernel => Self::Kernel,
        }
    }
}

impl On {
    /// The same machine with its CPUs shared, if they are.
    pub fn shared_by(mut self, kind: Option<ScheduledKind>) -> Self {
        if let Self::Simulated { scheduled, placement, .. } = &mut self {
            *scheduled = kind.map(Scheduled::from);
            if matches!(scheduled, Some(Scheduled::Guest { .. })) {
                *placement = None;
            }
        }
        self
    }
    /// The machine's name.
    pub fn machine(&self) -> &str {
        match self {
            Self::Native { machine, .. } | Self::Simulated { machine, .. } => machine,
        }
    }
    /// CPUs of the machine.
    pub fn cpus(&self) -> usize {
        match self {
            Self::Native { cpus, .. } | Self::Simulated { cpus, .. } => *cpus,
        }
    }
    /// Native or simulated.
    pub fn kind(&self) -> &'static str {
        if self.is_simulated() { "simulated" } else { "native" }
    }
    /// Returns true if numbers come out of a simulation.
    pub fn is_simulated(&self) -> bool {
        matches!(self, Self::Simulated { .. })
    }
    /// Returns true if the threads are the vCPUs of a guest.
    pub fn is_guest(&self) -> bool {
        let scheduled = match self {
            Self::Simulated { scheduled, .. } => *scheduled,
            Self::Native { .. } => None,
        };
        matches!(scheduled, Some(Scheduled::Guest { .. }))
    }
}
