//! The one list of clients: those that every lock has to satisfy, and those of one lock.

use crate::barrier::{Groups, Meetings};
use crate::client::Client;
use crate::condvar::{AnotherMutex, LastUser, Left, LeftToWaiter, OnePlace};
use crate::guards::{self, Forgotten, Moved, OutOfOrder};
use crate::hq::{ByNode, Late, SharedMetadata};
use crate::limits::{self, AllTimeOut, Depth, PermitsAtTheLimit};
use crate::mutex::{
    GiveUp, HandsOver, MutexTimeOuts, Neighbours, Notify, NotifyAll, SeveralMutexes,
};
use crate::once::{Calls, FreedWhenDone, GivesUp};
use crate::osq::Leave;
use crate::owners::{EXCLUSION, IS_LOCKED, IsLocked, MutualExclusion, TRY_LOCK, TryLock};
use crate::place::TenantKind;
use crate::promise::{Promise, Unheld};
use crate::qrwlock::ReadsAgain;
use crate::resilient::{Crossed, HeldTwice, NeverCrossed};
use crate::reused;
use crate::rwlock::{Again, Group, LastHolder, LastReader, RwLockTimeOuts};
use crate::rwsem::{Interrupted, LastRound, Overflow, ReservedForFirst, RwSemTimeOuts};
use crate::semaphore::{LastPermit, Makers, SemaphoreTimeOuts};
use crate::seqlock::WholePairs;
use crate::shared::{DOWNGRADE, Downgrade, ReadersAndWriters, SHARED, TRY_SHARED, TryShared};
use crate::timed_spin::SpinTimeOuts;
use crate::two_kinds::TwoKinds;
use crate::upgrade::{GivesUpUpgrade, Upgrades};
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
use lockwright_linux::hq::HqSpinlock;
use lockwright_linux::osq::testing::OsqMutex;
use lockwright_linux::qrwlock::RawQRwLock;
use lockwright_linux::qspinlock::resilient::{
    Guest6_19, InPrograms, Linux6_15, Linux6_19, RawResilientSpinLock,
};
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
        EXCLUSION => MutualExclusion<P, L>;
        TRY_LOCK => TryLock<P, L>;
        IS_LOCKED => IsLocked<P, L>;
    }
    readers {
        SHARED => ReadersAndWriters<P, L>;
        TRY_SHARED => TryShared<P, L>;
        DOWNGRADE => Downgrade<P, L>;
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
        $($lock:ty { $($client:ty),+ $(,)? })+
    ) => {
        /// The names of the clients in this table of a lock of that type.
        fn $names<$P: Platform>(lock: TypeId) -> &'static [&'static str] {
            $(if lock == TypeId::of::<$lock>() {
                return const { &[$(<$client as Client>::NAME),+] };
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
                $(if client == <$client as Client>::NAME {
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
        AllTimeOut<P>, MutexTimeOuts<P>, HandsOver<P>, Notify<P>, Promise<P>, Unheld<P>, OnePlace<P>,
        NotifyAll<P>, SeveralMutexes<P>, GiveUp<P>, Left<P>, LeftToWaiter<P>, AnotherMutex<P>, LastUser<P>,
        Neighbours<RawMutex<P>>,
    }
    RawCnaMutex<P> {
        AllTimeOut<P, RawCnaMutex<P>>, MutexTimeOuts<P, RawCnaMutex<P>>, HandsOver<P, RawCnaMutex<P>>,
        Notify<P, RawCnaMutex<P>>, OnePlace<P, RawCnaMutex<P>>, NotifyAll<P, RawCnaMutex<P>>,
        SeveralMutexes<P, RawCnaMutex<P>>, GiveUp<P, RawCnaMutex<P>>, Left<P, RawCnaMutex<P>>,
        LeftToWaiter<P, RawCnaMutex<P>>, AnotherMutex<P, RawCnaMutex<P>>, LastUser<P, RawCnaMutex<P>>,
        Neighbours<RawCnaMutex<P>>,
    }
    // The condition variable does not wait with it.
    RawFairMutex<P> {
        MutexTimeOuts<P, RawFairMutex<P>>, HandsOver<P, RawFairMutex<P>>, Neighbours<RawFairMutex<P>>,
    }
    Futex3<P> {
        AllTimeOut<P, Futex3<P>>, MutexTimeOuts<P, Futex3<P>>, Notify<P, Futex3<P>>, OnePlace<P, Futex3<P>>,
        GiveUp<P, Futex3<P>>,
    }
    Futex3<P, Spin100> {
        AllTimeOut<P, Futex3<P, Spin100>>, MutexTimeOuts<P, Futex3<P, Spin100>>,
        Notify<P, Futex3<P, Spin100>>, OnePlace<P, Futex3<P, Spin100>>, GiveUp<P, Futex3<P, Spin100>>,
    }
    GroupedMutex<P> { Notify<P, GroupedMutex<P>>, OnePlace<P, GroupedMutex<P>> }
    OsqMutex<P> { Leave<P> }
    WordLock<P> { TwoKinds<P> }
    // The barrier waits and wakes as the once does, and is no lock.
    OnceMutex<P> { Calls<P>, GivesUp<P>, FreedWhenDone<P>, Meetings<P>, Groups<P> }
    RawRwLock<P> {
        RwLockTimeOuts<P, RawRwLock<P>, true>, RwLockTimeOuts<P, RawRwLock<P>, false>, Group<P, RawRwLock<P>>,
        LastReader<P, RawRwLock<P>>, LastHolder<P, RawRwLock<P>>, OutOfOrder<P, RawRwLock<P>>,
        Depth<P, RawRwLock<P>>, Again<P, RawRwLock<P>>, Upgrades<P, Barging>, GivesUpUpgrade<P, Barging>,
    }
    RawRwLock<P, Unlisted> {
        RwLockTimeOuts<P, RawRwLock<P, Unlisted>, true>, RwLockTimeOuts<P, RawRwLock<P, Unlisted>, false>,
        OutOfOrder<P, RawRwLock<P, Unlisted>>, Again<P, RawRwLock<P, Unlisted>>, Upgrades<P, Unlisted>,
    }
    // It serves in order, so a thread that reads may not read again.
    RawRwLock<P, FirstCome> {
        RwLockTimeOuts<P, RawRwLock<P, FirstCome>, true>, RwLockTimeOuts<P, RawRwLock<P, FirstCome>, false>,
        Group<P, RawRwLock<P, FirstCome>>, LastReader<P, RawRwLock<P, FirstCome>>,
        LastHolder<P, RawRwLock<P, FirstCome>>, OutOfOrder<P, RawRwLock<P, FirstCome>>,
        Depth<P, RawRwLock<P, FirstCome>>, Upgrades<P, FirstCome>, GivesUpUpgrade<P, FirstCome>,
    }
    RawPercpuRwLock<P> {
        RwLockTimeOuts<P, RawPercpuRwLock<P>, true>, RwLockTimeOuts<P, RawPercpuRwLock<P>, false>,
        Group<P, RawPercpuRwLock<P>>, LastHolder<P, RawPercpuRwLock<P>>, OutOfOrder<P, RawPercpuRwLock<P>>,
        Depth<P, RawPercpuRwLock<P>>, Again<P, RawPercpuRwLock<P>>,
    }
    InSlots<P> {
        RwLockTimeOuts<P, InSlots<P>, true>, RwLockTimeOuts<P, InSlots<P>, false>, Group<P, InSlots<P>>,
        LastHolder<P, InSlots<P>>, OutOfOrder<P, InSlots<P>>, Depth<P, InSlots<P>>, Again<P, InSlots<P>>,
    }
    RawSemaphore<P, 1> { SemaphoreTimeOuts<P>, Makers<P>, LastPermit<P>, PermitsAtTheLimit<P> }
    RawSeqLock<P, 2> { WholePairs<P> }
    RawQRwLock<P> { ReadsAgain<P> }
    QSpinlock<P> { SpinTimeOuts<P, QSpinlock<P>> }
    CnaSpinlock<P> { SpinTimeOuts<P, CnaSpinlock<P>> }
    RawResilientSpinLock<P> { HeldTwice<P>, Crossed<P>, NeverCrossed<P> }
    RawResilientSpinLock<P, Linux6_15<true>> {
        HeldTwice<P, Linux6_15<true>>, Crossed<P, Linux6_15<true>>, NeverCrossed<P, Linux6_15<true>>,
    }
    // As posted, the last waiter of a queue may find a deadlock and wait for ever, and an owner that has just released
    // a lock may be taken for one that waits for it. The other two clients would fail.
    RawResilientSpinLock<P, Linux6_19> { HeldTwice<P, Linux6_19> }
    RawResilientSpinLock<P, Guest6_19> { HeldTwice<P, Guest6_19>, Crossed<P, Guest6_19> }
    RawResilientSpinLock<P, InPrograms> {
        SpinTimeOuts<P, RawResilientSpinLock<P, InPrograms>>, HeldTwice<P, InPrograms>,
        Crossed<P, InPrograms>, NeverCrossed<P, InPrograms>,
    }
    HqSpinlock<P> { ByNode<P>, Late<P>, SharedMetadata<P> }
}

clients_of_types! { guard_clients, visit_guards, P;
    RawMutex<P> { Forgotten<P, { TenantKind::Mutex as usize }>, Moved<P, RawMutex<P>> }
    RawSemaphore<P, 1> { Forgotten<P, { TenantKind::Semaphore as usize }>, Moved<P, RawSemaphore<P, 1>> }
    RawRwLock<P> { Forgotten<P, { TenantKind::RwLock as usize }>, Moved<P, RawRwLock<P>> }
    RawRwLock<P, FirstCome> {
        Forgotten<P, { TenantKind::FairRwLock as usize }>, Moved<P, RawRwLock<P, FirstCome>>,
    }
    InSlots<P> { Forgotten<P, { TenantKind::PercpuRwLock as usize }> }
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
            "rwsem-last-round" => visitor.visit::<LastRound<P, C>>(),
            "rwsem-timed-writer" => visitor.visit::<RwSemTimeOuts<P, C, true>>(),
            "rwsem-timed-reader" => visitor.visit::<RwSemTimeOuts<P, C, false>>(),
            "rwsem-interrupted-writer" => visitor.visit::<Interrupted<P, C>>(),
            "rwsem-overflow" => visitor.visit::<Overflow<P, C>>(),
            "rwsem-handoff" if has_bits::<C>() => visitor.visit::<ReservedForFirst<P, C>>(),
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
    "rwsem-last-round",
    "rwsem-timed-writer",
    "rwsem-timed-reader",
    "rwsem-interrupted-writer",
    "rwsem-overflow",
    "rwsem-handoff",
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
