//! The base of Lockwright's locks: for engineers who write a lock or a platform.
//!
//! A lock is written once, generic over a platform `P`, and the same source runs natively, on simulated machines and
//! under model checkers. Programs use the types of the crate `lockwright`; the Linux kernel's locks are in
//! `lockwright-linux`.
//!
//! | module | content |
//! |---|---|
//! | [`platform`] | all that a lock may ask of the machine below it. PLATFORM.md in the repository states its laws |
//! | [`native`] | the machine for a program on Linux (feature `std`) |
//! | [`hardware`] | the cells of the processor. They suffice to make a platform without threads |
//! | [`raw`] | the interface that all locks have |
//! | [`queue`] | the queue node, links, and the waits for them |
//! | [`qspinlock`] | the queued spinlock, with the order of its waiters and their way of waiting as type parameters |
//! | [`park`] | marks of locks whose waiters sleep, and the table in which they sleep |
//! | [`readers`] | memory in which a thread says which locks it reads |
//! | [`held`] | the table of locks that a thread holds |
//! | [`glue`] | macros that put a lock behind `lock_api` |
//! | [`events`], [`tunables`] | the events that locks count, and the numbers that can be set at run time |
//!
//! The packages of Lockwright are released together. This one may change in every release: `lockwright` and
//! `lockwright-linux` need exactly the version that they have themselves.
//!
//! # Features
//!
//! None is on by default. `std` adds [`native`]. `lock_api` and `lock_api_05` add the traits of the two versions of
//! `lock_api`. `arc_lock` and `serde` turn on the features of these names in `lock_api`.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]

#[cfg(all(feature = "std", target_os = "linux"))]
extern crate std;

#[cfg(all(
    feature = "std",
    not(all(
        target_os = "linux",
        target_pointer_width = "64",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64",
            target_arch = "loongarch64"
        )
    ))
))]
compile_error!(
    "feature `std` of lockwright needs Linux on a 64-bit processor of x86, Arm, RISC-V or LoongArch; elsewhere, write `default-features = false` and implement the traits of `lockwright_core::platform`"
);

pub mod glue;
pub mod hardware;
pub mod held;
#[cfg(all(feature = "std", target_os = "linux"))]
pub mod native;
pub mod park;
pub mod platform;
pub mod qspinlock;
pub mod queue;
pub mod raw;
pub mod readers;
#[cfg(all(doctest, feature = "std", target_os = "linux"))]
mod refused;

pub use platform::{events, tunables};
