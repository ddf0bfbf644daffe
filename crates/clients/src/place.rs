//! Memory in which one lock lies after another.

use core::any::TypeId;
use core::cell::UnsafeCell;
use core::mem::ManuallyDrop;
use lockwright::condvar::RawCondvar;
use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::rwlock::{Fair, RawRwLock};
use lockwright::semaphore::RawSemaphore;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;
use lockwright_linux::qrwlock::RawQRwLock;
use lockwright_linux::qspinlock::{CnaSpinlock, HybridBounded, cna};

/// What lies at the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum TenantKind {
    Mutex,
    Condvar,
    Semaphore,
    RwLock,
    FairRwLock,
    PercpuRwLock,
    /// With waiters that sleep, so it has an entry in the lock hash.
    Spinlock,
    QRwLock,
}

impl TenantKind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Mutex,
        Self::Condvar,
        Self::Semaphore,
        Self::RwLock,
        Self::FairRwLock,
        Self::PercpuRwLock,
        Self::Spinlock,
        Self::QRwLock,
    ];

    /// The kind of a lock of that type whose memory is used again.
    pub(crate) fn of_reused<P: Platform>(lock: TypeId) -> Option<Self> {
        let kinds = [
            (TypeId::of::<RawMutex<P>>(), Self::Mutex),
            (TypeId::of::<RawSemaphore<P, 1>>(), Self::Semaphore),
            (TypeId::of::<RawRwLock<P>>(), Self::RwLock),
            (TypeId::of::<RawRwLock<P, Fair>>(), Self::FairRwLock),
            (TypeId::of::<InSlots<P>>(), Self::PercpuRwLock),
            (TypeId::of::<HybridSpinlock<P>>(), Self::Spinlock),
            (TypeId::of::<RawQRwLock<P>>(), Self::QRwLock),
        ];
        kinds.into_iter().find(|(of, _)| *of == lock).map(|(_, kind)| kind)
    }
}

/// A spinlock whose waiters sleep.
type HybridSpinlock<P> = CnaSpinlock<P, cna::V10, HybridBounded>;

/// One object after another, all at the same address.
#[repr(C)]
union Tenant<P: Platform> {
    mutex: ManuallyDrop<RawMutex<P>>,
    condvar: ManuallyDrop<RawCondvar<P>>,
    semaphore: ManuallyDrop<RawSemaphore<P, 1>>,
    rwlock: ManuallyDrop<RawRwLock<P>>,
    fair: ManuallyDrop<RawRwLock<P, Fair>>,
    percpu: ManuallyDrop<RawPercpuRwLock<P>>,
    in_slots: ManuallyDrop<InSlots<P>>,
    spinlock: ManuallyDrop<HybridSpinlock<P>>,
    qrwlock: ManuallyDrop<RawQRwLock<P>>,
}

impl<P: Platform> Tenant<P> {
    /// One that no thread has used.
    fn new(kind: TenantKind) -> Self {
        match kind {
            TenantKind::Mutex => Self { mutex: ManuallyDrop::new(RawLock::new()) },
            TenantKind::Condvar => Self { condvar: ManuallyDrop::new(RawCondvar::new()) },
            TenantKind::Semaphore => Self { semaphore: ManuallyDrop::new(RawLock::new()) },
            TenantKind::RwLock => Self { rwlock: ManuallyDrop::new(RawLock::new()) },
            TenantKind::FairRwLock => Self { fair: ManuallyDrop::new(RawLock::new()) },
            // The other view of it writes to its words, which are not at their place yet.
            TenantKind::PercpuRwLock => Self { percpu: ManuallyDrop::new(RawLock::new()) },
            TenantKind::Spinlock => Self { spinlock: ManuallyDrop::new(RawLock::new()) },
            TenantKind::QRwLock => Self { qrwlock: ManuallyDrop::new(RawLock::new()) },
        }
    }
}

/// What is done with a lock here.
pub(crate) trait TenantLock {
    fn take(&self, reads: bool);
    fn try_take(&self, reads: bool) -> bool;
    /// # Safety
    /// The caller has taken it in this way.
    unsafe fn give_back(&self, reads: bool);
    fn is_free(&self) -> bool;
}

impl<L: RawLock> TenantLock for L {
    fn take(&self, reads: bool) {
        self.lock();
        if reads {
            // Those who come after a writer read in slots, if the lock has these.
            // SAFETY: taken above.
            unsafe { self.unlock() };
            self.lock_shared();
        }
    }
    fn try_take(&self, reads: bool) -> bool {
        if reads { self.try_lock_shared() } else { self.try_lock() }
    }
    unsafe fn give_back(&self, reads: bool) {
        if reads {
            // SAFETY: by the contract of this function.
            unsafe { self.unlock_shared() }
        } else {
            // SAFETY: as above.
            unsafe { self.unlock() }
        }
    }
    fn is_free(&self) -> bool {
        let is_free = !self.is_locked() && self.try_lock();
        if is_free {
            // SAFETY: taken above.
            unsafe { self.unlock() };
        }
        is_free
    }
}

/// Memory for one object at a time.
pub(crate) struct TenantPlace<P: Platform>(UnsafeCell<Tenant<P>>);

// SAFETY: what is there is replaced by the one thread that knows of it, and its fields are those of locks.
unsafe impl<P: Platform> Sync for TenantPlace<P> {}

impl<P: Platform> TenantPlace<P> {
    pub(crate) fn new(kind: TenantKind) -> Self {
        Self(UnsafeCell::new(Tenant::new(kind)))
    }

    /// The lock at the place, which is of that kind.
    pub(crate) fn lock_of(&self, kind: TenantKind) -> &dyn TenantLock {
        // SAFETY: the caller knows what is there, and no thread replaces it before it has been told to.
        let tenant = unsafe { &*self.0.get() };
        match kind {
            // SAFETY: the caller says what is there.
            TenantKind::Mutex => unsafe { &*tenant.mutex },
            TenantKind::Condvar => unreachable!("a condition variable is not a lock"),
            // SAFETY: as above.
            TenantKind::Semaphore => unsafe { &*tenant.semaphore },
            // SAFETY: as above.
            TenantKind::RwLock => unsafe { &*tenant.rwlock },
            // SAFETY: as above.
            TenantKind::FairRwLock => unsafe { &*tenant.fair },
            // SAFETY: as above; a view of the same type.
            TenantKind::PercpuRwLock => unsafe { &*tenant.in_slots },
            // SAFETY: as above.
            TenantKind::Spinlock => unsafe { &*tenant.spinlock },
            // SAFETY: as above.
            TenantKind::QRwLock => unsafe { &*tenant.qrwlock },
        }
    }
    /// The condition variable that is there.
    pub(crate) fn condvar(&self) -> &RawCondvar<P> {
        // SAFETY: as in `lock_of`.
        let tenant = unsafe { &*self.0.get() };
        // SAFETY: as above.
        unsafe { &tenant.condvar }
    }
    /// Puts a new object there. For the one thread that knows of the last one.
    pub(crate) fn make(&self, kind: TenantKind) {
        // SAFETY: no other thread uses the tenant before, except in a call that no longer touches it.
        unsafe { self.0.get().write(Tenant::new(kind)) };
    }
}
