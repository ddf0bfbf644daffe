//! All trials of a question.

use crate::records::Given;
use crate::sweep::question::{MachineChoice, Question, Settled, Slot, ThreadsChoice};
use crate::sweep::trial::{SweptTrial, TriedMachine};
use lockwright_measure::error::Error;
use lockwright_measure::subject::{Subject, SubjectOrigin};
use lockwright_measure::trial::{Trial, Tunables};
use lockwright_measure::workload::Value;
use lockwright_parts::Part;
use std::cmp::Reverse;
use std::sync::Arc;

/// All trials of a question, in the order of its file: for each point that is drawn, and each machine.
#[derive(Debug)]
pub struct Trials {
    all: Vec<SweptTrial>,
    left_out: u64,
}

impl Trials {
    /// The trials.
    ///
    /// # Errors
    /// If the numbers of a machine contradict each other, or it has no scheduler and a run needs one; the sentence says
    /// which.
    pub fn of(question: &Question) -> Result<Self, Error> {
        let mut trials = Self { all: Vec::new(), left_out: 0 };
        for point in 0..question.samples as usize {
            for choice in &question.machines {
                let machine = tried(choice, point, question)?;
                if question.runs.iter().any(|run| run.scheduling.is_some()) {
                    let scheduler = machine.simulated.machine().scheduler();
                    scheduler.map_err(|error| Error::Machine(error.to_string()))?;
                }
                trials.on(&machine, choice, point, question)?;
            }
        }
        if trials.all.is_empty() {
            return Err(Error::usage(
                "no machine has a CPU for each thread: use fewer threads, or add `scheduling = \"program\"` to [run]",
            ));
        }
        Ok(trials)
    }

    /// Those on one machine.
    fn on(
        &mut self,
        machine: &Arc<TriedMachine>,
        choice: &MachineChoice,
        point: usize,
        question: &Question,
    ) -> Result<(), Error> {
        let drawn = &question.drawn;
        let cpus = machine.simulated.machine().topology.cpus();
        for work in &question.workloads {
            let given = work.given.iter().map(|(key, slot)| (key.clone(), slot.at(point, drawn)));
            let given: Arc<Given> = Arc::new(given.collect());
            let mut workload = work.workload;
            for (key, value) in given.iter() {
                // Each was checked when it was read.
                workload.facts_mut().set(key, value);
            }
            let settled = workload.facts_mut().settle(&|name| given.contains_key(name), None);
            settled.map_err(Error::usage)?;
            let fitted = machine.simulated.placement(workload);
            for run in &question.runs {
                let threads = match &run.threads {
                    ThreadsChoice::Count(slot) => number(&slot.at(point, drawn)) as u32,
                    ThreadsChoice::Percent(percent) => (cpus * percent / 100).max(1),
                };
                if run.scheduling.is_none() && threads > cpus {
                    self.left_out += (question.locks.len() * question.seeds.len()) as u64;
                    continue;
                }
                for lock in &question.locks {
                    let tunables: Tunables = lock
                        .tunables
                        .iter()
                        .map(|(tunable, slot)| (*tunable, number(&slot.at(point, drawn)) as u64))
                        .collect();
                    let subject = Subject { row: lock.lock, origin: SubjectOrigin::Registry };
                    let window_ns = run.window_us * 1_000;
                    self.all.extend(question.seeds.iter().map(|&seed| SweptTrial {
                        point,
                        machine: Arc::clone(machine),
                        given: Arc::clone(&given),
                        trial: Trial {
                            scheduling: run.scheduling,
                            placement: Some(choice.placement.unwrap_or(fitted)),
                            warmup_ns: Some(run.warmup_us * 1_000),
                            tunables,
                            ..Trial::new(subject, workload, threads as usize, window_ns, seed)
                        },
                    }));
                }
            }
        }
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.all.len() as u64
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many combinations were left out because a machine has too few CPUs.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Those of a part and their keys, the long ones first. Trials are ordered by their cost and their key before they
    /// are dealt, so the order of the file does not matter.
    pub(crate) fn of_part(&self, part: Part) -> Vec<(String, SweptTrial)> {
        let mut all: Vec<_> =
            self.iter().map(|trial| (Reverse(trial.cost()), trial.key(), trial)).collect();
        all.sort_unstable_by(|(a, a_key, _), (b, b_key, _)| (a, a_key).cmp(&(b, b_key)));
        all.dedup_by(|(_, a, _), (_, b, _)| a == b);
        let own = part.of(all, |(Reverse(cost), ..)| *cost);
        own.into_iter().map(|(_, key, trial)| (key, trial.clone())).collect()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &SweptTrial> {
        self.all.iter()
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        Value::Text(_) | Value::Truth(_) => 0.0,
    }
}

/// The machine at a point.
fn tried(
    choice: &MachineChoice,
    point: usize,
    question: &Question,
) -> Result<Arc<TriedMachine>, Error> {
    let at = |slot: &Slot| number(&slot.at(point, &question.drawn));
    let all_at = |settled: &Settled| -> Vec<_> {
        settled.iter().map(|(key, slot)| (key.clone(), at(slot))).collect()
    };
    let (numbers, software) = (all_at(&choice.numbers), all_at(&choice.software));
    let mut simulated = choice.base.clone().changed(&numbers).map_err(|error| {
        Error::usage(format!(
            "{error}: change the lists or ranges of [machine.set] so that this cannot happen"
        ))
    })?;
    for (name, ns) in &software {
        let (workload, part) = name.split_once('.').unwrap_or_default();
        simulated = simulated.with_software(workload, part, *ns);
    }
    Ok(Arc::new(TriedMachine::new(&choice.name, numbers, software, simulated)))
}
