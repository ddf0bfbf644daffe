#![doc = include_str!("../README.md")]
// The memory of these objects is the program's: every function here gets a pointer to it.
#![allow(clippy::missing_safety_doc)]

mod choices;
mod condvar;
mod glibc;
mod mutex;
mod rwlock;
mod thread;
mod time;

pub use choices::{lw_choices_are_made, lw_choose, lw_count_condvar, lw_count_of, lw_prepare};
pub use condvar::{
    ThreadWait, lw_condvar_notify, lw_wait_begin, lw_wait_end, lw_wait_is_cancelled,
    lw_wait_is_late, lw_wait_is_over, lw_wait_is_woken,
};
pub use mutex::{
    lw_mutex_destroy, lw_mutex_lock, lw_mutex_lock_any, lw_mutex_timedlock, lw_mutex_trylock,
    lw_mutex_unlock, lw_mutex_unlock_any,
};
pub use rwlock::{
    lw_rwlock_rdlock, lw_rwlock_timedrdlock, lw_rwlock_timedwrlock, lw_rwlock_tryrdlock,
    lw_rwlock_trywrlock, lw_rwlock_unlock, lw_rwlock_wrlock,
};
pub use thread::lw_set_tid_offset;
