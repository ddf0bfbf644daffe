//! The state of a condition variable: its parts, and how it changes. The module above has the table.

pub(super) const PERMIT: u64 = 1;
pub(super) const PERMITS: u64 = GROUP - PERMIT;
pub(super) const GROUP: u64 = 1 << 13;
pub(super) const GROUPS: u64 = EPOCH - GROUP;
pub(super) const EPOCH: u64 = 1 << 34;
pub(super) const EPOCHS: u64 = OLDER - EPOCH;
pub(super) const OLDER: u64 = 1 << 37;
pub(super) const OLDERS: u64 = NEWER - OLDER;
pub(super) const NEWER: u64 = 1 << 50;
pub(super) const NEWERS: u64 = AWAKE - NEWER;
pub(super) const AWAKE: u64 = 1 << 63;

/// The meaning of the state for a waiter.
pub(super) enum Verdict {
    /// It was not notified.
    Waits,
    /// There is a permit for its group.
    MayTake,
    /// Its group is over.
    Notified,
}

pub(super) fn group_of(state: u64) -> u32 {
    ((state & GROUPS) / GROUP) as u32
}

/// Returns how many threads wait that were not notified.
pub(super) fn waiters(state: u64) -> u32 {
    ((state & OLDERS) / OLDER + (state & NEWERS) / NEWER) as u32
}

pub(super) fn next_group(state: u64) -> u64 {
    state & !GROUPS | (state + GROUP) & GROUPS
}

/// Returns the state with one more waiter, and the group of that waiter. Returns `None` if there is no room.
pub(super) fn joined(state: u64, may_look: bool) -> Option<(u64, u32)> {
    let may_join = state & (PERMITS | NEWERS) == 0 && state & OLDERS != OLDERS;
    let (next, is_older) = if state & OLDERS == 0 {
        (next_group(state & !(PERMITS | AWAKE)) + OLDER, true)
    } else if may_join {
        (state + OLDER, true)
    } else if state & NEWERS != NEWERS {
        (state + NEWER, false)
    } else {
        return None;
    };
    let looks = if is_older && may_look { AWAKE } else { 0 };
    Some((next | looks, group_of(if is_older { next } else { next_group(next) })))
}

/// Returns the state after a waiter has left the older group, or was notified. If that was the last one of the group,
/// the newer group is the older one now. If there is no newer group, no thread waits.
pub(super) fn settled(state: u64) -> u64 {
    if state & OLDERS != 0 {
        return state;
    }
    let newer = (state & NEWERS) / NEWER;
    let over = state & !(NEWERS | AWAKE);
    if newer == 0 { over } else { (next_group(over) & !PERMITS) + newer * OLDER }
}

pub(super) fn one_notified(state: u64, is_looked_for: bool) -> u64 {
    let next = state - OLDER + PERMIT;
    settled(if is_looked_for { next & !AWAKE } else { next })
}

pub(super) fn all_notified(state: u64) -> u64 {
    let next = state & !(OLDERS | NEWERS | AWAKE);
    if state & NEWERS == 0 { next + PERMIT } else { next_group(next & !PERMITS) }
}

pub(super) fn verdict(state: u64, group: u32) -> Verdict {
    if state & OLDERS == 0 {
        return Verdict::Notified;
    }
    let is_newer = group == group_of(next_group(state));
    match state & PERMITS {
        _ if is_newer => Verdict::Waits,
        _ if group != group_of(state) => Verdict::Notified,
        0 => Verdict::Waits,
        _ => Verdict::MayTake,
    }
}
