//! Tells the checkers what the calling thread does with a lock, at no simulated cost.
//!
//! A lock is named by a reference to it; it must lie in the arena. The calls frame those of the
//! lock: `requested`, `lock()`, `entered`, the critical section, `left`, `unlock()`; for a reader
//! `requested`, `lock_shared()`, `entered_shared`, its section, `left_shared`, `unlock_shared()`.

use crate::checker::{Call, Checkers};
use crate::switch::Here;

/// Tells the checkers about the lock; `words` is what a trace says.
fn tell<L: ?Sized>(lock: &L, words: &'static str, what: fn(&mut Checkers, Call)) {
    let address = core::ptr::from_ref(lock).addr();
    Here::expect("to be watched").with(|engine| {
        assert!(engine.region.line_at(address).is_some(), "a watched lock must lie in the arena");
        let call = Call {
            at_ps: engine.time.now,
            thread: engine.current,
            offset: engine.region.offset_of(address),
        };
        if !engine.checkers.are_done {
            engine.trace_lock(call.offset..call.offset + size_of_val(lock));
            engine.trace(call.thread, words);
            what(&mut engine.checkers, call);
        }
    });
}

/// The threads have done their part. What is told from here on does not count: a thread that looks at what is left may
/// give back what other threads have taken.
pub fn done() {
    Here::expect("to be watched").with(|engine| engine.checkers.are_done = true);
}

/// No thread may touch `object` from now on: its last user has freed it.
pub fn freed<T>(object: &T) {
    let address = core::ptr::from_ref(object).addr();
    Here::expect("to be watched").with(|engine| {
        let offset = engine.region.offset_of(address);
        engine.checkers.freed(engine.current, offset..offset + size_of_val(object));
    });
}

/// The thread is about to ask for `lock`, exclusively or as a reader.
pub fn requested<L: ?Sized>(lock: &L) {
    tell(lock, "asks for the lock", Checkers::requested);
}

/// The thread is about to ask for `lock`, exclusively, and may withdraw: it does not count as overtaken.
pub fn attempted<L: ?Sized>(lock: &L) {
    tell(lock, "asks for the lock", Checkers::attempted);
}

/// The thread no longer waits for `lock` and has not got it.
pub fn withdrew<L: ?Sized>(lock: &L) {
    tell(lock, "withdraws", Checkers::withdrew);
}

/// The thread holds `lock` exclusively.
pub fn entered<L: ?Sized>(lock: &L) {
    tell(lock, "has the lock", Checkers::entered);
}

/// The thread is about to give back `lock`, which it holds exclusively.
pub fn left<L: ?Sized>(lock: &L) {
    tell(lock, "gives the lock back", Checkers::left);
}

/// The thread holds `lock` together with other readers.
pub fn entered_shared<L: ?Sized>(lock: &L) {
    tell(lock, "has the lock as a reader", Checkers::entered_shared);
}

/// The thread holds `lock` exclusively and is about to become a reader.
pub fn downgraded<L: ?Sized>(lock: &L) {
    tell(lock, "becomes a reader", Checkers::downgraded);
}

/// The thread is about to give back `lock`, which it holds as a reader.
pub fn left_shared<L: ?Sized>(lock: &L) {
    tell(lock, "gives the lock back as a reader", Checkers::left_shared);
}
