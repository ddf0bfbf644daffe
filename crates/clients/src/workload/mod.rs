//! The loops of the benchmarks, generic over the lock and over the machine that runs them.

use lockwright::platform::Platform;

/// The thread that runs a workload, as the workload sees it.
///
/// Natively the loop body *is* the software, and the calls about software are empty; on a simulated
/// machine they pass simulated time.
pub trait Worker {
    /// The machine.
    type P: Platform;

    /// Whether to do another operation. Reads no clock natively: it looks at a flag.
    fn keep_going(&mut self) -> bool;
    /// Says that an operation is complete.
    fn op_done(&mut self);
    /// The next number of this thread's seeded generator.
    fn random(&mut self) -> u64;
    /// This thread's number, from 0.
    fn index(&self) -> usize;
    /// Instructions that exist in the real benchmark and take time there, named by the machine's
    /// calibration (`outside`, `inside`, ...). Natively nothing.
    fn software(&mut self, part: &'static str);
    /// A delay of `ns` nanoseconds that the benchmark makes on purpose.
    fn hold_ns(&mut self, ns: u64);
    /// Announces that the words at these addresses will be written soon: misses that an
    /// out-of-order core overlaps. Natively nothing (the core does it by itself).
    fn overlap(&mut self, words: &[*const ()]);
}
