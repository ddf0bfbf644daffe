//! What the measurements say about how the kernel shares out CPUs.

use super::measured::Measured;
use super::samples::quantile;
use super::sleep::WakeUp;
use super::sourced::{SourcedNumber, fraction, ns};

/// A wake-up that takes less than this part of a slice took the CPU away.
const AT_ONCE: f64 = 1.0 / 16.0;

/// The section `scheduler`.
pub fn numbers(m: &Measured) -> Vec<SourcedNumber> {
    let seen = Some(m.shared.slice_ns()).filter(|&slice| slice > 0.0);
    let slice = seen.unwrap_or(3e6);
    let mut numbers = turns(m, slice, seen);
    numbers.extend(wake_ups(m, slice));
    numbers.extend(guests(m));
    numbers
}

/// How long threads that share a CPU have it in turn.
fn turns(m: &Measured, slice: f64, seen: Option<f64>) -> Vec<SourcedNumber> {
    let switch = (m.round_trip / 2.0 - 2.0 * m.refused_sleep).max(0.0);
    let noise = m.noise_part();
    let gap_us = quantile(&m.noise.gaps, 0.5) / 1_000.0;
    vec![
        ns("slice", seen)
            .measured("two threads on one CPU that never sleep: how long one waits")
            .or_guess(slice, "two threads on one CPU did not take it from each other in time"),
        ns("context_switch", switch).measured(
            "half a round trip of two threads that wake each other on one CPU, less the two calls",
        ),
        ns("noise", noise * slice).measured(&format!(
            "a thread alone on a CPU does not have it for {:.2} % of the time, in gaps of {gap_us:.0} us \
             (median); here as one gap in each slice",
            noise * 100.0,
        )),
    ]
}

/// Where a woken thread goes, and which thread it interrupts.
fn wake_ups(m: &Measured, slice: f64) -> Vec<SourcedNumber> {
    let stayed: Vec<_> = m.visits.iter().filter(|visit| visit.stayed).collect();
    let calls: Vec<f64> = stayed.iter().map(|visit| visit.call).collect();
    let local = stayed.len() as f64 / m.visits.len() as f64;
    let local_call = quantile(&calls, 0.25);
    vec![
        granularity(m, slice),
        fraction("wake_local", (!m.visits.is_empty()).then_some(local))
            .measured(
                "the part of wake-ups after which a thread runs on its last CPU, which its waker has, although \
                 another one is idle",
            )
            .or_guess(0.0, "one core only"),
        ns("wake_local_call", (!stayed.is_empty()).then_some(local_call))
            .measured(
                "futex, a wake-up on the CPU of the waker, the least quarter: a waker that is preempted in \
                 the call sees a longer one",
            )
            .or_guess(m.round_trip / 4.0, "a quarter of a round trip on one CPU"),
        ns("steal_after", 500_000.0).from(
            "from memory of Linux: the default of sched_migration_cost; this was not measured",
        ),
    ]
}

/// How long a thread has had its CPU before one that wakes up may take it away.
fn granularity(m: &Measured, slice: f64) -> SourcedNumber {
    let at_once = |wake_ups: &mut dyn Iterator<Item = &WakeUp>| {
        let delays: Vec<f64> = wake_ups.map(|it| it.delay).collect();
        let soon = delays.iter().filter(|&&delay| delay < slice * AT_ONCE).count();
        soon as f64 / delays.len().max(1) as f64
    };
    let mut stayed = m.visits.iter().filter(|visit| visit.stayed).peekable();
    if stayed.peek().is_none() {
        return ns("wake_granularity", 0.0).guess("no thread was woken on the CPU of its waker");
    }
    let (own, others) = (at_once(&mut stayed), at_once(&mut m.arrivals.iter()));
    ns("wake_granularity", (1.0 - own) * slice).measured(&format!(
        "a thread that is woken on the CPU of its waker gets it at once {:.0} times in 100, as if \
         wake-ups came at random moments of a slice; one that is woken by another CPU, and sleeps \
         most of the time, {:.0} times",
        own * 100.0,
        others * 100.0
    ))
}

/// What is about guests.
fn guests(m: &Measured) -> Vec<SourcedNumber> {
    vec![
        ns("halt_exit", 1_500.0).guess("guests were not measured: one exit to the host"),
        ns("kick_call", 1_000.0).guess("guests were not measured: one hypercall"),
        ns("kick_latency", 20_000.0).guess("guests were not measured"),
        ns("pause_loop_window", 0.0).guess("off: it is about guests, which were not measured"),
        ns("pause_loop_gap", m.own.pause * 3.0).guess("unused while the window is 0"),
    ]
}
