//! The list of clients for platforms on which signals interrupt threads and threads fork. On other platforms they are
//! like other clients.

use crate::fork::{self, InChild, Notifies};
use crate::handler::{self, Attempts, Deadlines, InHandler, Notified, Permits};
use crate::table::ClientVisitor;
use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::qrwlock::QRwLock;
use lockwright::qspinlock::{CnaSpinlock, HybridBounded, QSpinlock, cna};
use lockwright::registry::Platform;
use lockwright::rwlock::{Fair, RawRwLock};
use lockwright::semaphore::RawSemaphore;
use lockwright::seqlock::RawSeqLock;

macro_rules! disturbed {
    ($P:ident; $($lock:literal { $($name:path => $client:ty;)+ })+) => {
        /// The names of the clients that `lock` has to satisfy where signals interrupt threads and threads fork.
        pub fn disturbed_clients_of(lock: &str) -> &'static [&'static str] {
            match lock {
                $($lock => &[$($name),+],)+
                _ => &[],
            }
        }
        /// Calls `visitor` with such a client of `lock` on `P`; `None` if there is no such lock or no such client.
        pub fn visit_disturbed<$P: Platform, V: ClientVisitor>(
            lock: &str,
            client: &str,
            visitor: V,
        ) -> Option<V::Output> {
            $($(if (lock, client) == ($lock, $name) {
                return Some(visitor.visit::<$client>());
            })+)+
            None
        }
    };
}

disturbed! { P;
    "qspinlock" { handler::ATTEMPTS => InHandler<P, QSpinlock<P>, Attempts>; }
    "cna" { handler::ATTEMPTS => InHandler<P, CnaSpinlock<P>, Attempts>; }
    "cna-hybrid-bounded" {
        handler::ATTEMPTS => InHandler<P, CnaSpinlock<P, cna::V10, HybridBounded>, Attempts>;
    }
    "qrwlock" { handler::ATTEMPTS => InHandler<P, QRwLock<P>, Attempts>; }
    "seqlock" { handler::ATTEMPTS => InHandler<P, RawSeqLock<P, 2>, Attempts>; }
    // Its spinners cannot leave their queue, so a handler must not wait for what its thread waits for.
    "mutex" {
        handler::ATTEMPTS => InHandler<P, RawMutex<P>, Attempts>;
        handler::NOTIFIED => Notified<P>;
        fork::FORK => InChild<P, RawMutex<P>>;
        fork::CONDVAR => Notifies<P>;
    }
    "semaphore" {
        handler::DEADLINES => InHandler<P, RawSemaphore<P, 1>, Deadlines>;
        handler::PERMITS => Permits<P>;
        fork::FORK => InChild<P, RawSemaphore<P, 1>>;
        fork::PERMITS => fork::Permits<P>;
    }
    "rwlock" {
        handler::DEADLINES => InHandler<P, RawRwLock<P>, Deadlines>;
        fork::FORK => InChild<P, RawRwLock<P>>;
    }
    "rwlock-fair" {
        handler::DEADLINES => InHandler<P, RawRwLock<P, Fair>, Deadlines>;
        fork::FORK => InChild<P, RawRwLock<P, Fair>>;
    }
    "percpu-rwlock" {
        handler::DEADLINES => InHandler<P, RawPercpuRwLock<P>, Deadlines>;
        fork::FORK => InChild<P, RawPercpuRwLock<P>>;
    }
    "percpu-rwlock-in_slots" {
        handler::ATTEMPTS => InHandler<P, InSlots<P>, Attempts>;
        handler::DEADLINES => InHandler<P, InSlots<P>, Deadlines>;
        fork::FORK => InChild<P, InSlots<P>>;
    }
}

/// The names of all of them.
pub fn disturbed_clients() -> &'static [&'static str] {
    &[
        handler::ATTEMPTS,
        handler::DEADLINES,
        handler::PERMITS,
        handler::NOTIFIED,
        fork::FORK,
        fork::CONDVAR,
        fork::PERMITS,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright::registry::LOCKS;

    #[test]
    fn the_locks_of_the_list_are_registered_and_the_names_are_all() {
        let of = |lock| disturbed_clients_of(lock).iter().copied();
        let mut names: Vec<_> = LOCKS.iter().flat_map(|row| of(row.name)).collect();
        assert_eq!(names.len(), 22);
        names.sort_unstable();
        names.dedup();
        let mut all = disturbed_clients().to_vec();
        all.sort_unstable();
        assert_eq!(names, all);
    }
}
