//! The list of clients for platforms on which signals interrupt threads and threads fork. On other platforms they are
//! like other clients.

use crate::ClientVisitor;
use crate::fork::{self, InChild, Notifies};
use crate::handler::{self, Attempts, Deadlines, InHandler, Notified, PermitsInHandler};
use crate::resilient::{self, ToldInHandler};
use crate::slots::{self, SlotsInChild};
use crate::table::clients_of_types;
use core::any::TypeId;
use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::qrwlock::RawQRwLock;
use lockwright::qspinlock::resilient::{InPrograms, RawResilientSpinLock};
use lockwright::qspinlock::{CnaSpinlock, HybridBounded, QSpinlock, cna};
use lockwright::registry::{self, LockRow, Platform};
use lockwright::rwlock::{Fair, RawRwLock};
use lockwright::semaphore::RawSemaphore;
use lockwright::seqlock::RawSeqLock;

clients_of_types! { of_type, visit_of_type, P;
    QSpinlock<P> { handler::ATTEMPTS => InHandler<P, QSpinlock<P>, Attempts>; }
    CnaSpinlock<P> { handler::ATTEMPTS => InHandler<P, CnaSpinlock<P>, Attempts>; }
    CnaSpinlock<P, cna::V10, HybridBounded> {
        handler::ATTEMPTS => InHandler<P, CnaSpinlock<P, cna::V10, HybridBounded>, Attempts>;
    }
    RawResilientSpinLock<P, InPrograms> {
        handler::ATTEMPTS => InHandler<P, RawResilientSpinLock<P, InPrograms>, Attempts>;
        resilient::IN_HANDLER => ToldInHandler<P, InPrograms>;
    }
    RawQRwLock<P> { handler::ATTEMPTS => InHandler<P, RawQRwLock<P>, Attempts>; }
    RawSeqLock<P, 2> { handler::ATTEMPTS => InHandler<P, RawSeqLock<P, 2>, Attempts>; }
    // Its spinners cannot leave their queue, so a handler must not wait for what its thread waits for.
    RawMutex<P> {
        handler::ATTEMPTS => InHandler<P, RawMutex<P>, Attempts>;
        handler::NOTIFIED => Notified<P>;
        fork::FORK => InChild<P, RawMutex<P>>;
        fork::CONDVAR => Notifies<P>;
    }
    RawSemaphore<P, 1> {
        handler::DEADLINES => InHandler<P, RawSemaphore<P, 1>, Deadlines>;
        handler::PERMITS => PermitsInHandler<P>;
        fork::FORK => InChild<P, RawSemaphore<P, 1>>;
        fork::PERMITS => fork::ForkedPermits<P>;
    }
    RawRwLock<P> {
        handler::DEADLINES => InHandler<P, RawRwLock<P>, Deadlines>;
        fork::FORK => InChild<P, RawRwLock<P>>;
    }
    RawRwLock<P, Fair> {
        handler::DEADLINES => InHandler<P, RawRwLock<P, Fair>, Deadlines>;
        fork::FORK => InChild<P, RawRwLock<P, Fair>>;
    }
    RawPercpuRwLock<P> {
        handler::DEADLINES => InHandler<P, RawPercpuRwLock<P>, Deadlines>;
        fork::FORK => InChild<P, RawPercpuRwLock<P>>;
        slots::SLOTS => SlotsInChild<P>;
    }
    InSlots<P> {
        handler::ATTEMPTS => InHandler<P, InSlots<P>, Attempts>;
        handler::DEADLINES => InHandler<P, InSlots<P>, Deadlines>;
        fork::FORK => InChild<P, InSlots<P>>;
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
        handler::ATTEMPTS,
        handler::DEADLINES,
        handler::PERMITS,
        handler::NOTIFIED,
        resilient::IN_HANDLER,
        fork::FORK,
        fork::CONDVAR,
        fork::PERMITS,
        slots::SLOTS,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright::native::Native;
    use lockwright::registry::LOCKS;

    #[test]
    fn the_locks_of_the_list_are_registered_and_the_names_are_all() {
        let of = |row| disturbed_clients_of::<Native>(row).iter().copied();
        let mut names: Vec<_> = LOCKS.iter().flat_map(of).collect();
        assert_eq!(names.len(), 25);
        names.sort_unstable();
        names.dedup();
        let mut all = disturbed_clients().to_vec();
        all.sort_unstable();
        assert_eq!(names, all);
    }
}
