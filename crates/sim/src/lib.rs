//! A deterministic simulator of cache-coherent machines, as a platform for the locks.

pub mod machine;
