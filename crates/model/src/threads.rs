//! Threads of the checkers.

use crate::settings;
use crate::{Loom, Shuttle};
use lockwright_clients::Migrate;
use lockwright_conformance::Threads;
use std::sync::Arc;

/// Threads of one checker: its platform, and how it spawns.
macro_rules! threads {
    ($(#[doc = $doc:literal])+ $threads:ident, $platform:ty, $spawn:path) => {
        $(#[doc = $doc])+
        pub struct $threads;

        impl $threads {
            /// Runs each body on a thread and the CPU of its number, until all are done.
            pub fn join(bodies: Vec<Box<dyn FnOnce() + Send>>) {
                let mut bodies = bodies.into_iter();
                let first = bodies.next();
                let others: Vec<_> = (1..)
                    .zip(bodies)
                    .map(|(cpu, body)| {
                        <$platform>::set_active(cpu, true);
                        $spawn(move || {
                            <$platform>::run_on_cpu(cpu);
                            body();
                            <$platform>::set_active(cpu, false);
                        })
                    })
                    .collect();
                if let Some(first) = first {
                    <$platform>::set_active(0, true);
                    first();
                    <$platform>::set_active(0, false);
                }
                for other in others {
                    other.join().expect("checkers report panics themselves");
                }
            }
        }

        impl Threads for $threads {
            fn run<S: Send + Sync + 'static>(&self, state: S, bodies: &[fn(&S)], finish: fn(&S)) {
                let state = Arc::new(state);
                let on_state = |body: fn(&S)| {
                    let state = Arc::clone(&state);
                    Box::new(move || body(&state)) as _
                };
                Self::join(bodies.iter().map(|body| on_state(*body)).collect());
                finish(&state);
            }
            fn node_limit(&self) -> Option<usize> {
                Some(settings::current().nodes_per_cpu.into())
            }
        }
    };
}

threads! {
    /// Threads of a loom model. The first body runs on the calling thread, since each thread of a
    /// model is dear.
    LoomThreads, Loom, loom::thread::spawn
}

threads! {
    /// Threads of a shuttle execution. The first body runs on the calling thread.
    ShuttleThreads, Shuttle, shuttle::thread::spawn
}
