//! A simulated thread, as the event loop sees it.

use super::cell::{CellRef, LastStore, PendingStore};
use super::handler::Signals;
use super::predicate::Predicate;
use super::turn::CpuTurn;
use crate::memory::{CoreSite, NOBODY};
use crate::rng::{RandomStream, Rng};
use crate::suspender::Suspender;
use std::collections::VecDeque;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Runs, or will go on at a time already known.
    Busy,
    /// Spins on a line, which has not been written since it looked.
    Parked,
    /// Its line was invalidated; it will read it again.
    Woken,
    /// That read is on its way.
    Reading,
    /// Sleeps until woken.
    Sleeping,
    /// Has returned.
    Finished,
}

/// The wait a thread is in.
#[derive(Clone, Copy)]
pub struct Wait {
    pub cell: Option<CellRef>,
    pub predicate: Option<Predicate>,
    pub line: usize,
    /// Give up then; `u64::MAX` is never.
    pub deadline_ps: u64,
    /// The deadline moves on while the thread has no CPU.
    pub is_cpu_time: bool,
    /// Go on after every look, not only when the predicate holds.
    pub is_eager: bool,
    /// The last value looked at.
    pub seen: u64,
    /// The predicate held of it.
    pub held: bool,
    /// The deadline has come.
    pub expired: bool,
    /// Another thread has woken it.
    pub was_woken: bool,
    /// The word of the lock that it takes after its sleep; 0 if it has said none.
    pub then: usize,
    pub since_ps: u64,
}

/// What an explored thread has of its process.
#[derive(Default)]
pub struct Claim {
    /// Its slot to read in.
    pub slot: Option<usize>,
    /// As `Process::found_none`.
    pub found_none: u64,
    /// Its number, as the kernel counts; 0 until it is asked for.
    pub number: u32,
}

pub struct Thread {
    pub cpu: u32,
    pub site: CoreSite,
    pub turn: CpuTurn,
    pub activity: Activity,
    /// Stores that are not visible to others yet, oldest first.
    pub stores: VecDeque<PendingStore>,
    /// When the youngest of all stores so far becomes visible.
    pub last_commit: u64,
    /// The youngest of them, on a machine on which its width matters.
    pub last_store: LastStore,
    /// Time taken away by interrupts, not yet felt.
    pub stolen_ps: u64,
    /// Off its CPU until then; see `preemption`.
    pub away_until: u64,
    /// Time away during the wait for a time, to be waited for after it.
    pub lost_ps: u64,
    pub wait: Wait,
    pub signals: Signals,
    pub claim: Claim,
    /// Neighbours in the list of the line's spinners.
    pub previous_spinner: u16,
    pub next_spinner: u16,
    /// When the earliest timer of the thread in the queue fires; `u64::MAX` if there is none.
    pub timer_at: u64,
    pub noise: Rng,
    pub program: Rng,
    pub faults: Rng,
    pub is_urgent: bool,
    /// True if it stands for an interrupt that cannot be masked.
    pub is_unmaskable: bool,
    /// True if it is to sleep rather than to spin.
    pub must_not_spin: bool,
    pub ops: u64,
    /// How to leave the thread's stack; set when it starts.
    pub suspender: Suspender,
}

/// Stores that fit into the store buffer.
pub const STORES_MAX: usize = 56;

impl Thread {
    pub fn new(cpu: u32, site: CoreSite, seed: u64, number: usize) -> Self {
        Self {
            cpu,
            site,
            turn: CpuTurn::default(),
            activity: Activity::Busy,
            stores: VecDeque::with_capacity(STORES_MAX),
            last_commit: 0,
            last_store: LastStore::NONE,
            stolen_ps: 0,
            away_until: 0,
            lost_ps: 0,
            wait: Wait {
                cell: None,
                predicate: None,
                line: 0,
                deadline_ps: u64::MAX,
                is_cpu_time: false,
                is_eager: false,
                seen: 0,
                held: false,
                expired: false,
                was_woken: false,
                then: 0,
                since_ps: 0,
            },
            signals: Signals::default(),
            claim: Claim::default(),
            previous_spinner: NOBODY,
            next_spinner: NOBODY,
            timer_at: u64::MAX,
            noise: Rng::split(seed, number, RandomStream::Noise),
            program: Rng::split(seed, number, RandomStream::Program),
            faults: Rng::split(seed, number, RandomStream::Faults),
            is_urgent: false,
            is_unmaskable: false,
            must_not_spin: false,
            ops: 0,
            suspender: Suspender::none(),
        }
    }

    /// What the thread reads from `cell`: its own pending stores over what all threads see.
    #[inline]
    pub fn view(&self, cell: CellRef) -> u64 {
        let mut value = cell.read();
        for store in &self.stores {
            if store.cell.address() == cell.address() {
                value = store.over(value);
            }
        }
        value
    }
    /// Returns true if the thread keeps its CPU busy.
    pub fn is_running(&self) -> bool {
        !matches!(self.activity, Activity::Sleeping | Activity::Finished) && !self.turn.is_off
    }
    /// Returns true if the thread has its CPU at `now`.
    pub fn has_cpu(&self, now: u64) -> bool {
        self.activity != Activity::Sleeping && self.away_until <= now && !self.turn.is_off
    }
    /// Returns true if the thread waits for a write to a line.
    pub fn is_spinning(&self) -> bool {
        matches!(self.activity, Activity::Parked | Activity::Woken | Activity::Reading)
    }
    /// Returns true if only another thread can make this one go on.
    pub fn is_stuck(&self) -> bool {
        matches!(self.activity, Activity::Parked | Activity::Sleeping)
            && self.wait.deadline_ps == u64::MAX
    }
}
