//! A value that is made when it is first used.

use super::once::Once;
use core::cell::UnsafeCell;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};

/// A value that is made by a closure when a thread first uses it.
///
/// # Examples
///
/// ```
/// use lockwright::LazyLock;
///
/// static PRIMES: LazyLock<Vec<u32>> = LazyLock::new(|| {
///     (2..100).filter(|n| (2..*n).all(|divisor| n % divisor != 0)).collect()
/// });
///
/// assert_eq!(PRIMES.len(), 25);
/// ```
///
/// # Memory ordering
///
/// What the closure did is visible to each thread that gets the value.
///
/// # Fairness
///
/// All threads that wait for the value get it at once.
///
/// # Errors and panics
///
/// As in `std`, a closure that panics poisons the value: each later use of it panics, also in threads that were
/// waiting. There is no way to make it again.
///
/// A closure that uses its own value waits for ever.
///
/// # Signals and fork
///
/// A signal handler may use a value that has been made; [`get`](Self::get) returns `None` otherwise, and never waits.
/// In a child that was forked while another thread of the parent made the value, the value never comes.
///
/// # Size and cost
///
/// Four bytes, and the larger of the closure and the value, with a mark that says which of them is there. It allocates
/// nothing. Once the value is there, to get it costs one load.
pub struct LazyLock<T, F = fn() -> T> {
    once: Once,
    /// Written by the closure of `once`.
    content: UnsafeCell<Content<T, F>>,
}

enum Content<T, F> {
    /// The value has not been made.
    Maker(F),
    /// The once is completed.
    Value(T),
    /// The closure runs, or has panicked.
    Nothing,
}

// SAFETY: one thread takes the closure and writes the value, before the others see it. So the closure is sent to the
// thread that calls it; the value is shared, and sent to the thread that drops it.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}

// A value that is half made is never seen.
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T, F> LazyLock<T, F> {
    /// Returns the value if it has been made. Never waits.
    #[inline]
    pub fn get(this: &Self) -> Option<&T> {
        if this.once.is_completed() { this.value() } else { None }
    }

    /// Returns the value if it has been made.
    #[inline]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        match this.content.get_mut() {
            Content::Value(value) => Some(value),
            Content::Maker(_) | Content::Nothing => None,
        }
    }

    /// Returns the value. The caller has found the once completed.
    #[inline(always)]
    fn value(&self) -> Option<&T> {
        // SAFETY: the content is no longer written through a shared reference.
        match unsafe { &*self.content.get() } {
            Content::Value(value) => Some(value),
            Content::Maker(_) | Content::Nothing => None,
        }
    }
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Creates a value that `make` makes when it is first used.
    #[must_use]
    pub const fn new(make: F) -> Self {
        Self { once: Once::new(), content: UnsafeCell::new(Content::Maker(make)) }
    }

    /// Returns the value. If it has not been made yet, makes it. If another thread is making it, waits for that thread.
    ///
    /// # Panics
    ///
    /// If the closure panics, or has panicked before.
    #[inline]
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        // SAFETY: the once calls it at most once, and no other thread uses the content meanwhile.
        if !this.once.call_unless_poisoned(|| unsafe { this.make() }) {
            is_poisoned();
        }
        // SAFETY: the once is completed, and its closure has put the value there.
        unsafe { this.value().unwrap_unchecked() }
    }

    /// As [`force`](Self::force), but returns a value that may be changed.
    ///
    /// # Panics
    ///
    /// As [`force`](Self::force).
    #[inline]
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        Self::force(this);
        // SAFETY: the value has been made.
        unsafe { Self::get_mut(this).unwrap_unchecked() }
    }

    /// # Safety
    /// No other thread uses the content.
    unsafe fn make(&self) {
        let content = self.content.get();
        // SAFETY: by the contract of this function. No reference lives while the closure runs.
        let Content::Maker(make) = (unsafe { content.replace(Content::Nothing) }) else {
            unreachable!("a closure that has been called is called again")
        };
        let value = make();
        // SAFETY: as above. The content is empty, so it need not be dropped.
        unsafe { content.write(Content::Value(value)) };
    }
}

/// The first half of the message is that of `std`, for programs that look for it.
#[cold]
#[track_caller]
fn is_poisoned() -> ! {
    panic!("LazyLock instance has previously been poisoned: its closure panicked")
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    /// As [`force`](LazyLock::force).
    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    /// As [`force_mut`](LazyLock::force_mut).
    #[inline]
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        Self::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    /// Creates a value that [`Default`] makes when it is first used.
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T, F> From<T> for LazyLock<T, F> {
    /// Creates a value that is there already.
    fn from(value: T) -> Self {
        let once = Once::new();
        once.call_once(|| {});
        Self { once, content: UnsafeCell::new(Content::Value(value)) }
    }
}

/// Never waits.
impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = f.debug_tuple("LazyLock");
        match Self::get(self) {
            Some(value) => name.field(value),
            None => name.field(&format_args!("<uninit>")),
        };
        name.finish()
    }
}
