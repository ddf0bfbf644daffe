//! How the system's scheduler favours a thread.

use super::affinity::this_thread;
use super::role::ThreadPriority;
use std::io;

/// Gives this thread a priority, if the system lets it.
pub fn set(priority: ThreadPriority) -> io::Result<()> {
    let result = match priority {
        ThreadPriority::Normal => 0,
        ThreadPriority::Nice(nice) => {
            let thread = this_thread().unsigned_abs();
            // SAFETY: no memory is involved.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, thread, nice) }
        }
        ThreadPriority::Fifo(level) => schedule(libc::SCHED_FIFO, level),
        ThreadPriority::RoundRobin(level) => schedule(libc::SCHED_RR, level),
        ThreadPriority::Idle => schedule(libc::SCHED_IDLE, 0),
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn schedule(policy: libc::c_int, level: i32) -> libc::c_int {
    // SAFETY: the structure is plain numbers; all zero is a valid value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = level;
    // SAFETY: the pointer is to a live structure of the right type.
    unsafe { libc::sched_setscheduler(0, policy, &parameters) }
}

/// An error if the system does not let the threads of this process have the priority.
pub fn check(flag: &str, priority: ThreadPriority) -> Result<(), String> {
    let tried = std::thread::spawn(move || set(priority)).join();
    match tried {
        Ok(Err(why)) => Err(format!(
            "this system refuses {flag} {priority} ({why}): choose another one, or ask for the right to it"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_may_be_nicer_and_idle_and_none_may_have_a_level_that_is_not_there() {
        for priority in [ThreadPriority::Normal, ThreadPriority::Nice(19), ThreadPriority::Idle] {
            check("--priority", priority).expect("a lower priority is always allowed");
        }
        let said = check("--priority", ThreadPriority::Fifo(1_000)).expect_err("no such level");
        assert!(said.to_string().contains("--priority fifo:1000"), "{said}");
    }
}
