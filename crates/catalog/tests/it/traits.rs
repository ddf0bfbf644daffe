//! What every lock has: a constant constructor, `Default`, `From`, and a `Debug` that never waits.

use super::alone;
use std::fmt::Debug;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(10);

/// What another thread prints of `lock`, which must not wait for the caller.
fn printed<L: Debug + Sync>(lock: &'static L) -> String {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(format!("{lock:?}")));
    let name = std::any::type_name::<L>();
    receiver.recv_timeout(LONG).unwrap_or_else(|_| panic!("`Debug` of {name} waits"))
}

/// `by` takes the lock alone, and `value` reads it.
macro_rules! each_lock {
    ($($module:ident::$lock:ident $by:ident $value:ident;)+) => {$({
        static LOCK: $module::$lock<u32> = $module::$lock::new(7);
        assert!(printed(&LOCK).contains('7'), "{}", printed(&LOCK));
        let guard = LOCK.$by();
        let held = printed(&LOCK);
        assert!(held.contains("<locked>"), "{held}");
        assert_eq!(format!("{guard:?}"), "7");
        // In the thread that holds it, too.
        assert!(!format!("{LOCK:?}").is_empty());
        drop(guard);
        assert_eq!(*$module::$lock::<u32>::default().$value(), 0);
        assert_eq!(*$module::$lock::from(8).$value(), 8);
        assert!(!LOCK.is_locked() && printed(&LOCK).contains('7'));
    })+};
}

#[test]
fn every_lock_with_guards_has_them() {
    let _alone = alone();
    use lockwright as v04;
    use lockwright_linux::presets;
    each_lock! {
        v04::Mutex lock lock;
        v04::CnaMutex lock lock;
        v04::FairMutex lock lock;
        v04::SendMutex lock lock;
        v04::ReentrantMutex lock lock;
        v04::SpinLock lock lock;
        v04::CnaSpinLock lock lock;
        v04::RwLock write read;
        v04::FairRwLock write read;
        v04::SendRwLock write read;
        v04::PercpuRwLock write read;
        v04::QRwLock write read;
        v04::RwSemLock write read;
        presets::UnfairSpinLock lock lock;
        presets::TicketSpinLock lock lock;
        presets::ParkStealSpinLock lock lock;
        presets::HybridSpinLock lock lock;
        presets::CnaV15SpinLock lock lock;
        presets::HqSpinLock lock lock;
        presets::RwSemV3_12 write read;
        presets::RwSemCurrent write read;
    }
}

#[cfg(feature = "lock_api_05")]
#[test]
fn every_lock_of_lock_api_05_has_them() {
    let _alone = alone();
    use lockwright::v05;
    each_lock! {
        v05::Mutex lock lock;
        v05::CnaMutex lock lock;
        v05::FairMutex lock lock;
        v05::SendMutex lock lock;
        v05::ReentrantMutex lock lock;
        v05::SpinLock lock lock;
        v05::CnaSpinLock lock lock;
        v05::RwLock write read;
        v05::FairRwLock write read;
        v05::SendRwLock write read;
        v05::PercpuRwLock write read;
        v05::QRwLock write read;
        v05::RwSemLock write read;
    }
}

/// A condition variable has no value. A semaphore has a number of permits, which has no default.
#[test]
fn the_condition_variable_the_semaphore_and_the_sequence_lock_have_theirs() {
    use lockwright::{Condvar, Mutex, Semaphore, SeqLock};
    let _alone = alone();
    static CONDVAR: Condvar = Condvar::new();
    static MUTEX: Mutex<bool> = Mutex::new(false);
    let waiter = thread::spawn(|| {
        let mut is_over = MUTEX.lock();
        CONDVAR.wait_while_for(&mut is_over, |is_over| !*is_over, LONG).timed_out()
    });
    assert_eq!(printed(&CONDVAR), "Condvar { .. }");
    *MUTEX.lock() = true;
    CONDVAR.notify_all();
    assert!(!waiter.join().expect("no panic") && !Condvar::default().notify_one());

    static SEMAPHORE: Semaphore = Semaphore::new(1);
    let permit = SEMAPHORE.acquire();
    assert_eq!(printed(&SEMAPHORE), "Semaphore { available_permits: 0 }");
    drop(permit);

    static SEQLOCK: SeqLock<u32> = SeqLock::new(7);
    SEQLOCK.update(|value| {
        assert_eq!(printed(&SEQLOCK), "SeqLock { value: 7 }");
        value + 1
    });
    assert_eq!((SEQLOCK.read(), SeqLock::<u32>::default().read()), (8, 0));
    assert_eq!(SeqLock::from(9).read(), 9);
}
