//! Stuck threads: nothing more will happen, and a thread still waits.

use crate::arena::Object;
use crate::engine::{Activity, Engine, Thread};
use crate::report::{StuckThread, WaitKind};

/// What every thread that has not finished is doing.
pub fn stuck_threads(engine: &Engine) -> Vec<StuckThread> {
    let unfinished = engine.threads.iter().enumerate();
    unfinished
        .filter(|(_, thread)| thread.activity != Activity::Finished)
        .map(|(number, thread)| describe(engine, number, thread))
        .collect()
}

fn describe(engine: &Engine, number: usize, thread: &Thread) -> StuckThread {
    let kind = match thread.activity {
        Activity::Sleeping => WaitKind::Sleeping,
        Activity::Parked | Activity::Woken | Activity::Reading => WaitKind::Spinning,
        Activity::Busy | Activity::Finished => WaitKind::Running,
    };
    let (line, since_ps) = match kind {
        WaitKind::Running => (None, engine.now),
        WaitKind::Spinning | WaitKind::Sleeping => (Some(thread.wait.line), thread.wait.since_ps),
    };
    let object = line.map_or_else(String::new, |line| object_at(&engine.objects, line));
    let seen = (kind == WaitKind::Spinning).then_some(thread.wait.seen);
    StuckThread { thread: number, cpu: thread.cpu, kind, line, object, seen, since_ps }
}

/// The object that a line belongs to: its type, and which of its lines.
fn object_at(objects: &[Object], line: usize) -> String {
    let found = objects
        .iter()
        .find(|object| (object.first_line..object.first_line + object.lines).contains(&line));
    match found {
        None => String::new(),
        Some(object) if object.lines == 1 => short(object.type_name),
        Some(object) => format!("{} +{}", short(object.type_name), line - object.first_line),
    }
}

/// A type's name without the paths of modules.
fn short(type_name: &str) -> String {
    let mut name = String::new();
    for part in type_name.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
    {
        name.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_lose_their_paths() {
        assert_eq!(short("a::b::Lock<c::Sim, d::Fifo>"), "Lock<Sim, Fifo>");
        assert_eq!(short("u32"), "u32");
    }
}
