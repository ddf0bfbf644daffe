//! The one list of clients that every lock has to satisfy.

use crate::Client;
use crate::exclusion::Exclusion;
use crate::handoff::Handoff;
use crate::try_lock::TryLock;
use lockwright::platform::Platform;
use lockwright::raw::RawLock;

/// Something to be done with a client whose type is chosen by name.
pub trait ClientVisitor {
    /// What comes out of it.
    type Output;
    /// Does it with client `C`.
    fn visit<C: Client>(self) -> Self::Output;
}

macro_rules! clients {
    ($P:ident, $L:ident; $($name:literal: $client:ty;)+) => {
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
    "exclusion": Exclusion<P, L>;
    "try-lock": TryLock<P, L>;
    "handoff": Handoff<P, L>;
}
