//! The laws of PLATFORM.md, checked in the kernel. Only in a module that is built for that.
//!
//! A law that does not hold panics. The panic handler prints the message of the law and ends the kernel.

use crate::machine::{Kernel, LEVELS};
use crate::tasks::Tasks;
use core::arch::asm;
use core::cell::Cell;
use core::fmt::{self, Write};
use lockwright_conformance::{Law, Threads, park_laws, spin_laws};

/// Kernel threads, each on a CPU of its own, with preemption off.
struct KernelThreads {
    /// How many queue nodes a thread can claim, if a law is to try that.
    nodes: Option<usize>,
    /// Threads could not be started.
    is_interrupted: Cell<bool>,
}

/// What the threads of a law run.
pub struct Bodies {
    state: *const (),
    first: *const (),
    call: unsafe fn(&Bodies, usize),
}

/// Calls body number `at`.
///
/// # Safety
/// The bodies are functions of `&S`, more than `at`, and the state is an `S`.
unsafe fn call<S>(bodies: &Bodies, at: usize) {
    // SAFETY: there are more than `at` of this type.
    let body = unsafe { bodies.first.cast::<fn(&S)>().add(at) };
    // SAFETY: as above.
    let body = unsafe { body.read() };
    // SAFETY: of this type, and `run` waits for all threads.
    body(unsafe { &*bodies.state.cast::<S>() });
}

impl Threads for KernelThreads {
    fn run<S: Send + Sync + 'static>(&self, state: S, bodies: &[fn(&S)], finish: fn(&S)) {
        let state_at = core::ptr::from_ref(&state).cast();
        let of_all = Bodies { state: state_at, first: bodies.as_ptr().cast(), call: call::<S> };
        let answer: u32;
        // SAFETY: the module's function runs each body on a thread and returns when all have ended.
        unsafe {
            asm!("call lockwright_run_bodies", in("rdi") &raw const of_all,
                in("esi") bodies.len() as u32, out("eax") answer, clobber_abi("sysv64"));
        }
        // The other bits of a C `bool` are undefined.
        match answer & 1 {
            0 => self.is_interrupted.set(true),
            _ => finish(&state),
        }
    }
    fn node_limit(&self) -> Option<usize> {
        self.nodes
    }
}

/// Runs body number `at` of a law.
///
/// # Safety
/// `bodies` was passed to `lockwright_run_bodies` with a greater count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lockwright_body(bodies: *const Bodies, at: u32) {
    // SAFETY: the caller's promise.
    let bodies = unsafe { &*bodies };
    // SAFETY: `run` has put these together.
    unsafe { (bodies.call)(bodies, at as usize) };
}

/// Checks each law this many times, with preemption on. Returns false if threads could not be started.
#[unsafe(no_mangle)]
pub extern "C" fn lockwright_check_laws(times: u32) -> bool {
    check("Kernel", spin_laws::<Kernel, _>(), Some(LEVELS), times)
        && check("Tasks", park_laws::<Tasks, _>(), None, times)
}

fn check(
    platform: &str,
    laws: impl Iterator<Item = &'static Law<KernelThreads>>,
    nodes: Option<usize>,
    times: u32,
) -> bool {
    let threads = KernelThreads { nodes, is_interrupted: Cell::new(false) };
    for law in laws {
        Line::of(format_args!("{platform} {} {}", law.number, law.name)).say(false);
        for _ in 0..times {
            (law.check)(&threads);
            if threads.is_interrupted.get() {
                return false;
            }
        }
    }
    Line::of(format_args!("{platform} keeps them, {times} times each")).say(false);
    true
}

/// A line of the kernel's log. What does not fit is cut off.
struct Line {
    bytes: [u8; 400],
    length: usize,
}

impl Line {
    fn of(text: fmt::Arguments) -> Self {
        let mut line = Self { bytes: [0; 400], length: 0 };
        // Writing to it never fails.
        let _ = line.write_fmt(text);
        line
    }
    /// Writes it to the log. If it is the last one, the kernel ends.
    fn say(&self, is_last: bool) {
        // SAFETY: the module's function reads as many bytes as it is told.
        unsafe {
            asm!("call lockwright_say_of_laws", in("rdi") self.bytes.as_ptr(),
                in("esi") self.length as u32, in("edx") u32::from(is_last),
                clobber_abi("sysv64"));
        }
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let rest = self.bytes.get_mut(self.length..).unwrap_or_default();
        for (to, from) in rest.iter_mut().zip(text.bytes()) {
            *to = from;
            self.length += 1;
        }
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    Line::of(format_args!("BROKEN: {info}")).say(true);
    loop {}
}
