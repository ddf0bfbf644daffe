//! The list of clients for platforms on which signals interrupt threads and threads fork. On other platforms they are
//! like other clients.

use crate::fork::{ForkedPermits, GivesInChild, InChild, Notifies};
use crate::handler::{
    Attempts, Deadlines, InHandler, Notified, PermitsInHandler, TimedAttempts, WithAttempts,
};
use crate::once::Calls;
use crate::overlap::{AsOthers, ByTakingAll, ByUpgrading, ByWriting, Overlap};
use crate::resilient::ToldInHandler;
use crate::seqlock::WholePairs;
use crate::slots::{SLOTS, SlotsInChild};
use crate::table::clients_of_types;
use crate::upgrade::{GivesUpUpgrade, Upgrades};
use crate::{Client, ClientVisitor};
use core::any::TypeId;
use lockwright::linux::RawCnaMutex;
use lockwright::mutex::{RawFairMutex, RawMutex};
use lockwright::once::testing::OnceMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::rwlock::{Barging, Fair, RawRwLock};
use lockwright::semaphore::RawSemaphore;
use lockwright::seqlock::RawSeqLock;
use lockwright_catalog::registry::{self, LockRow, Platform};
use lockwright_linux::qrwlock::RawQRwLock;
use lockwright_linux::qspinlock::resilient::{InPrograms, RawResilientSpinLock};
use lockwright_linux::qspinlock::{CnaSpinlock, HybridBounded, QSpinlock, cna};

clients_of_types! { of_type, visit_of_type, P;
    QSpinlock<P> { InHandler<P, QSpinlock<P>, TimedAttempts>, InHandler<P, QSpinlock<P>, Deadlines> }
    CnaSpinlock<P> { InHandler<P, CnaSpinlock<P>, TimedAttempts>, InHandler<P, CnaSpinlock<P>, Deadlines> }
    CnaSpinlock<P, cna::V10, HybridBounded> {
        InHandler<P, CnaSpinlock<P, cna::V10, HybridBounded>, Attempts>,
    }
    RawResilientSpinLock<P, InPrograms> {
        InHandler<P, RawResilientSpinLock<P, InPrograms>, TimedAttempts>, ToldInHandler<P, InPrograms>,
    }
    RawQRwLock<P> { InHandler<P, RawQRwLock<P>, Attempts> }
    RawSeqLock<P, 2> { InHandler<P, RawSeqLock<P, 2>, Attempts>, WithAttempts<WholePairs<P>> }
    OnceMutex<P> { WithAttempts<Calls<P>> }
    // Its spinners cannot leave their queue, so a handler must not wait for what its thread waits for.
    RawMutex<P> {
        InHandler<P, RawMutex<P>, TimedAttempts>, Notified<P>, InChild<P, RawMutex<P>>, GivesInChild<P>,
        Overlap<P, RawMutex<P>, AsOthers>, Notifies<P>,
    }
    RawCnaMutex<P> { InHandler<P, RawCnaMutex<P>, TimedAttempts> }
    RawFairMutex<P> { InHandler<P, RawFairMutex<P>, TimedAttempts>, Overlap<P, RawFairMutex<P>, AsOthers> }
    RawSemaphore<P, 1> {
        InHandler<P, RawSemaphore<P, 1>, Deadlines>, PermitsInHandler<P>, InChild<P, RawSemaphore<P, 1>>,
        ForkedPermits<P>, Overlap<P, RawSemaphore<P, 2>, ByTakingAll>,
    }
    RawRwLock<P> {
        InHandler<P, RawRwLock<P>, Deadlines>, WithAttempts<Upgrades<P, Barging>>,
        WithAttempts<GivesUpUpgrade<P, Barging>>, InChild<P, RawRwLock<P>>,
        Overlap<P, RawRwLock<P>, ByWriting>, Overlap<P, RawRwLock<P>, ByUpgrading>,
    }
    RawRwLock<P, Fair> {
        InHandler<P, RawRwLock<P, Fair>, Deadlines>, WithAttempts<Upgrades<P, Fair>>,
        WithAttempts<GivesUpUpgrade<P, Fair>>, InChild<P, RawRwLock<P, Fair>>,
        Overlap<P, RawRwLock<P, Fair>, ByWriting>, Overlap<P, RawRwLock<P, Fair>, ByUpgrading>,
    }
    RawPercpuRwLock<P> {
        InHandler<P, RawPercpuRwLock<P>, Deadlines>, InChild<P, RawPercpuRwLock<P>>,
        Overlap<P, RawPercpuRwLock<P>, ByWriting>, SlotsInChild<P>,
    }
    InSlots<P> {
        InHandler<P, InSlots<P>, Attempts>, InHandler<P, InSlots<P>, Deadlines>, InChild<P, InSlots<P>>,
        Overlap<P, InSlots<P>, ByWriting>,
    }
}

/// The names of the clients that the lock of that row has to satisfy where signals interrupt threads and threads fork.
pub fn disturbed_clients_of<P: Platform>(row: &'static LockRow) -> &'static [&'static str] {
    registry::type_of::<P>(row).map_or(&[], of_type::<P>)
}

/// Calls `visitor` with such a client of the lock of that row on `P`; `None` if the lock has none of that name.
pub fn visit_disturbed<P: Platform, V: ClientVisitor>(
    row: &'static LockRow,
    client: &str,
    visitor: V,
) -> Option<V::Output> {
    visit_of_type::<P, V>(registry::type_of::<P>(row)?, client, visitor)
}

/// The names of all of them.
pub fn disturbed_clients() -> &'static [&'static str] {
    &[
        "handler",
        "handler-timed",
        "semaphore-handler",
        "condvar-handler",
        "once-call-handler",
        "seqlock-pair-handler",
        "rwlock-upgrade-handler",
        "rwlock-upgrade-timed-handler",
        "resilient-handler",
        "fork",
        "mutex-fork",
        "condvar-fork",
        "semaphore-fork",
        SLOTS,
        "rwlock-overlap",
        "rwlock-overlap-upgrade",
        "mutex-overlap",
        "semaphore-overlap",
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_catalog::registry::LOCKS;
    use lockwright_core::native::Native;

    #[test]
    fn the_locks_of_the_list_are_registered_and_the_names_are_all() {
        let of = |row| disturbed_clients_of::<Native>(row).iter().copied();
        let mut names: Vec<_> = LOCKS.iter().flat_map(of).collect();
        assert_eq!(names.len(), 45);
        names.sort_unstable();
        names.dedup();
        let mut all = disturbed_clients().to_vec();
        all.sort_unstable();
        assert_eq!(names, all);
    }

    /// The types of docs/choosing.md, and the locks that they are. On a barrier there is nothing to attempt.
    const TYPES: [(&str, Option<&str>); 18] = [
        ("Mutex", Some("mutex")),
        ("CnaMutex", Some("cna-mutex")),
        ("FairMutex", Some("fair-mutex")),
        ("ReentrantMutex", Some("mutex")),
        ("RwLock", Some("rwlock")),
        ("FairRwLock", Some("rwlock-fair")),
        ("PercpuRwLock", Some("percpu-rwlock")),
        ("RwSemLock", Some("rwsem-current_in_programs")),
        ("QRwLock", Some("qrwlock")),
        ("Semaphore", Some("semaphore")),
        ("SeqLock", Some("seqlock")),
        ("Once", Some("once")),
        ("OnceLock", Some("once")),
        ("LazyLock", Some("once")),
        ("Barrier", None),
        ("SpinLock", Some("qspinlock")),
        ("CnaSpinLock", Some("cna")),
        ("ResilientSpinLock", Some("resilient-in_programs")),
    ];

    #[test]
    fn each_lock_that_may_be_attempted_in_handlers_is_attempted_in_handlers() {
        let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/choosing.md");
        let document = std::fs::read_to_string(document).expect("the document");
        let of = |text: &'static str, after: &str| {
            document.split(text).nth(1).map(|it| it.split(after).next().unwrap_or(it).to_string())
        };
        let table = of("## What they are", "*Urgent*").expect("the table");
        let types: Vec<_> =
            table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        assert_eq!(types, TYPES.map(|(name, _)| name));
        let forbidden = of("on any of these locks except ", ", whatever").expect("the exceptions");
        for (name, lock) in TYPES {
            let Some(lock) = lock.filter(|_| !forbidden.contains(&format!("`{name}`"))) else {
                continue;
            };
            let row = lockwright_catalog::registry::find(lock).expect("a lock");
            let handlers = ["handler", "handler-timed", "once-call-handler"];
            let has_handler = |client: &&str| handlers.contains(client);
            assert!(disturbed_clients_of::<Native>(row).iter().any(has_handler), "{name}");
        }
    }
}
