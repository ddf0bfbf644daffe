//! CPU time and context switches of a thread, and how busy others keep the machine.

use std::fs;

/// What a thread has used so far, or used between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// User and system time in seconds.
    pub cpu_s: f64,
    /// Context switches the thread asked for by sleeping.
    pub voluntary_switches: u64,
    /// Context switches the scheduler forced on it.
    pub involuntary_switches: u64,
}

impl Usage {
    /// Of the calling thread.
    pub fn of_this_thread() -> Self {
        Self::read(libc::RUSAGE_THREAD)
    }
    /// Of the whole process.
    pub fn of_this_process() -> Self {
        Self::read(libc::RUSAGE_SELF)
    }
    /// What came on top of `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu_s: self.cpu_s - earlier.cpu_s,
            voluntary_switches: self.voluntary_switches - earlier.voluntary_switches,
            involuntary_switches: self.involuntary_switches - earlier.involuntary_switches,
        }
    }
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu_s: self.cpu_s + other.cpu_s,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
        }
    }
    fn read(who: libc::c_int) -> Self {
        // SAFETY: the structure is plain numbers; all zero is a valid value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live structure of the right type.
        unsafe { libc::getrusage(who, &mut usage) };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
        Self {
            cpu_s: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }
}

/// Nanoseconds of CPU time of this thread so far.
pub fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live structure of the right type.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds in which this thread was ready to run and had no CPU, so far; 0 if the system does not tell.
pub fn run_delay_ns() -> u64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split_whitespace().nth(1).and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// CPU seconds of `threads` of this process so far; `None` if one of them has ended.
pub fn cpu_s_of(threads: &[libc::pid_t]) -> Option<f64> {
    threads.iter().map(|&thread| cpu_s_of_one(thread)).sum()
}

fn cpu_s_of_one(thread: libc::pid_t) -> Option<f64> {
    /// In the kernel's number of a clock: it is a thread's, and counts the time that it ran.
    const THREAD_RUN_TIME: libc::clockid_t = 4 | 2;
    let clock = !thread << 3 | THREAD_RUN_TIME;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live structure of the right type.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    (result == 0).then_some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

/// Watches what share of the machine others use while we measure.
pub struct ForeignLoad {
    machine: Option<MachineTime>,
    own: Usage,
}

/// Seconds of all CPUs together since boot.
#[derive(Clone, Copy)]
struct MachineTime {
    busy_s: f64,
    total_s: f64,
}

impl ForeignLoad {
    /// Starts watching.
    pub fn watch() -> Self {
        Self { machine: MachineTime::now(), own: Usage::of_this_process() }
    }
    /// Percent of all CPU time since `watch` that was used by other processes or taken by the
    /// host; `None` if it is not known or the time was too short to say.
    pub fn percent(&self) -> Option<f64> {
        let (before, after) = (self.machine?, MachineTime::now()?);
        let total_s = after.total_s - before.total_s;
        let own_s = Usage::of_this_process().since(self.own).cpu_s;
        let foreign_s = after.busy_s - before.busy_s - own_s;
        (total_s >= 0.5).then(|| (foreign_s / total_s * 100.0).max(0.0))
    }
}

impl MachineTime {
    fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }
    /// Reads the line `cpu user nice system idle iowait irq softirq steal ...`, in clock ticks.
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<f64> = line.split_whitespace().map_while(|n| n.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks[..] else {
            return None;
        };
        // SAFETY: asks for a constant.
        let ticks_per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
        let busy = user + nice + system + irq + softirq + steal;
        let total = busy + idle + iowait;
        Some(Self { busy_s: busy / ticks_per_s, total_s: total / ticks_per_s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::affinity::this_thread;

    #[test]
    fn a_busy_thread_uses_cpu_time() {
        let before = Usage::of_this_thread();
        let start = std::time::Instant::now();
        while start.elapsed().as_millis() < 30 {
            std::hint::spin_loop();
        }
        assert!(Usage::of_this_thread().since(before).cpu_s > 0.0);
    }

    #[test]
    fn the_cpu_time_of_a_thread_is_known_to_others_while_it_lives() {
        use std::sync::mpsc::channel;
        let (tell, told) = channel();
        let (end, ended) = channel::<()>();
        let busy = std::thread::spawn(move || {
            let start = std::time::Instant::now();
            while start.elapsed().as_millis() < 20 {
                std::hint::spin_loop();
            }
            let _ = tell.send((this_thread(), Usage::of_this_thread().cpu_s));
            let _ = ended.recv();
        });
        let (thread, used_s) = told.recv().expect("the thread lives");
        let seen_s = cpu_s_of(&[thread, thread]).expect("it lives still") / 2.0;
        assert!(used_s > 0.0 && seen_s > 0.0, "{seen_s} {used_s}");
        drop(end);
        busy.join().expect("no panic");
        // There are no such numbers.
        assert_eq!(cpu_s_of(&[thread, 1 << 23]), None);
    }

    #[test]
    fn the_time_of_the_machine_is_read_from_the_first_line() {
        let stat = "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3\n";
        let time = MachineTime::parse(stat).expect("a well-formed line");
        assert!((time.busy_s / time.total_s - 0.15).abs() < 1e-9);
        assert!(MachineTime::parse("nonsense").is_none());
    }
}
