//! What a simulated thread can ask for in addition to the platform: time for work, random numbers, and whether to go
//! on.
//!
//! All functions are about the simulated thread that calls them, and panic outside of one, except
//! for [`is_simulated`].

use crate::claims::Claims;
use crate::switch::Here;
use lockwright_core::events::Event;

fn here() -> Here {
    Here::expect("simulated time")
}

/// Returns true if the caller is a simulated thread.
pub fn is_simulated() -> bool {
    Here::get().is_some()
}

/// This thread's number, from 0.
pub fn index() -> usize {
    here().with(|engine| engine.current)
}

/// The simulated time, in picoseconds.
pub fn now_ps() -> u64 {
    here().with(|engine| engine.time.now)
}

/// Works for about `ps` picoseconds on a CPU: more while the SMT sibling is busy, and with the machine's
/// jitter of work.
pub fn work_ps(ps: u64) {
    let here = here();
    here.until(done_after(here, ps));
}

/// When work of about `ps` picoseconds is done that begins now.
fn done_after(here: Here, ps: u64) -> u64 {
    here.with(|engine| {
        let thread = &mut engine.threads[engine.current];
        let is_shared = engine.busy_on_core[usize::from(thread.site.core)] > 1;
        let costs = &engine.costs;
        let ps = if is_shared { costs.smt_factor.of(ps) } else { ps };
        engine.time.now.saturating_add(costs.work_jitter.jitter(ps, &mut thread.noise))
    })
}

/// Works for about `ns` nanoseconds; see [`work_ps`].
pub fn work_ns(ns: u64) {
    work_ps(ns.saturating_mul(1000));
}

/// As [`work_ns`]; of a [task in a kernel](crate::ScheduledKind::Kernel) in user mode, where its CPU may be
/// taken away.
pub fn user_ns(ns: u64) {
    let here = here();
    here.in_user_mode(|| done_after(here, ns.saturating_mul(1000)));
}

/// A place where a [task in a kernel](crate::ScheduledKind::Kernel) may lose its CPU, if it was asked for it.
pub fn may_reschedule() {
    here().give_way();
}

/// Lets exactly `ps` picoseconds pass; with a scheduler, on a CPU.
pub fn hold_ps(ps: u64) {
    let here = here();
    here.until(here.with(|engine| engine.time.now.saturating_add(ps)));
}

/// The next number of this thread's random stream.
pub fn random() -> u64 {
    here().with(|engine| engine.threads[engine.current].program.next())
}

/// Asks for the lines of these addresses, which will be written soon, and waits for all of them:
/// misses that an out-of-order core overlaps.
pub fn prefetch_for_write(addresses: &[*const ()]) {
    here().prefetch_for_write(addresses);
}

/// An operation is complete. It counts if that is within the window of the run.
pub fn op_done() {
    here().with(|engine| {
        if engine.is_counting() {
            engine.threads[engine.current].ops += 1;
        }
    });
}

/// How often this has happened since the window of the run began; `None` outside of the window.
pub fn count_of(event: Event) -> Option<u64> {
    here().with(|engine| engine.is_counting().then(|| engine.counts[event as usize]))
}

/// Returns true if the window of the run is over: the thread should return.
pub fn is_over() -> bool {
    here().with(|engine| engine.time.now >= engine.window.end)
}

/// Makes this thread urgent, or not: urgent waiters must not be set aside.
pub fn set_urgent(is_urgent: bool) {
    here().with(|engine| engine.threads[engine.current].is_urgent = is_urgent);
}

/// Lets this thread stand for an interrupt that cannot be masked, or not.
pub fn set_unmaskable(is_unmaskable: bool) {
    here().with(|engine| engine.threads[engine.current].is_unmaskable = is_unmaskable);
}

/// Makes this thread one that must not spin, as one with a real-time policy, or not.
pub fn set_must_not_spin(must_not_spin: bool) {
    here().with(|engine| engine.threads[engine.current].must_not_spin = must_not_spin);
}

/// Runs `body`; in an exploration signals may interrupt it anywhere and run `handler`, one at a time.
pub fn handling<R>(handler: impl Fn(), body: impl FnOnce() -> R) -> R {
    here().handling(&handler, body)
}

/// A call of `fork`. In an exploration, the world may be that of the child from here on, in which this thread is the
/// only one. Returns true in the child. With `runs_handlers` the handlers of `pthread_atfork` run in the child, so the
/// entries of the other threads in their reader slots are forgotten. Without, the child is like one that `_Fork` or the
/// system call has made.
///
/// # Safety
/// Nothing on the stacks of the program's other threads needs to be dropped: the threads vanish, and their stacks are
/// used again.
pub unsafe fn fork_point(runs_handlers: bool) -> bool {
    let is_child = here().fork_point();
    if let Some(claims) = Claims::get(here()).filter(|_| is_child && runs_handlers) {
        claims.run_handlers();
    }
    is_child
}

/// Lets the calling thread, which has done nothing yet, begin in the child of a [`fork_point`], which it outlives.
/// Returns true there, and false at the end if there was no fork.
pub fn begin_in_child() -> bool {
    here().begin_in_child()
}

/// Returns true if this is the world of a forked child.
pub fn has_forked() -> bool {
    here().has_forked()
}
