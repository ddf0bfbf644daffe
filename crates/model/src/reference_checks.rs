//! The rows of the reference locks whose waiters sleep.

use crate::check::{Check, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright::capabilities::ProgramMutex;
use lockwright::registry::LockRow;
use lockwright_clients::last_user::LastUser;
use lockwright_clients::limits::AllTimeOut;
use lockwright_clients::mutex::{GiveUp, MutexTimeOuts, Notify};

/// That a user may free the lock is checked here only, where no wait returns for no reason: the client needs that of
/// the condition variable.
pub(crate) fn of_futex3<M: ProgramMutex>(lock: &'static LockRow) -> Vec<Check> {
    let flat = |threads: usize| MachineSettings::flat(threads as u32);
    let mut checks = three_on::<M>(lock, "sleeps end for no reason", flat(3).with_wake_ups(1));
    for (on, threads) in [("two", 2), ("three", 3)] {
        checks.extend([
            row::<MutexTimeOuts<Loom, M>>(lock, on, threads, flat(threads)),
            row::<Notify<Loom, M>>(lock, on, threads, flat(threads)),
            row::<AllTimeOut<Loom, M>>(lock, on, threads, flat(threads)),
            row::<LastUser<Loom, M>>(lock, on, threads, flat(threads)),
        ]);
    }
    checks.push(row::<GiveUp<Loom, M>>(lock, "three", 3, flat(3)));
    checks
}
