//! Locks of other libraries behind the interface of ours, and all of them by name.

mod condvars;
#[cfg(feature = "c-peers")]
mod in_c;
mod methods;
mod mutexes;
mod rwlocks;
mod stays_owner;
mod upgrade;

use lockwright_catalog::if_can;
use lockwright_catalog::registry::{
    CondvarVisitor, LockClass, LockRow, LockVisitor, TimedVisitor, is_compiled,
};
use lockwright_core::native::Native;
use mutexes::{OfTrait, ParkingLot013, PthreadMutex, PthreadSpin, StdMutex};
use rwlocks::{OfRwTrait, ParkingLot013Rw, PthreadRwLock, StdRwLock};
use stays_owner::StaysOwner;
pub use upgrade::{UpgradeOperations, upgrade_of};

/// A lock of another library.
#[derive(Debug)]
pub struct Peer {
    /// Name, aliases, what it is.
    pub row: LockRow,
    /// The names of its library, with a version and without.
    pub libraries: &'static [&'static str],
    /// The comparisons that it takes part in without being named.
    pub compared_in: &'static [Comparison],
}

/// What locks are compared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Programs without readers.
    Owning,
    /// Programs with readers.
    Reading,
    /// Programs as they are: queues, sections that take microseconds, maps. There a lock is compared with those that
    /// nearly every program uses.
    RealUse,
}

/// A table of peers, and the call of a visitor with one of them, or with one that can do something.
macro_rules! table {
    ($PEERS:ident, $visit:ident, $visit_timed:ident, $visit_condvar:ident: $($rows:tt)+) => {
        $crate::peers::table! { list $PEERS, $visit: $($rows)+ }
        $crate::peers::table! { if deadline $PEERS, $visit_timed TimedVisitor: $($rows)+ }
        $crate::peers::table! { if condvar $PEERS, $visit_condvar CondvarVisitor: $($rows)+ }
    };
    (list $PEERS:ident, $visit:ident: $(
        $name:literal $(| $alias:literal)*, [$($library:literal)*], [$($in:ident)*], $lock:ty $([$($can:ident)*])?,
        $models:literal;
    )+) => {
        pub(crate) static $PEERS: &[Peer] = &[$(Peer {
            row: LockRow {
                name: $name,
                aliases: &[$($alias),*],
                class: LockClass::Reference,
                models: $models,
            },
            libraries: &[$($library),*],
            compared_in: &[$(Comparison::$in),*],
        },)+];

        pub(crate) fn $visit<V: LockVisitor<Native>>(
            row: &'static LockRow,
            visitor: V,
        ) -> Result<V::Output, V> {
            let mut peers = $PEERS.iter().map(|peer| &peer.row);
            $({
                let is_it = peers.next().is_some_and(|other| std::ptr::eq(other, row));
                if const { is_compiled(&[$name $(, $alias)*]) } && is_it {
                    return Ok(visitor.visit::<$lock>(row));
                }
            })+
            Err(visitor)
        }
    };
    (if $asked:ident $PEERS:ident, $visit:ident $Visitor:ident: $(
        $name:literal $(| $alias:literal)*, [$($library:literal)*], [$($in:ident)*], $lock:ty $([$($can:ident)*])?,
        $models:literal;
    )+) => {
        pub(crate) fn $visit<V: $Visitor>(row: &LockRow, visitor: V) -> Result<V::Output, V> {
            let mut peers = $PEERS.iter().map(|peer| &peer.row);
            $({
                let is_it = peers.next().is_some_and(|other| std::ptr::eq(other, row));
                if const { is_compiled(&[$name $(, $alias)*]) } && is_it {
                    $($(if_can! { $asked $can return Ok(visitor.visit::<$lock>()); })*)?
                }
            })+
            Err(visitor)
        }
    };
}
pub(crate) use table;

// Names, the names of the library, where it is compared, the type and what else it can do, what it is.
table! { IN_RUST, visit_in_rust, visit_timed_in_rust, visit_condvar_in_rust:
    "std", ["std"], [Owning RealUse], StdMutex [condvar],
        "Rust's std::sync::Mutex (futex)";
    "parking_lot" | "parking_lot-0.12", ["parking_lot" "parking_lot-0.12"], [Owning RealUse], OfTrait<parking_lot::RawMutex> [deadline condvar],
        "parking_lot 0.12 RawMutex";
    "parking_lot-0.13", ["parking_lot" "parking_lot-0.13"], [Owning], ParkingLot013 [deadline condvar],
        "parking_lot 0.13 RawMutex";
    "pthread", ["pthread"], [Owning RealUse], PthreadMutex<false> [deadline condvar],
        "glibc pthread_mutex, default kind";
    "pthread-adaptive", ["pthread"], [Owning], PthreadMutex<true> [deadline condvar],
        "glibc pthread_mutex, PTHREAD_MUTEX_ADAPTIVE_NP";
    "pthread-spin", ["pthread"], [], PthreadSpin,
        "glibc pthread_spinlock";
    "spin", ["spin"], [Owning], OfTrait<spin::mutex::SpinMutex<()>>,
        "spin 0.12 SpinMutex";
    "usync", ["usync"], [Owning], OfTrait<usync::RawMutex> [condvar],
        "usync 0.2 RawMutex";
    "std-rwlock", ["std"], [Reading RealUse], StdRwLock,
        "Rust's std::sync::RwLock (futex)";
    "parking_lot-rwlock" | "parking_lot-rwlock-0.12", ["parking_lot" "parking_lot-0.12"], [Reading RealUse], OfRwTrait<parking_lot::RawRwLock>,
        "parking_lot 0.12 RawRwLock";
    "parking_lot-rwlock-0.13", ["parking_lot" "parking_lot-0.13"], [Reading], ParkingLot013Rw,
        "parking_lot 0.13 RawRwLock";
    "pthread-rwlock", ["pthread"], [Reading RealUse], PthreadRwLock<false>,
        "glibc pthread_rwlock, default kind: readers pass waiting writers";
    "pthread-rwlock-writer", ["pthread"], [Reading], PthreadRwLock<true>,
        "glibc pthread_rwlock, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP";
    "spin-rwlock", ["spin"], [Reading], OfRwTrait<spin::RwLock<()>>,
        "spin 0.12 RwLock: readers pass waiting writers";
    "usync-rwlock", ["usync"], [Reading], StaysOwner<OfRwTrait<usync::RawRwLock>>,
        "usync 0.2 RawRwLock";
}

/// Every peer that can be compiled. A build with some locks only has those of them that it names.
fn all() -> impl Iterator<Item = &'static Peer> {
    #[cfg(feature = "c-peers")]
    return IN_RUST.iter().chain(in_c::IN_C);
    #[cfg(not(feature = "c-peers"))]
    IN_RUST.iter()
}

/// The peers of this build.
pub fn peers() -> impl Iterator<Item = &'static Peer> {
    all().filter(|peer| is_compiled(&[peer.row.name]) || is_compiled(peer.row.aliases))
}

/// The names of the peers that take part in `comparison` without being named.
pub fn usual_peers(comparison: Comparison) -> impl Iterator<Item = &'static str> {
    all().filter(move |peer| peer.compared_in.contains(&comparison)).map(|peer| peer.row.name)
}

/// Returns true if a peer answers to `name` that this build does not have.
pub fn is_left_out(name: &str) -> bool {
    let has_it = peers().any(|peer| peer.row.answers_to(name));
    !has_it && all().any(|peer| peer.row.answers_to(name))
}

/// Calls `visitor` with the peer of this row; `None` if it is none of this build.
pub fn visit<V: LockVisitor<Native>>(row: &'static LockRow, visitor: V) -> Option<V::Output> {
    let output = visit_in_rust(row, visitor);
    #[cfg(feature = "c-peers")]
    let output = output.or_else(|visitor| in_c::visit_in_c(row, visitor));
    output.ok()
}

/// Calls `visitor` with the peer of this row, if it has deadlines.
pub fn visit_timed<V: TimedVisitor>(row: &LockRow, visitor: V) -> Option<V::Output> {
    let output = visit_timed_in_rust(row, visitor);
    #[cfg(feature = "c-peers")]
    let output = output.or_else(|visitor| in_c::visit_timed_in_c(row, visitor));
    output.ok()
}

/// Calls `visitor` with the peer of this row, if it has a condition variable.
pub fn visit_condvar<V: CondvarVisitor>(row: &LockRow, visitor: V) -> Option<V::Output> {
    let output = visit_condvar_in_rust(row, visitor);
    #[cfg(feature = "c-peers")]
    let output = output.or_else(|visitor| in_c::visit_condvar_in_c(row, visitor));
    output.ok()
}

#[cfg(test)]
mod tests;
