//! One row of the table of model checks, and how to make one.

use crate::{CheckDepth, Explored, Loom, LoomRun, MachineSettings};
use lockwright_catalog::registry::{self, LockRow};
use lockwright_clients::{
    CLIENTS, Client, ClientType, READER_CLIENTS, TypeOf, client_types_on, visit_client_of,
};
use lockwright_core::raw::RawLock;
use std::any::TypeId;

/// One lock, one client, one machine.
#[derive(Clone)]
pub struct Check {
    /// The registered lock.
    pub lock: &'static LockRow,
    /// The client.
    pub client: &'static str,
    /// What is special about the machine or about the way into the lock.
    pub on: &'static str,
    /// The machine.
    pub settings: MachineSettings,
    /// Threads of the client.
    pub threads: usize,
    /// How often each thread repeats its operation.
    pub rounds: u32,
    /// Preemptions of one execution that are explored at most, whatever the bounds.
    pub preemptions_max: usize,
    pub(crate) of: ClientType,
}

/// How many preemptions of one execution are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// With two threads; `None` explores them all.
    pub of_two: Option<usize>,
    /// With three.
    pub of_three: Option<usize>,
}

impl Bounds {
    /// Those of `depth`.
    pub const fn of(depth: CheckDepth) -> Self {
        match depth {
            CheckDepth::Brief => Self::BRIEF,
            CheckDepth::Usual => Self::QUICK,
            CheckDepth::Full => Self::FULL,
        }
    }
    /// For a quick look.
    pub const BRIEF: Self = Self { of_two: Some(2), of_three: Some(1) };
    /// For every change.
    pub const QUICK: Self = Self { of_two: Some(3), of_three: Some(2) };
    /// When there is time.
    pub const FULL: Self = Self { of_two: Some(3), of_three: Some(3) };
}

impl Check {
    /// Explores it.
    ///
    /// # Panics
    /// As [`LoomRun::client`].
    pub fn explore(&self, bounds: Bounds) -> Explored {
        let preemptions = if self.threads == 2 { bounds.of_two } else { bounds.of_three };
        let most = self.preemptions_max;
        let preemptions =
            preemptions.map_or((most < usize::MAX).then_some(most), |it| Some(it.min(most)));
        let settings = self.settings.clone();
        let Self { threads, rounds, .. } = *self;
        LoomRun { settings, threads, preemptions, rounds }.client_type(self.of)
    }
}

/// Client `client` on lock `lock`.
pub(crate) fn named(
    lock: &'static LockRow,
    client: &'static str,
    on: &'static str,
    threads: usize,
    settings: MachineSettings,
) -> Check {
    let of = client_type(lock, client).expect("a client of the lock");
    Check { client, ..of_type(lock, of, on, threads, settings) }
}

/// The client of that name for lock `lock`; `None` if there is none.
pub fn client_type(lock: &'static LockRow, client: &str) -> Option<ClientType> {
    visit_client_of::<Loom, _>(lock, client, TypeOf)
}

fn of_type(
    lock: &'static LockRow,
    of: ClientType,
    on: &'static str,
    threads: usize,
    settings: MachineSettings,
) -> Check {
    let preemptions_max = usize::MAX;
    Check { lock, client: of.name, on, settings, threads, rounds: 1, preemptions_max, of }
}

/// Clients of one lock alone have rows of their own.
pub(crate) fn is_of_any(client: &&str) -> bool {
    CLIENTS.contains(client) || READER_CLIENTS.contains(client)
}

/// True if the lock is of type `L`.
pub(crate) fn is<L: RawLock>(lock: &'static LockRow) -> bool {
    registry::type_of::<Loom>(lock) == Some(TypeId::of::<L>())
}

/// The threads of a client run on the first two CPUs, absent waiters wait on the others.
pub const CPUS: u32 = 6;

pub(crate) fn row<C: Client>(
    lock: &'static LockRow,
    on: &'static str,
    threads: usize,
    of: MachineSettings,
) -> Check {
    of_type(lock, ClientType::of::<C>(), on, threads, of.with_nodes_per_cpu(1))
}

/// Three threads on exactly this machine, with every client.
pub(crate) fn three_on<L: RawLock>(
    lock: &'static LockRow,
    on: &'static str,
    settings: MachineSettings,
) -> Vec<Check> {
    rows_of(lock, on, &settings, client_types_on::<Loom, L>())
}

fn rows_of(
    lock: &'static LockRow,
    on: &'static str,
    settings: &MachineSettings,
    clients: Vec<ClientType>,
) -> Vec<Check> {
    let row = |client| of_type(lock, client, on, 3, settings.clone());
    clients.into_iter().map(row).collect()
}
