//! What a process and its parents have in common.

/// The mark by which a child knows that it is one: a page that the kernel wipes in children, once there is one.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum ForkMark {
    /// No thread has asked for the fork epoch yet.
    #[default]
    Missing,
    Set,
    Wiped,
}

/// What a process knows of itself, and its kernel of it.
#[derive(Default)]
pub struct Family {
    pub mark: ForkMark,
    /// How often the process was forked since its first ancestor asked.
    pub epoch: u32,
    /// The last number that was given to a thread.
    pub last_number: u32,
}
