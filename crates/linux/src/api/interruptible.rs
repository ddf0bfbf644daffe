//! Waits for the semaphore that another thread ends.

use crate::park::ParkPlatform;
use crate::platform::ConstCells;
use crate::rwsem::{Interrupt, RwSem, RwSemPolicy, Until};

/// Waits for a [`RwSemLock`](crate::RwSemLock) that another thread can end, through an [`Interrupt`].
///
/// In the kernel, a signal ends the wait of a task: any signal if the wait is interruptible, and a deadly one if it is
/// killable. In a program, a thread ends the wait of another thread, for reasons of the program.
///
/// # Examples
///
#[cfg_attr(feature = "lock_api", doc = "```")]
#[cfg_attr(not(feature = "lock_api"), doc = "```ignore")]
/// use lockwright_linux::{Interrupt, InterruptibleRwLock, Native, RwSemLock};
///
/// static WORDS: RwSemLock<Vec<&str>> = RwSemLock::new(Vec::new());
/// static STOP: Interrupt<Native> = Interrupt::INIT;
///
/// let writer = WORDS.write();
/// let reader = std::thread::spawn(|| WORDS.read_interruptible(&STOP).is_some());
/// STOP.interrupt();
/// // The writer still holds the lock, so the reader gave up.
/// assert!(!reader.join().unwrap());
/// drop(writer);
/// // A lock that is free is taken in spite of the interrupt.
/// assert!(WORDS.read_interruptible(&STOP).is_some());
/// ```
///
/// # Memory ordering and fairness
///
/// They are as for [`RwSemLock`](crate::RwSemLock). A thread that was interrupted sees what the interrupting thread did
/// before. A wait that ends leaves no trace: the other waiters keep their places.
///
/// # Errors and panics
///
/// There are none. One thread at a time waits with one interrupt. If several do, the interrupt wakes one of them, and
/// the others notice it when they wake up for another reason.
pub trait InterruptibleRwLock<P: ParkPlatform> {
    /// The guard of a reader.
    type ReadGuard<'a>
    where
        Self: 'a;
    /// The guard of the writer.
    type WriteGuard<'a>
    where
        Self: 'a;

    /// Takes the lock together with other readers. Returns `None` if `interrupt` has happened and the lock cannot be
    /// taken at once.
    #[doc(alias = "down_read_interruptible")]
    #[doc(alias = "down_read_killable")]
    fn read_interruptible(&self, interrupt: &Interrupt<P>) -> Option<Self::ReadGuard<'_>> {
        self.read_within(Until::interrupted(interrupt))
    }
    /// Takes the lock alone, as [`read_interruptible`](Self::read_interruptible) takes it with others.
    #[doc(alias = "down_write_killable")]
    fn write_interruptible(&self, interrupt: &Interrupt<P>) -> Option<Self::WriteGuard<'_>> {
        self.write_within(Until::interrupted(interrupt))
    }
    /// Takes the lock together with other readers. Returns `None` if the wait is over, by an interrupt or at a
    /// deadline, and the lock cannot be taken at once.
    fn read_within(&self, until: Until<'_, P>) -> Option<Self::ReadGuard<'_>>;
    /// Takes the lock alone, as [`read_within`](Self::read_within) takes it with others.
    fn write_within(&self, until: Until<'_, P>) -> Option<Self::WriteGuard<'_>>;
}

/// Implements the trait for one version of `lock_api`. `made_of` is what that version makes a guard of in addition to
/// the lock.
macro_rules! interruptible {
    ($lock_api:ident $(, $made_of:expr)?) => {
        impl<P: ParkPlatform + ConstCells, C: RwSemPolicy, T: ?Sized> InterruptibleRwLock<P>
            for $lock_api::RwLock<RwSem<P, C>, T>
        {
            type ReadGuard<'a>
                = $lock_api::RwLockReadGuard<'a, RwSem<P, C>, T>
            where
                Self: 'a;
            type WriteGuard<'a>
                = $lock_api::RwLockWriteGuard<'a, RwSem<P, C>, T>
            where
                Self: 'a;

            fn read_within(&self, until: Until<'_, P>) -> Option<Self::ReadGuard<'_>> {
                // SAFETY: this reference is not used to unlock it.
                let is_ours = unsafe { self.raw() }.lock_shared_within(until);
                // SAFETY: taken to read, and no other guard stands for that.
                is_ours.then(|| unsafe { self.make_read_guard_unchecked($($made_of)?) })
            }
            fn write_within(&self, until: Until<'_, P>) -> Option<Self::WriteGuard<'_>> {
                // SAFETY: as above.
                let is_ours = unsafe { self.raw() }.lock_within(until);
                // SAFETY: taken to write, and no other guard stands for that.
                is_ours.then(|| unsafe { self.make_write_guard_unchecked($($made_of)?) })
            }
        }
    };
}
#[cfg(feature = "lock_api")]
use lockwright_core::glue::v04;
#[cfg(feature = "lock_api")]
interruptible!(v04);
#[cfg(feature = "lock_api_05")]
use lockwright_core::glue::v05;
#[cfg(feature = "lock_api_05")]
interruptible!(v05, Default::default());
