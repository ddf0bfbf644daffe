//! Cache lines: which cores have a copy, until when the line is busy, and what the next access costs.
//!
//! The rules are described in the [crate's documentation](crate). The state of a line moves when an
//! access is *issued*; the value is read or written when it *completes*, by the engine.

mod cores;
mod costs;

pub use cores::{CORES_MAX, CoreSet};
pub use costs::{CostTable, Factor, ps};

use crate::rng::Rng;

/// No core, no thread.
pub const NOBODY: u16 = u16::MAX;

/// What an access does to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A load.
    Read,
    /// A store on its way through the store buffer, or a prefetch for one.
    Write,
    /// A locked read-modify-write.
    Rmw,
}

/// Where an access comes from.
#[derive(Clone, Copy, Debug)]
pub struct CoreSite {
    pub core: u16,
    pub socket: u16,
}

/// What became of an access.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// When it completes.
    pub done_ps: u64,
    /// True if it invalidated the copies of other cores when it was issued.
    pub invalidates: bool,
}

/// How many accesses were served from where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// By the core's own cache.
    pub hits: u64,
    /// By or from another core, by distance class (0: the same socket).
    pub by_class: Vec<u64>,
    /// By memory: the first touch of a line.
    pub memory: u64,
}

/// One cache line.
pub struct Line {
    sharers: CoreSet,
    busy_until: u64,
    last_done: u64,
    /// Until when `previous` still hits: the snoop has not reached it yet.
    retained_until: u64,
    owner: u16,
    previous: u16,
    /// The owner has written it.
    is_modified: bool,
    pub home: u16,
    /// The next time the spinners are woken, one of them is drawn to be the first.
    pub is_contested: bool,
    /// The threads that spin on the line: ends of a list through the threads.
    pub first_spinner: u16,
    pub last_spinner: u16,
}

impl Line {
    fn new(home: u16) -> Self {
        Self {
            sharers: CoreSet::default(),
            busy_until: 0,
            last_done: 0,
            retained_until: 0,
            owner: NOBODY,
            previous: NOBODY,
            is_modified: false,
            home,
            is_contested: false,
            first_spinner: NOBODY,
            last_spinner: NOBODY,
        }
    }
}

/// All lines of a run, in the order in which they were registered.
pub struct Memory {
    pub lines: Vec<Line>,
    pub transfers: Transfers,
    /// What each core took last, to write it.
    taken: Vec<Taken>,
}

/// A line that a core took, and until when it hits there even if others have asked for it meanwhile.
#[derive(Clone, Copy)]
struct Taken {
    line: usize,
    until: u64,
}

impl Taken {
    const NOTHING: Self = Self { line: usize::MAX, until: 0 };
}

impl Memory {
    pub fn new(classes: usize) -> Self {
        let transfers = Transfers { by_class: vec![0; classes], ..Transfers::default() };
        Self { lines: Vec::new(), transfers, taken: vec![Taken::NOTHING; CORES_MAX as usize] }
    }
    /// Registers `count` lines whose memory is at socket `home`.
    pub fn register(&mut self, count: usize, home: u16) {
        self.lines.extend((0..count).map(|_| Line::new(home)));
    }

    /// Returns true if `core` comes back at `now` to a line that it has just given or lost to others, or that it is
    /// taking from them.
    #[inline]
    pub fn is_wanted_back(&self, now: u64, core: u16, line: usize) -> bool {
        let line = &self.lines[line];
        line.owner == core && line.busy_until > now
            || line.previous == core && line.retained_until > now
    }

    /// Issues an access at `now`: moves the state of the line and says when it completes.
    #[inline]
    pub fn access(
        &mut self,
        costs: &CostTable,
        now: u64,
        site: CoreSite,
        line: usize,
        kind: Kind,
        noise: &mut Rng,
    ) -> Access {
        let state = &mut self.lines[line];
        let own = match kind {
            Kind::Read => costs.load_hit,
            Kind::Write => costs.store_issue,
            Kind::Rmw => costs.load_hit + costs.rmw_extra,
        };
        if state.owner == site.core {
            self.transfers.hits += 1;
            state.is_modified |= kind != Kind::Read;
            let floor = if kind == Kind::Read { 0 } else { state.last_done };
            return Access { done_ps: (now + own).max(floor), invalidates: false };
        }
        let exposed = if kind == Kind::Rmw { costs.rmw_exposed } else { own };
        let taken = self.taken[usize::from(site.core)];
        let is_retained = state.previous == site.core && now + exposed <= state.retained_until
            || taken.line == line && now + exposed <= taken.until;
        if is_retained || kind == Kind::Read && state.sharers.has(site.core) {
            self.transfers.hits += 1;
            return Access { done_ps: now + own, invalidates: false };
        }
        self.miss(costs, now, site, line, kind, noise)
    }

    fn miss(
        &mut self,
        costs: &CostTable,
        now: u64,
        site: CoreSite,
        line: usize,
        kind: Kind,
        noise: &mut Rng,
    ) -> Access {
        let latency = self.latency(costs, site, line, kind);
        let latency = costs.transfer_jitter.jitter(latency, noise);
        let extra = if kind == Kind::Rmw { costs.rmw_extra } else { 0 };
        let at = line;
        let line = &mut self.lines[at];
        // Misses on one line are served first come, first served.
        let start = now.max(line.busy_until);
        let done_ps = (start + latency + extra).max(line.last_done);
        line.last_done = done_ps;
        line.previous = line.owner;
        if line.owner != NOBODY {
            line.retained_until = start + costs.owner_retention.of(latency);
        }
        if kind != Kind::Read {
            let until = done_ps + costs.owner_retention.of(costs.transfer[0]);
            self.taken[usize::from(site.core)] = Taken { line: at, until };
            line.owner = site.core;
            line.is_modified = true;
            line.sharers = CoreSet::default();
            line.busy_until = done_ps;
            return Access { done_ps, invalidates: true };
        }
        if line.owner != NOBODY && line.is_modified && costs.migratory.happens(noise) {
            line.owner = site.core;
            line.is_modified = false;
            line.busy_until = start + latency;
        } else if line.owner != NOBODY {
            line.sharers = CoreSet::only(line.owner);
            line.sharers.add(site.core);
            line.owner = NOBODY;
            line.busy_until = start + latency;
        } else if line.sharers.is_empty() {
            line.owner = site.core;
            line.is_modified = false;
            line.busy_until = start + latency;
        } else {
            // Clean copies: reads pipeline.
            line.sharers.add(site.core);
            line.busy_until = start + latency / 4;
        }
        Access { done_ps, invalidates: false }
    }

    /// What a miss takes before jitter, by the cores that have the line.
    fn latency(&mut self, costs: &CostTable, site: CoreSite, line: usize, kind: Kind) -> u64 {
        let line = &self.lines[line];
        if line.owner != NOBODY {
            let class = costs.class(costs.socket_of_core[usize::from(line.owner)], site.socket);
            self.transfers.by_class[class] += 1;
            return costs.transfer[class];
        }
        if line.sharers.is_empty() {
            self.transfers.memory += 1;
            let is_local = costs.class(line.home, site.socket) == 0;
            return if is_local { costs.memory_local } else { costs.memory_remote };
        }
        let mut others = line.sharers;
        others.remove(site.core);
        let classes = (0..costs.sockets)
            .filter(|&socket| others.meets(&costs.cores_of_socket[socket]))
            .map(|socket| costs.class(socket as u16, site.socket));
        if kind == Kind::Read {
            let nearest = classes.min().unwrap_or(0);
            self.transfers.by_class[nearest] += 1;
            return if nearest == 0 { costs.shared_load } else { costs.transfer[nearest] };
        }
        match classes.max() {
            Some(farthest) => {
                self.transfers.by_class[farthest] += 1;
                costs.upgrade[farthest]
            }
            // The only copy is the core's own.
            None => {
                self.transfers.hits += 1;
                costs.load_hit
            }
        }
    }
}
