//! One row of the table of model checks, and how to make one.

use crate::{Loom, LoomRun, Seen, Settings};
use lockwright::raw::RawLock;
use lockwright::registry::{self, LockRow};
use lockwright_clients::{
    CLIENTS, Client, ClientVisitor, READER_CLIENTS, clients_on, visit_client, visit_client_of,
};
use std::any::TypeId;
use std::sync::Arc;

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
    pub settings: Settings,
    /// Threads of the client.
    pub threads: usize,
    /// How often each thread repeats its operation.
    pub rounds: u32,
    /// Preemptions of one execution that are explored at most, whatever the bounds.
    pub preemptions_max: usize,
    pub(crate) explore: Arc<dyn Fn(&LoomRun) -> Seen + Send + Sync>,
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
    pub fn explore(&self, bounds: Bounds) -> Seen {
        let preemptions = if self.threads == 2 { bounds.of_two } else { bounds.of_three };
        let most = self.preemptions_max;
        let preemptions =
            preemptions.map_or((most < usize::MAX).then_some(most), |it| Some(it.min(most)));
        let settings = self.settings.clone();
        let Self { threads, rounds, .. } = *self;
        (self.explore)(&LoomRun { settings, threads, preemptions, rounds })
    }
}

/// Client `client` on lock `lock`.
pub(crate) fn named(
    lock: &'static LockRow,
    client: &'static str,
    on: &'static str,
    threads: usize,
    settings: Settings,
) -> Check {
    struct Explore<'a>(&'a LoomRun);
    impl ClientVisitor for Explore<'_> {
        type Output = Seen;
        fn visit<C: Client>(self) -> Seen {
            self.0.client::<C>()
        }
    }
    let explore = move |run: &LoomRun| {
        visit_client_of::<Loom, _>(lock, client, Explore(run)).expect("both are in their tables")
    };
    let explore = Arc::new(explore);
    Check { lock, client, on, settings, threads, rounds: 1, preemptions_max: usize::MAX, explore }
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
    of: Settings,
) -> Check {
    let settings = of.with_nodes_per_cpu(1);
    let explore = Arc::new(|run: &LoomRun| run.client::<C>());
    let (client, preemptions_max) = (C::NAME, usize::MAX);
    Check { lock, client, on, settings, threads, rounds: 1, preemptions_max, explore }
}

/// Three threads on exactly this machine, with every client.
pub(crate) fn three_on<L: RawLock>(
    lock: &'static LockRow,
    on: &'static str,
    settings: Settings,
) -> Vec<Check> {
    struct Row(&'static LockRow, &'static str, Settings);
    impl ClientVisitor for Row {
        type Output = Check;
        fn visit<C: Client>(self) -> Check {
            let check = row::<C>(self.0, self.1, 3, Settings::flat(3));
            Check { settings: self.2, ..check }
        }
    }
    let visit = |client: &str| visit_client::<Loom, L, _>(client, Row(lock, on, settings.clone()));
    clients_on::<L>().filter_map(visit).collect()
}
