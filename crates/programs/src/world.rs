//! What a program's platform can do, and what its locks guard.

use crate::program::Priority;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::ConstCells;

/// What a program's platform can do apart from what locks ask for.
pub trait World: Platform + ConstCells + Send + Sync {
    /// True if instants of the host are instants here. Elsewhere near instants are time-outs.
    const KNOWS_INSTANTS: bool;
    /// Keeps the priority of the calling thread raised until it is dropped.
    type Raised;

    /// Lets some time pass.
    fn pause();
    /// Runs `child` in a forked child and waits for that; what it complains about. Nothing where there are no forks.
    fn fork(child: impl FnOnce() -> Result<(), String>) -> Result<(), String>;
    /// True if the caller is such a child.
    fn is_child() -> bool;
    /// Raises the priority of the calling thread. Nothing if it is to be normal, or the process must not.
    fn raise(priority: Priority) -> Option<Self::Raised>;
    /// Calls `last` when the calling thread ends: in the destructor of a thread-local. At once where there is none.
    fn at_end(last: Box<dyn FnOnce()>);
}

/// Locks of a program, at most.
pub const LOCKS_MAX: usize = 4;
/// Threads of a program, at most.
pub const THREADS_MAX: usize = 4;
/// Threads that do the steps of one, at most, one after the other.
pub const LIVES_MAX: usize = 3;
/// What was not allowed, if something.
pub type Allowed = Result<(), String>;

/// What a lock guards.
#[derive(Debug, Default)]
pub struct Data {
    /// Equal unless a thread is writing.
    pub pair: TwoNumbers,
    /// Thread 0 has done its part of as many phases.
    pub phases: usize,
}
pub type TwoNumbers = [u64; 2];

/// Looks at two numbers, with a pause in between.
pub fn look<P: World>(pair: &TwoNumbers) -> Result<(), String> {
    let [one, other] = *pair;
    P::pause();
    if one == other && pair[0] == one {
        return Ok(());
    }
    Err(format!("a reader sees {one} and {other} where writers leave equal numbers"))
}
pub fn change<P: World>(pair: &mut TwoNumbers) -> Result<(), String> {
    let [one, other] = *pair;
    if one != other {
        return Err(format!("a writer finds {one} and {other} where writers leave equal numbers"));
    }
    pair[0] += 1;
    P::pause();
    pair[1] += 1;
    Ok(())
}
