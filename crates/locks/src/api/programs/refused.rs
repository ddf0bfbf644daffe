//! Programs that the compiler refuses, with the error it gives. A nightly compiler checks that the error is this one.
//! If the compiler accepted one of these, it would be a use after free or a race.
//!
//! Guards stay in their thread.
//! ```compile_fail,E0277
//! static LOCK: lockwright::Mutex<u32> = lockwright::Mutex::new(0);
//! let guard = LOCK.lock();
//! std::thread::scope(|scope| scope.spawn(move || drop(guard)).join());
//! ```
//! ```compile_fail,E0277
//! static LOCK: lockwright::Mutex<[u32; 2]> = lockwright::Mutex::new([0; 2]);
//! let guard = lockwright::MutexGuard::map(LOCK.lock(), |both| &mut both[0]);
//! std::thread::scope(|scope| scope.spawn(move || drop(guard)).join());
//! ```
//! ```compile_fail,E0277
//! static LOCK: lockwright::RwLock<u32> = lockwright::RwLock::new(0);
//! let guard = LOCK.read();
//! std::thread::scope(|scope| scope.spawn(move || drop(guard)).join());
//! ```
//! ```compile_fail,E0277
//! static LOCK: lockwright::RwLock<u32> = lockwright::RwLock::new(0);
//! let guard = LOCK.write();
//! std::thread::scope(|scope| scope.spawn(move || drop(guard)).join());
//! ```
//! ```compile_fail,E0277
//! static LOCK: lockwright::FairRwLock<u32> = lockwright::FairRwLock::new(0);
//! let guard = LOCK.write();
//! std::thread::scope(|scope| scope.spawn(move || drop(guard)).join());
//! ```
//! ```compile_fail,E0277
//! static LOCK: lockwright::PercpuRwLock<u32> = lockwright::PercpuRwLock::new(0);
//! let guard = LOCK.read();
//! std::thread::scope(|scope| scope.spawn(move || drop(guard)).join());
//! ```
//! ```compile_fail,E0277
//! static LOCK: lockwright::PercpuRwLock<[u32; 2]> = lockwright::PercpuRwLock::new([0; 2]);
//! let guard = lock_api::RwLockReadGuard::map(LOCK.read(), |both| &both[0]);
//! std::thread::scope(|scope| scope.spawn(move || drop(guard)).join());
//! ```
//!
//! Guards that may be sent are sent only with a value that may be sent. A lock is shared only with a value that may be
//! shared.
//! ```compile_fail,E0277
//! let lock = lockwright::SendMutex::new(std::rc::Rc::new(0));
//! let guard = lock.lock();
//! std::thread::scope(|scope| scope.spawn(move || drop(guard)).join());
//! ```
//! ```compile_fail,E0277
//! let lock = lockwright::RwLock::new(std::cell::Cell::new(0));
//! std::thread::scope(|scope| scope.spawn(|| lock.read().set(1)).join());
//! ```
//! ```compile_fail,E0277
//! // Readers get copies of the value.
//! #[derive(Clone, Copy)]
//! struct OfThread(std::marker::PhantomData<std::sync::MutexGuard<'static, ()>>);
//! impl lockwright::Record for OfThread {
//!     type Words = [u64; 1];
//!     fn to_words(self) -> [u64; 1] {
//!         [0]
//!     }
//!     fn from_words(_: [u64; 1]) -> Self {
//!         unreachable!()
//!     }
//! }
//! ```
//! ```compile_fail,E0277
//! let lock = lockwright::Mutex::new(std::rc::Rc::new(0));
//! std::thread::scope(|scope| scope.spawn(|| drop(lock.lock())).join());
//! ```
//! ```compile_fail,E0277
//! // The value is shared, and may be dropped by another thread than the one that set it.
//! let place = lockwright::OnceLock::<std::cell::Cell<u32>>::new();
//! std::thread::scope(|scope| scope.spawn(|| drop(place.get())).join());
//! ```
//! ```compile_fail,E0277
//! let place = lockwright::OnceLock::<std::sync::MutexGuard<'static, u32>>::new();
//! std::thread::scope(|scope| scope.spawn(|| drop(place.get())).join());
//! ```
//! ```compile_fail,E0277
//! let place = lockwright::OnceLock::<std::rc::Rc<u32>>::new();
//! std::thread::scope(|scope| scope.spawn(move || drop(place)).join());
//! ```
//! ```compile_fail,E0277
//! let lazy = lockwright::LazyLock::<_>::new(|| std::cell::Cell::new(0));
//! std::thread::scope(|scope| scope.spawn(|| lazy.set(1)).join());
//! ```
//! ```compile_fail,E0277
//! // Another thread may call the closure.
//! let one = std::rc::Rc::new(1);
//! let lazy = lockwright::LazyLock::new(move || *one);
//! std::thread::scope(|scope| scope.spawn(|| *lazy).join());
//! ```
//! ```compile_fail,E0277
//! // A panic may leave what is in a cell half changed.
//! let place = lockwright::OnceLock::<std::cell::Cell<u32>>::new();
//! let _ = std::panic::catch_unwind(|| drop(place.get()));
//! ```
//!
//! The value in a place does not outlive the place, and a value does not outlive what it borrows.
//! ```compile_fail,E0505
//! let place = lockwright::OnceLock::from(1);
//! let one = place.get();
//! drop(place);
//! assert_eq!(one, Some(&1));
//! ```
//! ```compile_fail,E0597
//! let place = lockwright::OnceLock::<&str>::new();
//! {
//!     let text = String::from("text");
//!     let _ = place.set(&text);
//! }
//! assert!(place.get().is_some());
//! ```
//! ```compile_fail,E0597
//! struct Reads<'a>(&'a u32);
//! impl Drop for Reads<'_> {
//!     fn drop(&mut self) {
//!         let _ = *self.0;
//!     }
//! }
//! // Dropped last, so what it reads then is gone.
//! let place = lockwright::OnceLock::new();
//! let number = 1;
//! let _ = place.set(Reads(&number));
//! ```
//!
//! A guard does not outlive its lock.
//! ```compile_fail,E0597
//! let guard;
//! {
//!     let lock = lockwright::Mutex::new(0);
//!     guard = lock.lock();
//! }
//! drop(guard);
//! ```
//! ```compile_fail,E0505
//! let lock = lockwright::RwLock::new(0);
//! let guard = lock.read();
//! drop(lock);
//! drop(guard);
//! ```
//! ```compile_fail,E0506
//! let mut lock = lockwright::PercpuRwLock::new(0);
//! let guard = lock.read();
//! lock = lockwright::PercpuRwLock::new(1);
//! drop(guard);
//! ```
//! ```compile_fail,E0505
//! let permits = lockwright::Semaphore::new(2);
//! let held = permits.acquire();
//! drop(permits);
//! drop(held);
//! ```
//!
//! What a guard lends does not outlive the guard.
//! ```compile_fail,E0505
//! let lock = lockwright::Mutex::new(vec![0]);
//! let guard = lock.lock();
//! let first = &guard[0];
//! drop(guard);
//! assert_eq!(*first, 0);
//! ```
