//! A run of a schedule in words.

/// What one move of a schedule did. A move that touches no shared memory and changes nothing else has no line; a move
/// can have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The number of the move, from 1.
    pub number: u64,
    /// The thread.
    pub thread: usize,
    /// What it does, or what happens to it.
    pub what: String,
    /// The object that it touches, if it touches one, and the byte of the object.
    pub place: String,
    /// True if that is part of a lock, or the link or the grant of a waiter, or if it touches no object. Before a lock
    /// is known, each object of the client may be part of one.
    pub is_of_lock: bool,
    /// The value that it sees there, and the one that it leaves there.
    pub values: String,
}
