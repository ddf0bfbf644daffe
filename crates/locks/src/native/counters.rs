//! Event counters, sharded by CPU, and the tunables of this process.

use super::{Native, cpu};
use crate::events::Event;
use crate::platform::Counters;
use crate::tunables::Tunable;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

const SHARDS: usize = 64;
const EVENTS: usize = Event::ALL.len();

/// The counters of the CPUs that share a shard: on cache lines of their own.
#[repr(align(128))]
struct Shard([AtomicU64; EVENTS]);

static COUNTING: AtomicBool = AtomicBool::new(false);
static SHARD: [Shard; SHARDS] = [const { Shard([const { AtomicU64::new(0) }; EVENTS]) }; SHARDS];

const UNSET: u64 = u64::MAX;
static TUNABLE: [AtomicU64; Tunable::ALL.len()] =
    [const { AtomicU64::new(UNSET) }; Tunable::ALL.len()];

impl Counters for Native {
    #[inline(always)]
    fn is_counting() -> bool {
        events_are_counted()
    }
    /// One predictable branch while nobody counts.
    #[inline(always)]
    fn count_many(event: Event, n: u64) {
        // ordering: Relaxed; nothing is read through it, counts may be missed.
        if COUNTING.load(Relaxed) {
            // ordering: Relaxed; nothing is read through it, counts may be missed.
            SHARD[cpu::this_cpu() as usize % SHARDS].0[event as usize].fetch_add(n, Relaxed);
        }
    }
    #[inline(always)]
    fn tunable(tunable: Tunable) -> Option<u64> {
        // ordering: Relaxed; nothing is read through it.
        match TUNABLE[tunable as usize].load(Relaxed) {
            UNSET => None,
            value => Some(value),
        }
    }
}

/// Turns the counting of events on or off for the whole process. It is off at the start.
///
/// # Examples
///
/// ```
/// use lockwright::events::Event;
/// use lockwright::native;
///
/// native::count_events(true);
/// // Use some locks here.
/// for event in Event::ALL {
///     println!("{}: {}", event.name(), native::event_count(*event));
/// }
/// ```
pub fn count_events(on: bool) {
    // ordering: Relaxed; nothing is read through it.
    COUNTING.store(on, Relaxed);
}

/// Returns `true` if events are counted.
pub fn events_are_counted() -> bool {
    // ordering: Relaxed; nothing is read through it.
    COUNTING.load(Relaxed)
}

/// Returns how often `event` was counted since the last [`reset_events`], in all threads. Events that happen at the
/// same time may be missed. Some events are sums; see [`Event::per`].
pub fn event_count(event: Event) -> u64 {
    // ordering: Relaxed; nothing is read through it, counts may be missed.
    SHARD.iter().map(|shard| shard.0[event as usize].load(Relaxed)).sum()
}

/// Sets all counters to zero. Events that happen at the same time may be missed.
pub fn reset_events() {
    for counter in SHARD.iter().flat_map(|shard| &shard.0) {
        // ordering: Relaxed; nothing is read through it, counts may be missed.
        counter.store(0, Relaxed);
    }
}

/// Sets a tunable for the whole process; `None` restores the default.
///
/// A value above [`Tunable::max`] is taken as that maximum. A lock uses the new value at its next contended operation.
///
/// # Examples
///
/// ```
/// use lockwright::native::set_tunable;
/// use lockwright::tunables::{NUMA_OFF, Tunable};
///
/// // `CnaSpinLock` serves waiters in order of arrival from now on.
/// set_tunable(Tunable::numa_spinlock, Some(NUMA_OFF));
/// ```
pub fn set_tunable(tunable: Tunable, value: Option<u64>) {
    let value = value.map_or(UNSET, |value| value.min(tunable.max()));
    // ordering: Relaxed; nothing is read through it.
    TUNABLE[tunable as usize].store(value, Relaxed);
}
