//! Waits for the semaphore that another thread ends, for one version of `lock_api`, which the place of use calls
//! `lock_api`.

/// Takes what a guard is made of next to the lock, in that version.
macro_rules! interruptible_rwlock {
    ($($made_of:expr)?) => {
        /// Waits for a [`RwSemLock`] that another thread can end, by an [`Interrupt`](crate::Interrupt).
        ///
        /// In the kernel, a signal ends the wait of a task: any signal if the wait is interruptible, and a deadly one
        /// if it is killable. In a program, a thread ends the wait of another thread, for reasons of the program.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
        /// use lockwright::native::Native;
        /// use lockwright::{Interrupt, InterruptibleRwLock, RwSemLock};
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
        /// # }
        /// ```
        ///
        /// # Memory ordering and fairness
        ///
        /// As for [`RwSemLock`]. A thread that was interrupted sees what the interrupting thread did before. A wait
        /// that ends leaves no trace: the other waiters keep their places.
        ///
        /// # Errors and panics
        ///
        /// There are none. One thread at a time waits with one interrupt. If several do, the interrupt wakes one of
        /// them, and the others notice it when they wake up for another reason.
        pub trait InterruptibleRwLock<P, C, T: ?Sized>
        where
            P: crate::park::ParkPlatform + crate::platform::ConstCells,
            C: crate::rwsem::RwSemPolicy,
        {
            /// Takes the lock together with other readers. Returns `None` if `interrupt` has happened and the lock
            /// cannot be taken at once.
            #[doc(alias = "down_read_interruptible")]
            #[doc(alias = "down_read_killable")]
            fn read_interruptible(
                &self,
                interrupt: &crate::Interrupt<P>,
            ) -> Option<lock_api::RwLockReadGuard<'_, crate::rwsem::RwSem<P, C>, T>> {
                self.read_within(crate::Until::interrupted(interrupt))
            }
            /// Takes the lock alone, as [`read_interruptible`](Self::read_interruptible) takes it with others.
            #[doc(alias = "down_write_killable")]
            fn write_interruptible(
                &self,
                interrupt: &crate::Interrupt<P>,
            ) -> Option<lock_api::RwLockWriteGuard<'_, crate::rwsem::RwSem<P, C>, T>> {
                self.write_within(crate::Until::interrupted(interrupt))
            }
            /// Takes the lock together with other readers. Returns `None` if the wait is over, by an interrupt or at a
            /// deadline, and the lock cannot be taken at once.
            fn read_within(
                &self,
                until: crate::Until<'_, P>,
            ) -> Option<lock_api::RwLockReadGuard<'_, crate::rwsem::RwSem<P, C>, T>>;
            /// Takes the lock alone, as [`read_within`](Self::read_within) takes it with others.
            fn write_within(
                &self,
                until: crate::Until<'_, P>,
            ) -> Option<lock_api::RwLockWriteGuard<'_, crate::rwsem::RwSem<P, C>, T>>;
        }

        impl<P, C, T: ?Sized> InterruptibleRwLock<P, C, T>
            for lock_api::RwLock<crate::rwsem::RwSem<P, C>, T>
        where
            P: crate::park::ParkPlatform + crate::platform::ConstCells,
            C: crate::rwsem::RwSemPolicy,
        {
            fn read_within(
                &self,
                until: crate::Until<'_, P>,
            ) -> Option<lock_api::RwLockReadGuard<'_, crate::rwsem::RwSem<P, C>, T>> {
                // SAFETY: it is not unlocked by this reference.
                let is_ours = unsafe { self.raw() }.lock_shared_within(until);
                // SAFETY: taken to read, and no other guard stands for that.
                is_ours.then(|| unsafe { self.make_read_guard_unchecked($($made_of)?) })
            }
            fn write_within(
                &self,
                until: crate::Until<'_, P>,
            ) -> Option<lock_api::RwLockWriteGuard<'_, crate::rwsem::RwSem<P, C>, T>> {
                // SAFETY: as above.
                let is_ours = unsafe { self.raw() }.lock_within(until);
                // SAFETY: taken to write, and no other guard stands for that.
                is_ours.then(|| unsafe { self.make_write_guard_unchecked($($made_of)?) })
            }
        }
    };
}
pub(super) use interruptible_rwlock;
