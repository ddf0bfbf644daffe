//! Locks in statics, and their sizes.

use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::rwlock::RawRwLock;
use lockwright::{CnaSpinLock, Mutex, PercpuRwLock, RwLock, SpinLock};
use lockwright_core::native::Native;
use lockwright_core::queue::QNode;
use lockwright_linux::qspinlock::{CnaSpinlock, QSpinlock};
use std::mem::size_of;

static FIFO: SpinLock<Vec<u32>> = SpinLock::new(Vec::new());
static CNA: CnaSpinLock<u64> = CnaSpinLock::new(7);
static MUTEX: Mutex<u8> = Mutex::new(0);
static RWLOCK: RwLock<u8> = RwLock::new(1);
static PERCPU: PercpuRwLock<u8> = PercpuRwLock::new(2);

#[test]
fn a_lock_lives_in_a_static() {
    FIFO.lock().push(1);
    FIFO.try_lock().expect("nobody holds it").push(2);
    assert_eq!(*FIFO.lock(), [1, 2]);
    *CNA.lock() += 1;
    assert_eq!(*CNA.lock(), 8);
    *MUTEX.lock() = 3;
    assert_eq!(MUTEX.try_lock().as_deref(), Some(&3));
    assert_eq!((*RWLOCK.read(), *PERCPU.read()), (1, 2));
}

#[test]
fn a_spinlock_is_four_bytes_a_node_is_64_and_zero_is_unlocked() {
    assert_eq!(size_of::<QSpinlock<Native>>(), 4);
    assert_eq!(size_of::<CnaSpinlock<Native>>(), 4);
    assert_eq!(size_of::<RawRwLock<Native>>(), 4);
    assert_eq!(size_of::<RawPercpuRwLock<Native>>(), 16);
    assert_eq!(size_of::<QNode<Native>>(), 64);
    // SAFETY: a lock is one 32-bit cell, and all bit patterns of it are values.
    let zero: QSpinlock<Native> = unsafe { std::mem::zeroed() };
    use lockwright_core::raw::RawLock;
    assert!(!zero.is_locked());
    assert!(zero.try_lock());
}

#[test]
fn the_guard_of_a_part_has_a_name_and_keeps_the_lock() {
    macro_rules! each {
        ($($lock:ident, $guard:ident, $part:ident;)+) => {$({
            let lock = lockwright::$lock::new([1, 2]);
            let guard: lockwright::$guard<'_, [u32; 2]> = lock.lock();
            let mut part: lockwright::$part<'_, u32> =
                lockwright::$guard::map(guard, |both| &mut both[1]);
            *part += 1;
            assert!(lock.try_lock().is_none());
            drop(part);
            assert_eq!(*lock.lock(), [1, 3]);
        })+};
    }
    each! {
        Mutex, MutexGuard, MappedMutexGuard;
        CnaMutex, CnaMutexGuard, MappedCnaMutexGuard;
        FairMutex, FairMutexGuard, MappedFairMutexGuard;
        SendMutex, SendMutexGuard, MappedSendMutexGuard;
        SpinLock, SpinLockGuard, MappedSpinLockGuard;
        CnaSpinLock, CnaSpinLockGuard, MappedCnaSpinLockGuard;
    }
}

#[test]
fn the_guards_of_a_part_of_a_shared_lock_have_names() {
    macro_rules! each {
        ($($lock:ident, $read:ident, $read_part:ident, $write:ident, $write_part:ident;)+) => {$({
            let lock = lockwright::$lock::new([1, 2]);
            let mut part: lockwright::$write_part<'_, u32> =
                lockwright::$write::map(lock.write(), |both| &mut both[1]);
            *part += 1;
            assert!(lock.try_read().is_none());
            drop(part);
            let part: lockwright::$read_part<'_, u32> =
                lockwright::$read::map(lock.read(), |both| &both[1]);
            assert!(*part == 3 && lock.try_write().is_none());
        })+};
    }
    each! {
        RwLock, RwLockReadGuard, MappedRwLockReadGuard, RwLockWriteGuard, MappedRwLockWriteGuard;
        SendRwLock, SendRwLockReadGuard, MappedSendRwLockReadGuard, SendRwLockWriteGuard,
            MappedSendRwLockWriteGuard;
        FairRwLock, FairRwLockReadGuard, MappedFairRwLockReadGuard, FairRwLockWriteGuard,
            MappedFairRwLockWriteGuard;
        PercpuRwLock, PercpuRwLockReadGuard, MappedPercpuRwLockReadGuard, PercpuRwLockWriteGuard,
            MappedPercpuRwLockWriteGuard;
        QRwLock, QRwLockReadGuard, MappedQRwLockReadGuard, QRwLockWriteGuard, MappedQRwLockWriteGuard;
        RwSemLock, RwSemReadGuard, MappedRwSemReadGuard, RwSemWriteGuard, MappedRwSemWriteGuard;
    }
}

#[test]
fn lock_api_comes_with_the_locks() {
    use lockwright::lock_api::{Mutex as OfLockApi, RawMutex};
    fn take<R: RawMutex>(lock: &OfLockApi<R, u32>) -> u32 {
        *lock.lock()
    }
    assert_eq!((take(&Mutex::new(1)), take(&SpinLock::new(2))), (1, 2));
    static RAW: lockwright::RawMutex = RawMutex::INIT;
    let generic: OfLockApi<lockwright::RawFairMutex, u32> = OfLockApi::new(4);
    assert!(RAW.try_lock() && !RAW.try_lock() && take(&generic) == 4);
    let generic: lockwright::lock_api::RwLock<lockwright::RawRwLock, u32> = RwLock::new(5);
    assert_eq!(*generic.read(), 5);
    use lockwright::lock_api::GetThreadId;
    let here = <lockwright::RawThreadId as GetThreadId>::INIT;
    let other = std::thread::spawn(move || here.nonzero_thread_id()).join().expect("no panic");
    assert_ne!(<lockwright::RawThreadId as GetThreadId>::INIT.nonzero_thread_id(), other);
    #[cfg(feature = "lock_api_05")]
    {
        use lockwright::v05;
        fn take<R: v05::lock_api::RawMutex>(lock: &v05::lock_api::Mutex<R, u32>) -> u32 {
            *lock.lock()
        }
        assert_eq!(take(&v05::Mutex::new(3)), 3);
    }
}

#[cfg(feature = "lock_api_05")]
#[test]
fn lock_api_05_has_the_same_aliases() {
    use lockwright::v05;
    static LOCK: v05::SpinLock<u32> = v05::SpinLock::new(1);
    *LOCK.lock() += 1;
    assert_eq!(*LOCK.lock(), 2);
    static MUTEX: v05::Mutex<u32> = v05::Mutex::new(1);
    assert_eq!(*MUTEX.lock(), 1);
    static PERCPU: v05::PercpuRwLock<u32> = v05::PercpuRwLock::new(1);
    let (one, two) = (PERCPU.read(), PERCPU.read());
    assert_eq!(*one, *two);
    drop(one);
    assert!(PERCPU.try_write().is_none());
    drop(two);
    assert!(PERCPU.try_write().is_some());
    static READ: v05::QRwLock<u32> = v05::QRwLock::new(1);
    assert_eq!(*v05::QRwLockWriteGuard::downgrade(READ.write()), *READ.read());
}
