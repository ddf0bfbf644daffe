//! Programs that the compiler refuses. Each block names the error, and a nightly compiler checks that it is this one.
//!
//! The entry points for tests need a node that the caller has claimed.
//! ```compile_fail,E0133
//! use lockwright_core::{native::Native, queue::NodeId, qspinlock::QSpinlock};
//! QSpinlock::<Native>::give_secondary(NodeId::new(0), NodeId::new(1));
//! ```
//! ```compile_fail,E0133
//! use lockwright_core::{native::Native, queue::QNode};
//! let node = QNode::<Native>::new();
//! ```
//! A platform promises that its barriers really are barriers.
//! ```compile_fail,E0200
//! # use lockwright_core::{native::Native, platform::{Atomic, Barriers, Cells}};
//! # struct Mine;
//! # impl Cells for Mine {
//! #     type U32 = <Native as Cells>::U32;
//! #     type U64 = <Native as Cells>::U64;
//! #     type Ptr = <Native as Cells>::Ptr;
//! #     type Word = <Native as Cells>::Word;
//! #     type Tracker = <Native as Cells>::Tracker;
//! # }
//! impl Barriers for Mine {
//! #     fn fence(_: core::sync::atomic::Ordering) {}
//! #     fn full_barrier<T: Copy + Eq>(_: &impl Atomic<T>) {}
//! #     fn barrier_after_exchange<T: Copy + Eq>(_: &impl Atomic<T>) {}
//! #     fn light_barrier() {}
//!     fn heavy_barrier() {}
//! #     fn has_heavy_barrier() -> bool { true }
//! #     fn may_use_heavy_barrier() -> bool { true }
//! #     fn delay(_: u32) {}
//! }
//! ```
