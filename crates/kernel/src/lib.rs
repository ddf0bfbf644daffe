//! The locks of the registry as kernel code, for the module in `module/`.
//!
//! Everything here is called from C or from the trampoline in assembly, with preemption off but for
//! `lockwright_check_laws`. It calls functions of the kernel and of the module from `machine`, `tasks` and `laws` only.
//! `cargo xtask kernel` builds it and checks the result.
#![no_std]

#[cfg(lockwright_variant = "forgets")]
mod control;
#[cfg(lockwright_variant = "laws")]
mod laws;
mod machine;
mod tasks;

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use lockwright_catalog::capabilities::SlowpathLock;
use lockwright_core::events::Event;
use lockwright_core::platform::{Counters, Placement};
use lockwright_core::raw::RawLock;
use lockwright_catalog::registry::{
    LOCKS, LockRow, RwSemVisitor, SlowpathVisitor, SpinVisitor, visit_kernel_word, visit_pooled,
    visit_rwsem, visit_spinning,
};
use lockwright_linux::rwsem::{RwSem, RwSemPolicy};
use lockwright_core::tunables::{NumaSpinlock, Tunable};
use machine::{
    CpuState, DEPTHS, Kernel, LEVELS, cpu, cpus, inside, set_cpu, set_machine, set_tunable,
    this_cpu,
};
use tasks::Tasks;

/// What the C side calls a lock that is none.
const NO_LOCK: u32 = u32::MAX;
/// The room for a lock in the C side's structures.
const ROOM: usize = 64;

/// The lock that takes the place of the kernel's slow path: its place in the registry. Changed while all CPUs but one
/// are stopped.
static SELECTED: AtomicU32 = AtomicU32::new(NO_LOCK);

#[inline(always)]
fn row(lock: u32) -> Option<&'static LockRow> {
    LOCKS.get(lock as usize)
}

/// Name number `which` of a lock: 0 is its name, then come the others that it answers to. It is not terminated;
/// `length` becomes 0 where there is no such lock or name.
///
/// # Safety
/// `length` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_lock_name(
    lock: u32,
    which: u32,
    length: *mut usize,
) -> *const u8 {
    let name = row(lock).and_then(|row| match which.checked_sub(1) {
        None => Some(row.name),
        Some(alias) => row.aliases.get(alias as usize).copied(),
    });
    let name = name.unwrap_or("");
    // SAFETY: the caller's promise.
    unsafe { length.write(name.len()) };
    name.as_ptr()
}

#[derive(Clone, Copy)]
struct IsThere;
impl SpinVisitor for IsThere {
    type Output = ();
    fn visit<L: RawLock>(self) {}
}
impl SlowpathVisitor for IsThere {
    type Output = ();
    fn visit<L: SlowpathLock>(self) {}
}

#[derive(Clone, Copy)]
struct Shares;
impl SpinVisitor for Shares {
    type Output = bool;
    fn visit<L: RawLock>(self) -> bool {
        L::READERS_SHARE
    }
}

/// A semaphore of the registry, for a visitor of locks.
struct AsLock<V>(V);
impl<V: SpinVisitor> RwSemVisitor for AsLock<V> {
    type Output = V::Output;
    #[inline(always)]
    fn visit<C: RwSemPolicy>(self) -> V::Output {
        self.0.visit::<RwSem<Tasks, C>>()
    }
}
/// Calls the visitor with a lock that only spins. Its nodes are those of the CPU, or of a pool if other threads release
/// them.
#[inline(always)]
fn visit_spinner<V: SpinVisitor + Copy>(row: &LockRow, visitor: V) -> Option<V::Output> {
    visit_spinning::<Kernel, _>(row, visitor).or_else(|| visit_pooled::<Tasks, _>(row, visitor))
}
/// Calls the visitor with a lock that only spins, or with a semaphore; `None` if it is neither.
#[inline(always)]
fn visit<V: SpinVisitor + Copy>(lock: u32, visitor: V) -> Option<V::Output> {
    let row = row(lock)?;
    visit_spinner(row, visitor).or_else(|| visit_rwsem(row, AsLock(visitor)))
}

/// Returns true if the lock only spins.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_spins(lock: u32) -> bool {
    row(lock).and_then(|row| visit_spinner(row, IsThere)).is_some()
}
/// Returns true if the lock is a semaphore, whose waiters sleep.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_sleeps(lock: u32) -> bool {
    row(lock).and_then(|row| visit_rwsem(row, AsLock(IsThere))).is_some()
}
/// Returns true if readers share the lock.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_shares(lock: u32) -> bool {
    visit(lock, Shares) == Some(true)
}
/// Returns true if the lock can take the place of the kernel's slow path.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_has_slowpath(lock: u32) -> bool {
    row(lock).and_then(|row| visit_kernel_word::<Kernel, _>(row, IsThere)).is_some()
}

/// Makes an unlocked lock at this address.
#[derive(Clone, Copy)]
struct Make(*mut ());
impl SpinVisitor for Make {
    type Output = ();
    fn visit<L: RawLock>(self) {
        const { assert!(size_of::<L>() <= ROOM && align_of::<L>() <= ROOM) };
        // SAFETY: there is room, by the contract of `lockwright_init`.
        unsafe { self.0.cast::<L>().write(L::new()) };
    }
}
/// Takes the lock at this address, as its owner or as a reader.
#[derive(Clone, Copy)]
struct Take<const SHARED: bool>(*const ());
impl<const SHARED: bool> SpinVisitor for Take<SHARED> {
    type Output = ();
    #[inline(always)]
    fn visit<L: RawLock>(self) {
        // SAFETY: a lock of this type, by the contract of `lockwright_lock`.
        let lock = unsafe { &*self.0.cast::<L>() };
        if SHARED { lock.lock_shared() } else { lock.lock() }
    }
}
/// Gives the lock at this address back.
#[derive(Clone, Copy)]
struct Give<const SHARED: bool>(*const ());
impl<const SHARED: bool> SpinVisitor for Give<SHARED> {
    type Output = ();
    #[inline(always)]
    fn visit<L: RawLock>(self) {
        // SAFETY: a lock of this type, by the contract of `lockwright_unlock`.
        let lock = unsafe { &*self.0.cast::<L>() };
        match SHARED {
            // SAFETY: the caller is a reader.
            true => unsafe { lock.unlock_shared() },
            // SAFETY: the caller holds it.
            false => unsafe { lock.unlock() },
        }
    }
}

/// # Safety
/// `place` points to 64 aligned bytes that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_init(lock: u32, place: *mut ()) {
    visit(lock, Make(place));
}
/// Preemption is off once; where the lock is a semaphore, it is on while the caller sleeps.
///
/// # Safety
/// `lock` is a number of a lock that spins or of a semaphore, and `lockwright_init` made it at `place`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_lock(lock: u32, place: *const ()) {
    visit(lock, Take::<false>(place));
}
/// # Safety
/// As above, and the caller holds the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_unlock(lock: u32, place: *const ()) {
    visit(lock, Give::<false>(place));
}
/// As `lockwright_lock`, together with other readers if these share the lock.
///
/// # Safety
/// As for `lockwright_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_lock_shared(lock: u32, place: *const ()) {
    visit(lock, Take::<true>(place));
}
/// # Safety
/// As above, and the caller is a reader of the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_unlock_shared(lock: u32, place: *const ()) {
    visit(lock, Give::<true>(place));
}

/// Waits for the kernel's spinlock at this address.
struct Contend {
    lock: *const u32,
    seen: u32,
}
impl SlowpathVisitor for Contend {
    type Output = ();
    #[inline(always)]
    fn visit<L: SlowpathLock>(self) {
        const { assert!(size_of::<L>() == 4 && align_of::<L>() == 4) };
        // SAFETY: by the contract of `lockwright_slowpath`; the word of this lock is the kernel's.
        unsafe { &*self.lock.cast::<L>() }.lock_contended(self.seen);
    }
}

/// Takes the place of the kernel's slow path. Nothing is done if the selected lock has none, which is a control: a
/// slow path that returns at once.
///
/// # Safety
/// `lock` is a spinlock of the kernel for which the caller waits with preemption off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_slowpath(lock: *const u32, seen: u32) {
    let mine = this_cpu();
    let level = (mine.level() as usize).min(LEVELS);
    if let Some(entries) = mine.entries.get(level) {
        entries.fetch_add(1, Relaxed);
    }
    let inside = inside(lock);
    let depth = (inside.fetch_add(1, Relaxed) as usize).min(DEPTHS - 1);
    if let Some(depths) = mine.depths.get(depth) {
        depths.fetch_add(1, Relaxed);
    }
    if let Some(row) = row(SELECTED.load(Relaxed)) {
        contend(row, Contend { lock, seen });
    }
    inside.fetch_sub(1, Relaxed);
    mine.exits.fetch_add(1, Relaxed);
}
#[cfg(not(lockwright_variant = "forgets"))]
#[inline(always)]
fn contend(row: &LockRow, visitor: Contend) {
    visit_kernel_word::<Kernel, _>(row, visitor);
}
#[cfg(lockwright_variant = "forgets")]
fn contend(_: &LockRow, visitor: Contend) {
    visitor.visit::<lockwright_linux::qspinlock::QSpinlock<Kernel, control::Forgetful>>();
}
/// Selects the lock for it.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_select(lock: u32) {
    SELECTED.store(lock, Relaxed);
}

/// How many bytes belong to each CPU.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_cpu_size() -> usize {
    size_of::<CpuState>()
}
/// Says what the machine is like. Comes before all but the tunables.
///
/// # Safety
/// As for `machine::set_machine`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_set_machine(
    first: *mut CpuState,
    cpus: u32,
    numa_nodes: u32,
    is_guest: bool,
) {
    // SAFETY: the caller's promise.
    unsafe { set_machine(first, cpus, numa_nodes, is_guest) };
}
/// Says on which NUMA node a CPU is.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_set_cpu(number: u32, numa_node: u32) {
    set_cpu(number, numa_node);
}
/// The tunable of this name.
///
/// # Safety
/// The name has this many bytes.
unsafe fn tunable(name: *const u8, length: usize) -> Option<Tunable> {
    // SAFETY: the caller's promise.
    let name = unsafe { core::slice::from_raw_parts(name, length) };
    Tunable::ALL.iter().copied().find(|known| known.name().bytes().eq(name.iter().copied()))
}
/// Sets a tunable to what a user has written. Returns false, and changes nothing, if it cannot have this value.
///
/// # Safety
/// The name and the text have as many bytes as their lengths say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_set_tunable(
    name: *const u8,
    length: usize,
    text: *const u8,
    text_length: usize,
) -> bool {
    // SAFETY: the caller's promise.
    let text = unsafe { core::slice::from_raw_parts(text, text_length) };
    // SAFETY: as above.
    let Some(tunable) = (unsafe { tunable(name, length) }) else { return false };
    tunable.parse(text).map(|value| set_tunable(tunable, value)).is_some()
}
/// What a tunable was set to; -1 if it was not.
///
/// # Safety
/// The name has this many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_tunable(name: *const u8, length: usize) -> i64 {
    // SAFETY: the caller's promise.
    let value = unsafe { tunable(name, length) }.and_then(Kernel::tunable);
    value.map_or(-1, |value| value as i64)
}
/// Returns true if waiters of the CNA locks are served by NUMA node.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_numa_is_on() -> bool {
    let setting = Kernel::tunable(Tunable::numa_spinlock);
    NumaSpinlock::of(setting, Kernel::is_guest, Kernel::numa_nodes).is_on()
}

/// How often a CPU entered the slow path with `level` nodes in use.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_entries(number: u32, level: u32) -> u64 {
    cpu(number).entries.get(level as usize).map_or(0, |it| it.load(Relaxed))
}
/// How often the slow path was left.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_exits() -> u64 {
    cpus().map(|cpu| cpu.exits.load(Relaxed)).sum()
}
/// How often a CPU entered the slow path of a lock for which `depth` others waited. The last depth stands for all above
/// it, too.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_depth(depth: u32) -> u64 {
    let of = |cpu: &CpuState| cpu.depths.get(depth as usize).map(|it| it.load(Relaxed));
    cpus().filter_map(of).sum()
}
/// How many depths there are.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_depths() -> u32 {
    DEPTHS as u32
}
/// How many queue nodes are in use.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_nodes_in_use() -> u32 {
    cpus().map(|cpu| cpu.level()).sum()
}

/// The name of an event, which is not terminated; `length` becomes 0 behind the last one.
///
/// # Safety
/// `length` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_event_name(event: u32, length: *mut usize) -> *const u8 {
    let name = Event::ALL.get(event as usize).map_or("", |event| event.name());
    // SAFETY: the caller's promise.
    unsafe { length.write(name.len()) };
    name.as_ptr()
}
/// How often all CPUs have counted an event.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_event(event: u32) -> u64 {
    let Some(&event) = Event::ALL.get(event as usize) else { return 0 };
    cpus().map(|cpu| cpu.event(event).load(Relaxed)).sum()
}
/// Sets all counters of events to zero.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_reset_events() {
    for cpu in cpus() {
        Event::ALL.iter().for_each(|&event| cpu.event(event).store(0, Relaxed));
    }
}

/// Returns true if this module is built with the laws of its platforms.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_has_laws() -> bool {
    cfg!(lockwright_variant = "laws")
}
/// Is not called where there are none.
#[cfg(not(lockwright_variant = "laws"))]
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_check_laws(_: u32) -> bool {
    false
}
/// As above.
#[cfg(not(lockwright_variant = "laws"))]
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_body(_: *const (), _: u32) {}

#[cfg(not(lockwright_variant = "laws"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // Never runs: `cargo xtask kernel` leaves this function out of the module, so that a panic which the compiler has
    // not removed is an undefined symbol.
    loop {}
}
