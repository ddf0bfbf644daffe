//! A program as Rust.

use crate::program::{
    Act, Change, GuardsLeft, Limit, LockKind, OnceCall, Op, PERMITS, Priority, Program, Time, ends,
};
use std::fmt::Write;

/// A program of one's own that does the same, but for the checks: these are comments.
pub fn print(program: &Program) -> String {
    let mut out = Printer { text: String::new(), guards: 0, held: Vec::new(), raised: None };
    out.text += "use lockwright::*;\nuse std::cell::Cell;\nuse std::mem::forget;\nuse std::panic::catch_unwind;\nuse std::time::{Duration, Instant};\n\nfn main() {\n";
    if program.kinds().iter().flatten().any(|kind| kind.is_interruptible()) {
        out.line(1, "let interrupted = Interrupt::INIT;");
        out.line(1, "interrupted.interrupt();");
    }
    for (lock, kind) in program.locks.iter().enumerate() {
        out.line(1, &format!("let mut lock{lock} = {};", new(*kind)));
        if *kind == LockKind::Mutex {
            out.line(1, &format!("let changed{lock} = Condvar::new();"));
        }
    }
    for (phase, kinds) in program.phases.iter().zip(program.kinds()) {
        for change in &phase.changes {
            out.line(1, &changed(*change));
        }
        out.line(1, "std::thread::scope(|scope| {");
        for (thread, ops) in phase.threads.iter().enumerate() {
            out.line(2, &format!("scope.spawn(|| {{ // thread {thread}"));
            out.thread(ops, &kinds);
            out.line(2, "});");
        }
        out.line(1, "});");
    }
    out.text += "}\n";
    if program.phases.iter().flat_map(|phase| &phase.threads).any(|ops| has_end(ops)) {
        out.text += "\n/// Runs in a thread, and waits for its end.\nfn in_a_thread(life: impl FnOnce() + Send) {\n    std::thread::scope(|scope| scope.spawn(life).join().unwrap());\n}\n";
    }
    out.text
}

fn has_end(ops: &[Op]) -> bool {
    ends(ops).next().is_some()
}

fn new(kind: LockKind) -> String {
    match kind {
        LockKind::Semaphore => format!("Semaphore::new({PERMITS})"),
        LockKind::Once => "Once::new()".into(),
        LockKind::ReentrantMutex => "ReentrantMutex::new(Cell::new([0u64; 2]))".into(),
        _ => format!("{kind:?}::new([0u64; 2])"),
    }
}

fn called(lock: usize, how: OnceCall) -> String {
    match how {
        OnceCall::Once => format!("lock{lock}.call_once(|| {{}});"),
        OnceCall::Force => format!("lock{lock}.call_once_force(|_| {{}});"),
        OnceCall::Fail => {
            format!("let _ = catch_unwind(|| lock{lock}.call_once_force(|_| panic!()));")
        }
        OnceCall::Wait => format!("lock{lock}.wait_force(); // until thread 0 has done the rest"),
    }
}

fn changed(change: Change) -> String {
    match change {
        Change::New(lock, kind) => {
            format!("lock{lock} = {}; // at the same address, whatever the kind", new(kind))
        }
        Change::Move(lock) => {
            format!("let moved = lock{lock}; moved.try_lock(); lock{lock} = moved;")
        }
        Change::Swap(one, other) => format!("std::mem::swap(&mut lock{one}, &mut lock{other});"),
        Change::IntoInner(lock) => format!("lock{lock} = lock{lock}.into_inner().into();"),
        Change::GetMut(lock) => format!("lock{lock}.get_mut();"),
    }
}

struct Printer {
    text: String,
    guards: usize,
    /// Guards of the thread, each with its lock; attempts may have failed.
    held: Vec<(usize, usize)>,
    raised: Option<Priority>,
}

impl Printer {
    /// The steps of a thread, or of those that come one after the other in its place.
    fn thread(&mut self, ops: &[Op], kinds: &[LockKind]) {
        let depth = if has_end(ops) { 4 } else { 3 };
        for life in ops.split_inclusive(|op| matches!(op, Op::End(_))) {
            self.held.clear();
            self.raised = None;
            if depth == 4 {
                self.line(3, "in_a_thread(|| {");
            }
            for op in life {
                self.op(depth, op, kinds);
            }
            if depth == 4 {
                self.line(3, "});");
            }
        }
    }
    fn priority(&mut self, depth: usize, priority: Priority) {
        let set = |policy: &str, number: u32| {
            let parameters = format!("libc::sched_param {{ sched_priority: {number} }}");
            format!("unsafe {{ libc::sched_setscheduler(0, libc::{policy}, &{parameters}) }};")
        };
        let lines = match self.raised.replace(priority) {
            Some(Priority::Urgent) => vec!["drop(urgent);".to_string()],
            Some(Priority::RealTime) => vec![set("SCHED_OTHER", 0)],
            _ => Vec::new(),
        };
        lines.iter().for_each(|line| self.line(depth, line));
        match priority {
            Priority::Normal => {}
            Priority::Urgent => {
                self.line(depth, "let urgent = native::priority::UrgentScope::new();");
            }
            Priority::RealTime => self.line(depth, &set("SCHED_RR", 1)),
        }
        if priority == Priority::RealTime || lines.iter().any(|line| line.contains("SCHED")) {
            self.line(depth, "native::priority::forget_policy();");
        }
    }
    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(depth));
    }
    fn take(&mut self, depth: usize, lock: usize, call: &str) {
        let guard = self.new_guard(lock);
        self.line(depth, &format!("let mut guard{guard} = lock{lock}.{call};"));
    }
    fn new_guard(&mut self, lock: usize) -> usize {
        self.held.push((lock, self.guards));
        self.guards += 1;
        self.guards - 1
    }
    fn op(&mut self, depth: usize, op: &Op, kinds: &[LockKind]) {
        let text = match *op {
            Op::Exclusive(lock, wait) if kinds[lock].is_resilient() => {
                return self.take(depth, lock, &acquire(wait));
            }
            Op::Exclusive(lock, wait) => {
                let name = if kinds[lock].is_mutex() { "lock" } else { "write" };
                return self.take(depth, lock, &call(name, "", wait));
            }
            Op::Shared(lock, wait) => return self.take(depth, lock, &call("read", "", wait)),
            Op::Upgradable(lock, wait) => {
                return self.take(depth, lock, &call("upgradable_read", "", wait));
            }
            Op::Acquire(lock, permits, wait) => {
                let first = format!("{permits}{}", separator(wait));
                return self.take(depth, lock, &call("acquire_many", &first, wait));
            }
            Op::Release(lock, permits) => format!("assert!(lock{lock}.add_permits({permits}));"),
            Op::Available(lock) => format!("let _ = lock{lock}.available_permits();"),
            Op::Copy(lock, wait) => format!("lock{lock}.{};", call("read", "", wait)),
            Op::Put(lock) => format!("lock{lock}.write([1, 1]);"),
            Op::Update(lock) => format!("lock{lock}.update(|[one, other]| [one + 1, other + 1]);"),
            Op::Call(lock, how) => called(lock, how),
            Op::IsCompleted(lock) => format!("lock{lock}.is_completed();"),
            Op::IsLocked(lock) => format!("lock{lock}.is_locked();"),
            Op::IsLockedExclusive(lock) => format!("lock{lock}.is_locked_exclusive();"),
            Op::Debug(lock) => format!("format!(\"{{lock{lock}:?}}\");"),
            Op::ReadMany(lock, times) => {
                format!("for _ in 0..{times} {{ drop(lock{lock}.read()); }}")
            }
            Op::ForgetMany(lock, times) => {
                format!("for _ in 0..{times} {{ forget(lock{lock}.try_read()); }}")
            }
            Op::Receive(lock) => {
                let guard = self.new_guard(lock);
                format!("let mut guard{guard} = receiver{lock}.try_recv().ok();")
            }
            Op::NotifyOne(lock) => format!("changed{lock}.notify_one();"),
            Op::NotifyAll(lock) => format!("changed{lock}.notify_all();"),
            Op::Act(lock, act) => return self.act(depth, lock, act),
            Op::Priority(priority) => return self.priority(depth, priority),
            Op::End(GuardsLeft::Dropped) => return,
            Op::End(GuardsLeft::Kept) => {
                "// The destructor of a thread-local drops the guards that are left.".into()
            }
            Op::Fork(ref ops) => {
                self.line(depth, "if unsafe { libc::fork() } == 0 {");
                let (held, raised) = (self.held.clone(), self.raised);
                for op in ops {
                    self.op(depth + 1, op, kinds);
                }
                (self.held, self.raised) = (held, raised);
                self.line(depth + 1, "unsafe { libc::_exit(0) };");
                "}".into()
            }
        };
        self.line(depth, &text);
    }
    fn act(&mut self, depth: usize, lock: usize, act: Act) {
        let found = match act {
            Act::DropOldest => self.held.iter().position(|(of, _)| *of == lock),
            _ => self.held.iter().rposition(|(of, _)| *of == lock),
        };
        let Some(at) = found else { return };
        let guard = format!("guard{}", self.held[at].1);
        let text = match act {
            Act::Touch => format!("touch(&{guard}); // reads it, and writes it if that is allowed"),
            Act::Drop | Act::DropOldest => format!("drop({guard});"),
            Act::Forget => format!("forget({guard});"),
            Act::Leak => format!("MutexGuard::leak({guard});"),
            Act::Map => format!("let {guard} = Guard::map({guard}, |data| data);"),
            Act::TryMap(finds) => {
                format!("let {guard} = Guard::try_map({guard}, |data| {finds}.then_some(data));")
            }
            Act::Downgrade => format!("let {guard} = RwLockWriteGuard::downgrade({guard});"),
            Act::DowngradeToUpgradable => {
                format!("let {guard} = RwLockWriteGuard::downgrade_to_upgradable({guard});")
            }
            Act::Upgrade(wait) => {
                let first = format!("{guard}{}", separator(wait));
                format!(
                    "let {guard} = RwLockUpgradableReadGuard::{};",
                    call("upgrade", &first, wait)
                )
            }
            Act::WithUpgraded(wait) => {
                format!("{guard}.{}|data| change(data));", with_upgraded(wait))
            }
            Act::UnlockFair => format!("MutexGuard::unlock_fair({guard});"),
            Act::Unlocked => format!("Guard::unlocked(&mut {guard}, || ());"),
            Act::UnlockedFair => format!("MutexGuard::unlocked_fair(&mut {guard}, || ());"),
            Act::Bump => format!("MutexGuard::bump(&mut {guard});"),
            Act::Send => format!("sender{lock}.send({guard});"),
            Act::WaitFor(time) => {
                format!("changed{lock}.wait_for(&mut {guard}, {});", duration(time))
            }
            Act::WaitUntil(time) => {
                format!("changed{lock}.wait_until(&mut {guard}, {});", instant(time))
            }
            Act::WaitWhileFor(time) => {
                format!(
                    "changed{lock}.wait_while_for(&mut {guard}, |data| !data.done, {});",
                    duration(time)
                )
            }
            Act::WaitWhileUntil(time) => {
                format!(
                    "changed{lock}.wait_while_until(&mut {guard}, |data| !data.done, {});",
                    instant(time)
                )
            }
            Act::Wait => format!(
                "while !{guard}.done {{ changed{lock}.wait(&mut {guard}); }} // thread 0 sets it at its end"
            ),
            Act::WaitWhile => {
                format!(
                    "changed{lock}.wait_while(&mut {guard}, |data| !data.done); // thread 0 sets it at its end"
                )
            }
        };
        self.line(depth, &text);
        if matches!(
            act,
            Act::Drop | Act::DropOldest | Act::Forget | Act::Leak | Act::UnlockFair | Act::Send
        ) {
            self.held.remove(at);
        }
    }
}

fn call(name: &str, first: &str, wait: Limit) -> String {
    match wait {
        Limit::Forever => format!("{name}({first})"),
        Limit::Attempt => format!("try_{name}({first})"),
        Limit::For(Time::Past) | Limit::Until(Time::Past) => {
            format!("try_{name}_until({first}{})", instant(Time::Past))
        }
        Limit::For(time) => format!("try_{name}_for({first}{})", duration(time)),
        Limit::Until(time) => format!("try_{name}_until({first}{})", instant(time)),
        Limit::Again => format!("{name}_recursive()"),
        Limit::AttemptAgain => format!("try_{name}_recursive()"),
        Limit::Interruptible => format!("{name}_interruptible(&Interrupt::INIT)"),
        Limit::Interrupted => format!("{name}_interruptible(&interrupted)"),
    }
}

/// Of a resilient spinlock.
fn acquire(wait: Limit) -> String {
    match wait {
        Limit::Forever => "lock().ok()".into(),
        Limit::For(time) => format!("lock_for({}).ok()", duration(time)),
        _ => "try_lock()".into(),
    }
}

/// The call with its deadline, up to the closure.
fn with_upgraded(wait: Limit) -> String {
    let call = call("with_upgraded", "", wait);
    let open = call.strip_suffix(')').unwrap_or(&call);
    format!("{open}{}", separator(wait))
}

/// What is between an argument and the deadline, if there is one.
fn separator(wait: Limit) -> &'static str {
    if matches!(wait, Limit::Forever | Limit::Attempt) { "" } else { ", " }
}

fn duration(time: Time) -> String {
    match time {
        Time::Past | Time::Now => "Duration::ZERO".into(),
        Time::Micros(micros) => format!("Duration::from_micros({micros})"),
        Time::Far => "Duration::from_secs(3600)".into(),
        Time::Never => "Duration::MAX".into(),
    }
}
fn instant(time: Time) -> String {
    match time {
        Time::Past => "Instant::now() - Duration::from_millis(1)".into(),
        Time::Never => "Instant::now() + Duration::from_secs(3_153_600_000)".into(),
        _ => format!("Instant::now() + {}", duration(time)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Phase;

    #[test]
    fn each_thread_in_the_place_of_another_is_a_closure() {
        let take = Op::Exclusive(0, Limit::Forever);
        let urgent = |priority| Op::Priority(priority);
        let first = [urgent(Priority::Urgent), urgent(Priority::RealTime), take.clone()];
        let ops = [first.to_vec(), vec![Op::End(GuardsLeft::Kept), take]].concat();
        let phase = Phase { changes: Vec::new(), threads: vec![ops] };
        let text = print(&Program { locks: vec![LockKind::Mutex], phases: vec![phase] });
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        let steps = &lines[lines.iter().position(|line| *line == "in_a_thread(|| {").unwrap()..];
        let expected = [
            "in_a_thread(|| {",
            "let urgent = native::priority::UrgentScope::new();",
            "drop(urgent);",
            "unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &libc::sched_param { sched_priority: 1 }) };",
            "native::priority::forget_policy();",
            "let mut guard0 = lock0.lock();",
            "// The destructor of a thread-local drops the guards that are left.",
            "});",
            "in_a_thread(|| {",
            "let mut guard1 = lock0.lock();",
            "});",
        ];
        assert_eq!(&steps[..expected.len()], expected);
    }
}
