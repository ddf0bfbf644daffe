//! What a test body is.

use std::sync::Arc;

/// A property of a lock, as shared state and what each thread does with it.
///
/// A harness builds one `Client`, runs `body(i)` on thread `i` for every `i` below `threads`, waits
/// for all of them and calls `finish`. A violated property panics, in whichever thread sees it.
pub trait Client: Send + Sync + Sized + 'static {
    /// The name it is selected by; also the sentence it proves, in a few words.
    const NAME: &'static str;

    /// Fresh state for `threads` threads.
    fn new(threads: usize) -> Self;
    /// How often each thread repeats its operation on machines that run, as opposed to check:
    /// the checkers want 1. A client that does it once has no use for this.
    fn set_rounds(&mut self, _rounds: u32) {}
    /// What thread `thread` does.
    fn body(&self, thread: usize);
    /// True if signals may interrupt its threads, on platforms that have signals.
    const HAS_HANDLER: bool = false;
    /// What a signal that interrupts that thread in its body makes it do.
    fn handle(&self, _thread: usize) {}
    /// How its threads may fork, on platforms on which they can, with the handlers of `pthread_atfork` or without.
    /// Returns true in the child. A thread that was told so is in the child's world, where it is alone, to the end of
    /// its body; there is no finish there.
    fn set_fork(&mut self, _fork: Fork) {}
    /// How its threads may begin in a child, on platforms on which they can: before all that they do.
    fn set_begin_in_child(&mut self, _begin: BeginInChild) {}
    /// What must hold when all threads are done.
    fn finish(&self);
}

/// [`Client::set_rounds`] of a client with a field for this.
macro_rules! has_rounds {
    () => {
        fn set_rounds(&mut self, rounds: u32) {
            self.rounds = rounds;
        }
    };
}
pub(crate) use has_rounds;

/// A client of any type, with its threads' part of [`Client`].
pub trait AnyClient: Send + Sync {
    /// As [`Client::HAS_HANDLER`].
    fn has_handler(&self) -> bool;
    /// As [`Client::body`].
    fn body(&self, thread: usize);
    /// As [`Client::handle`].
    fn handle(&self, thread: usize);
    /// As [`Client::finish`].
    fn finish(&self);
}

impl<C: Client> AnyClient for C {
    fn has_handler(&self) -> bool {
        C::HAS_HANDLER
    }
    fn body(&self, thread: usize) {
        Client::body(self, thread);
    }
    fn handle(&self, thread: usize) {
        Client::handle(self, thread);
    }
    fn finish(&self) {
        Client::finish(self);
    }
}

/// The type of a client, as a value: a harness that takes one is compiled once, not once for each client.
#[derive(Clone, Copy, Debug)]
pub struct ClientType {
    /// The name of the client.
    pub name: &'static str,
    /// As [`Client::HAS_HANDLER`].
    pub has_handler: bool,
    make: fn(usize, u32) -> Arc<dyn AnyClient>,
}

impl ClientType {
    /// The value for `C`.
    pub fn of<C: Client>() -> Self {
        fn make<C: Client>(threads: usize, rounds: u32) -> Arc<dyn AnyClient> {
            let mut client = C::new(threads);
            client.set_rounds(rounds);
            Arc::new(client)
        }
        Self { name: C::NAME, has_handler: C::HAS_HANDLER, make: make::<C> }
    }
    /// Fresh state for `threads` threads, each of which repeats its operation `rounds` times.
    pub fn make(&self, threads: usize, rounds: u32) -> Arc<dyn AnyClient> {
        (self.make)(threads, rounds)
    }
}

/// Something to be done with a client whose type is chosen by name.
pub trait ClientVisitor {
    /// What comes out of it.
    type Output;
    /// Does it with client `C`.
    fn visit<C: Client>(self) -> Self::Output;
}

/// Finds the type of a client whose type is chosen by name.
pub struct TypeOf;

impl ClientVisitor for TypeOf {
    type Output = ClientType;
    fn visit<C: Client>(self) -> ClientType {
        ClientType::of::<C>()
    }
}

/// A call that may make a child. Its argument is true to run the handlers of `pthread_atfork`. Returns true in the
/// child.
pub type Fork = fn(runs_handlers: bool) -> bool;

/// A call that returns true when there is a child, in which its thread begins then, or false if there was none.
pub type BeginInChild = fn() -> bool;

/// What became of a client that was run where panics are caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientOutcome {
    /// The property held.
    Held,
    /// It did not; the message says how.
    Violated(String),
}
