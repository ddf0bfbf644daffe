//! Programs on the machine at hand.

use crate::program::{Priority, Program};
use crate::stage::Stage;
use crate::world::World;
use lockwright_core::native::Native;
use lockwright_core::native::priority::{UrgentScope, forget_policy};
use std::cell::{Cell, RefCell};
use std::thread;
use std::time::Duration;

thread_local! {
    static IS_CHILD: Cell<bool> = const { Cell::new(false) };
    static PAUSES: Cell<u32> = const { Cell::new(0) };
    static LAST: RefCell<Last> = const { RefCell::new(Last(None)) };
}

/// What is called when the thread ends.
struct Last(Option<Box<dyn FnOnce()>>);

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(last) = self.0.take() {
            last();
        }
    }
}

/// A priority that is raised.
pub enum RaisedNatively {
    Urgent { _scope: UrgentScope },
    RealTime,
}

impl Drop for RaisedNatively {
    fn drop(&mut self) {
        if let Self::RealTime = self {
            schedule(libc::SCHED_OTHER, 0);
        }
    }
}

/// Gives the calling thread another policy, which the threads and children that it starts do not have.
fn schedule(policy: i32, priority: i32) -> bool {
    // SAFETY: a structure of numbers.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    let policy = policy | libc::SCHED_RESET_ON_FORK;
    // SAFETY: reads the structure.
    let is_done = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } == 0;
    forget_policy();
    is_done
}

impl World for Native {
    const KNOWS_INSTANTS: bool = true;
    type Raised = RaisedNatively;

    fn pause() {
        let pauses = PAUSES.get().wrapping_add(1);
        PAUSES.set(pauses);
        if pauses.is_multiple_of(512) {
            // Long enough for others to fall asleep.
            thread::sleep(Duration::from_micros(50));
        } else if pauses.is_multiple_of(4) {
            thread::yield_now();
        }
        for _ in 0..pauses % 64 {
            std::hint::spin_loop();
        }
    }
    fn fork(child: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
        let mut pipe = [0; 2];
        // SAFETY: the array has room for two numbers.
        if unsafe { libc::pipe(pipe.as_mut_ptr()) } != 0 {
            return Err("there is no pipe".into());
        }
        // SAFETY: the child calls nothing but the locks and the allocator, which the C library makes ready for that,
        // and ends by `_exit`.
        match unsafe { libc::fork() } {
            -1 => Err("there is no child".into()),
            0 => in_child(child, pipe[1]),
            number => after(number, pipe),
        }
    }
    fn is_child() -> bool {
        IS_CHILD.get()
    }
    fn raise(priority: Priority) -> Option<RaisedNatively> {
        match priority {
            Priority::Normal => None,
            Priority::Urgent => Some(RaisedNatively::Urgent { _scope: UrgentScope::new() }),
            Priority::RealTime => {
                (!cfg!(miri) && schedule(libc::SCHED_RR, 1)).then_some(RaisedNatively::RealTime)
            }
        }
    }
    fn at_end(last: Box<dyn FnOnce()>) {
        LAST.with_borrow_mut(|at_end| at_end.0 = Some(last));
    }
}

/// A child that takes longer hangs.
const SECONDS_MAX: u32 = 20;

fn in_child(child: impl FnOnce() -> Result<(), String>, pipe: i32) -> ! {
    IS_CHILD.set(true);
    // SAFETY: it has no handler, so the process ends.
    unsafe { libc::alarm(SECONDS_MAX) };
    let outcome = child();
    if let Err(why) = &outcome {
        // SAFETY: writes these bytes; what does not fit is lost.
        unsafe { libc::write(pipe, why.as_ptr().cast(), why.len()) };
    }
    // SAFETY: nothing of the parent is to be dropped here.
    unsafe { libc::_exit(i32::from(outcome.is_err())) }
}

fn after(child: i32, pipe: [i32; 2]) -> Result<(), String> {
    // SAFETY: the end for the child, which no thread uses here.
    unsafe { libc::close(pipe[1]) };
    let mut status = 0;
    // SAFETY: a child of this process that no other thread waits for.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1 {}
    let mut why = [0u8; 1000];
    let mut length = 0;
    if libc::WIFEXITED(status) && status != 0 {
        // SAFETY: there is room; the child has written before it ended.
        length = unsafe { libc::read(pipe[0], why.as_mut_ptr().cast(), why.len()) };
    }
    // SAFETY: no other thread knows it.
    unsafe { libc::close(pipe[0]) };
    let why = String::from_utf8_lossy(&why[..usize::try_from(length).unwrap_or(0)]).into_owned();
    match status {
        0 => Ok(()),
        _ if libc::WIFEXITED(status) => Err(why),
        _ => {
            Err(format!("signal {} ended it (14: it took {SECONDS_MAX} s)", libc::WTERMSIG(status)))
        }
    }
}

/// Runs a program once; what was not allowed.
pub fn run(program: &Program) -> Result<(), String> {
    let stage = Stage::<Native>::new(program.clone());
    thread::scope(|scope| {
        for thread in 0..stage.threads() {
            let stage = &stage;
            let lives = stage.lives(thread);
            // Where a thread has others in its place, one begins when the one before has ended, with all destructors.
            let one =
                move |life| thread::scope(|scope| scope.spawn(|| stage.run(thread, life)).join());
            scope.spawn(move || match lives {
                1 => stage.run(thread, 0),
                _ => (0..lives).for_each(|life| one(life).expect("no panic")),
            });
        }
    });
    stage.complaint().map_or(Ok(()), Err)
}
