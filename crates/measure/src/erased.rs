//! A lock whose type is known only when a cell runs: a loop is compiled once for all locks of one size.
//!
//! Its bytes are those of the lock, at the same place, so a simulated run is the same, access by access. What differs
//! is that an operation is called through a pointer. So this is not for the throughput of real threads.

use crate::peers::UpgradeOperations;
use lockwright_catalog::capabilities::{CondvarLock, LockCondvar, TimedLock};
use lockwright_catalog::registry::{CondvarVisitor, TimedVisitor};
use lockwright_core::raw::{Order, RawLock};
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;

/// The operations of a lock.
pub struct Operations {
    new: unsafe fn(*mut ()),
    lock: unsafe fn(*const ()),
    try_lock: unsafe fn(*const ()) -> bool,
    unlock: unsafe fn(*const ()),
    lock_shared: unsafe fn(*const ()),
    try_lock_shared: unsafe fn(*const ()) -> bool,
    unlock_shared: unsafe fn(*const ()),
    downgrade: unsafe fn(*const ()),
    is_locked: unsafe fn(*const ()) -> bool,
}

/// Those of `$L` by name.
macro_rules! operations_of {
    ($L:ty: $($method:ident),+) => {
        &Operations {
            // SAFETY: the caller passes a place for an `L`.
            new: |place| unsafe { place.cast::<$L>().write(<$L>::new()) },
            $($method: |place| {
                // SAFETY: the caller passes the place of an `L`.
                let lock = unsafe { &*place.cast::<$L>() };
                // SAFETY: the caller keeps the contract of the operation.
                #[allow(unused_unsafe)]
                unsafe { lock.$method() }
            },)+
        }
    };
}

impl Operations {
    /// Those of `L`.
    pub const fn of<L: RawLock>() -> &'static Self {
        const {
            operations_of!(L: lock, try_lock, unlock, lock_shared, try_lock_shared, unlock_shared, downgrade, is_locked)
        }
    }
}

/// The operations of a condition variable.
pub struct CondvarOperations {
    new: unsafe fn(*mut ()),
    wait: unsafe fn(*const (), *const (), Option<u64>) -> bool,
    notify_one: unsafe fn(*const ()) -> bool,
    notify_all: unsafe fn(*const ()),
}

/// A reference to a value whose place the caller passes.
macro_rules! at {
    ($place:ident: $T:ty) => {{
        // SAFETY: the caller passes the place of a value of this type.
        unsafe { &*$place.cast::<$T>() }
    }};
}

impl CondvarOperations {
    /// Those of the condition variable of `L`.
    pub const fn of<L: CondvarLock>() -> &'static Self {
        const {
            assert!(size_of::<L::Condvar>() <= size_of::<CondvarRoom>());
            assert!(align_of::<L::Condvar>() <= align_of::<CondvarRoom>());
            &Self {
                // SAFETY: the caller passes a place for a condition variable.
                new: |place| unsafe { place.cast::<L::Condvar>().write(L::Condvar::new()) },
                wait: |place, lock, deadline_ns| {
                    let (condvar, lock) = (at!(place: L::Condvar), at!(lock: L));
                    // SAFETY: the caller keeps the contract of the operation.
                    unsafe { condvar.wait(lock, deadline_ns) }
                },
                notify_one: |place| at!(place: L::Condvar).notify_one(),
                notify_all: |place| at!(place: L::Condvar).notify_all(),
            }
        }
    }
}

/// Takes a lock before a deadline.
type LockUntil = unsafe fn(*const (), u64) -> bool;

/// A lock, and what else it can do.
#[derive(Clone, Copy)]
pub struct ErasedType {
    operations: &'static Operations,
    condvar: Option<&'static CondvarOperations>,
    lock_until: Option<LockUntil>,
    upgrade: Option<UpgradeOperations>,
}

impl ErasedType {
    /// `L`, with nothing but the operations of every lock.
    pub const fn of<L: RawLock>() -> Self {
        Self { operations: Operations::of::<L>(), condvar: None, lock_until: None, upgrade: None }
    }
    /// The same with a condition variable.
    pub const fn with_condvar(self, condvar: Option<&'static CondvarOperations>) -> Self {
        Self { condvar, ..self }
    }
    /// The same with readers that may become the owner.
    pub const fn with_upgrade(self, upgrade: Option<UpgradeOperations>) -> Self {
        Self { upgrade, ..self }
    }
    /// The same with deadlines.
    pub const fn with_lock_until(self, lock_until: Option<LockUntil>) -> Self {
        Self { lock_until, ..self }
    }
}

/// Asks a lock for the operations of its condition variable.
pub struct AskCondvar;

impl CondvarVisitor for AskCondvar {
    type Output = &'static CondvarOperations;
    fn visit<L: CondvarLock>(self) -> Self::Output {
        CondvarOperations::of::<L>()
    }
}

/// Asks a lock how it is taken before a deadline.
pub struct AskLockUntil;

impl TimedVisitor for AskLockUntil {
    type Output = LockUntil;
    fn visit<L: TimedLock>(self) -> LockUntil {
        |place, deadline_ns| at!(place: L).lock_until(deadline_ns)
    }
}

thread_local! {
    static CHOSEN: Cell<Option<ErasedType>> = const { Cell::new(None) };
}

/// From now on the erased locks that this thread makes and uses are of that type.
pub fn choose(lock: ErasedType) {
    CHOSEN.set(Some(lock));
}

/// What a new thread does with the erased locks of this one.
pub fn in_thread<R>(body: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let chosen = CHOSEN.get();
    move || {
        CHOSEN.set(chosen);
        body()
    }
}

#[inline(always)]
fn chosen() -> ErasedType {
    CHOSEN.get().expect("the lock was chosen before its threads run")
}

/// How a reader of the chosen lock becomes the owner, if it can.
pub fn upgrade() -> Option<UpgradeOperations> {
    chosen().upgrade
}

#[inline(always)]
fn condvar_operations() -> &'static CondvarOperations {
    chosen().condvar.expect("a lock with a condition variable was chosen")
}

#[inline(always)]
fn operations() -> &'static Operations {
    chosen().operations
}

/// A lock with the size and the alignment of `S`, which is never dropped. `READERS_SHARE` is what the lock says.
#[repr(transparent)]
pub struct Erased<S, const READERS_SHARE: bool>(UnsafeCell<MaybeUninit<S>>);

// SAFETY: only the lock inside looks at its bytes, and a lock is `Send` and `Sync`.
unsafe impl<S, const READERS_SHARE: bool> Send for Erased<S, READERS_SHARE> {}
// SAFETY: as above.
unsafe impl<S, const READERS_SHARE: bool> Sync for Erased<S, READERS_SHARE> {}

impl<S, const READERS_SHARE: bool> Erased<S, READERS_SHARE> {
    fn place(&self) -> *const () {
        self.0.get().cast_const().cast()
    }
}

impl<S: 'static, const READERS_SHARE: bool> RawLock for Erased<S, READERS_SHARE> {
    // What a checker needs of these it asks the lock itself.
    const ORDER: Order = Order::None;
    const READERS_SHARE: bool = READERS_SHARE;

    fn new() -> Self {
        let lock = Self(UnsafeCell::new(MaybeUninit::uninit()));
        // SAFETY: the chosen lock fits into `S`, which is uninitialised.
        unsafe { (operations().new)(lock.0.get().cast()) };
        lock
    }
    #[inline]
    fn lock(&self) {
        // SAFETY: the chosen lock was made there.
        unsafe { (operations().lock)(self.place()) }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        // SAFETY: as in `lock`.
        unsafe { (operations().try_lock)(self.place()) }
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: as in `lock`, and the caller holds it.
        unsafe { (operations().unlock)(self.place()) }
    }
    #[inline]
    fn lock_shared(&self) {
        // SAFETY: as in `lock`.
        unsafe { (operations().lock_shared)(self.place()) }
    }
    #[inline]
    fn try_lock_shared(&self) -> bool {
        // SAFETY: as in `lock`.
        unsafe { (operations().try_lock_shared)(self.place()) }
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: as in `lock`, and the caller is a reader.
        unsafe { (operations().unlock_shared)(self.place()) }
    }
    #[inline]
    unsafe fn downgrade(&self) {
        // SAFETY: as in `lock`, and the caller is the owner.
        unsafe { (operations().downgrade)(self.place()) }
    }
    fn is_locked(&self) -> bool {
        // SAFETY: as in `lock`.
        unsafe { (operations().is_locked)(self.place()) }
    }
}

impl<S: 'static, const READERS_SHARE: bool> TimedLock for Erased<S, READERS_SHARE> {
    #[inline]
    fn lock_until(&self, deadline_ns: u64) -> bool {
        let lock_until = chosen().lock_until.expect("a lock with deadlines was chosen");
        // SAFETY: the chosen lock was made there.
        unsafe { lock_until(self.place(), deadline_ns) }
    }
}

/// Room for the condition variable of any library.
type CondvarRoom = [u64; 8];

/// The condition variable of the chosen lock, which is never dropped.
#[repr(transparent)]
pub struct ErasedCondvar(UnsafeCell<MaybeUninit<CondvarRoom>>);

// SAFETY: only the condition variable inside looks at its bytes, and those are `Send` and `Sync`.
unsafe impl Send for ErasedCondvar {}
// SAFETY: as above.
unsafe impl Sync for ErasedCondvar {}

impl ErasedCondvar {
    fn place(&self) -> *const () {
        self.0.get().cast_const().cast()
    }
}

impl<S: 'static, const READERS_SHARE: bool> CondvarLock for Erased<S, READERS_SHARE> {
    type Condvar = ErasedCondvar;
}

impl<S, const READERS_SHARE: bool> LockCondvar<Erased<S, READERS_SHARE>> for ErasedCondvar {
    fn new() -> Self {
        let condvar = Self(UnsafeCell::new(MaybeUninit::uninit()));
        // SAFETY: every condition variable fits into the room, which is uninitialised.
        unsafe { (condvar_operations().new)(condvar.0.get().cast()) };
        condvar
    }
    #[inline]
    unsafe fn wait(&self, lock: &Erased<S, READERS_SHARE>, deadline_ns: Option<u64>) -> bool {
        // SAFETY: both were made there, of the chosen type, and the caller owns the lock.
        unsafe { (condvar_operations().wait)(self.place(), lock.place(), deadline_ns) }
    }
    #[inline]
    fn notify_one(&self) -> bool {
        // SAFETY: the chosen condition variable was made there.
        unsafe { (condvar_operations().notify_one)(self.place()) }
    }
    #[inline]
    fn notify_all(&self) {
        // SAFETY: as in `notify_one`.
        unsafe { (condvar_operations().notify_all)(self.place()) }
    }
}

/// Something to be done with a lock whose type was erased, and that has what was chosen of a condition variable and
/// deadlines.
pub trait CapableVisitor {
    /// What comes out of it.
    type Output;
    /// Does it with `L`, which stands for the lock that was erased.
    fn visit<L: CondvarLock + TimedLock>(self) -> Self::Output;
}

/// Size and alignment of a type.
const fn form<T>() -> (usize, usize) {
    (size_of::<T>(), align_of::<T>())
}

/// Calls `visitor` with the first of these forms that `$fits` the lock `$L`. What is decided in a `const` is compiled
/// alone: else each lock would have all forms, and its own.
macro_rules! first_form {
    ($L:ty, $visitor:ident, $fits:ident, [$($storage:ty),+]) => {
        $(if const { $fits(form::<$storage>(), form::<$L>()) } {
            if const { <$L>::READERS_SHARE } {
                return $visitor.visit::<Erased<$storage, true>>();
            }
            return $visitor.visit::<Erased<$storage, false>>();
        })+
    };
}

/// Calls `visitor` with the erased form of `L`, which has its size and its alignment. A lock of a size that is not
/// listed here has a form of its own.
pub fn erase<L: RawLock, V: CapableVisitor>(visitor: V) -> V::Output {
    const fn is_same(a: (usize, usize), b: (usize, usize)) -> bool {
        a.0 == b.0 && a.1 == b.1
    }
    first_form!(L, visitor, is_same, [[u8; 0], u32, [u32; 2], [u64; 2], [u64; 4], [u64; 6], L]);
    unreachable!("the last form is that of the lock")
}

/// The largest lock of another library, and more.
#[repr(align(128))]
struct Large {
    _bytes: [u64; 64],
}

/// As [`erase`], with a form that may be larger than `L`.
///
/// # Panics
/// If there is none: make `Large` larger.
pub fn erase_in_larger<L: RawLock, V: CapableVisitor>(visitor: V) -> V::Output {
    const fn is_enough(a: (usize, usize), lock: (usize, usize)) -> bool {
        a.0 >= lock.0 && a.1 >= lock.1
    }
    first_form!(L, visitor, is_enough, [u32, [u64; 2], [u64; 6], Large]);
    let (size, align) = form::<L>();
    panic!("no erased form is large enough for {size} bytes with alignment {align}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::floor::Floor32;
    use lockwright_core::native::Native;
    use lockwright_linux::ticket::TicketLock;

    struct Name;

    impl CapableVisitor for Name {
        type Output = &'static str;
        fn visit<L: CondvarLock + TimedLock>(self) -> &'static str {
            std::any::type_name::<L>()
        }
    }

    #[test]
    fn a_lock_of_a_size_that_is_not_listed_has_a_form_of_its_own() {
        assert!(erase::<Floor32, _>(Name).contains("Floor32"));
        assert!(!erase::<TicketLock<Native>, _>(Name).contains("Ticket"));
    }
}
