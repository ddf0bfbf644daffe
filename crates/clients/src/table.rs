//! The one list of clients: those that every lock has to satisfy, and those of one lock.

use crate::Client;
use crate::downgrade::{self, Downgrade};
use crate::exclusion::{self, Exclusion};
use crate::guards::{self, Forgotten, Moved, OutOfOrder};
use crate::is_locked::{self, IsLocked};
use crate::last_user::{self, LastUser};
use crate::limits::{self, Deadline, Depth, Permits};
use crate::mutex::{self, Exact, Fair, GiveUp, Notify, Timed};
use crate::neighbours::{self, Neighbours};
use crate::osq::{self, Leave};
use crate::place::Kind;
use crate::qrwlock::{self, ReadsAgain};
use crate::reused;
use crate::rwlock::{self, ForPrograms};
use crate::rwsem::{self, Handoff, Interrupted, LastRound, Overflow};
use crate::semaphore::{self, LastPermit, Makers};
use crate::seqlock::{self, Pair};
use crate::shared::{self, Shared};
use crate::try_lock::{self, TryLock};
use crate::try_shared::{self, TryShared};
use core::marker::PhantomData;
use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::raw::RawLock;
use lockwright::registry::Platform;
use lockwright::registry::{self, LockRow, LockVisitor, RwSemVisitor};
use lockwright::rwlock::{Fair as FirstCome, RawRwLock};
use lockwright::rwsem::{Format, RwSemPolicy};
use lockwright::semaphore::RawSemaphore;

/// Something to be done with a client whose type is chosen by name.
pub trait ClientVisitor {
    /// What comes out of it.
    type Output;
    /// Does it with client `C`.
    fn visit<C: Client>(self) -> Self::Output;
}

macro_rules! clients {
    (
        $P:ident, $L:ident;
        every lock { $($name:path => $client:ty;)+ }
        readers { $($shared_name:path => $shared:ty;)+ }
    ) => {
        /// The names of the clients that every lock has to satisfy.
        pub const CLIENTS: &[&str] = &[$($name),+];
        /// The names of those that a lock has to satisfy whose readers share it.
        pub const READER_CLIENTS: &[&str] = &[$($shared_name),+];

        /// Calls `visitor` with the client of that name for lock `L`; `None` if there is none.
        pub fn visit_client<$P: Platform, $L: RawLock, V: ClientVisitor>(
            name: &str,
            visitor: V,
        ) -> Option<V::Output> {
            $(if name == $name {
                return Some(visitor.visit::<$client>());
            })+
            if const { !$L::READERS_SHARE } {
                return None;
            }
            $(if name == $shared_name {
                return Some(visitor.visit::<$shared>());
            })+
            None
        }
    };
}

clients! { P, L;
    every lock {
        exclusion::NAME => Exclusion<P, L>;
        try_lock::NAME => TryLock<P, L>;
        is_locked::NAME => IsLocked<P, L>;
    }
    readers {
        shared::NAME => Shared<P, L>;
        try_shared::NAME => TryShared<P, L>;
        downgrade::NAME => Downgrade<P, L>;
    }
}

/// The names of the clients that lock `L` has to satisfy as any such lock has.
pub fn clients_on<L: RawLock>() -> impl Iterator<Item = &'static str> + Clone {
    of_any(L::READERS_SHARE)
}

fn of_any(readers_share: bool) -> impl Iterator<Item = &'static str> + Clone {
    let readers: &[&str] = if readers_share { READER_CLIENTS } else { &[] };
    CLIENTS.iter().chain(readers).copied()
}

/// Calls `visitor` with client `client` for lock `lock` on `P`; `None` if there is no such lock or
/// no such client.
pub fn visit_client_of<P: Platform, V: ClientVisitor>(
    lock: &str,
    client: &str,
    visitor: V,
) -> Option<V::Output> {
    struct OfLock<'a, V> {
        client: &'a str,
        visitor: V,
    }
    impl<P: Platform, V: ClientVisitor> LockVisitor<P> for OfLock<'_, V> {
        type Output = Option<V::Output>;
        fn visit<L: RawLock>(self, _row: &'static LockRow) -> Self::Output {
            visit_client::<P, L, V>(self.client, self.visitor)
        }
    }
    if lock == MUTEX {
        match client {
            mutex::TIMED => return Some(visitor.visit::<Timed<P>>()),
            mutex::FAIR => return Some(visitor.visit::<Fair<P>>()),
            mutex::NOTIFY => return Some(visitor.visit::<Notify<P>>()),
            mutex::GIVE_UP => return Some(visitor.visit::<GiveUp<P>>()),
            limits::DEADLINE => return Some(visitor.visit::<Deadline<P>>()),
            mutex::EXACT => return Some(visitor.visit::<Exact<P>>()),
            neighbours::NAME => return Some(visitor.visit::<Neighbours<P>>()),
            last_user::NAME => return Some(visitor.visit::<LastUser<P>>()),
            _ => {}
        }
    }
    if [guards::FORGOTTEN, guards::MOVED].contains(&client) {
        return visit_guards::<P, V>(lock, client, visitor);
    }
    if let Some(first) = first_of(lock, client) {
        return reused::visit::<P, V>(first, client, visitor);
    }
    if (lock, client) == (OSQ, osq::LEAVE) {
        return Some(visitor.visit::<Leave<P>>());
    }
    if OF_RWLOCK.contains(&client) {
        return match lock {
            RWLOCK => visit_rwlock::<P, RawRwLock<P>, V>(client, visitor),
            RWLOCK_FAIR => visit_rwlock::<P, RawRwLock<P, FirstCome>, V>(client, visitor),
            PERCPU_RWLOCK => visit_rwlock::<P, RawPercpuRwLock<P>, V>(client, visitor),
            PERCPU_IN_SLOTS => visit_rwlock::<P, InSlots<P>, V>(client, visitor),
            _ => None,
        };
    }
    if (lock, client) == (SEQLOCK, seqlock::PAIR) {
        return Some(visitor.visit::<Pair<P>>());
    }
    if lock == SEMAPHORE {
        match client {
            semaphore::TIMED => return Some(visitor.visit::<semaphore::Timed<P>>()),
            limits::PERMITS => return Some(visitor.visit::<Permits<P>>()),
            semaphore::MAKERS => return Some(visitor.visit::<Makers<P>>()),
            semaphore::LAST_PERMIT => return Some(visitor.visit::<LastPermit<P>>()),
            _ => {}
        }
    }
    if (lock, client) == (QRWLOCK, qrwlock::READS_AGAIN) {
        return Some(visitor.visit::<ReadsAgain<P>>());
    }
    if OF_RWSEM.contains(&client) {
        let visitor = OfRwSem { client, visitor, platform: PhantomData::<fn() -> P> };
        return registry::visit_rwsem(lock, visitor)?;
    }
    registry::visit::<P, _>(lock, OfLock { client, visitor })?
}

fn visit_guards<P: Platform, V: ClientVisitor>(
    lock: &str,
    client: &str,
    visitor: V,
) -> Option<V::Output> {
    let found = match (client, lock) {
        (guards::FORGOTTEN, MUTEX) => visitor.visit::<Forgotten<P, { Kind::Mutex as usize }>>(),
        (guards::FORGOTTEN, SEMAPHORE) => {
            visitor.visit::<Forgotten<P, { Kind::Semaphore as usize }>>()
        }
        (guards::FORGOTTEN, RWLOCK) => visitor.visit::<Forgotten<P, { Kind::RwLock as usize }>>(),
        (guards::FORGOTTEN, RWLOCK_FAIR) => {
            visitor.visit::<Forgotten<P, { Kind::FairRwLock as usize }>>()
        }
        (guards::FORGOTTEN, PERCPU_IN_SLOTS) => {
            visitor.visit::<Forgotten<P, { Kind::PercpuRwLock as usize }>>()
        }
        (guards::MOVED, MUTEX) => visitor.visit::<Moved<P, RawMutex<P>>>(),
        (guards::MOVED, SEMAPHORE) => visitor.visit::<Moved<P, RawSemaphore<P, 1>>>(),
        (guards::MOVED, RWLOCK) => visitor.visit::<Moved<P, RawRwLock<P>>>(),
        (guards::MOVED, RWLOCK_FAIR) => visitor.visit::<Moved<P, RawRwLock<P, FirstCome>>>(),
        _ => return None,
    };
    Some(found)
}

/// What is freed first in the client of that name on that lock, if it is one of [`reused`].
fn first_of(lock: &str, client: &str) -> Option<Kind> {
    if lock == MUTEX && reused::OF_CONDVAR.contains(&client) {
        return Some(Kind::Condvar);
    }
    let (_, first) = REUSED.iter().find(|(first, _)| *first == lock)?;
    reused::OF_LOCK.contains(&client).then_some(*first)
}

/// True if the client of that name is about memory that is used again.
pub fn is_of_reused(client: &str) -> bool {
    reused::OF_LOCK.contains(&client) || reused::OF_CONDVAR.contains(&client)
}

/// True if the client of that name is about limits, which a machine for checking can make small.
pub fn is_of_limits(client: &str) -> bool {
    [limits::DEADLINE, limits::DEPTH, limits::PERMITS].contains(&client)
}

/// True if the client of that name is about guards that are given back elsewhere, in another order, or never.
pub fn is_of_guards(client: &str) -> bool {
    [guards::FORGOTTEN, guards::MOVED, guards::OUT_OF_ORDER].contains(&client)
}

/// The clients of [`reused`] and [`guards`] on that lock.
fn of_reused(lock: &str) -> impl Iterator<Item = &'static str> + Clone + use<> {
    let is_of_lock = |name: &&str| match *name {
        guards::FORGOTTEN => OF_FORGOTTEN.contains(&lock),
        guards::MOVED => [MUTEX, SEMAPHORE, RWLOCK, RWLOCK_FAIR].contains(&lock),
        name => first_of(lock, name).is_some(),
    };
    let names = reused::OF_LOCK.into_iter().chain(reused::OF_CONDVAR);
    let names = names.chain([guards::FORGOTTEN, guards::MOVED]).filter(is_of_lock);
    names.collect::<Vec<_>>().into_iter()
}

fn visit_rwlock<P: Platform, L: ForPrograms, V: ClientVisitor>(
    client: &str,
    visitor: V,
) -> Option<V::Output> {
    match client {
        rwlock::TIMED_WRITER => Some(visitor.visit::<rwlock::Timed<P, L, true>>()),
        rwlock::TIMED_READER => Some(visitor.visit::<rwlock::Timed<P, L, false>>()),
        rwlock::LAST_USER => Some(visitor.visit::<rwlock::LastUser<P, L>>()),
        guards::OUT_OF_ORDER => Some(visitor.visit::<OutOfOrder<P, L>>()),
        limits::DEPTH => Some(visitor.visit::<Depth<P, L>>()),
        rwlock::AGAIN => Some(visitor.visit::<rwlock::Again<P, L>>()),
        _ => None,
    }
}

struct OfRwSem<'a, P, V> {
    client: &'a str,
    visitor: V,
    platform: PhantomData<fn() -> P>,
}

impl<P: Platform, V: ClientVisitor> RwSemVisitor for OfRwSem<'_, P, V> {
    type Output = Option<V::Output>;
    fn visit<C: RwSemPolicy>(self) -> Self::Output {
        let Self { client, visitor, .. } = self;
        let found = match client {
            rwsem::TIMED_WRITER => visitor.visit::<rwsem::Timed<P, C, true>>(),
            rwsem::TIMED_READER => visitor.visit::<rwsem::Timed<P, C, false>>(),
            rwsem::INTERRUPTED_WRITER => visitor.visit::<Interrupted<P, C, true>>(),
            rwsem::INTERRUPTED_READER => visitor.visit::<Interrupted<P, C, false>>(),
            rwsem::OVERFLOW => visitor.visit::<Overflow<P, C>>(),
            rwsem::LAST_ROUND => visitor.visit::<LastRound<P, C, false>>(),
            rwsem::LAST_MIXED_ROUND => visitor.visit::<LastRound<P, C, true>>(),
            rwsem::HANDOFF if has_bits::<C>() => visitor.visit::<Handoff<P, C>>(),
            _ => return None,
        };
        Some(found)
    }
}

fn has_bits<C: RwSemPolicy>() -> bool {
    C::POLICY.format == Format::Bits
}

/// The clients of the semaphore `lock`; none of other locks.
fn of_rwsem(lock: &str) -> &'static [&'static str] {
    struct HasBits;
    impl RwSemVisitor for HasBits {
        type Output = bool;
        fn visit<C: RwSemPolicy>(self) -> bool {
            has_bits::<C>()
        }
    }
    match registry::visit_rwsem(lock, HasBits) {
        Some(true) => &OF_RWSEM,
        Some(false) => OF_RWSEM.split_at(OF_RWSEM.len() - 1).0,
        None => &[],
    }
}

// The locks that have clients of their own.
const MUTEX: &str = "mutex";
const OSQ: &str = "osq";
const RWLOCK: &str = "rwlock";
const RWLOCK_FAIR: &str = "rwlock-fair";
const PERCPU_RWLOCK: &str = "percpu-rwlock";
const PERCPU_IN_SLOTS: &str = "percpu-rwlock-in_slots";
/// The last one is for the lock that does not serve in order.
const OF_RWLOCK: [&str; 6] = [
    rwlock::TIMED_WRITER,
    rwlock::TIMED_READER,
    rwlock::LAST_USER,
    guards::OUT_OF_ORDER,
    limits::DEPTH,
    rwlock::AGAIN,
];
const OF_RWLOCK_FAIR: &[&str] = OF_RWLOCK.split_at(5).0;
const OF_OSQ: [&str; 1] = [osq::LEAVE];
const SEQLOCK: &str = "seqlock";
const OF_SEQLOCK: [&str; 1] = [seqlock::PAIR];
const SEMAPHORE: &str = "semaphore";
const OF_SEMAPHORE: [&str; 4] =
    [semaphore::TIMED, semaphore::MAKERS, semaphore::LAST_PERMIT, limits::PERMITS];
const QRWLOCK: &str = "qrwlock";
const HYBRID: &str = "cna-hybrid-bounded";
const OF_QRWLOCK: [&str; 1] = [qrwlock::READS_AGAIN];
const OF_MUTEX: [&str; 8] = [
    limits::DEADLINE,
    mutex::TIMED,
    mutex::FAIR,
    mutex::NOTIFY,
    mutex::GIVE_UP,
    mutex::EXACT,
    last_user::NAME,
    neighbours::NAME,
];

/// The locks whose memory is used again.
const REUSED: [(&str, Kind); 7] = [
    (MUTEX, Kind::Mutex),
    (SEMAPHORE, Kind::Semaphore),
    (RWLOCK, Kind::RwLock),
    (RWLOCK_FAIR, Kind::FairRwLock),
    (PERCPU_IN_SLOTS, Kind::PercpuRwLock),
    (HYBRID, Kind::Spinlock),
    (QRWLOCK, Kind::QRwLock),
];

/// The locks of which a guard is forgotten.
const OF_FORGOTTEN: [&str; 5] = [MUTEX, SEMAPHORE, RWLOCK, RWLOCK_FAIR, PERCPU_IN_SLOTS];

/// The last one is for policies with bits in the count.
const OF_RWSEM: [&str; 8] = [
    rwsem::LAST_ROUND,
    rwsem::LAST_MIXED_ROUND,
    rwsem::TIMED_WRITER,
    rwsem::TIMED_READER,
    rwsem::INTERRUPTED_WRITER,
    rwsem::INTERRUPTED_READER,
    rwsem::OVERFLOW,
    rwsem::HANDOFF,
];

/// The names of the clients that `lock` has to satisfy; none if there is no such lock.
pub fn clients_of<P: Platform>(lock: &str) -> impl Iterator<Item = &'static str> + Clone + use<P> {
    struct ReadersShare;
    impl<P: Platform> LockVisitor<P> for ReadersShare {
        type Output = bool;
        fn visit<L: RawLock>(self, _row: &'static LockRow) -> bool {
            L::READERS_SHARE
        }
    }
    let own: &[&str] = match lock {
        MUTEX => &OF_MUTEX,
        OSQ => &OF_OSQ,
        RWLOCK | PERCPU_RWLOCK | PERCPU_IN_SLOTS => &OF_RWLOCK,
        RWLOCK_FAIR => OF_RWLOCK_FAIR,
        SEMAPHORE => &OF_SEMAPHORE,
        SEQLOCK => &OF_SEQLOCK,
        QRWLOCK => &OF_QRWLOCK,
        _ => of_rwsem(lock),
    };
    let any = registry::visit::<P, _>(lock, ReadersShare).into_iter().flat_map(of_any);
    any.chain(own.iter().copied()).chain(of_reused(lock))
}

/// The names of all clients of the table.
pub fn clients() -> impl Iterator<Item = &'static str> + Clone {
    let of_one =
        OF_MUTEX.into_iter().chain(OF_OSQ).chain(OF_QRWLOCK).chain(OF_SEMAPHORE).chain(OF_SEQLOCK);
    let reused = reused::OF_LOCK.into_iter().chain(reused::OF_CONDVAR);
    of_any(true)
        .chain(of_one)
        .chain(OF_RWLOCK)
        .chain(OF_RWSEM)
        .chain(reused)
        .chain([guards::FORGOTTEN, guards::MOVED])
}
