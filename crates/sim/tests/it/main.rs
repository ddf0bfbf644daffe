//! Tests of the simulator, one binary.

mod arbitration;
mod cna;
mod explore;
mod forks;
mod golden;
mod hq;
mod hq_storm;
mod locks;
mod machines;
mod memory;
mod model;
mod preemption;
mod priorities;
mod programs;
mod pv;
mod qrwlock;
mod resilient;
mod rwlock;
mod scheduler;
mod semaphore;
mod seqlock;
mod signals;
mod timed_spin;
mod waiting;
mod watchers;
mod widths;
