//! A place for a value that is set once.

use super::once::Once;
use core::cell::UnsafeCell;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

/// A place for a value that is set once and then read by many threads.
///
/// # Examples
///
/// ```
/// use lockwright::OnceLock;
///
/// static CONFIGURATION: OnceLock<String> = OnceLock::new();
///
/// fn configuration() -> &'static str {
///     CONFIGURATION.get_or_init(|| String::from("verbose"))
/// }
///
/// assert_eq!(CONFIGURATION.get(), None);
/// assert_eq!(configuration(), "verbose");
/// assert_eq!(CONFIGURATION.set(String::from("quiet")), Err(String::from("quiet")));
/// assert_eq!(CONFIGURATION.get().map(String::as_str), Some("verbose"));
/// ```
///
/// # Memory ordering
///
/// What the thread that set the value did before is visible to each thread that gets the value.
///
/// # Fairness
///
/// All threads that wait for the value get it at once. If the closure of one panics or fails, the others compete, in no
/// order, and the one that wins runs its own closure.
///
/// # Errors and panics
///
/// As in `std`, the place stays empty if the closure of [`get_or_init`](Self::get_or_init) panics, and is not poisoned.
///
/// A closure that sets its own place, or waits for it, waits for ever. [`get`](Self::get) returns `None` there.
///
/// # Signals and fork
///
/// A signal handler may call [`get`](Self::get). Everything else is as with [`Once`]: in a child that was forked while
/// another thread of the parent made the value, the value never comes.
///
/// # Size and cost
///
/// Four bytes and an `Option<T>`. It allocates nothing. Once the value is there, to get it costs one load. The `Option`
/// lets the compiler drop the value, with the same rules as in `std`: a value may borrow from something that is dropped
/// at the same time, if its own type allows that. It can make the place larger than that of `std`.
pub struct OnceLock<T> {
    once: Once,
    /// `Some` exactly if `once` is completed; written by its closure.
    value: UnsafeCell<Option<T>>,
}

// SAFETY: one thread writes the value, before the others see it; to share the place is to share the value. A thread
// that sets a value sends it to the one that drops it.
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}

// A value that is half made is never seen.
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Creates an empty place.
    #[must_use]
    pub const fn new() -> Self {
        Self { once: Once::new(), value: UnsafeCell::new(None) }
    }

    /// Returns the value, or `None` if there is none yet. Never waits.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        if self.once.is_completed() { self.value() } else { None }
    }

    /// Returns the value, or `None` if there is none.
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// Waits until there is a value, and returns it.
    #[inline]
    pub fn wait(&self) -> &T {
        self.once.wait_force();
        self.value_of_completed()
    }

    /// Puts `value` into an empty place. If another thread is making a value, waits for that thread.
    ///
    /// # Errors
    ///
    /// If there is a value already. The error holds `value`.
    #[inline]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.once.call_once_force(|_| {
            // SAFETY: one closure runs at a time, and the place is empty until one has ended.
            unsafe { self.fill(value.take()) }
        });
        value.map_or(Ok(()), Err)
    }

    /// Returns the value. If there is none, makes it with `make`. If another thread is making it, waits for that
    /// thread.
    ///
    /// # Panics
    ///
    /// If `make` panics. The place stays empty.
    #[inline]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if !self.once.is_completed() {
            self.make(make);
        }
        self.value_of_completed()
    }

    #[cold]
    fn make(&self, make: impl FnOnce() -> T) {
        self.once.call_once_force(|_| {
            let value = make();
            // SAFETY: one closure runs at a time, and the place is empty until one has ended.
            unsafe { self.fill(Some(value)) }
        });
    }

    /// As [`get_or_init`](Self::get_or_init), but `make` may fail. If it does, the place stays empty, and a thread that
    /// waits runs its own closure.
    ///
    /// # Examples
    ///
    /// ```
    /// use lockwright::OnceLock;
    ///
    /// let port = OnceLock::new();
    /// assert!(port.get_or_try_init(|| "http".parse::<u16>()).is_err());
    /// assert_eq!(port.get_or_try_init(|| "80".parse::<u16>()), Ok(&80));
    /// ```
    ///
    /// # Errors
    ///
    /// The error that `make` returns.
    ///
    /// # Panics
    ///
    /// If `make` panics. The place stays empty.
    #[inline]
    pub fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if !self.once.is_completed() {
            self.try_make(make)?;
        }
        Ok(self.value_of_completed())
    }

    #[cold]
    fn try_make<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<(), E> {
        self.once.try_call_once(|| {
            let value = make()?;
            // SAFETY: one closure runs at a time, and the place is empty until one has ended.
            unsafe { self.fill(Some(value)) }
            Ok(())
        })
    }

    /// Returns the value, or `None` if there is none.
    #[inline]
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Returns the value, or `None` if there is none, and leaves the place empty.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        core::mem::take(self).into_inner()
    }

    /// # Safety
    /// The place is empty, and no other thread uses the value.
    unsafe fn fill(&self, value: Option<T>) {
        // SAFETY: by the contract of this function.
        unsafe { self.value.get().write(value) }
    }
    /// Returns the value. The caller has found the once completed.
    #[inline(always)]
    fn value(&self) -> Option<&T> {
        // SAFETY: the value is no longer written through a shared reference.
        unsafe { &*self.value.get() }.as_ref()
    }
    #[inline(always)]
    fn value_of_completed(&self) -> &T {
        // SAFETY: the once is completed, and its closure has put the value there.
        unsafe { self.value().unwrap_unchecked() }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        let place = Self::new();
        // No other thread has it, so there is no value yet.
        let _ = place.set(value);
        place
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    /// Clones the value. If there is none yet, the clone is empty. Never waits.
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(Self::new, Self::from)
    }
}

/// Compares the values that are there now. Never waits.
impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}
impl<T: Eq> Eq for OnceLock<T> {}

/// Never waits.
impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => name.field(value),
            None => name.field(&format_args!("<uninit>")),
        };
        name.finish()
    }
}
