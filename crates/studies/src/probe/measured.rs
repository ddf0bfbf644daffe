//! Everything that is measured, and in which order.

use super::lines::{LineContest, PairCosts, hammer, take_turns};
use super::own::{self, OwnCosts};
use super::pair::while_busy;
use super::samples::middle;
use super::sleep::{self, WakeUp, busy};
use super::slices::{self, Watch};
use super::topology::CpuLayout;
use super::widths::{self, PairsOfWidths};
use lockwright_measure::stats::median;
use lockwright_sheets::Progress;
use std::time::Duration;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct ProbeEffort {
    /// Short rounds of each measurement.
    pub rounds: usize,
    /// Bursts in which the pairs take turns, apart from each other in time.
    pub bursts: usize,
    /// Pairs of cores at most.
    pub pairs: usize,
    /// How long the scheduler is watched each time.
    pub watch: Duration,
    /// Wake-ups.
    pub wake_ups: usize,
}

impl ProbeEffort {
    /// About ten seconds.
    pub const FULL: Self = Self {
        rounds: 200,
        bursts: 5,
        pairs: 300,
        watch: Duration::from_millis(1_000),
        wake_ups: 1_000,
    };
    /// Under a second: numbers to try the format with.
    pub const QUICK: Self =
        Self { rounds: 10, bursts: 1, pairs: 20, watch: Duration::from_millis(60), wake_ups: 20 };
}

/// For how long a CPU has been idle when a thread is woken there, in microseconds: a processor that has
/// slept for longer takes longer to wake up.
const IDLE_US: [u64; 4] = [3, 10, 50, 200];

/// What was measured in this computer. What takes two cores is missing if there is one.
#[derive(Clone, Debug)]
pub struct Measured {
    /// CPUs, cores, sockets.
    pub shape: CpuLayout,
    /// A core alone.
    pub own: OwnCosts,
    /// The same core: locked accesses and stores of all widths.
    pub widths: PairsOfWidths,
    /// Two cores.
    pub pairs: Vec<PairCosts>,
    /// Two cores that want a line with read-modify-writes.
    pub hammer: Option<LineContest>,
    /// Two cores that want a word, which each keeps for a time.
    pub turns: Option<LineContest>,
    /// How many times as long work takes while the core's other hardware thread works, too.
    pub sibling: Option<f64>,
    /// A heavy barrier while no other thread runs.
    pub barrier_alone: f64,
    /// A heavy barrier with one other thread running.
    pub barrier_in_company: Option<f64>,
    /// A call that does not sleep.
    pub refused_sleep: f64,
    /// Two threads wake each other on one CPU: there and back.
    pub round_trip: f64,
    /// Wake-ups, each with the time that the CPU had been idle for.
    pub wake_ups: Vec<(Duration, WakeUp)>,
    /// A thread alone.
    pub noise: Watch,
    /// Two threads on one CPU.
    pub shared: Watch,
    /// Wake-ups on a busy CPU by another one, of a thread that may run there only.
    pub arrivals: Vec<WakeUp>,
    /// Wake-ups by the thread that has the sleeper's last CPU, while another CPU is idle.
    pub visits: Vec<WakeUp>,
}

impl Measured {
    /// Measures this computer.
    pub fn here(effort: ProbeEffort, progress: Progress) -> Self {
        let shape = CpuLayout::here();
        let cpu = shape.quiet_cpu();
        let two = other_core(&shape, cpu).map(|other| [other, cpu]);
        progress.say("one core: loads, stores, read-modify-writes, pauses, memory");
        let own = own::measure(cpu, effort.rounds);
        let widths = widths::measure(cpu, effort.rounds);
        let pairs = shape.couples(effort.pairs).into_iter();
        let mut pairs: Vec<_> =
            pairs.map(|couple| PairCosts { couple, ..PairCosts::default() }).collect();
        progress.say(&format!("{} pairs of cores: transfers of lines", pairs.len()));
        for _ in 0..effort.bursts {
            pairs.iter_mut().for_each(|pair| pair.measure(effort.rounds / effort.bursts));
        }
        let contest = |measure: fn([usize; 2], Duration) -> LineContest| {
            let once = |cpus| measure(cpus, effort.watch / 250);
            two.map(|cpus| fairest((0..25).map(|_| once(cpus)).collect()))
        };
        let (hammer, turns) = (contest(hammer), contest(take_turns));
        progress.say("heavy barriers, sleeping and waking");
        let barrier_alone = median(&sleep::barriers(cpu, effort.rounds));
        let barrier_in_company = two.map(|cpus| {
            let burst = || median(&sleep::barriers(cpus[0], effort.rounds / 10));
            middle(10, || while_busy(cpus[1], burst))
        });
        let refused_sleep = median(&sleep::refused_sleep(cpu, effort.rounds));
        let round_trip = median(&sleep::round_trips(cpu, effort.rounds));
        let wake_up = |idle, cpus| {
            let seen = sleep::wake_ups(cpus, effort.wake_ups, || busy(idle));
            let middle =
                |get: fn(&WakeUp) -> f64| median(&seen.iter().map(get).collect::<Vec<_>>());
            let (call, latency) = (middle(|one| one.call), middle(|one| one.latency));
            (idle, WakeUp { call, latency, ..WakeUp::default() })
        };
        let idle = IDLE_US.map(Duration::from_micros).into_iter();
        let wake_ups = idle.filter_map(|idle| Some(wake_up(idle, two?))).collect();
        progress.say("the scheduler: noise, slices, preemption");
        let noise = slices::watch(cpu, 1, effort.watch);
        let shared = slices::watch(cpu, 2, effort.watch);
        let sibling = shape.siblings().map(|cpus| slices::sibling_factor(cpus, effort.rounds));
        let slice = shared.slice_ns();
        // Each takes a slice on average, or two where it has to wait.
        let rounds = effort.watch.as_nanos() as f64 * 2.0 / slice.max(1.0);
        let rounds = (rounds as usize).clamp(5, effort.wake_ups);
        let arrivals = two.map(|cpus| slices::arrivals(cpus, rounds / 2, slice as usize));
        let visits = two.map(|cpus| slices::visits(cpus, rounds, slice as usize / 4));
        Self {
            shape,
            own,
            widths,
            pairs,
            hammer,
            turns,
            sibling,
            barrier_alone,
            barrier_in_company,
            refused_sleep,
            round_trip,
            wake_ups,
            noise,
            shared,
            arrivals: arrivals.unwrap_or_default(),
            visits: visits.unwrap_or_default(),
        }
    }
    /// The part of a CPU that something else has, as far as it is gaps shorter than half a slice: what
    /// has it for longer is another program.
    pub fn noise_part(&self) -> f64 {
        let longest = self.shared.slice_ns() / 2.0;
        let lost: f64 = self.noise.gaps.iter().filter(|&&gap| gap < longest).sum();
        let had = self.noise.had;
        if had > 0.0 { lost / (lost + had) } else { 0.0 }
    }
}

/// The first CPU of another core, of another socket only if there is none in this one.
fn other_core(shape: &CpuLayout, cpu: usize) -> Option<usize> {
    let is_own = |core: &Vec<usize>| core.contains(&cpu);
    let own = shape.sockets.iter().position(|socket| socket.iter().any(is_own))?;
    let near = shape.sockets[own].iter();
    let all = near.chain(shape.sockets.iter().flatten());
    let mut others = all.filter(|core| !is_own(core));
    others.next()?.first().copied()
}

/// The contest at the quarter with the shorter run lengths. A contest in which one of the two had no CPU
/// for a while has longer ones.
fn fairest(mut contests: Vec<LineContest>) -> LineContest {
    contests.sort_by(|a, b| a.run_length.total_cmp(&b.run_length));
    contests.get(contests.len() / 4).copied().unwrap_or_default()
}
