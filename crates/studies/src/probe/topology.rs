//! The shape of this computer: which CPUs share a core, and which cores a socket.

use lockwright_measure::native::affinity::allowed_cpus;
use std::collections::BTreeMap;
use std::fs;

/// Where a CPU is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuPlace {
    /// Its number.
    pub cpu: usize,
    /// The number of its socket.
    pub package: u64,
    /// The number of its core in the socket.
    pub core: u64,
}

/// A uniform machine made of CPUs of this computer: a machine file knows no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuLayout {
    /// CPUs by socket, core and hardware thread.
    pub sockets: Vec<Vec<Vec<usize>>>,
    /// CPUs that do not fit in, because their core or their socket has more of them than others have.
    pub left_out: Vec<usize>,
}

/// Two CPUs, and whether they are in one socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Couple {
    /// The CPUs.
    pub cpus: [usize; 2],
    /// Their sockets.
    pub sockets: [usize; 2],
}

impl CpuLayout {
    /// The CPUs that this process may use.
    pub fn here() -> Self {
        Self::of(&allowed_cpus().into_iter().map(place_of).collect::<Vec<_>>())
    }
    /// The largest uniform machine of these CPUs. Where the kernel does not say where a CPU is, it is a
    /// core of its own.
    pub fn of(places: &[CpuPlace]) -> Self {
        let mut found: BTreeMap<u64, BTreeMap<u64, Vec<usize>>> = BTreeMap::new();
        for place in places {
            let cores = found.entry(place.package).or_default();
            cores.entry(place.core).or_default().push(place.cpu);
        }
        let cores = found.values().map(BTreeMap::len).min().unwrap_or(0);
        let kept = || found.values().map(|socket| socket.values().take(cores));
        let threads = kept().flatten().map(Vec::len).min().unwrap_or(0);
        let of_core = |core: &Vec<usize>| core.iter().copied().take(threads).collect::<Vec<_>>();
        let sockets: Vec<Vec<Vec<usize>>> =
            kept().map(|cores| cores.map(of_core).collect()).collect();
        let is_kept = |cpu: usize| sockets.iter().flatten().flatten().any(|&kept| kept == cpu);
        let left_out = places.iter().map(|place| place.cpu).filter(|&cpu| !is_kept(cpu)).collect();
        Self { sockets, left_out }
    }
    /// Cores of each socket.
    pub fn cores_per_socket(&self) -> usize {
        self.sockets.first().map_or(0, Vec::len)
    }
    /// Hardware threads of each core.
    pub fn threads_per_core(&self) -> usize {
        self.sockets.first().and_then(|socket| socket.first()).map_or(0, Vec::len)
    }
    /// The CPU for what one thread measures alone: not the first, which serves most interrupts.
    pub fn quiet_cpu(&self) -> usize {
        let last = self.sockets.last().and_then(|socket| socket.last());
        last.and_then(|core| core.first()).copied().unwrap_or(0)
    }
    /// Two hardware threads of one core, if cores have several.
    pub fn siblings(&self) -> Option<[usize; 2]> {
        let core = self.sockets.first()?.first()?;
        Some([*core.first()?, *core.get(1)?])
    }
    /// Pairs of cores, each by its first hardware thread, at most `most` of them and from all over the
    /// machine.
    pub fn couples(&self, most: usize) -> Vec<Couple> {
        let firsts: Vec<(usize, usize)> = (self.sockets.iter().enumerate())
            .flat_map(|(socket, cores)| cores.iter().map(move |core| (socket, core[0])))
            .collect();
        let all: Vec<Couple> = (firsts.iter().enumerate())
            .flat_map(|(at, &(socket, cpu))| {
                firsts[at + 1..].iter().map(move |&(other_socket, other)| Couple {
                    cpus: [cpu, other],
                    sockets: [socket, other_socket],
                })
            })
            .collect();
        let step = all.len().div_ceil(most.max(1)).max(1);
        // A step that shares a factor with the number of cores would always meet the same ones.
        let step = if step > 1 { step | 1 } else { 1 };
        all.into_iter().step_by(step).collect()
    }
}

/// What the kernel says about a CPU.
fn place_of(cpu: usize) -> CpuPlace {
    let read = |name: &str| -> Option<u64> {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}");
        parse_number(&fs::read_to_string(path).ok()?)
    };
    match (read("physical_package_id"), read("core_id")) {
        (Some(package), Some(core)) => CpuPlace { cpu, package, core },
        _ => CpuPlace { cpu, package: 0, core: 1 << 32 | cpu as u64 },
    }
}

/// A number of sysfs; where the firmware says nothing it is -1, and all CPUs are alike.
fn parse_number(text: &str) -> Option<u64> {
    text.trim().parse::<i64>().ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(list: &[(usize, u64, u64)]) -> Vec<CpuPlace> {
        list.iter().map(|&(cpu, package, core)| CpuPlace { cpu, package, core }).collect()
    }

    #[test]
    fn cpus_are_grouped_by_core_and_socket() {
        let shape = CpuLayout::of(&places(&[
            (0, 0, 0),
            (1, 0, 1),
            (2, 1, 0),
            (3, 1, 1),
            (4, 0, 0),
            (5, 0, 1),
            (6, 1, 0),
            (7, 1, 1),
        ]));
        let socket = |cpus: [[usize; 2]; 2]| cpus.map(|core| core.to_vec()).to_vec();
        assert_eq!(shape.sockets, [socket([[0, 4], [1, 5]]), socket([[2, 6], [3, 7]])]);
        assert_eq!(shape.siblings(), Some([0, 4]));
        assert!(shape.left_out.is_empty());
        let couples = shape.couples(100);
        assert_eq!(couples.len(), 6);
        assert!(couples.contains(&Couple { cpus: [1, 2], sockets: [0, 1] }));
    }

    #[test]
    fn cpus_that_an_affinity_mask_leaves_uneven_are_left_out() {
        let shape = CpuLayout::of(&places(&[(0, 0, 0), (1, 0, 0), (2, 0, 1), (5, 3, 7)]));
        assert_eq!(shape.sockets, [vec![vec![0]], vec![vec![5]]]);
        assert_eq!(shape.left_out, [1, 2]);
        assert_eq!((shape.siblings(), shape.quiet_cpu()), (None, 5));
    }

    #[test]
    fn of_many_pairs_some_are_taken_from_everywhere() {
        let many: Vec<_> = (0..64).map(|cpu| (cpu, cpu as u64 / 32, cpu as u64)).collect();
        let couples = CpuLayout::of(&places(&many)).couples(100);
        assert!((90..=101).contains(&couples.len()), "{}", couples.len());
        for sockets in [[0, 0], [0, 1], [1, 1]] {
            assert!(couples.iter().any(|couple| couple.sockets == sockets), "{sockets:?}");
        }
    }

    #[test]
    fn numbers_that_the_firmware_does_not_know_are_not_taken() {
        assert_eq!(parse_number("17\n"), Some(17));
        assert_eq!(parse_number("-1\n"), None);
    }
}
