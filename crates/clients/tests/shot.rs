//! Clients with handlers on real threads that are shot with signals.

// An interpreter has no signals.
#![cfg(not(miri))]

use lockwright_catalog::busted::BustedRwLock;
use lockwright_catalog::registry::LOCKS;
use lockwright_clients::due::is_due;
use lockwright_clients::handler::{Attempts, InHandler};
use lockwright_clients::{AnyClient, ClientType, TypeOf, disturbed_clients_of, visit_disturbed};
use lockwright_core::native::Native;
use std::cell::Cell;
use std::env;
use std::ffi::c_int;
use std::os::unix::thread::{JoinHandleExt, RawPthread};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn pthread_kill(thread: RawPthread, number: c_int) -> c_int;
}
const SIGUSR1: c_int = 10;

/// How long each client is shot at.
const TIME: Duration = Duration::from_millis(150);
/// How long until a first handler has run, or a broken lock is found.
const TIME_MAX: Duration = Duration::from_secs(20);
/// As many as spin at the same time on a small machine; who shoots is one of them for a part of the time.
const THREADS: usize = 2;
/// Operations of a thread before a client begins anew.
const ROUNDS: u32 = 20_000;
/// Shots until then. A handler may wait for a whole deadline.
const SHOTS: u64 = 50;

/// What a thread does when a signal comes: that of its client for its number.
type Handling = (*const dyn AnyClient, usize);

thread_local! {
    static HANDLING: Cell<Option<Handling>> = const { Cell::new(None) };
}
/// How many handlers have come to their end.
static HANDLED: AtomicU64 = AtomicU64::new(0);
/// A thread handles no signal yet, or was shot and has not said so yet.
static IS_SHOT: [AtomicBool; THREADS] = [const { AtomicBool::new(false) }; THREADS];

extern "C" fn handler(_: c_int) {
    if let Some((client, thread)) = HANDLING.get() {
        // SAFETY: the thread's own client, which it keeps for longer than it handles signals.
        unsafe { &*client }.handle(thread);
        HANDLED.fetch_add(1, Relaxed);
        IS_SHOT[thread].store(false, Relaxed);
    }
}

/// Its bodies on threads, which are shot at moments that `random` chooses.
fn shoot(client: ClientType, random: &mut u64) {
    let client = client.make(THREADS, ROUNDS);
    let start = |thread: usize| {
        IS_SHOT[thread].store(true, Relaxed);
        let client = Arc::clone(&client);
        thread::spawn(move || {
            HANDLING.set(Some((Arc::as_ptr(&client), thread)));
            IS_SHOT[thread].store(false, Relaxed);
            client.body(thread);
            HANDLING.set(None);
        })
    };
    let threads: Vec<JoinHandle<()>> = (0..THREADS).map(start).collect();
    let before = HANDLED.load(Relaxed);
    while HANDLED.load(Relaxed) - before < SHOTS && !threads.iter().all(JoinHandle::is_finished) {
        for (thread, is_shot) in threads.iter().zip(&IS_SHOT) {
            *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let until = Instant::now() + Duration::from_nanos(*random >> 49);
            while Instant::now() < until {}
            if !is_shot.swap(true, Relaxed) {
                // SAFETY: the thread has not been joined.
                unsafe { pthread_kill(thread.as_pthread_t(), SIGUSR1) };
            }
        }
    }
    for thread in threads {
        thread.join().expect("no panic");
    }
    client.finish();
}

/// Shoots at a client for a time; how many handlers ran.
fn shot(client: ClientType) -> u64 {
    let (begin, before, mut random) = (Instant::now(), HANDLED.load(Relaxed), 1);
    let handled = || HANDLED.load(Relaxed) - before;
    // Where something else uses the CPUs, threads may end before a signal comes.
    while begin.elapsed() < TIME || handled() == 0 && begin.elapsed() < TIME_MAX {
        shoot(client, &mut random);
    }
    handled()
}

/// Asks for a second CPU. With one, a thread ends before any thread shoots at it, so no handler runs.
fn has_two_cpus() -> bool {
    let has_two = thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
    if !has_two {
        println!("did not run: needs two CPUs");
    }
    has_two
}

/// From now on the process handles the signal.
fn handle_signals() {
    // SAFETY: the handler runs what the documentation allows in one, and touches its thread's client only.
    unsafe { signal(SIGUSR1, handler) };
}

#[test]
fn locks_hold_while_their_threads_are_shot_with_signals() {
    if !has_two_cpus() {
        return;
    }
    handle_signals();
    for row in LOCKS.iter().filter(|row| is_due(row)) {
        let lock = row.name;
        for client in disturbed_clients_of::<Native>(row) {
            let of = visit_disturbed::<Native, _>(row, client, TypeOf);
            let of = of.expect("a client of the table");
            if of.has_handler {
                let handled = shot(of);
                println!("{client} on {lock}: {handled} handlers");
                assert!(handled > 0, "{client} on {lock}: no signal has come");
            }
        }
    }
}

#[test]
fn a_lock_that_takes_nothing_for_a_reader_is_found_by_shooting() {
    if !has_two_cpus() {
        return;
    }
    const IN_CHILD: &str = "LOCKWRIGHT_TEST_SHOT";
    if env::var_os(IN_CHILD).is_some() {
        handle_signals();
        let begin = Instant::now();
        // A panic in a handler ends the process. It may take long where something else uses the CPUs.
        while begin.elapsed() < TIME_MAX {
            shot(ClientType::of::<InHandler<Native, BustedRwLock<Native>, Attempts>>());
        }
        return;
    }
    let this = env::current_exe().expect("the program of this test");
    let name = "a_lock_that_takes_nothing_for_a_reader_is_found_by_shooting";
    let mut child = Command::new(this);
    let output = child.args(["--exact", name, "--nocapture"]).env(IN_CHILD, "1").output();
    let output = output.expect("its processes can be made");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("next to others"), "{said}");
}
