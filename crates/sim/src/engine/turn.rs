//! A thread, as the scheduler sees it.

use super::queue::QueuedEvent;

/// What the scheduler knows about a thread. Without a scheduler a thread is always on its CPU.
pub struct CpuTurn {
    /// Has no CPU.
    pub is_off: bool,
    /// Of a kernel: computes in user mode, where its CPU can be taken away.
    pub(super) is_in_user: bool,
    /// Of a kernel: should give up its CPU.
    pub(super) is_asked: bool,
    /// The CPU it has or had last.
    pub(super) cpu: usize,
    /// The only socket it may run on, if there is one.
    pub(super) socket: Option<u16>,
    /// It was woken and waits for its last CPU.
    pub(super) stays: bool,
    /// Until when neither the end of a slice nor noise takes its CPU, because a read-modify-write is under way.
    pub shielded_until: u64,
    /// Since when it gets on: the switch to it is over.
    pub(super) on_since: u64,
    pub(super) off_since: u64,
    /// All the time it had no CPU.
    pub off_ps: u64,
    /// The event that it waits for, if that is planned; [`QueuedEvent::NEVER`] if not.
    pub(super) due: QueuedEvent,
    /// What was left of a wait for a time when the thread lost its CPU.
    pub(super) rest_ps: u64,
    /// What is left of its slice; 0 stands for a whole one.
    pub(super) slice_left: u64,
    /// Since when it spins in one go.
    pub(super) spins_since: u64,
    /// When it last spun.
    pub(super) spun_until: u64,
    /// When it may have spun for too long; `u64::MAX` if that is not checked.
    pub(super) pause_loop_at: u64,
}

impl Default for CpuTurn {
    fn default() -> Self {
        Self {
            is_off: false,
            is_in_user: false,
            is_asked: false,
            cpu: 0,
            socket: None,
            stays: false,
            shielded_until: 0,
            on_since: 0,
            off_since: 0,
            off_ps: 0,
            due: QueuedEvent::NEVER,
            rest_ps: 0,
            slice_left: 0,
            spins_since: 0,
            spun_until: 0,
            pause_loop_at: u64::MAX,
        }
    }
}
