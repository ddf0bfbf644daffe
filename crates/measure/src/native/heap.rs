//! Where what native threads share lies.

use crate::workload::facts::Heap;
use lockwright_core::native::Native;

/// The memory of this process.
pub struct NativeHeap;

impl Heap for NativeHeap {
    type P = Native;
    type One<T: Send + Sync + 'static> = Box<T>;
    type Many<T: Send + Sync + 'static> = Box<[T]>;

    fn one<T: Send + Sync + 'static>(&mut self, value: T) -> Box<T> {
        Box::new(value)
    }
    fn many<T: Send + Sync + 'static>(
        &mut self,
        count: usize,
        make: impl FnMut(usize) -> T,
    ) -> Box<[T]> {
        (0..count).map(make).collect()
    }
}
