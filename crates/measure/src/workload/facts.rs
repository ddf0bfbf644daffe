//! What a workload is, to the machines that run it: what is known of it beforehand, and its loop.

use super::params::ParamTable;
use crate::native::usage::Usage;
use crate::record::CondvarWaits;
use crate::starved::Starved;
use crate::stress::{Exercised, Stress};
use core::ops::Deref;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_core::raw::RawLock;

/// Where a workload is to run, for what is usual there.
#[derive(Clone, Copy)]
pub struct Venue<'a> {
    /// True if the machine is a simulated one.
    pub is_simulated: bool,
    /// True if the threads are the vCPUs of a guest.
    pub is_guest: bool,
    /// How long a part of the workload is on this machine, in nanoseconds, if that was fitted.
    pub fitted_ns: &'a dyn Fn(&str) -> Option<u64>,
}

/// What a lock has to have, in addition to being a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// A condition variable of its library.
    Condvar,
    /// Attempts with a deadline.
    Deadline,
}

impl Needs {
    /// In words.
    pub const fn described(self) -> &'static str {
        match self {
            Self::Condvar => "condition variable",
            Self::Deadline => "attempts with a deadline",
        }
    }
}

/// What is known of a workload before it runs.
pub trait Facts: ParamTable {
    /// The parts of its software that are not simulated but take a time of the calibration.
    fn software_parts(&self) -> &'static [&'static str] {
        &[]
    }
    /// How many locks its threads use.
    fn locks(&self) -> u32 {
        1
    }
    /// Of 100 operations of each thread, those that read.
    fn reads(&self) -> u32 {
        0
    }
    /// Of that many threads, how many read and how many write. A thread may do both.
    fn readers_and_writers(&self, threads: usize) -> (usize, usize) {
        match self.reads() {
            0 => (0, threads),
            100.. => (threads, 0),
            _ => (threads, threads),
        }
    }
    /// What its lock has to have.
    fn needs(&self) -> Option<Needs> {
        None
    }
    /// Why it does not run on simulated machines, if it does not: a sentence.
    fn runs_here_only(&self) -> Option<&'static str> {
        None
    }
    /// How many threads it takes, from the least to the most, and that in a sentence.
    fn threads(&self) -> Option<(usize, usize, &'static str)> {
        None
    }
    /// How many threads it has where nothing was said, on that many CPUs; `None` is as for a counter.
    fn usual_threads(&self, _cpus: usize) -> Option<usize> {
        None
    }
    /// How long a run is where nothing was said, in seconds; `None` is as for a counter.
    fn usual_s(&self) -> Option<f64> {
        None
    }
    /// Returns true if the amount of work is fixed. Then the time that it takes is the result, and the window of a
    /// trial is the longest that it may take.
    fn is_fixed_work(&self) -> bool {
        false
    }
    /// Returns true if what counts begins with the first operation.
    fn has_no_warm_up(&self) -> bool {
        self.is_fixed_work()
    }
    /// Returns true if simulated threads are the tasks of a kernel, however many there are.
    fn is_in_kernel(&self) -> bool {
        false
    }
    /// Returns true if waits are timed in every repetition, and no repetition is for that.
    fn times_itself(&self) -> bool {
        false
    }
    /// The longest section, in nanoseconds, if it is a time.
    fn longest_section_ns(&self) -> u64 {
        0
    }
    /// The most operations per second that this many CPUs and the lock let through, if that is known beforehand.
    fn bound(&self, _cpus: f64) -> Option<f64> {
        None
    }
    /// The operations per second with what does not fit into a simulated window.
    fn with_rare(&self, ops_per_s: f64, _threads: u32) -> f64 {
        ops_per_s
    }
    /// Sets what is usual where nothing was `given`: on a machine, or in the file of a question, which has no place.
    ///
    /// # Errors
    /// If the parameters contradict each other; the sentence says what to type instead.
    fn settle(
        &mut self,
        given: &dyn Fn(&str) -> bool,
        place: Option<Venue<'_>>,
    ) -> Result<(), String> {
        let _ = (given, place);
        Ok(())
    }
}

/// How long a part of the workload is at a place, if that was fitted.
pub(super) fn fitted_ns(place: Option<Venue<'_>>, part: &str) -> Option<u64> {
    place.and_then(|place| (place.fitted_ns)(part))
}

/// What a lock lets through at most, and the CPUs: `section_ns` is owned by a part of the operations, and `on_cpu_ns`
/// of each is spent on a CPU. A section that computes needs a CPU, one that sleeps does not.
pub(crate) fn bound(section_ns: f64, on_cpu_ns: f64, cpus: f64) -> Option<f64> {
    let per_s = |ns: f64| if ns > 0.0 { 1e9 / ns.max(1.0) } else { f64::MAX };
    let by_cpus = if on_cpu_ns > 0.0 { cpus * per_s(on_cpu_ns) } else { f64::MAX };
    Some(per_s(section_ns).min(by_cpus)).filter(|&bound| bound < f64::MAX)
}

/// The memory in which a workload puts what its threads share.
pub trait Heap {
    /// The machine.
    type P: Platform;
    /// Something in it.
    type One<T: Send + Sync + 'static>: Deref<Target = T>;
    /// Several things in a row.
    type Many<T: Send + Sync + 'static>: Deref<Target = [T]>;

    /// Puts something there.
    fn one<T: Send + Sync + 'static>(&mut self, value: T) -> Self::One<T>;
    /// Puts `count` things there, which `make` makes by their number.
    fn many<T: Send + Sync + 'static>(
        &mut self,
        count: usize,
        make: impl FnMut(usize) -> T,
    ) -> Self::Many<T>;
    /// Puts `count` things there that are zero at the start.
    fn zeroed<T: Zeroed + Send + Sync + 'static>(&mut self, count: usize) -> Self::Many<T> {
        self.many(count, |_| T::zeroed())
    }
}

/// How a trial is run, apart from its workload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setting {
    /// How many threads.
    pub threads: usize,
    /// What a torture adds; nothing if it is none.
    pub stress: Stress,
}

/// What the threads of a trial did together.
pub trait Tally: Default + Send + 'static {
    /// Adds what another thread did.
    fn merge(&mut self, other: Self);
}

impl Tally for () {
    fn merge(&mut self, (): ()) {}
}

impl Tally for u64 {
    fn merge(&mut self, other: u64) {
        *self += other;
    }
}

/// What a workload found out itself.
#[derive(Clone, Debug, Default)]
pub struct Finding {
    /// How often a thread was not alone, or something was lost.
    pub fail: u64,
    /// How threads waited on condition variables, if the workload has any.
    pub condvar_waits: Option<CondvarWaits>,
    /// How often it did something special.
    pub exercised: Exercised,
    /// How long its first thread waited, if the workload is about that.
    pub starved: Option<Starved>,
}

impl Finding {
    /// Nothing but how often a thread was not alone.
    pub fn fail(fail: u64) -> Self {
        Self { fail, ..Self::default() }
    }
}

/// A workload with a lock `L`, in a heap.
pub trait Load<W: Heap, L>: Facts + Copy + Send + Sync + 'static {
    /// What its threads share.
    type State;
    /// What a thread did.
    type Tally: Tally;

    /// Makes what the threads share. The order matters: a simulated result depends on where things lie.
    fn place(&self, setting: Setting, heap: &mut W) -> Self::State;
    /// What one thread does.
    fn run<K: Worker<P = W::P>>(&self, state: &Self::State, worker: &mut K) -> Self::Tally;
    /// What was found, when all threads are done: `all` is what they did, and `ops` the number of their operations.
    fn found(&self, state: &Self::State, all: &Self::Tally, ops: u64) -> Finding {
        let _ = (state, all, ops);
        Finding::default()
    }
    /// When a fixed amount of work was begun and was done, in nanoseconds of the platform's clock, once it is.
    fn done_ns(&self, state: &Self::State) -> Option<(u64, u64)> {
        let _ = state;
        None
    }
    /// What threads have used so far that its threads have started.
    fn usage_of_others(&self, state: &Self::State) -> Usage {
        let _ = state;
        Usage::default()
    }
}

/// The thread that runs a workload, as the workload sees it.
///
/// Natively the loop body *is* the software, and the calls about software are empty; on a simulated
/// machine they pass simulated time.
pub trait Worker {
    /// The machine.
    type P: Platform;

    /// True to do another operation. Reads no clock natively: it looks at a flag.
    fn keep_going(&mut self) -> bool;
    /// Says that an operation is complete.
    fn op_done(&mut self);
    /// Says that this thread got on with something that is not an operation of its own.
    fn step_done(&mut self) {}
    /// The next number of this thread's seeded generator.
    fn random(&mut self) -> u64;
    /// This thread's number, from 0.
    fn index(&self) -> usize;
    /// Instructions that exist in the real benchmark and take time there, named by the machine's
    /// calibration (`outside`, `inside`, ...). Natively nothing.
    fn software(&mut self, part: &'static str);
    /// A delay of `ns` nanoseconds that the benchmark makes on purpose.
    fn hold_ns(&mut self, ns: u64);
    /// Computes for about `ns` nanoseconds, in which only time on a CPU counts.
    fn compute_ns(&mut self, ns: u64);
    /// As [`compute_ns`](Self::compute_ns), outside of a kernel: whose lock this is may take the CPU
    /// away meanwhile.
    fn user_ns(&mut self, ns: u64) {
        self.compute_ns(ns);
    }
    /// Announces that the words at these addresses will be written soon: misses that an
    /// out-of-order core overlaps. Natively nothing (the core does it by itself).
    fn overlap(&mut self, words: &[*const ()]);
}

/// Something that has a cache line to itself.
#[repr(C, align(64))]
pub struct OwnLine<T>(T);

impl<T> OwnLine<T> {
    /// Puts `value` at the start of a line.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T: Zeroed> Zeroed for OwnLine<T> {
    fn zeroed() -> Self {
        Self(T::zeroed())
    }
}

impl<T> Deref for OwnLine<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Holds `lock` while `section` runs.
#[inline(always)]
pub(super) fn locked<L: RawLock, R>(lock: &L, section: impl FnOnce() -> R) -> R {
    lock.lock();
    let result = section();
    // SAFETY: taken above, and `section` has no way to give it back. If it panics the lock stays
    // held, which ends the benchmark.
    unsafe { lock.unlock() };
    result
}

/// Reads under `lock` while `section` runs.
#[inline(always)]
pub(super) fn locked_shared<L: RawLock, R>(lock: &L, section: impl FnOnce() -> R) -> R {
    lock.lock_shared();
    let result = section();
    // SAFETY: taken above, as in `locked`.
    unsafe { lock.unlock_shared() };
    result
}

/// A lock and what it guards, a line each.
pub struct LockAndValue<P: Cells, L> {
    pub(crate) lock: OwnLine<L>,
    pub(crate) value: OwnLine<P::U64>,
}

impl<P: Cells, L: RawLock> Zeroed for LockAndValue<P, L> {
    fn zeroed() -> Self {
        Self { lock: OwnLine::new(L::new()), value: Zeroed::zeroed() }
    }
}

impl<P: Cells, L> LockAndValue<P, L> {
    /// The value. Only when all threads are done.
    pub fn value(&self) -> u64 {
        // ordering: Relaxed; the caller waited for the threads, and so is ordered after them.
        self.value.load(Relaxed)
    }
}
