//! Which threads sleep on what.

/// Which threads sleep on what, in the order in which they fell asleep.
#[derive(Default)]
pub struct Sleepers(Vec<Sleeper>);

struct Sleeper {
    address: usize,
    thread: usize,
}

impl Sleepers {
    /// `thread` falls asleep on the word at `address`.
    pub fn add(&mut self, address: usize, thread: usize) {
        self.0.push(Sleeper { address, thread });
    }
    /// `thread` no longer sleeps.
    pub fn remove(&mut self, thread: usize) {
        self.0.retain(|sleeper| sleeper.thread != thread);
    }
    /// The address that `thread` sleeps on.
    pub fn address_of(&self, thread: usize) -> Option<usize> {
        self.0.iter().find(|sleeper| sleeper.thread == thread).map(|sleeper| sleeper.address)
    }
    /// The threads that sleep on `address`, at most `count` of them, in the order in which they fell asleep.
    pub fn on(&self, address: usize, count: u32) -> Vec<usize> {
        let wanted = self.0.iter().filter(|sleeper| sleeper.address == address);
        wanted.take(count as usize).map(|sleeper| sleeper.thread).collect()
    }
}
