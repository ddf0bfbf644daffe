//! Cells, with their type erased: what store buffers and spinners remember.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Shape {
    U32,
    /// A 32-bit lock word: its values are checked for legality.
    Word,
    U64,
    Pointer,
}

/// A cell of the run's arena.
///
/// Values are kept in place, in the cells; an access converts them to and from bits. The host sees
/// relaxed atomics, so that cells may be shared as the platform promises; all the ordering there is
/// comes from the order of events.
#[derive(Clone, Copy)]
pub struct CellRef {
    at: NonNull<()>,
    shape: Shape,
}

impl CellRef {
    /// The cell at `at`.
    ///
    /// # Safety
    /// `at` is the storage of a cell of that shape. It outlives this value, or its address is
    /// outside of the arena: the engine refuses such cells before it reads or writes them.
    pub unsafe fn new(at: NonNull<()>, shape: Shape) -> Self {
        Self { at, shape }
    }
    pub fn address(self) -> usize {
        self.at.addr().get()
    }
    pub fn shape(self) -> Shape {
        self.shape
    }
    pub fn is_word(self) -> bool {
        self.shape == Shape::Word
    }
    pub fn is_pointer(self) -> bool {
        self.shape == Shape::Pointer
    }
    #[inline]
    pub fn read(self) -> u64 {
        match self.shape {
            Shape::U32 | Shape::Word => {
                // SAFETY: by the contract of `new`.
                let cell = unsafe { self.at.cast::<AtomicU32>().as_ref() };
                u64::from(cell.load(Relaxed))
            }
            Shape::U64 => {
                // SAFETY: by the contract of `new`.
                let cell = unsafe { self.at.cast::<AtomicU64>().as_ref() };
                cell.load(Relaxed)
            }
            Shape::Pointer => {
                // SAFETY: by the contract of `new`.
                let cell = unsafe { self.at.cast::<AtomicPtr<()>>().as_ref() };
                cell.load(Relaxed).expose_provenance() as u64
            }
        }
    }
    #[inline]
    pub fn write(self, bits: u64) {
        match self.shape {
            Shape::U32 | Shape::Word => {
                // SAFETY: by the contract of `new`.
                let cell = unsafe { self.at.cast::<AtomicU32>().as_ref() };
                cell.store(bits as u32, Relaxed);
            }
            Shape::U64 => {
                // SAFETY: by the contract of `new`.
                let cell = unsafe { self.at.cast::<AtomicU64>().as_ref() };
                cell.store(bits, Relaxed);
            }
            Shape::Pointer => {
                // SAFETY: by the contract of `new`.
                let cell = unsafe { self.at.cast::<AtomicPtr<()>>().as_ref() };
                cell.store(core::ptr::with_exposed_provenance_mut(bits as usize), Relaxed);
            }
        }
    }
}

/// A store that is not visible to others yet.
#[derive(Clone, Copy)]
pub struct PendingStore {
    pub cell: CellRef,
    pub mask: u64,
    pub bits: u64,
    pub commits_at: u64,
}

/// The store that a thread issued last, and until when it keeps a read-modify-write waiting that it does not hold all
/// bytes of.
#[derive(Clone, Copy)]
pub struct LastStore {
    address: usize,
    mask: u64,
    until: u64,
}

impl LastStore {
    pub const NONE: Self = Self { address: 0, mask: 0, until: 0 };

    pub fn new(cell: CellRef, mask: u64, until: u64) -> Self {
        Self { address: cell.address(), mask, until }
    }
    /// Until when an access to the bits in `mask` waits; 0 if it does not.
    #[inline]
    pub fn delays_until(&self, cell: CellRef, mask: u64) -> u64 {
        let is_partial = mask & self.mask != 0 && mask & !self.mask != 0;
        if self.address == cell.address() && is_partial { self.until } else { 0 }
    }
}

impl PendingStore {
    /// `value` as the thread that issued the store sees it.
    #[inline]
    pub fn over(&self, value: u64) -> u64 {
        value & !self.mask | self.bits & self.mask
    }
}
