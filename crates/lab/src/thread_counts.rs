//! Who runs in the cells of a command: threads with a CPU each, threads that share CPUs, or the vCPUs
//! of a guest.

use crate::options::MachineArgs;
use lockwright_measure::error::Error;
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::Workload;
use lockwright_sim::{ScheduledKind, Scheduling, StartState};

/// Who runs: a number of threads, or a guest with a number of vCPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadCounts {
    /// The numbers of threads or vCPUs, each once.
    counts: Vec<usize>,
    /// How runs begin in which threads or vCPUs share CPUs.
    starts: Vec<StartState>,
    /// The kind of scheduler that they have if they are more than `unscheduled`.
    kind: Option<ScheduledKind>,
    unscheduled: usize,
}

/// The most native threads that a command line can ask for.
const NATIVE_MAX: usize = 4096;
/// The most simulated threads that a command line can ask for.
const SIMULATED_MAX: usize = 1024;

impl ThreadCounts {
    /// Threads with a CPU each, or natively as many as there are.
    pub fn of_threads(
        machine: &dyn LabMachine,
        workload: Workload,
        counts: &[usize],
    ) -> Result<Self, Error> {
        Self::new(machine, workload, counts, kind(machine, workload), StartState::ALL)
    }

    /// What was asked for; `usual` are the numbers of threads if nothing was.
    pub fn asked(
        machine: &dyn LabMachine,
        workload: Workload,
        args: &MachineArgs,
        threads: &[usize],
        usual: &[usize],
    ) -> Result<Self, Error> {
        let (placement, args) = (args.placement, &args.guest);
        let is_guest = !args.vcpus.is_empty();
        let wrong = [
            (
                is_guest && !machine.is_simulated(),
                "--vcpus makes a guest of a simulated machine: add --on with one, such as \
                 `--on haswell-2s`",
            ),
            (
                is_guest && !threads.is_empty(),
                "--threads and --vcpus exclude each other: give --vcpus for a guest, --threads for \
                 a program",
            ),
            (
                is_guest && placement.is_some(),
                "--placement is for threads, because a host moves the vCPUs of its guest: leave it out",
            ),
            (
                args.virtual_numa && !is_guest,
                "--virtual-numa is for guests: add --vcpus with a number",
            ),
        ];
        if let Some((_, sentence)) = wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
            return Err(Error::usage(sentence));
        }
        let preempted = StartState::Preempted.name();
        if workload.is_in_kernel() && args.start_state.iter().any(|name| name == preempted) {
            return Err(Error::usage(format!(
                "--start-state {preempted} takes CPUs from threads that run, and tasks in a kernel keep \
                 theirs: give {} or {}",
                StartState::Running.name(),
                StartState::Queued.name()
            )));
        }
        let kind = match is_guest {
            true => Some(ScheduledKind::Guest { virtual_numa: args.virtual_numa }),
            false => kind(machine, workload),
        };
        let counts = match (&args.vcpus[..], threads) {
            ([], []) => usual,
            ([], asked) | (asked, _) => asked,
        };
        let thread_counts = Self::new(machine, workload, counts, kind, &args.starts())?;
        if !args.start_state.is_empty() && thread_counts.kind().is_none() {
            return Err(Error::usage(format!(
                "--start-state is for simulated threads that share CPUs: add --vcpus, or more \
                 --threads than the {} CPUs of a simulated machine",
                machine.cpus()
            )));
        }
        Ok(thread_counts)
    }

    fn new(
        machine: &dyn LabMachine,
        workload: Workload,
        counts: &[usize],
        kind: Option<ScheduledKind>,
        starts: &[StartState],
    ) -> Result<Self, Error> {
        let limit = if machine.is_simulated() { SIMULATED_MAX } else { NATIVE_MAX };
        let is_left_alone =
            |start: &&StartState| **start != StartState::Preempted || !workload.is_in_kernel();
        let mut thread_counts = Self {
            counts: Vec::new(),
            starts: starts.iter().filter(is_left_alone).copied().collect(),
            kind,
            unscheduled: if kind == Some(ScheduledKind::Program) { machine.cpus() } else { 0 },
        };
        let flag = format!("--{}", thread_counts.noun().to_lowercase());
        for &count in counts {
            if count == 0 {
                return Err(Error::usage(format!("{flag} 0 runs nothing: give at least 1")));
            }
            if let Some((least, most, why)) = workload.threads()
                && !(least..=most).contains(&count)
            {
                return Err(Error::usage(format!("{why} {flag}")));
            }
            if count > limit {
                return Err(Error::usage(format!(
                    "{flag} {count} is too many: give at most {limit}"
                )));
            }
            if thread_counts.kind_of(count).is_some() {
                machine.has_scheduler()?;
            }
            if !thread_counts.counts.contains(&count) {
                thread_counts.counts.push(count);
            }
        }
        Ok(thread_counts)
    }

    /// How many, each number once.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }
    /// What they are called.
    pub fn noun(&self) -> &'static str {
        match self.kind {
            Some(ScheduledKind::Guest { .. }) => "vCPUs",
            _ => "threads",
        }
    }
    /// The kind of scheduler that runs `count` of them, if there is one.
    fn kind_of(&self, count: usize) -> Option<ScheduledKind> {
        self.kind.filter(|_| count > self.unscheduled)
    }
    /// The ways in which a cell with `count` of them runs, a result for each.
    pub fn schedulings(&self, count: usize) -> Vec<Option<Scheduling>> {
        match self.kind_of(count) {
            None => vec![None],
            Some(kind) => {
                self.starts.iter().map(|&start| Some(Scheduling { kind, start })).collect()
            }
        }
    }
    /// The kind of scheduler of the first number of them that has one.
    pub fn kind(&self) -> Option<ScheduledKind> {
        self.counts.iter().find_map(|&count| self.kind_of(count))
    }
}

/// The kind of scheduler of simulated threads that share CPUs, if they are no guest.
fn kind(machine: &dyn LabMachine, workload: Workload) -> Option<ScheduledKind> {
    let kind = match workload.is_in_kernel() {
        true => ScheduledKind::Kernel,
        false => ScheduledKind::Program,
    };
    machine.is_simulated().then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockMachine;
    use crate::options;
    use lockwright_measure::simulated::SimulatedMachine;
    use lockwright_measure::trial::Settings;

    const COUNTER: Workload = Workload::counter(1, 0);

    fn haswell() -> SimulatedMachine {
        let machine = SimulatedMachine::builtin("haswell-2s", Settings::default());
        machine.expect("it is built in").expect("it is valid")
    }

    fn kinds(
        thread_counts: &ThreadCounts,
        count: usize,
    ) -> Vec<Option<(ScheduledKind, StartState)>> {
        thread_counts.schedulings(count).into_iter().map(|s| s.map(|s| (s.kind, s.start))).collect()
    }

    #[test]
    fn only_those_who_share_simulated_cpus_have_a_scheduler() {
        let threads = |machine: &dyn LabMachine| {
            ThreadCounts::of_threads(machine, COUNTER, &[36, 37]).expect("sound numbers")
        };
        let native = threads(&MockMachine::default());
        assert_eq!((kinds(&native, 36), kinds(&native, 37)), (vec![None], vec![None]));
        let simulated = threads(&haswell());
        assert_eq!(kinds(&simulated, 36), [None]);
        let all = StartState::ALL.iter().map(|&start| Some((ScheduledKind::Program, start)));
        assert_eq!(kinds(&simulated, 37), all.collect::<Vec<_>>());
        assert_eq!((native.kind(), simulated.kind()), (None, Some(ScheduledKind::Program)));
    }

    #[test]
    fn a_guest_is_one_with_any_number_of_vcpus() {
        let asked = options::read("--vcpus 2,72,2 --virtual-numa --start-state after-preemption");
        let thread_counts =
            ThreadCounts::asked(&haswell(), COUNTER, &asked, &[], &[1]).expect("it is sound");
        assert_eq!((thread_counts.counts(), thread_counts.noun()), (&[2, 72][..], "vCPUs"));
        let guest = ScheduledKind::Guest { virtual_numa: true };
        assert_eq!(kinds(&thread_counts, 2), [Some((guest, StartState::Preempted))]);
    }
}
