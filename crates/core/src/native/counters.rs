//! Event counters, sharded by CPU, and the tunables of this process.

use super::syscall::{stderr_has_reader, write_stderr};
use super::{Native, cpu, environment};
use crate::events::Event;
use crate::platform::{Counters, Placement};
use crate::tunables::{NumaSpinlock, OutOfRange, Tunable};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

const SHARDS: usize = 64;
const EVENTS: usize = Event::ALL.len();

/// The counters of the CPUs that share a shard. They are on cache lines of their own.
#[repr(align(128))]
struct Shard([AtomicU64; EVENTS]);

static COUNTING: AtomicBool = AtomicBool::new(false);
static SHARD: [Shard; SHARDS] = [const { Shard([const { AtomicU64::new(0) }; EVENTS]) }; SHARDS];

/// The tunable is not set. This number is above every value.
const UNSET: u64 = u64::MAX;
/// The environment has not been read.
const UNREAD: u64 = u64::MAX - 1;
static TUNABLE: [AtomicU64; Tunable::ALL.len()] =
    [const { AtomicU64::new(UNREAD) }; Tunable::ALL.len()];

impl Counters for Native {
    #[inline(always)]
    fn is_counting() -> bool {
        events_are_counted()
    }
    /// Costs one predictable branch while counting is off.
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
            UNREAD => read_environment(tunable),
            value => Some(value),
        }
    }
}

/// The beginning of the names of variables for tunables.
const PREFIX: &[u8] = b"LOCKWRIGHT_";

/// Sets the tunables that are in the environment and that the program has not set. Returns the value of `tunable`.
#[cold]
fn read_environment(tunable: Tunable) -> Option<u64> {
    let set = |at: usize, value| {
        // ordering: Relaxed; nothing is read through it, and values that the program has set stay. On failure Relaxed:
        // the failure value is not used.
        let _ = TUNABLE[at].compare_exchange(UNREAD, value, Relaxed, Relaxed);
    };
    // ordering: Relaxed; only decides which thread says so.
    let is_said = IS_SAID.swap(true, Relaxed);
    environment::for_each(|entry| {
        let Some(variable) = entry.strip_prefix(PREFIX) else { return };
        let setting = setting(variable);
        match setting.and_then(|(tunable, text)| Some((tunable, tunable.parse(text)?))) {
            Some((tunable, value)) => set(tunable as usize, value),
            None if is_said || is_of_others(variable) => {}
            None if setting.is_some() || variable.starts_with(MEMBARRIER) => {
                refuse(entry, " is out of range, so the default is used.\n");
            }
            None => refuse(entry, " is not a variable of lockwright, so it does nothing.\n"),
        }
    });
    (0..TUNABLE.len()).for_each(|at| set(at, UNSET));
    // ordering: Relaxed; nothing is read through it.
    Some(TUNABLE[tunable as usize].load(Relaxed)).filter(|&value| value != UNSET)
}

/// Returns the tunable of a variable, whose name is in capital letters, and the text of its value.
fn setting(entry: &[u8]) -> Option<(Tunable, &[u8])> {
    let at = entry.iter().position(|&byte| byte == b'=')?;
    let is_it = |tunable: &&Tunable| {
        let name = tunable.name().bytes().map(|byte| byte.to_ascii_uppercase());
        name.eq(entry[..at].iter().copied())
    };
    Some((*Tunable::ALL.iter().find(is_it)?, &entry[at + 1..]))
}

const MEMBARRIER: &[u8] = b"MEMBARRIER=";

/// The variables that other programs read: `liblockwright-pthread.so`, `lockwright`, builds and tests.
const OF_OTHERS: [&str; 9] =
    ["POLICY", "VERBOSE", "LIBRARY", "ONLY", "CODE", "CHECK", "ROWS", "NODES", "WEAKEN"];

/// Returns `true` if other programs read the variable, or if it says how `membarrier` is used.
fn is_of_others(variable: &[u8]) -> bool {
    let value_of = |name: &str| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
    match variable.strip_prefix(MEMBARRIER) {
        Some(value) => value == b"on" || value == b"off",
        None => variable.starts_with(b"TEST_") || OF_OTHERS.iter().any(|it| value_of(it).is_some()),
    }
}

static IS_SAID: AtomicBool = AtomicBool::new(false);

/// Tells the user of a variable that is not taken, as the kernel does in its log. The message has one line, no matter
/// what the variable contains.
#[cold]
fn refuse(entry: &[u8], why: &str) {
    let is_shown = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    let entry = entry.iter().map(|&byte| if is_shown(byte) { byte } else { b'?' });
    let text = "lockwright: ".bytes().chain(entry).chain(why.bytes());
    let (mut line, mut length) = ([0; 192], 0);
    for (place, byte) in line.iter_mut().zip(text) {
        *place = byte;
        length += 1;
    }
    if stderr_has_reader() {
        write_stderr(line.get(..length).unwrap_or_default());
    }
}

/// Turns the counting of events on or off for the whole process. It is off at the start.
///
/// # Examples
///
/// ```
/// use lockwright_core::events::Event;
/// use lockwright_core::native;
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

/// Returns the number of times that `event` was counted since the last [`reset_events`], in all threads. Events that
/// happen at the same time may be missed. Some events are sums; see [`Event::per`].
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

/// Sets a tunable for the whole process, no matter what the environment says; `None` restores the default. A lock uses
/// the new value at its next contended operation.
///
/// # Errors
///
/// If the value is above [`Tunable::max`]. The tunable keeps the value that it had.
///
/// # Examples
///
/// ```
/// use lockwright_core::native::set_tunable;
/// use lockwright_core::tunables::{NUMA_OFF, Tunable};
///
/// // `CnaSpinLock` serves waiters in order of arrival from now on.
/// set_tunable(Tunable::numa_spinlock, Some(NUMA_OFF))?;
/// # Ok::<(), lockwright_core::tunables::OutOfRange>(())
/// ```
pub fn set_tunable(tunable: Tunable, value: Option<u64>) -> Result<(), OutOfRange> {
    let value = value.map_or(Ok(UNSET), |value| tunable.check(value))?;
    // ordering: Relaxed; nothing is read through it.
    TUNABLE[tunable as usize].store(value, Relaxed);
    Ok(())
}

/// Returns the value to which the program or its environment has set a tunable; `None` is the default.
pub fn tunable(tunable: Tunable) -> Option<u64> {
    Native::tunable(tunable)
}

/// Returns `true` in [`NumaSpinlock::is_on`] if the CNA locks of this process serve waiters by NUMA node, and says why.
///
/// # Examples
///
/// ```
/// println!("numa_spinlock is {}", lockwright_core::native::numa_spinlock());
/// ```
pub fn numa_spinlock() -> NumaSpinlock {
    let setting = Native::tunable(Tunable::numa_spinlock);
    NumaSpinlock::of(setting, Native::is_guest, Native::numa_nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_has_the_name_of_its_tunable_in_capital_letters() {
        let found = setting(b"NUMA_SPINLOCK_THRESHOLD=8");
        assert_eq!(found, Some((Tunable::numa_spinlock_threshold, &b"8"[..])));
        assert_eq!(setting(b"NUMA_SPINLOCK="), Some((Tunable::numa_spinlock, &b""[..])));
        for other in [&b"MEMBARRIER=off"[..], b"NUMA_SPINLOCK", b"numa_spinlock=on", b"=1", b""] {
            assert_eq!(setting(other), None);
        }
    }
}
