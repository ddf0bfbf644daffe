//! The costs of a machine in the units of the event loop: integer picoseconds.

use super::cores::CoreSet;
use crate::machine::Machine;
use crate::rng::Rng;

const FRACTION_BITS: u32 = 20;

/// A factor in fixed point, 20 bits after the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factor(u64);

impl Factor {
    pub const ONE: Self = Self(1 << FRACTION_BITS);

    pub fn new(value: f64) -> Self {
        Self((value * f64::from(1 << FRACTION_BITS)).round() as u64)
    }
    /// `ps` times the factor.
    #[inline]
    pub fn of(self, ps: u64) -> u64 {
        ((u128::from(ps) * u128::from(self.0)) >> FRACTION_BITS) as u64
    }
    pub fn is_never(self) -> bool {
        self.0 == 0
    }
    /// Returns true if something with this chance happens. Nothing is drawn for what never happens.
    #[inline]
    pub fn happens(self, rng: &mut Rng) -> bool {
        self.0 > 0 && rng.next() >> (64 - FRACTION_BITS) < self.0
    }
    /// `ps` plus or minus a random part of it, at most this factor of it.
    #[inline]
    pub fn jitter(self, ps: u64, rng: &mut Rng) -> u64 {
        if self.0 == 0 {
            return ps;
        }
        let uniform = rng.next() >> (64 - FRACTION_BITS);
        Self(Self::ONE.0 - self.0 + ((2 * self.0 * uniform) >> FRACTION_BITS)).of(ps)
    }
}

/// Nanoseconds in picoseconds.
pub fn ps(ns: f64) -> u64 {
    (ns * 1000.0).round() as u64
}

/// What everything costs, in picoseconds, and the distances that decide about it.
#[derive(Clone, Debug)]
pub struct CostTable {
    pub load_hit: u64,
    pub store_issue: u64,
    pub rmw_extra: u64,
    pub pause: u64,
    pub spin_reaction: u64,
    pub shared_load: u64,
    pub memory_local: u64,
    pub memory_remote: u64,
    /// Line modified in another core, by distance class.
    pub transfer: Vec<u64>,
    /// Shared to modified, by distance class of the farthest sharer.
    pub upgrade: Vec<u64>,
    pub owner_retention: Factor,
    pub arbitration: Factor,
    pub arbitration_remote: Factor,
    pub transfer_jitter: Factor,
    pub work_jitter: Factor,
    pub smt_factor: Factor,
    pub heavy_barrier: u64,
    pub heavy_barrier_per_cpu: u64,
    pub wake_call: u64,
    pub wake_latency: u64,
    pub sleep_call: u64,
    pub migratory: Factor,
    /// What a read-modify-write that hits must have had of the line when the snoop comes.
    pub rmw_exposed: u64,
    /// True if a read-modify-write that is under way is completed before an interrupt.
    pub is_shielded: bool,
    /// For how long after a store a read-modify-write waits that the store does not hold all bytes of.
    pub width_mismatch: u64,
    pub sockets: usize,
    /// `distance[a * sockets + b]`: distance class of two sockets.
    distance: Vec<u8>,
    /// The cores of each socket.
    pub cores_of_socket: Vec<CoreSet>,
    pub socket_of_core: Vec<u16>,
}

impl CostTable {
    /// The costs of `machine` while `active` of its CPUs are in use.
    pub fn new(machine: &Machine, active: usize) -> Self {
        let (topology, costs) = (&machine.topology, &machine.costs);
        let cpus = f64::from(topology.cpus());
        let inflation = 1.0 + costs.remote_inflation * active as f64 / cpus;
        let mut transfer = vec![ps(costs.transfer_local_ns)];
        let mut upgrade = vec![ps(costs.transfer_local_ns * costs.upgrade_local_factor)];
        for remote_ns in &costs.transfer_remote_ns {
            transfer.push(ps(remote_ns * inflation));
            upgrade.push(ps(remote_ns * inflation * costs.upgrade_remote_factor));
        }
        let sockets = topology.sockets as usize;
        let mut cores_of_socket = vec![CoreSet::default(); sockets];
        let mut socket_of_core = Vec::new();
        for core in 0..topology.cores() {
            let socket = topology.socket_of(core);
            cores_of_socket[socket as usize].add(core as u16);
            socket_of_core.push(socket as u16);
        }
        Self {
            load_hit: ps(costs.load_hit_ns),
            store_issue: ps(costs.store_issue_ns),
            rmw_extra: ps(costs.rmw_extra_ns),
            pause: ps(costs.pause_ns),
            spin_reaction: ps(costs.spin_reaction_ns),
            shared_load: ps(costs.shared_load_ns),
            memory_local: ps(costs.dram_local_ns),
            memory_remote: ps(costs.dram_remote_ns * inflation),
            transfer,
            upgrade,
            owner_retention: Factor::new(costs.owner_retention),
            arbitration: Factor::new(costs.arbitration),
            arbitration_remote: Factor::new(costs.arbitration_remote_factor),
            transfer_jitter: Factor::new(costs.transfer_jitter),
            work_jitter: Factor::new(costs.work_jitter),
            smt_factor: Factor::new(costs.smt_factor),
            heavy_barrier: ps(costs.heavy_barrier_ns),
            heavy_barrier_per_cpu: ps(costs.heavy_barrier_per_cpu_ns),
            wake_call: ps(costs.wake_call_ns),
            wake_latency: ps(costs.wake_latency_ns),
            sleep_call: ps(costs.sleep_call_ns),
            migratory: Factor::new(costs.migratory),
            is_shielded: costs.rmw_shield > 0.0,
            width_mismatch: ps(costs.width_mismatch_ns),
            rmw_exposed: ps((costs.load_hit_ns + costs.rmw_extra_ns) * (1.0 - costs.rmw_shield)),
            sockets,
            distance: topology.distance.iter().flatten().map(|&class| class as u8).collect(),
            cores_of_socket,
            socket_of_core,
        }
    }

    /// Distance class of two sockets.
    #[inline]
    pub fn class(&self, a: u16, b: u16) -> usize {
        usize::from(self.distance[usize::from(a) * self.sockets + usize::from(b)])
    }
    /// The dearest transfer there is.
    pub fn farthest_transfer(&self) -> u64 {
        self.transfer.iter().copied().max().unwrap_or(0)
    }
    /// What one futile look of a polling loop takes: a load that hits and a pause.
    pub fn look(&self) -> u64 {
        (self.load_hit + self.pause).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RandomStream;

    #[test]
    fn jitter_stays_within_its_factor_and_averages_out() {
        let mut rng = Rng::split(3, 0, RandomStream::Noise);
        let quarter = Factor::new(0.25);
        let draws: Vec<u64> = (0..10_000).map(|_| quarter.jitter(100_000, &mut rng)).collect();
        assert!(draws.iter().all(|draw| (74_999..=125_000).contains(draw)));
        let mean = draws.iter().sum::<u64>() / 10_000;
        assert!((99_000..=101_000).contains(&mean), "mean {mean}");
        assert_eq!(Factor::new(0.0).jitter(77, &mut rng), 77);
    }

    #[test]
    fn what_has_a_chance_happens_as_often_and_what_has_none_draws_nothing() {
        let mut rng = Rng::split(3, 0, RandomStream::Noise);
        let mut untouched = rng.clone();
        assert!(!(0..1_000).any(|_| Factor::new(0.0).happens(&mut rng)));
        assert_eq!(rng.next(), untouched.next());
        assert!((0..1_000).all(|_| Factor::ONE.happens(&mut rng)));
        let count = (0..10_000).filter(|_| Factor::new(0.1).happens(&mut rng)).count();
        assert!((900..1_100).contains(&count), "{count}");
    }
}
