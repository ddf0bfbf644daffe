//! Features of `lock_api` that this crate passes on.

#[cfg(feature = "arc_lock")]
macro_rules! each_arc {
    ($($lock:ident.$lock_arc:ident() -> $guard:ident;)+) => {$({
        let lock = Arc::new(lockwright::$lock::new(7));
        let guard: lockwright::$guard<u32> = lock.$lock_arc();
        // The guard keeps the lock.
        let weak = Arc::downgrade(&lock);
        drop(lock);
        assert!(*guard == 7 && weak.upgrade().is_some_and(|lock| lock.is_locked()));
        drop(guard);
        assert!(weak.upgrade().is_none());
    })+};
}

#[cfg(feature = "arc_lock")]
#[test]
fn the_guard_of_an_arc_keeps_the_lock_and_gives_it_back() {
    use std::sync::Arc;
    each_arc! {
        Mutex.lock_arc() -> ArcMutexGuard;
        CnaMutex.lock_arc() -> ArcCnaMutexGuard;
        FairMutex.lock_arc() -> ArcFairMutexGuard;
        SendMutex.lock_arc() -> ArcSendMutexGuard;
        ReentrantMutex.lock_arc() -> ArcReentrantMutexGuard;
        SpinLock.lock_arc() -> ArcSpinLockGuard;
        CnaSpinLock.lock_arc() -> ArcCnaSpinLockGuard;
        RwLock.read_arc() -> ArcRwLockReadGuard;
        RwLock.write_arc() -> ArcRwLockWriteGuard;
        RwLock.upgradable_read_arc() -> ArcRwLockUpgradableReadGuard;
        FairRwLock.read_arc() -> ArcFairRwLockReadGuard;
        FairRwLock.write_arc() -> ArcFairRwLockWriteGuard;
        FairRwLock.upgradable_read_arc() -> ArcFairRwLockUpgradableReadGuard;
        SendRwLock.read_arc() -> ArcSendRwLockReadGuard;
        SendRwLock.write_arc() -> ArcSendRwLockWriteGuard;
        SendRwLock.upgradable_read_arc() -> ArcSendRwLockUpgradableReadGuard;
        PercpuRwLock.read_arc() -> ArcPercpuRwLockReadGuard;
        PercpuRwLock.write_arc() -> ArcPercpuRwLockWriteGuard;
        QRwLock.read_arc() -> ArcQRwLockReadGuard;
        QRwLock.write_arc() -> ArcQRwLockWriteGuard;
        RwSemLock.read_arc() -> ArcRwSemReadGuard;
        RwSemLock.write_arc() -> ArcRwSemWriteGuard;
    }
    #[cfg(feature = "lock_api_05")]
    {
        let lock = Arc::new(lockwright::v05::Mutex::new(7));
        let guard: lockwright::v05::ArcMutexGuard<u32> = lock.lock_arc();
        assert!(*guard == 7 && lock.try_lock_arc().is_none());
    }
}

/// Writes `lock`, and reads another one of its type.
#[cfg(feature = "serde")]
fn written_and_read<L: serde::Serialize + serde::de::DeserializeOwned>(lock: &L) -> (String, L) {
    let text = serde_json::to_string(lock).expect("no lock is held");
    let again = serde_json::from_str(&text).expect("what was written");
    (text, again)
}

#[cfg(feature = "serde")]
macro_rules! each_serde {
    ($($module:ident::$lock:ident $(in $cell:ident)?;)+) => {$({
        let (text, again) = written_and_read(&$module::$lock::new($($cell::new)?(vec![1, 2])));
        assert_eq!(text, "[1,2]", stringify!($lock));
        assert!(!again.is_locked());
        assert_eq!(written_and_read(&again).0, text);
    })+};
}

#[cfg(feature = "serde")]
#[test]
fn a_lock_is_written_and_read_as_its_value() {
    use lockwright as v04;
    use std::cell::RefCell;
    each_serde! {
        v04::Mutex;
        v04::CnaMutex;
        v04::FairMutex;
        v04::SendMutex;
        v04::ReentrantMutex in RefCell;
        v04::SpinLock;
        v04::CnaSpinLock;
        v04::RwLock;
        v04::FairRwLock;
        v04::SendRwLock;
        v04::PercpuRwLock;
        v04::QRwLock;
        v04::RwSemLock;
    }
    #[cfg(feature = "lock_api_05")]
    {
        use lockwright::v05;
        each_serde! {
            v05::Mutex;
            v05::FairMutex;
            v05::ReentrantMutex in RefCell;
            v05::RwLock;
        }
    }
}
