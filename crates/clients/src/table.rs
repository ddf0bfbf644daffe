//! The one list of clients that every lock has to satisfy.

use crate::Client;
use crate::exclusion::{self, Exclusion};
use crate::is_locked::{self, IsLocked};
use crate::try_lock::{self, TryLock};
use lockwright::platform::Platform;
use lockwright::raw::RawLock;
use lockwright::registry::{self, LockRow, LockVisitor};

/// Something to be done with a client whose type is chosen by name.
pub trait ClientVisitor {
    /// What comes out of it.
    type Output;
    /// Does it with client `C`.
    fn visit<C: Client>(self) -> Self::Output;
}

macro_rules! clients {
    ($P:ident, $L:ident; $($name:path => $client:ty;)+) => {
        /// The names of all clients.
        pub const CLIENTS: &[&str] = &[$($name),+];

        /// Calls `visitor` with the client of that name for lock `L`; `None` if there is none.
        pub fn visit_client<$P: Platform, $L: RawLock, V: ClientVisitor>(
            name: &str,
            visitor: V,
        ) -> Option<V::Output> {
            $(if name == $name {
                return Some(visitor.visit::<$client>());
            })+
            None
        }
    };
}

clients! { P, L;
    exclusion::NAME => Exclusion<P, L>;
    try_lock::NAME => TryLock<P, L>;
    is_locked::NAME => IsLocked<P, L>;
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
    registry::visit::<P, _>(lock, OfLock { client, visitor })?
}
