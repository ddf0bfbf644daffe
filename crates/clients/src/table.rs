//! The one list of clients: those that every lock has to satisfy, and those of one lock.

use crate::barrier::{self, Groups, Meetings};
use crate::downgrade::{self, Downgrade};
use crate::exclusion::{self, MutualExclusion};
use crate::guards::{self, Forgotten, Moved, OutOfOrder};
use crate::hq::{self, ByNode, SharedMetadata};
use crate::is_locked::{self, IsLocked};
use crate::last_user::{self, LastUser};
use crate::left::{self, AnotherMutex, Left, LeftToWaiter};
use crate::limits::{self, AllTimeOut, Depth, PermitsAtTheLimit};
use crate::mutex::{self, GiveUp, HandsOver, MutexTimeOuts, Notify, NotifyAll, SeveralMutexes};
use crate::neighbours::{self, Neighbours};
use crate::once::{self, Calls, FreedWhenDone, GivesUp};
use crate::one_place::{self, OnePlace};
use crate::osq::{self, Leave};
use crate::place::TenantKind;
use crate::promise::{self, Promise, Unheld};
use crate::qrwlock::{self, ReadsAgain};
use crate::resilient;
use crate::reused;
use crate::rwlock;
use crate::rwsem::{self, Interrupted, LastRound, Overflow, ReservedForFirst};
use crate::semaphore::{self, LastPermit, Makers};
use crate::seqlock::{self, WholePairs};
use crate::shared::{self, ReadersAndWriters};
use crate::timed_spin::{self, SpinTimeOuts};
use crate::try_lock::{self, TryLock};
use crate::try_shared::{self, TryShared};
use crate::two_kinds::{self, TwoKinds};
use crate::upgrade;
use crate::{ClientType, ClientVisitor};
use core::any::TypeId;
use core::marker::PhantomData;
use lockwright::linux::RawCnaMutex;
use lockwright::mutex::{RawFairMutex, RawMutex};
use lockwright::once::testing::OnceMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::rwlock::{Barging, Fair as FirstCome, RawRwLock, Unlisted};
use lockwright::semaphore::RawSemaphore;
use lockwright::seqlock::RawSeqLock;
use lockwright_catalog::busted::GroupedMutex;
use lockwright_catalog::futex3::{Futex3, Spin100};
use lockwright_catalog::registry::{self, LOCKS, LockRow, LockVisitor, Platform, RwSemVisitor};
use lockwright_catalog::word_lock::WordLock;
use lockwright_core::raw::RawLock;
use lockwright_linux::hq::{HqBounded, HqSpinlock};
use lockwright_linux::osq::testing::OsqMutex;
use lockwright_linux::qrwlock::RawQRwLock;
use lockwright_linux::qspinlock::resilient::{InPrograms, RawResilientSpinLock};
use lockwright_linux::qspinlock::{CnaSpinlock, QSpinlock};
use lockwright_linux::rwsem::{Format, RwSemPolicy};

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

        /// The clients that lock `L` has to satisfy as any such lock has.
        pub fn client_types_on<$P: Platform, $L: RawLock>() -> Vec<ClientType> {
            let mut types = vec![$(ClientType::of::<$client>()),+];
            if const { $L::READERS_SHARE } {
                types.extend([$(ClientType::of::<$shared>()),+]);
            }
            types
        }

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
        exclusion::NAME => MutualExclusion<P, L>;
        try_lock::NAME => TryLock<P, L>;
        is_locked::NAME => IsLocked<P, L>;
    }
    readers {
        shared::NAME => ReadersAndWriters<P, L>;
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

/// Makes a function for the names of the clients of some types of locks, and one that visits such a client. A lock is
/// found by its type: what one lock has is for no other.
macro_rules! clients_of_types {
    (
        $names:ident, $visit:ident, $P:ident;
        $($lock:ty { $($name:path => $client:ty;)+ })+
    ) => {
        /// The names of the clients in this table of a lock of that type.
        fn $names<$P: Platform>(lock: TypeId) -> &'static [&'static str] {
            $(if lock == TypeId::of::<$lock>() {
                return &[$($name),+];
            })+
            &[]
        }
        /// Calls `visitor` with such a client; `None` if the lock has none of that name.
        fn $visit<$P: Platform, V: ClientVisitor>(
            lock: TypeId,
            client: &str,
            visitor: V,
        ) -> Option<V::Output> {
            $(if lock == TypeId::of::<$lock>() {
                $(if client == $name {
                    return Some(visitor.visit::<$client>());
                })+
            })+
            None
        }
    };
}
pub(crate) use clients_of_types;

clients_of_types! { own_clients, visit_own, P;
    RawMutex<P> {
        limits::DEADLINE => AllTimeOut<P>;
        mutex::TIMED => MutexTimeOuts<P>;
        mutex::FAIR => HandsOver<P>;
        mutex::NOTIFY => Notify<P>;
        promise::NAME => Promise<P>;
        promise::UNHELD => Unheld<P>;
        one_place::NAME => OnePlace<P>;
        mutex::NOTIFY_ALL => NotifyAll<P>;
        mutex::MUTEXES => SeveralMutexes<P>;
        mutex::GIVE_UP => GiveUp<P>;
        left::LEFT => Left<P>;
        left::TO_WAITER => LeftToWaiter<P>;
        left::ANOTHER => AnotherMutex<P>;
        last_user::NAME => LastUser<P>;
        neighbours::NAME => Neighbours<RawMutex<P>>;
    }
    RawCnaMutex<P> {
        limits::DEADLINE => AllTimeOut<P, RawCnaMutex<P>>;
        mutex::TIMED => MutexTimeOuts<P, RawCnaMutex<P>>;
        mutex::FAIR => HandsOver<P, RawCnaMutex<P>>;
        mutex::NOTIFY => Notify<P, RawCnaMutex<P>>;
        one_place::NAME => OnePlace<P, RawCnaMutex<P>>;
        mutex::NOTIFY_ALL => NotifyAll<P, RawCnaMutex<P>>;
        mutex::MUTEXES => SeveralMutexes<P, RawCnaMutex<P>>;
        mutex::GIVE_UP => GiveUp<P, RawCnaMutex<P>>;
        left::LEFT => Left<P, RawCnaMutex<P>>;
        left::TO_WAITER => LeftToWaiter<P, RawCnaMutex<P>>;
        left::ANOTHER => AnotherMutex<P, RawCnaMutex<P>>;
        last_user::NAME => LastUser<P, RawCnaMutex<P>>;
        neighbours::NAME => Neighbours<RawCnaMutex<P>>;
    }
    // The condition variable does not wait with it.
    RawFairMutex<P> {
        mutex::TIMED => MutexTimeOuts<P, RawFairMutex<P>>;
        mutex::FAIR => HandsOver<P, RawFairMutex<P>>;
        neighbours::NAME => Neighbours<RawFairMutex<P>>;
    }
    Futex3<P> {
        limits::DEADLINE => AllTimeOut<P, Futex3<P>>;
        mutex::TIMED => MutexTimeOuts<P, Futex3<P>>;
        mutex::NOTIFY => Notify<P, Futex3<P>>;
        one_place::NAME => OnePlace<P, Futex3<P>>;
        mutex::GIVE_UP => GiveUp<P, Futex3<P>>;
    }
    Futex3<P, Spin100> {
        limits::DEADLINE => AllTimeOut<P, Futex3<P, Spin100>>;
        mutex::TIMED => MutexTimeOuts<P, Futex3<P, Spin100>>;
        mutex::NOTIFY => Notify<P, Futex3<P, Spin100>>;
        one_place::NAME => OnePlace<P, Futex3<P, Spin100>>;
        mutex::GIVE_UP => GiveUp<P, Futex3<P, Spin100>>;
    }
    GroupedMutex<P> {
        mutex::NOTIFY => Notify<P, GroupedMutex<P>>;
        one_place::NAME => OnePlace<P, GroupedMutex<P>>;
    }
    OsqMutex<P> { osq::LEAVE => Leave<P>; }
    WordLock<P> { two_kinds::NAME => TwoKinds<P>; }
    // The barrier waits and wakes as the once does, and is no lock.
    OnceMutex<P> {
        once::CALL => Calls<P>;
        once::GIVE_UP => GivesUp<P>;
        once::FREED => FreedWhenDone<P>;
        barrier::MEET => Meetings<P>;
        barrier::GROUPS => Groups<P>;
    }
    RawRwLock<P> {
        rwlock::TIMED_WRITER => rwlock::RwLockTimeOuts<P, RawRwLock<P>, true>;
        rwlock::TIMED_READER => rwlock::RwLockTimeOuts<P, RawRwLock<P>, false>;
        rwlock::GROUP => rwlock::Group<P, RawRwLock<P>>;
        rwlock::LAST_READER => rwlock::LastReader<P, RawRwLock<P>>;
        rwlock::LAST_USER => rwlock::LastHolder<P, RawRwLock<P>>;
        guards::OUT_OF_ORDER => OutOfOrder<P, RawRwLock<P>>;
        limits::DEPTH => Depth<P, RawRwLock<P>>;
        rwlock::AGAIN => rwlock::Again<P, RawRwLock<P>>;
        upgrade::UPGRADE => upgrade::Upgrades<P, Barging>;
        upgrade::GIVES_UP => upgrade::GivesUpUpgrade<P, Barging>;
    }
    RawRwLock<P, Unlisted> {
        rwlock::TIMED_WRITER => rwlock::RwLockTimeOuts<P, RawRwLock<P, Unlisted>, true>;
        rwlock::TIMED_READER => rwlock::RwLockTimeOuts<P, RawRwLock<P, Unlisted>, false>;
        guards::OUT_OF_ORDER => OutOfOrder<P, RawRwLock<P, Unlisted>>;
        rwlock::AGAIN => rwlock::Again<P, RawRwLock<P, Unlisted>>;
        upgrade::UPGRADE => upgrade::Upgrades<P, Unlisted>;
    }
    // It serves in order, so a thread that reads may not read again.
    RawRwLock<P, FirstCome> {
        rwlock::TIMED_WRITER => rwlock::RwLockTimeOuts<P, RawRwLock<P, FirstCome>, true>;
        rwlock::TIMED_READER => rwlock::RwLockTimeOuts<P, RawRwLock<P, FirstCome>, false>;
        rwlock::GROUP => rwlock::Group<P, RawRwLock<P, FirstCome>>;
        rwlock::LAST_READER => rwlock::LastReader<P, RawRwLock<P, FirstCome>>;
        rwlock::LAST_USER => rwlock::LastHolder<P, RawRwLock<P, FirstCome>>;
        guards::OUT_OF_ORDER => OutOfOrder<P, RawRwLock<P, FirstCome>>;
        limits::DEPTH => Depth<P, RawRwLock<P, FirstCome>>;
        upgrade::UPGRADE => upgrade::Upgrades<P, FirstCome>;
        upgrade::GIVES_UP => upgrade::GivesUpUpgrade<P, FirstCome>;
    }
    RawPercpuRwLock<P> {
        rwlock::TIMED_WRITER => rwlock::RwLockTimeOuts<P, RawPercpuRwLock<P>, true>;
        rwlock::TIMED_READER => rwlock::RwLockTimeOuts<P, RawPercpuRwLock<P>, false>;
        rwlock::GROUP => rwlock::Group<P, RawPercpuRwLock<P>>;
        rwlock::LAST_USER => rwlock::LastHolder<P, RawPercpuRwLock<P>>;
        guards::OUT_OF_ORDER => OutOfOrder<P, RawPercpuRwLock<P>>;
        limits::DEPTH => Depth<P, RawPercpuRwLock<P>>;
        rwlock::AGAIN => rwlock::Again<P, RawPercpuRwLock<P>>;
    }
    InSlots<P> {
        rwlock::TIMED_WRITER => rwlock::RwLockTimeOuts<P, InSlots<P>, true>;
        rwlock::TIMED_READER => rwlock::RwLockTimeOuts<P, InSlots<P>, false>;
        rwlock::GROUP => rwlock::Group<P, InSlots<P>>;
        rwlock::LAST_USER => rwlock::LastHolder<P, InSlots<P>>;
        guards::OUT_OF_ORDER => OutOfOrder<P, InSlots<P>>;
        limits::DEPTH => Depth<P, InSlots<P>>;
        rwlock::AGAIN => rwlock::Again<P, InSlots<P>>;
    }
    RawSemaphore<P, 1> {
        semaphore::TIMED => semaphore::SemaphoreTimeOuts<P>;
        semaphore::MAKERS => Makers<P>;
        semaphore::LAST_PERMIT => LastPermit<P>;
        limits::PERMITS => PermitsAtTheLimit<P>;
    }
    RawSeqLock<P, 2> { seqlock::PAIR => WholePairs<P>; }
    RawQRwLock<P> { qrwlock::READS_AGAIN => ReadsAgain<P>; }
    QSpinlock<P> { timed_spin::TIMED => SpinTimeOuts<P, QSpinlock<P>>; }
    CnaSpinlock<P> { timed_spin::TIMED => SpinTimeOuts<P, CnaSpinlock<P>>; }
    RawResilientSpinLock<P> {
        timed_spin::TIMED => SpinTimeOuts<P, RawResilientSpinLock<P>>;
        resilient::HELD => resilient::HeldTwice<P>;
        resilient::CROSSED => resilient::Crossed<P>;
        resilient::NEVER_CROSSED => resilient::NeverCrossed<P>;
    }
    RawResilientSpinLock<P, InPrograms> {
        timed_spin::TIMED => SpinTimeOuts<P, RawResilientSpinLock<P, InPrograms>>;
        resilient::HELD => resilient::HeldTwice<P, InPrograms>;
        resilient::CROSSED => resilient::Crossed<P, InPrograms>;
        resilient::NEVER_CROSSED => resilient::NeverCrossed<P, InPrograms>;
    }
    HqSpinlock<P> {
        hq::BY_NODE => ByNode<P>;
        hq::SHARED_METADATA => SharedMetadata<P>;
    }
    HqSpinlock<P, HqBounded> {
        hq::BY_NODE => ByNode<P, HqBounded>;
        hq::SHARED_METADATA => SharedMetadata<P, HqBounded>;
    }
}

clients_of_types! { guard_clients, visit_guards, P;
    RawMutex<P> {
        guards::FORGOTTEN => Forgotten<P, { TenantKind::Mutex as usize }>;
        guards::MOVED => Moved<P, RawMutex<P>>;
    }
    RawSemaphore<P, 1> {
        guards::FORGOTTEN => Forgotten<P, { TenantKind::Semaphore as usize }>;
        guards::MOVED => Moved<P, RawSemaphore<P, 1>>;
    }
    RawRwLock<P> {
        guards::FORGOTTEN => Forgotten<P, { TenantKind::RwLock as usize }>;
        guards::MOVED => Moved<P, RawRwLock<P>>;
    }
    RawRwLock<P, FirstCome> {
        guards::FORGOTTEN => Forgotten<P, { TenantKind::FairRwLock as usize }>;
        guards::MOVED => Moved<P, RawRwLock<P, FirstCome>>;
    }
    InSlots<P> { guards::FORGOTTEN => Forgotten<P, { TenantKind::PercpuRwLock as usize }>; }
}

/// Calls `visitor` with client `client` for the lock of that row on `P`; `None` if the lock has no such client.
pub fn visit_client_of<P: Platform, V: ClientVisitor>(
    row: &'static LockRow,
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
    if of_any(true).any(|name| name == client) {
        return registry::visit::<P, _>(row, OfLock { client, visitor })?;
    }
    if OF_RWSEM.contains(&client) {
        let visitor = OfRwSem { client, visitor, platform: PhantomData::<fn() -> P> };
        return registry::visit_rwsem(row, visitor)?;
    }
    let lock = registry::type_of::<P>(row)?;
    if guard_clients::<P>(lock).contains(&client) {
        return visit_guards::<P, V>(lock, client, visitor);
    }
    match first_of::<P>(lock, client) {
        Some(first) => reused::visit::<P, V>(first, client, visitor),
        None => visit_own::<P, V>(lock, client, visitor),
    }
}

/// What is freed first in the client of that name on that lock, if it is one of [`reused`].
fn first_of<P: Platform>(lock: TypeId, client: &str) -> Option<TenantKind> {
    if lock == TypeId::of::<RawMutex<P>>() && reused::OF_CONDVAR.contains(&client) {
        return Some(TenantKind::Condvar);
    }
    TenantKind::of_reused::<P>(lock).filter(|_| reused::OF_LOCK.contains(&client))
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
            rwsem::TIMED_WRITER => visitor.visit::<rwsem::RwSemTimeOuts<P, C, true>>(),
            rwsem::TIMED_READER => visitor.visit::<rwsem::RwSemTimeOuts<P, C, false>>(),
            rwsem::INTERRUPTED_WRITER => visitor.visit::<Interrupted<P, C>>(),
            rwsem::OVERFLOW => visitor.visit::<Overflow<P, C>>(),
            rwsem::LAST_ROUND => visitor.visit::<LastRound<P, C>>(),
            rwsem::HANDOFF if has_bits::<C>() => visitor.visit::<ReservedForFirst<P, C>>(),
            _ => return None,
        };
        Some(found)
    }
}

fn has_bits<C: RwSemPolicy>() -> bool {
    C::POLICY.format == Format::Bits
}

/// The clients of the semaphore of that row; none of other locks.
fn of_rwsem(row: &'static LockRow) -> &'static [&'static str] {
    struct HasBits;
    impl RwSemVisitor for HasBits {
        type Output = bool;
        fn visit<C: RwSemPolicy>(self) -> bool {
            has_bits::<C>()
        }
    }
    match registry::visit_rwsem(row, HasBits) {
        Some(true) => &OF_RWSEM,
        Some(false) => OF_RWSEM.split_at(OF_RWSEM.len() - 1).0,
        None => &[],
    }
}

/// The last one is for policies with bits in the count.
const OF_RWSEM: [&str; 6] = [
    rwsem::LAST_ROUND,
    rwsem::TIMED_WRITER,
    rwsem::TIMED_READER,
    rwsem::INTERRUPTED_WRITER,
    rwsem::OVERFLOW,
    rwsem::HANDOFF,
];

/// The names of the clients that the lock of that row has to satisfy.
pub fn clients_of<P: Platform>(
    row: &'static LockRow,
) -> impl Iterator<Item = &'static str> + Clone + use<P> {
    struct ReadersShare;
    impl<P: Platform> LockVisitor<P> for ReadersShare {
        type Output = bool;
        fn visit<L: RawLock>(self, _row: &'static LockRow) -> bool {
            L::READERS_SHARE
        }
    }
    let any = registry::visit::<P, _>(row, ReadersShare).into_iter().flat_map(of_any);
    let own = registry::type_of::<P>(row).into_iter().flat_map(|lock| {
        let reused = reused::OF_LOCK.into_iter().chain(reused::OF_CONDVAR);
        let reused: Vec<_> = reused.filter(|name| first_of::<P>(lock, name).is_some()).collect();
        let own = own_clients::<P>(lock).iter().copied();
        own.chain(reused).chain(guard_clients::<P>(lock).iter().copied())
    });
    any.chain(of_rwsem(row).iter().copied()).chain(own)
}

/// The names of all clients of the table.
pub fn clients<P: Platform>() -> impl Iterator<Item = &'static str> + Clone {
    let mut names: Vec<_> = of_any(true).collect();
    for name in LOCKS.iter().flat_map(clients_of::<P>) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter()
}
