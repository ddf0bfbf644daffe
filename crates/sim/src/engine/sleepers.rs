//! Which threads sleep on what.

/// Which threads sleep on what, in the order in which they fell asleep.
#[derive(Default)]
pub struct Sleepers(Vec<Sleeper>);

struct Sleeper {
    address: usize,
    kinds: u32,
    thread: usize,
}

impl Sleepers {
    /// `thread` falls asleep on the word at `address`, as one of these kinds.
    pub fn add(&mut self, address: usize, kinds: u32, thread: usize) {
        self.0.push(Sleeper { address, kinds, thread });
    }
    /// `thread` no longer sleeps.
    pub fn remove(&mut self, thread: usize) {
        self.0.retain(|sleeper| sleeper.thread != thread);
    }
    /// The address that `thread` sleeps on.
    pub fn address_of(&self, thread: usize) -> Option<usize> {
        self.0.iter().find(|sleeper| sleeper.thread == thread).map(|sleeper| sleeper.address)
    }
    /// The threads of one of `kinds` that sleep on `address`, at most `count` of them, in the order in which they
    /// came to sleep there.
    pub fn on(&self, address: usize, kinds: u32, count: u32) -> Vec<usize> {
        let is_wanted =
            |sleeper: &&Sleeper| sleeper.address == address && sleeper.kinds & kinds != 0;
        self.0.iter().filter(is_wanted).take(count as usize).map(|sleeper| sleeper.thread).collect()
    }
    /// Those that sleep on `from` sleep on `to`, behind those that do so already; which they are.
    pub fn move_all(&mut self, from: usize, to: usize) -> Vec<usize> {
        let moved: Vec<Sleeper> =
            self.0.extract_if(.., |sleeper| sleeper.address == from).collect();
        let threads = moved.iter().map(|sleeper| sleeper.thread).collect();
        self.0.extend(moved.into_iter().map(|sleeper| Sleeper { address: to, ..sleeper }));
        threads
    }
}
