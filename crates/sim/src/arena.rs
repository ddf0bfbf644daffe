//! The memory of a simulated machine.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};

/// Bytes of a cache line.
pub const LINE_BYTES: usize = 64;

const ALIGN: usize = 4096;

/// The cells of a queue's node that traces show, and where they are in it. A test compares.
pub(crate) const NODE_FIELDS: [(usize, &str); 6] =
    [(0, "next"), (4, "locked"), (8, "numa"), (12, "intra_count"), (16, "since_ns"), (48, "prev")];

/// What was allocated: for reports, and to drop it.
pub(crate) struct Object {
    pub first_line: usize,
    pub lines: usize,
    /// How many values it is, and the bytes of each.
    pub len: usize,
    pub each: usize,
    pub type_name: &'static str,
}

/// The arena of a run, as addresses.
pub(crate) struct Region {
    /// Address of line 0.
    base: usize,
    /// Bytes of lines.
    used: usize,
    /// In the order of their lines.
    objects: Vec<Object>,
}

impl Region {
    /// Where an address lies, in bytes; `None` if it is outside.
    #[inline]
    pub fn offset_at(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.used).then_some(offset)
    }
    /// Where an address lies that is in the arena, in bytes.
    #[inline]
    pub fn offset_of(&self, address: usize) -> usize {
        address - self.base
    }
    /// The line of an address; `None` if it is outside.
    #[inline]
    pub fn line_at(&self, address: usize) -> Option<usize> {
        self.offset_at(address).map(|offset| offset / LINE_BYTES)
    }
    /// The object at an offset, in words: its type, its number if there are several in a row, and the byte in it
    /// unless the object is one cell. Fields of queue nodes have names.
    pub fn place_at(&self, offset: usize) -> String {
        let line = offset / LINE_BYTES;
        let holds = |object: &&Object| {
            (object.first_line..object.first_line + object.lines).contains(&line)
        };
        let Some(object) = self.objects.iter().find(holds) else { return format!("line {line}") };
        let mut name = short(object.type_name);
        let mut byte = offset - object.first_line * LINE_BYTES;
        if object.len > 1 && object.each > 0 {
            name += &format!("[{}]", byte / object.each);
            byte %= object.each;
        }
        let field = NODE_FIELDS.iter().find(|(at, _)| name.starts_with("QNode") && *at == byte);
        if let Some((_, field)) = field {
            name += &format!(".{field}");
        } else if byte > 0 || object.each > 8 {
            name += &format!(" byte {byte}");
        }
        name
    }
}

/// A type's name without the paths of modules and without what it is generic over.
fn short(type_name: &str) -> String {
    let name = type_name.split('<').next().unwrap_or(type_name);
    name.rsplit("::").next().unwrap_or(name).to_owned()
}

struct Doomed {
    at: NonNull<u8>,
    drop: unsafe fn(NonNull<u8>),
}

/// The memory in which a run keeps its shared objects.
///
/// Every object starts on a cache line of its own, and lines are numbered in the order of
/// allocation; so a line has the same number in every run of a program, wherever the host puts the
/// arena. It is a value of its own, outside of [`Simulation`](crate::Simulation), so that threads
/// may borrow from it: `alloc` gives out plain references.
///
/// Invariants:
/// 1. `base` points to `bytes` bytes, allocated with alignment `ALIGN`, until the arena is
///    dropped.
/// 2. Bytes from `used` on belong to no object. An object is never moved; it is dropped by `clear`
///    and by `drop`, both of which need the arena exclusively, hence after all references to it.
pub struct Arena {
    base: NonNull<u8>,
    bytes: usize,
    used: Cell<usize>,
    doomed: RefCell<Vec<Doomed>>,
    objects: RefCell<Vec<Object>>,
    _owns: PhantomData<Cell<u8>>,
}

impl Arena {
    /// Room for `bytes` bytes. Pages that are never used cost nothing.
    pub fn new(bytes: usize) -> Self {
        let bytes = bytes.max(ALIGN).next_multiple_of(ALIGN);
        // SAFETY: the size is not zero and the alignment a power of two.
        let base = unsafe { alloc_zeroed(Self::layout(bytes)) };
        let Some(base) = NonNull::new(base) else { handle_alloc_error(Self::layout(bytes)) };
        Self {
            base,
            bytes,
            used: Cell::new(0),
            doomed: RefCell::default(),
            objects: RefCell::default(),
            _owns: PhantomData,
        }
    }
    fn layout(bytes: usize) -> Layout {
        match Layout::from_size_align(bytes, ALIGN) {
            Ok(layout) => layout,
            Err(_) => panic!("an arena of {bytes} bytes is too large"),
        }
    }

    /// Drops everything in the arena and starts again with line 0.
    pub(crate) fn clear(&mut self) {
        for doomed in self.doomed.get_mut().drain(..).rev() {
            // SAFETY: invariant 2: the object is in place and no code has a reference to it.
            unsafe { (doomed.drop)(doomed.at) };
        }
        self.objects.get_mut().clear();
        self.used.set(0);
    }
    /// Bytes given out so far, whole lines.
    pub(crate) fn used(&self) -> usize {
        self.used.get()
    }
    /// What the arena holds, for the run that begins.
    pub(crate) fn region(&self) -> Region {
        let base = self.base.addr().get();
        Region { base, used: self.used.get(), objects: self.objects.take() }
    }

    /// Places `len` values in a row, the first at the start of a line.
    pub(crate) fn alloc_slice<T: 'static>(
        &self,
        len: usize,
        mut value: impl FnMut(usize) -> T,
    ) -> &[T] {
        let at = self.reserve::<T>(len);
        for index in 0..len {
            let value = value(index);
            // SAFETY: `reserve` has found room for `len` values, and `index < len`.
            let place = unsafe { at.add(index) };
            // SAFETY: the place is aligned, in bounds and belongs to no other object (2).
            unsafe { place.write(value) };
            self.doom(place);
        }
        // SAFETY: all `len` values have been written, and they stay in place until no code can
        // hold this reference (2).
        unsafe { NonNull::slice_from_raw_parts(at, len).as_ref() }
    }

    /// Finds room for `len` values and makes an entry for them.
    fn reserve<T: 'static>(&self, len: usize) -> NonNull<T> {
        self.reserve_bytes(Layout::new::<T>(), len, core::any::type_name::<T>()).cast()
    }
    fn reserve_bytes(&self, each: Layout, len: usize, type_name: &'static str) -> NonNull<u8> {
        assert!(each.align() <= ALIGN, "an arena aligns to at most {ALIGN} bytes");
        let start = self.used.get().next_multiple_of(each.align().max(LINE_BYTES));
        let size = each.size().saturating_mul(len);
        // An object without bytes still gets a line, so that it has an address of its own.
        let end = start.saturating_add(size.max(1)).next_multiple_of(LINE_BYTES);
        assert!(
            end <= self.bytes,
            "the arena of {} bytes is full: {type_name} needs {size} more, make it larger",
            self.bytes,
        );
        self.used.set(end);
        let (first_line, lines) = (start / LINE_BYTES, (end - start) / LINE_BYTES);
        self.objects.borrow_mut().push(Object {
            first_line,
            lines,
            len,
            each: each.size(),
            type_name,
        });
        // SAFETY: `start` is within the arena (1).
        unsafe { self.base.add(start) }
    }

    fn doom<T>(&self, place: NonNull<T>) {
        unsafe fn drop_at<T>(at: NonNull<u8>) {
            // SAFETY: the caller passes the address of a `T` that is not used again.
            unsafe { at.cast::<T>().drop_in_place() };
        }
        if core::mem::needs_drop::<T>() {
            self.doomed.borrow_mut().push(Doomed { at: place.cast(), drop: drop_at::<T> });
        }
    }
}

impl Default for Arena {
    /// Room for 4 MiB, 65,536 lines.
    fn default() -> Self {
        Self::new(4 << 20)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.clear();
        // SAFETY: allocated in `new` with this layout (1).
        unsafe { dealloc(self.base.as_ptr(), Self::layout(self.bytes)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn objects_start_on_lines_of_their_own_and_are_dropped() {
        let witness = Rc::new(());
        let mut arena = Arena::new(4096);
        let first = arena.alloc_slice(3, |_| Rc::clone(&witness));
        let second = arena.alloc_slice(1, |_| ());
        assert_eq!(first.as_ptr().addr(), arena.base.addr().get());
        assert_eq!(second.as_ptr().addr(), arena.base.addr().get() + LINE_BYTES);
        assert_eq!(Rc::strong_count(&witness), 4);
        arena.clear();
        assert_eq!((Rc::strong_count(&witness), arena.used()), (1, 0));
    }

    #[test]
    fn a_place_has_the_type_the_number_and_the_byte() {
        let arena = Arena::new(4096);
        arena.alloc_slice(1, |_| std::cell::Cell::new(0_u64));
        arena.alloc_slice(20, |_| core::num::Wrapping(0_u64));
        arena.alloc_slice(1, |_| std::sync::Mutex::new([0_u64; 7]));
        let region = arena.region();
        let places = [0, 4, 64, 64 + 8 * 9, 64 + 8 * 9 + 2, 256, 4000];
        let words = places.map(|offset| region.place_at(offset));
        let right =
            "Cell|Cell byte 4|Wrapping[0]|Wrapping[9]|Wrapping[9] byte 2|Mutex byte 0|line 62";
        assert_eq!(words.join("|"), right);
    }

    #[test]
    fn a_place_in_a_queue_node_has_the_name_of_its_field() {
        type Node = lockwright_core::queue::QNode<crate::platform::Sim>;
        let at = core::mem::offset_of!(Node, numa);
        let places = [
            core::mem::offset_of!(Node, next),
            core::mem::offset_of!(Node, locked),
            at,
            core::mem::offset_of!(Node, intra_count),
            core::mem::offset_of!(Node, since_ns),
            core::mem::offset_of!(Node, prev),
        ];
        assert_eq!(NODE_FIELDS.map(|(at, _)| at), places);
        let arena = Arena::new(4096);
        arena.alloc_slice(3, |_| {
            // SAFETY: no thread waits in it.
            unsafe { Node::new() }
        });
        let region = arena.region();
        assert_eq!(region.place_at(size_of::<Node>() + at), "QNode[1].numa");
        assert_eq!(region.place_at(size_of::<Node>() + at + 1), "QNode[1] byte 9");
    }

    #[test]
    #[should_panic(expected = "is full")]
    fn a_full_arena_says_so() {
        Arena::new(4096).alloc_slice(1, |_| [0u8; 4097]);
    }
}
