//! The sequence lock for programs. It holds a value; the raw lock holds words.

use super::record::Record;
#[cfg(all(feature = "std", target_os = "linux"))]
use crate::native::Native;
use crate::platform::Cells;
use crate::queue::QueuePlatform;
use crate::raw::RawLock;
use crate::seqlock::{NEVER_WRITTEN, RawSeqLock};
use core::fmt;

/// An array `[u64; N]`. It dispatches to the raw lock with as many words. A read returns `None` before the first write.
pub trait Words: Copy {
    type Lock<P: Cells>: Send + Sync;

    #[cfg(all(feature = "std", target_os = "linux"))]
    #[allow(clippy::declare_interior_mutable_const)]
    const NATIVE: Self::Lock<Native>;

    fn new<P: QueuePlatform>() -> Self::Lock<P>;
    fn read<P: QueuePlatform>(lock: &Self::Lock<P>) -> Option<Self>;
    fn try_read<P: QueuePlatform>(lock: &Self::Lock<P>) -> Option<Option<Self>>;
    fn update<P: QueuePlatform>(lock: &Self::Lock<P>, change: impl FnOnce(Option<Self>) -> Self);
}

impl<const N: usize> Words for [u64; N] {
    type Lock<P: Cells> = RawSeqLock<P, N>;

    #[cfg(all(feature = "std", target_os = "linux"))]
    const NATIVE: RawSeqLock<Native, N> = RawSeqLock::INIT;

    fn new<P: QueuePlatform>() -> RawSeqLock<P, N> {
        RawLock::new()
    }
    #[inline]
    fn read<P: QueuePlatform>(lock: &RawSeqLock<P, N>) -> Option<Self> {
        let (sequence, words) = lock.read_numbered();
        (sequence != NEVER_WRITTEN).then_some(words)
    }
    #[inline]
    fn try_read<P: QueuePlatform>(lock: &RawSeqLock<P, N>) -> Option<Option<Self>> {
        let (sequence, words) = lock.try_read_numbered()?;
        Some((sequence != NEVER_WRITTEN).then_some(words))
    }
    fn update<P: QueuePlatform>(
        lock: &RawSeqLock<P, N>,
        change: impl FnOnce(Option<Self>) -> Self,
    ) {
        lock.update_numbered(|sequence, words| {
            change((sequence != NEVER_WRITTEN).then_some(words))
        });
    }
}

macro_rules! seq_lock {
    ($(= $native:ty)?) => {
        /// A small value that is read far more often than written. Readers write nothing to memory: they copy the
        /// value, and copy it again if a writer changed it meanwhile.
        ///
        /// It holds any [`Record`]: integers, floats, `bool`, `char`, [`Duration`](core::time::Duration), arrays of
        /// scalars, tuples of up to eight scalars, and types for which you implement that trait.
        ///
        /// # Examples
        ///
        /// ```
        /// use lockwright::SeqLock;
        ///
        /// static POSITION: SeqLock<(f64, f64)> = SeqLock::new((3.0, -4.0));
        ///
        /// POSITION.update(|(x, y)| (x + 1.0, y));
        /// assert_eq!(POSITION.read(), (4.0, -4.0));
        /// POSITION.write((0.0, 0.0));
        /// assert_eq!(POSITION.try_read(), Some((0.0, 0.0)));
        /// ```
        ///
        /// # Memory ordering
        ///
        /// What a writer did before it finished its write is visible to the readers that get its value, and to later
        /// writers. A write says nothing about readers: one may still be using an older copy.
        ///
        /// # Fairness
        ///
        /// Writers are served first come, first served, and never wait for readers. A reader waits while a writer
        /// stores the new value. There is no bound on how often it has to copy again. So use this lock for data that is
        /// written rarely.
        ///
        /// # Waiting
        ///
        /// Readers and writers spin and have no time-outs. Writers of a `SeqLock` queue for a spinlock. With more
        /// writing threads than CPUs they can stall for minutes, as with `SpinLock`. Let one thread write, or take a
        /// `Mutex` around [`write`](Self::write) and [`update`](Self::update).
        ///
        /// A writer that loses its CPU while it stores the new value keeps all readers waiting until it runs again.
        /// If that is not acceptable, use a `Mutex` or an `RwLock`.
        ///
        /// # Signals and fork
        ///
        /// A signal handler that may interrupt a writer of the same lock must read with [`try_read`](Self::try_read),
        /// and must not write. In a child that was forked while another thread wrote, the lock stays locked for ever.
        ///
        /// # Size and limits
        ///
        /// 16 bytes, 8 for each word of the record, and the value that it started with. After 2^63 writes, which
        /// take 292 years at a write each nanosecond, a reader can get a torn copy or the first value.
        ///
        /// The type parameter `P` is for tests on other platforms. Programs leave it out.
        pub struct SeqLock<T: Record, P: Cells $(= $native)?> {
            /// The words count after the first write.
            lock: <T::Words as Words>::Lock<P>,
            /// The value before the first write. Constants can hold it, but not take it apart: trait methods are not
            /// `const`.
            initial: T,
        }
    };
}
#[cfg(all(feature = "std", target_os = "linux"))]
seq_lock!(= Native);
#[cfg(not(all(feature = "std", target_os = "linux")))]
seq_lock!();

#[cfg(all(feature = "std", target_os = "linux"))]
impl<T: Record> SeqLock<T> {
    /// Creates a lock that holds `value`.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { lock: T::Words::NATIVE, initial: value }
    }
}

impl<T: Record, P: QueuePlatform> SeqLock<T, P> {
    /// As `new`, but on any platform.
    #[doc(hidden)]
    pub fn with_value(value: T) -> Self {
        Self { lock: T::Words::new(), initial: value }
    }
    fn value(&self, words: Option<T::Words>) -> T {
        words.map_or(self.initial, T::from_words)
    }

    /// Returns a copy of the value. Waits while a writer stores a new one.
    #[inline]
    #[must_use]
    pub fn read(&self) -> T {
        self.value(T::Words::read(&self.lock))
    }
    /// Returns a copy of the value, or `None` if a writer is storing a new one. Never waits.
    #[inline]
    #[must_use]
    pub fn try_read(&self) -> Option<T> {
        T::Words::try_read(&self.lock).map(|words| self.value(words))
    }
    /// Replaces the value.
    pub fn write(&self, value: T) {
        self.update(|_| value);
    }
    /// Replaces the value by what `change` makes of it.
    ///
    /// `update` runs `change` first, and only then writes. Readers wait for the second part only; while `change` runs,
    /// they get the old value. Other writers wait for both parts.
    ///
    /// If `change` panics, the value stays as it was. `change` may call [`read`](Self::read), which returns the old
    /// value. It must not write to the same lock: it would wait for ever.
    pub fn update(&self, change: impl FnOnce(T) -> T) {
        T::Words::update(&self.lock, |words| change(self.value(words)).to_words());
    }
}

#[cfg(all(feature = "std", target_os = "linux"))]
impl<T: Record + Default> Default for SeqLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

#[cfg(all(feature = "std", target_os = "linux"))]
impl<T: Record> From<T> for SeqLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Record + fmt::Debug, P: QueuePlatform> fmt::Debug for SeqLock<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.try_read();
        let value: &dyn fmt::Debug = match &value {
            Some(value) => value,
            None => &format_args!("<being written>"),
        };
        f.debug_struct("SeqLock").field("value", value).finish()
    }
}
