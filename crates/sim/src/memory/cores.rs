//! A set of up to 256 cores.

/// How many cores a simulated machine may have.
pub const CORES_MAX: u32 = 256;

/// A set of cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreSet([u64; 4]);

impl CoreSet {
    pub fn only(core: u16) -> Self {
        let mut set = Self::default();
        set.add(core);
        set
    }
    #[inline]
    pub fn add(&mut self, core: u16) {
        self.0[usize::from(core >> 6) & 3] |= 1 << (core & 63);
    }
    #[inline]
    pub fn remove(&mut self, core: u16) {
        self.0[usize::from(core >> 6) & 3] &= !(1 << (core & 63));
    }
    #[inline]
    pub fn has(&self, core: u16) -> bool {
        self.0[usize::from(core >> 6) & 3] >> (core & 63) & 1 != 0
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = other.0;
        a & e | b & f | c & g | d & h != 0
    }
}
