//! Static tables.

/// A table that is a static. There is no reference to it as a whole: a checker of aliasing would look at all of it at
/// each access.
pub struct Table<T: 'static, const LENGTH: usize> {
    pub(super) first: *const T,
}

impl<T: Sync, const LENGTH: usize> Table<T, LENGTH> {
    /// Returns the table of a static.
    ///
    /// # Safety
    /// `table` points to a static.
    pub const unsafe fn of(table: *const [T; LENGTH]) -> Self {
        Self { first: table.cast() }
    }
    /// Returns an element.
    ///
    /// # Panics
    /// Panics if `at` is beyond the table.
    #[inline(always)]
    pub fn at(&self, at: usize) -> &'static T {
        assert!(at < LENGTH, "beyond a table");
        // SAFETY: within the static.
        let element = unsafe { self.first.add(at) };
        // SAFETY: an element of a static, which other threads refer to as `Sync` allows.
        unsafe { &*element }
    }
    /// Returns all elements, one after another.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'static T> {
        (0..LENGTH).map(|at| self.at(at))
    }
}

/// Makes a table with a static of its own, of equal elements.
#[doc(hidden)]
#[macro_export]
macro_rules! table {
    ([$Element:ty; $length:expr] = $element:expr) => {{
        static CELLS: [$Element; $length] = [const { $element }; $length];
        // SAFETY: a static.
        unsafe { $crate::native::Table::of(&raw const CELLS) }
    }};
}
pub(super) use crate::table;
