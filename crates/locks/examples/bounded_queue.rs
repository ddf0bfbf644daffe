//! A queue with a limited number of places: `put` waits while it is full, `take` waits while it is empty.
//!
//! `cargo run --release --package lockwright --example bounded_queue`

use lockwright::{Condvar, Mutex};
use std::collections::VecDeque;
use std::thread;

/// A first-in, first-out queue between threads.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    room: usize,
    /// Notified when an item was taken, or the queue was closed.
    has_room: Condvar,
    /// Notified when an item was put, or the queue was closed.
    has_items: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    is_closed: bool,
}

impl<T> Queue<T> {
    /// An empty queue with `room` places.
    pub fn with_room(room: usize) -> Self {
        let state = State { items: VecDeque::with_capacity(room), is_closed: false };
        let (has_room, has_items) = (Condvar::new(), Condvar::new());
        Self { state: Mutex::new(state), room, has_room, has_items }
    }
    /// Puts `item` in as soon as there is room. If the queue is closed, returns the item.
    pub fn put(&self, item: T) -> Result<(), T> {
        let mut state = self.state.lock();
        // Another thread may have taken the item first: look again.
        while state.items.len() == self.room && !state.is_closed {
            self.has_room.wait(&mut state);
        }
        if state.is_closed {
            return Err(item);
        }
        state.items.push_back(item);
        // The notified thread is moved to the mutex, and wakes up when the mutex is free.
        self.has_items.notify_one();
        Ok(())
    }
    /// Takes the first item as soon as there is one. Returns `None` if the queue is closed and empty.
    pub fn take(&self) -> Option<T> {
        let mut state = self.state.lock();
        while state.items.is_empty() && !state.is_closed {
            self.has_items.wait(&mut state);
        }
        let item = state.items.pop_front();
        self.has_room.notify_one();
        item
    }
    /// Closes the queue: no further item is accepted.
    pub fn close(&self) {
        self.state.lock().is_closed = true;
        self.has_items.notify_all();
        self.has_room.notify_all();
    }
}

fn main() {
    let queue = Queue::with_room(8);
    let sum: u64 = thread::scope(|scope| {
        let queue = &queue;
        let take_all = move || std::iter::from_fn(|| queue.take()).sum::<u64>();
        let takers = [(); 2].map(|()| scope.spawn(take_all));
        let putters = [0, 1].map(|odd| {
            scope.spawn(move || {
                (0..10_000).map(|n| 2 * n + odd).for_each(|n| queue.put(n).expect("it is open"))
            })
        });
        for putter in putters {
            putter.join().expect("no panic");
        }
        queue.close();
        takers.map(|taker| taker.join().expect("no panic")).into_iter().sum()
    });
    println!("the sum of all numbers below 20,000: {sum}");
    assert_eq!(sum, 19_999 * 20_000 / 2);
}
