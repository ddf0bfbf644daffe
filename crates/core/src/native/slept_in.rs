//! Sleeps on the lower half of a 64-bit word under Miri. Miri's futex would read four of the eight bytes of the word,
//! and to Miri that is a race with the accesses to all eight. So a waiter looks at a place of its own instead.

use crate::hardware::HardwareU64;
use crate::native::Native;
use crate::platform::{Atomic, Clock, low_half};
use core::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The places. A place holds 0, the address that its thread waits for, or that address and [`WOKEN`]; and the kinds of
/// the thread.
type Places = [(usize, u32); 16];
/// A bit of a place: its thread was woken. Addresses of words do not use it.
const WOKEN: usize = 1;

fn places() -> MutexGuard<'static, Places> {
    static PLACES: Mutex<Places> = Mutex::new([(0, 0); 16]);
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits as `futex_wait_low` does.
pub(super) fn wait(
    kinds: u32,
    word: &HardwareU64<Native>,
    expected: u32,
    deadline_ns: Option<u64>,
) -> bool {
    let address = low_half::<Native>(word).addr();
    let mine = loop {
        let mut places = places();
        // ordering: Relaxed; a waker changes the word before it looks at the places, under the same lock.
        if word.load(Relaxed) as u32 != expected {
            return false;
        }
        if let Some(at) = places.iter().position(|place| place.0 == 0) {
            places[at] = (address, kinds);
            break at;
        }
        drop(places);
        core::hint::spin_loop();
    };
    loop {
        let mut places = places();
        let is_woken = places[mine].0 != address;
        if is_woken || deadline_ns.is_some_and(|deadline_ns| Native::now_ns() >= deadline_ns) {
            places[mine].0 = 0;
            return is_woken;
        }
        drop(places);
        core::hint::spin_loop();
    }
}

/// Wakes up to `count` threads of these kinds that wait for this address. Returns how many it woke.
pub(super) fn wake(kinds: u32, address: usize, count: u32) -> u32 {
    let mut places = places();
    let waiting = places.iter_mut().filter(|place| place.0 == address && place.1 & kinds != 0);
    waiting.take(count as usize).map(|place| place.0 |= WOKEN).count() as u32
}
