//! Two threads that take turns, each on a CPU of its own.

use lockwright_measure::interrupt;
use lockwright_measure::native::affinity::stay_on;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Something with the cache lines around it to itself.
#[repr(align(256))]
#[derive(Default)]
pub struct Padded<T>(pub T);

/// A word.
pub type PaddedWord = Padded<AtomicU32>;

/// Runs `first` and `second` in turns for `rounds` rounds, on the CPUs of that order; what `second`
/// returns in each. Each sees what the other one did before
/// its turn ended.
pub fn relay<T: Send>(
    cpus: [usize; 2],
    rounds: usize,
    mut first: impl FnMut() + Send,
    mut second: impl FnMut() -> T + Send,
) -> Vec<T> {
    let turn = PaddedWord::default();
    let wait_for = |mine: u32| {
        // ordering: Acquire; with the release of the thread that gave the turn away.
        while turn.0.load(Ordering::Acquire) != mine {
            spin_loop();
        }
    };
    // ordering: Release; as above.
    let give = |to: u32| turn.0.store(to, Ordering::Release);
    std::thread::scope(|scope| {
        let seconds = scope.spawn(|| {
            stay_on(cpus[1]);
            let turns = (0..rounds).map(|_| {
                wait_for(1);
                let result = second();
                give(0);
                result
            });
            turns.collect::<Vec<T>>()
        });
        scope.spawn(|| {
            stay_on(cpus[0]);
            for _ in 0..rounds {
                wait_for(0);
                first();
                give(1);
            }
        });
        seconds.join().unwrap_or_default()
    })
}

/// Runs `body` at the same time on each of `cpus` until `time` is over; what each returns. It is told
/// its number, and to end when the flag is up.
pub fn together<T: Send>(
    cpus: &[usize],
    time: Duration,
    body: impl Fn(usize, &AtomicBool) -> T + Sync,
) -> Vec<T> {
    let (ready, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
    let run = |index: usize, cpu: usize| {
        stay_on(cpu);
        // ordering: Relaxed; nothing is read through it.
        ready.fetch_add(1, Ordering::Relaxed);
        // ordering: Relaxed; as above. Two on one CPU let each other start.
        while (ready.load(Ordering::Relaxed) as usize) < cpus.len() {
            std::thread::yield_now();
        }
        body(index, &is_over)
    };
    std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (cpus.iter().enumerate())
            .map(|(index, &cpu)| scope.spawn(move || run(index, cpu)))
            .collect();
        let end = Instant::now() + time;
        while Instant::now() < end && !interrupt::is_requested() {
            std::thread::sleep(Duration::from_millis(1).min(time));
        }
        // ordering: Relaxed; nothing is read through it.
        is_over.store(true, Ordering::Relaxed);
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

/// Runs `body` while a thread keeps `cpu` busy.
pub fn while_busy<T>(cpu: usize, body: impl FnOnce() -> T) -> T {
    let (is_busy, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            stay_on(cpu);
            // ordering: Relaxed; nothing is read through it.
            is_busy.store(true, Ordering::Relaxed);
            // ordering: Relaxed; as above.
            while !is_over.load(Ordering::Relaxed) {
                spin_loop();
            }
        });
        // ordering: Relaxed; as above.
        while !is_busy.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let result = body();
        // ordering: Relaxed; as above.
        is_over.store(true, Ordering::Relaxed);
        result
    })
}

/// Runs `body` on a thread that stays on `cpu`.
pub fn alone<T: Send + Default>(cpu: usize, body: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            stay_on(cpu);
            body()
        });
        thread.join().unwrap_or_default()
    })
}
