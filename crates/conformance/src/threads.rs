//! Starting threads, on any machine.

/// How a machine runs several threads on something they share.
pub trait Threads: 'static {
    /// Puts `state` where the machine keeps shared objects, runs each body on a thread of its own,
    /// all at the same time, and `finish` when all are done. A panic in one of them reaches the
    /// caller or fails the run. A law calls this once, and does everything in there.
    fn run<S: Send + Sync + 'static>(&self, state: S, bodies: &[fn(&S)], finish: fn(&S));
    /// How many queue nodes one thread can claim at most; `None` if that is too many to try.
    fn node_limit(&self) -> Option<usize> {
        None
    }
}
