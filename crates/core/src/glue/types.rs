//! Aliases of types of `lock_api`, which the place of use calls `lock_api`.

/// The guards of a part of the value of a lock, and of an `Arc` of it.
#[doc(hidden)]
#[macro_export]
macro_rules! rwlock_part_types {
    ($lock:ident, $raw:ty: $read_part:ident, $write_part:ident, $read_arc:ident, $write_arc:ident) => {
        #[doc = concat!("The guard of a reader of a part of the value of a [`", stringify!($lock), "`]. ")]
        /// It can be sent to another thread if the guard of the whole value can. It is made by `map` of the guard of
        /// the whole value.
        pub type $read_part<'a, T> = lock_api::MappedRwLockReadGuard<'a, $raw, T>;
        #[doc = concat!("The guard of the writer of a part of the value of a [`", stringify!($lock), "`], ")]
        #[doc = concat!("as [`", stringify!($read_part), "`].")]
        pub type $write_part<'a, T> = lock_api::MappedRwLockWriteGuard<'a, $raw, T>;
        #[doc = concat!("The guard of a reader of an `Arc<", stringify!($lock), "<T>>`, made by its `read_arc` and ")]
        /// the like (feature `arc_lock`). It keeps the `Arc`, so it has no lifetime. It can be sent to another thread
        /// if the guard of the lock itself can.
        #[cfg(feature = "arc_lock")]
        pub type $read_arc<T> = lock_api::ArcRwLockReadGuard<$raw, T>;
        #[doc = concat!("The guard of the writer of an `Arc<", stringify!($lock), "<T>>`, ")]
        #[doc = concat!("as [`", stringify!($read_arc), "`].")]
        #[cfg(feature = "arc_lock")]
        pub type $write_arc<T> = lock_api::ArcRwLockWriteGuard<$raw, T>;
    };
}

/// The types of a lock with one owner, for the second version of `lock_api`. The first has them with documentation.
#[doc(hidden)]
#[macro_export]
macro_rules! mutex_types_again {
    ($($lock:ident, $guard:ident, $part:ident, $arc:ident: $raw:ty;)+) => {$(
        #[doc = concat!("As [`", stringify!($lock), "`](crate::", stringify!($lock), ") of the crate.")]
        pub type $lock<T> = lock_api::Mutex<$raw, T>;
        #[doc = concat!("The guard of a [`", stringify!($lock), "`].")]
        pub type $guard<'a, T> = lock_api::MutexGuard<'a, $raw, T>;
        #[doc = concat!("The guard of a part of the value of a [`", stringify!($lock), "`].")]
        pub type $part<'a, T> = lock_api::MappedMutexGuard<'a, $raw, T>;
        #[doc = concat!("The guard of an `Arc<", stringify!($lock), "<T>>`.")]
        #[cfg(feature = "arc_lock")]
        pub type $arc<T> = lock_api::ArcMutexGuard<$raw, T>;
    )+};
}

/// The types of a lock that readers share, for the second version of `lock_api`.
#[doc(hidden)]
#[macro_export]
macro_rules! rwlock_types_again {
    ($(
        $lock:ident, $read:ident, $write:ident, $read_part:ident, $write_part:ident, $read_arc:ident, $write_arc:ident
        $(, $upgradable:ident, $upgradable_arc:ident)?: $raw:ty;
    )+) => {$(
        #[doc = concat!("As [`", stringify!($lock), "`](crate::", stringify!($lock), ") of the crate.")]
        pub type $lock<T> = lock_api::RwLock<$raw, T>;
        #[doc = concat!("The guard of a reader of a [`", stringify!($lock), "`].")]
        pub type $read<'a, T> = lock_api::RwLockReadGuard<'a, $raw, T>;
        #[doc = concat!("The guard of the writer of a [`", stringify!($lock), "`].")]
        pub type $write<'a, T> = lock_api::RwLockWriteGuard<'a, $raw, T>;
        $crate::rwlock_part_types! { $lock, $raw: $read_part, $write_part, $read_arc, $write_arc }
        $(
            #[doc = concat!("The guard of the reader of a [`", stringify!($lock), "`] that may become the writer.")]
            pub type $upgradable<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, $raw, T>;
            #[doc = concat!("The guard of such a reader of an `Arc<", stringify!($lock), "<T>>`.")]
            #[cfg(feature = "arc_lock")]
            pub type $upgradable_arc<T> = lock_api::ArcRwLockUpgradableReadGuard<$raw, T>;
        )?
    )+};
}
