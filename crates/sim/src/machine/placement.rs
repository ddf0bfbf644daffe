//! Which CPUs the threads of a benchmark run on.

use super::Topology;
use core::fmt;

/// A rule that gives each thread a CPU. Every rule uses the first hardware thread of all cores
/// before the second of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadPlacement {
    /// Socket by socket.
    Compact,
    /// Sockets in turn.
    Spread,
    /// A random core for each thread, from the seed.
    Random,
    /// What the scheduler of Linux 5.6 did with unpinned threads in the published locktorture
    /// table: as [`Random`](Self::Random), except that two threads share a socket.
    ///
    /// 5.6 allowed a NUMA imbalance of two tasks, so the second thread was not moved away from the
    /// first; the releases before and after spread them, and their two-thread cells are a quarter
    /// lower on the same machine.
    Scheduler56,
}

/// More threads than CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementError {
    /// Threads to be placed.
    pub threads: u32,
    /// CPUs there are.
    pub cpus: u32,
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} threads do not fit on the machine's {} CPUs", self.threads, self.cpus)
    }
}

impl core::error::Error for PlacementError {}

impl ThreadPlacement {
    /// Every rule.
    pub const ALL: &[Self] = &[Self::Compact, Self::Spread, Self::Random, Self::Scheduler56];

    /// The name it is selected by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Spread => "spread",
            Self::Random => "random",
            Self::Scheduler56 => "scheduler-5.6",
        }
    }

    /// The rule of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|placement| placement.name() == name)
    }

    /// Returns true if another seed gives another placement.
    pub const fn is_random(self) -> bool {
        matches!(self, Self::Random | Self::Scheduler56)
    }

    /// The CPU of each of `threads` threads.
    pub fn place(
        self,
        topology: &Topology,
        threads: u32,
        seed: u64,
    ) -> Result<Vec<u32>, PlacementError> {
        let cpus = topology.cpus();
        if threads > cpus {
            return Err(PlacementError { threads, cpus });
        }
        let mut cores = match self {
            Self::Compact => (0..topology.cores()).collect(),
            Self::Spread => spread(topology),
            Self::Random | Self::Scheduler56 => shuffled(topology.cores(), seed),
        };
        if self == Self::Scheduler56 && threads == 2 {
            // The first thread's socket to the front, otherwise in the same random order.
            let socket = topology.socket_of(cores[0]);
            cores.sort_by_key(|&core| topology.socket_of(core) != socket);
        }
        let siblings = (0..topology.threads_per_core).map(|thread| thread * topology.cores());
        let cpus = siblings.flat_map(|first| cores.iter().map(move |core| first + core));
        Ok(cpus.take(threads as usize).collect())
    }
}

fn spread(topology: &Topology) -> Vec<u32> {
    let core = |core| (0..topology.sockets).map(move |s| s * topology.cores_per_socket + core);
    (0..topology.cores_per_socket).flat_map(core).collect()
}

/// The cores in random order (Fisher and Yates).
fn shuffled(cores: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..cores).collect();
    let mut state = seed;
    for last in (1..order.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let range = last as u128 + 1;
        // The high half of the product is uniform below `range`.
        let chosen = (u128::from(mixed(state)) * range) >> 64;
        order.swap(last, chosen as usize);
    }
    order
}

/// SplitMix64's output function (Steele, Lea and Flood, 2014).
fn mixed(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use std::collections::BTreeSet;

    fn x5_4() -> Topology {
        Machine::builtin("x5-4").expect("it is built in").topology
    }

    fn sockets(topology: &Topology, cpus: &[u32]) -> Vec<u32> {
        cpus.iter().map(|&cpu| topology.socket_of(cpu)).collect()
    }

    #[test]
    fn no_rule_gives_a_cpu_twice_and_every_rule_fills_the_machine() {
        let topology = x5_4();
        for &placement in ThreadPlacement::ALL {
            for threads in [0, 1, 2, 17, 72, 73, 144] {
                let cpus = placement.place(&topology, threads, 7).expect("they fit");
                let distinct: BTreeSet<_> = cpus.iter().copied().collect();
                assert_eq!(cpus.len(), threads as usize, "{placement:?}");
                assert_eq!(distinct.len(), threads as usize, "{placement:?}");
                assert!(distinct.iter().all(|&cpu| cpu < topology.cpus()));
            }
        }
    }

    #[test]
    fn siblings_come_last_under_every_rule() {
        let topology = x5_4();
        for &placement in ThreadPlacement::ALL {
            let cpus = placement.place(&topology, 72, 3).expect("they fit");
            let cores: BTreeSet<_> = cpus.iter().map(|&cpu| topology.core_of(cpu)).collect();
            assert_eq!(cores.len(), 72, "{placement:?}: a core is used twice before all are used");
            assert!(cpus.iter().all(|&cpu| cpu < 72), "{placement:?}");
        }
    }

    #[test]
    fn compact_fills_a_socket_before_the_next() {
        let topology = x5_4();
        let cpus = ThreadPlacement::Compact.place(&topology, 19, 1).expect("they fit");
        assert_eq!(sockets(&topology, &cpus), [[0; 18].as_slice(), &[1]].concat());
    }

    #[test]
    fn spread_takes_the_sockets_in_turn() {
        let topology = x5_4();
        let cpus = ThreadPlacement::Spread.place(&topology, 6, 1).expect("they fit");
        assert_eq!(sockets(&topology, &cpus), [0, 1, 2, 3, 0, 1]);
    }

    #[test]
    fn random_depends_on_the_seed_and_on_nothing_else() {
        let topology = x5_4();
        let place = |seed| ThreadPlacement::Random.place(&topology, 8, seed).expect("they fit");
        assert_eq!(place(5), place(5));
        assert_ne!(place(5), place(6));
        let first: BTreeSet<_> = (0..64).map(|seed| topology.socket_of(place(seed)[0])).collect();
        assert_eq!(first.len(), 4, "every socket comes first with some seed");
    }

    #[test]
    fn the_scheduler_of_5_6_keeps_two_threads_on_one_socket_and_places_others_at_random() {
        let topology = x5_4();
        for seed in 0..64 {
            let two = ThreadPlacement::Scheduler56.place(&topology, 2, seed).expect("they fit");
            assert_eq!(topology.socket_of(two[0]), topology.socket_of(two[1]));
            assert_ne!(topology.core_of(two[0]), topology.core_of(two[1]));
            for threads in [1, 3, 36] {
                assert_eq!(
                    ThreadPlacement::Scheduler56.place(&topology, threads, seed),
                    ThreadPlacement::Random.place(&topology, threads, seed),
                );
            }
        }
    }

    #[test]
    fn more_threads_than_cpus_are_refused_with_both_numbers() {
        let error = ThreadPlacement::Compact.place(&x5_4(), 145, 0).expect_err("one too many");
        assert_eq!(error, PlacementError { threads: 145, cpus: 144 });
        assert_eq!(error.to_string(), "145 threads do not fit on the machine's 144 CPUs");
    }

    #[test]
    fn names_select_their_rule() {
        for &placement in ThreadPlacement::ALL {
            assert_eq!(ThreadPlacement::named(placement.name()), Some(placement));
        }
        assert_eq!(ThreadPlacement::named("dense"), None);
    }
}
