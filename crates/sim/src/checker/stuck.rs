//! Stuck threads: nothing more will happen, and a thread still waits.

use crate::arena::LINE_BYTES;
use crate::engine::cell::CellRef;
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
    let address = match kind {
        WaitKind::Running => None,
        WaitKind::Spinning => thread.wait.cell.map(CellRef::address),
        WaitKind::Sleeping => engine.sleepers.address_of(number),
    };
    let since_ps = if kind == WaitKind::Running { engine.time.now } else { thread.wait.since_ps };
    let offset = address.map(|address| engine.region.offset_of(address));
    let line = offset.map(|offset| offset / LINE_BYTES);
    let object = offset.map_or_else(String::new, |offset| engine.region.place_at(offset));
    let seen = (kind == WaitKind::Spinning).then_some(thread.wait.seen);
    StuckThread { thread: number, cpu: thread.cpu, kind, line, object, seen, since_ps }
}
