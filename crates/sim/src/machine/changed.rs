//! A machine with other numbers than its file has.

use super::costs::{SCALARS, SCHEDULER};
use super::error::{MachineError, Problem};
use super::load::SOCKETS_PER_NODE;
use super::{Machine, Topology};

/// The number of CPUs, each a core of one socket.
const CPUS: &str = "cpus";

/// A value that counts something.
fn count(value: f64) -> Result<u32, Problem> {
    let is_whole = value.fract() == 0.0 && (1.0..=f64::from(u16::MAX)).contains(&value);
    let allowed = "a whole number, 1 or more";
    if is_whole { Ok(value as u32) } else { Err(Problem::OutOfRange { value, allowed }) }
}

impl Machine {
    /// The names that [`changed`](Self::changed) takes: the costs and the numbers of the scheduler by their keys in a
    /// machine file, but for `transfer_remote`, which is a list; `sockets_per_node`; and `cpus`, which makes it one
    /// socket with that many cores of one thread.
    pub fn number_names() -> impl Iterator<Item = &'static str> {
        let costs = SCALARS.iter().map(|cost| cost.key);
        [CPUS, SOCKETS_PER_NODE]
            .into_iter()
            .chain(costs)
            .chain(SCHEDULER.iter().map(|number| number.key))
    }

    /// This machine with other numbers, checked. The name says which they are.
    pub fn changed(&self, numbers: &[(String, f64)]) -> Result<Self, MachineError> {
        let mut changed = self.clone();
        for (key, value) in numbers {
            changed.set(key, *value).map_err(|problem| MachineError {
                file: format!("machine {}", self.name),
                key: key.clone(),
                problem,
            })?;
        }
        if !numbers.is_empty() {
            let all: Vec<_> = numbers.iter().map(|(key, value)| format!("{key}={value}")).collect();
            changed.name = format!("{} with {}", self.name, all.join(" "));
            changed.description = format!("{}, with {}", self.description, all.join(" "));
        }
        changed.validate()?;
        Ok(changed)
    }

    fn set(&mut self, key: &str, value: f64) -> Result<(), Problem> {
        if key == CPUS {
            let cores_per_socket = count(value)?;
            let distance = vec![vec![0]];
            self.topology = Topology {
                sockets: 1,
                cores_per_socket,
                threads_per_core: 1,
                sockets_per_node: 1,
                distance,
            };
            self.costs.transfer_remote_ns.clear();
            return Ok(());
        }
        if key == SOCKETS_PER_NODE {
            self.topology.sockets_per_node = count(value)?;
            return Ok(());
        }
        if let Some(cost) = SCALARS.iter().find(|cost| cost.key == key) {
            *(cost.slot)(&mut self.costs) = value;
            return Ok(());
        }
        let number = SCHEDULER.iter().find(|number| number.key == key);
        let number = number.ok_or(Problem::UnknownKey)?;
        let scheduler = self.scheduler.as_mut().ok_or(Problem::NoScheduler)?;
        *(number.slot)(scheduler) = value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(numbers: &[(&str, f64)]) -> Result<Machine, MachineError> {
        let machine = Machine::builtin("x5-4").expect("it is built in");
        let numbers: Vec<_> = numbers.iter().map(|&(key, value)| (key.into(), value)).collect();
        machine.changed(&numbers)
    }

    #[test]
    fn a_number_replaces_that_of_the_file_and_is_part_of_the_name() {
        let machine = changed(&[("cpus", 8.0), ("pause", 45.0), ("slice", 1e6)]).expect("sound");
        assert_eq!(machine.name, "x5-4 with cpus=8 pause=45 slice=1000000");
        assert_eq!((machine.topology.cpus(), machine.topology.sockets), (8, 1));
        assert_eq!(machine.costs.pause_ns, 45.0);
        assert_eq!(machine.scheduler.map(|scheduler| scheduler.slice_ns), Some(1e6));
        let same = changed(&[]).expect("nothing was changed");
        assert_eq!(same, Machine::builtin("x5-4").expect("it is built in"));
    }

    #[test]
    fn a_number_that_makes_no_sense_is_refused_by_its_name() {
        for (key, value) in
            [("cpus", 0.0), ("cpus", 1.5), ("cpus", 1e3), ("smt", 0.5), ("sockets_per_node", 3.0)]
        {
            let error = changed(&[(key, value)]).expect_err("no sense").to_string();
            assert!(error.contains(if value == 1e3 { "cores" } else { key }), "{error}");
        }
        let two = changed(&[("sockets_per_node", 2.0)]).expect("two nodes of two sockets");
        assert_eq!((two.topology.nodes(), two.topology.node_of(40)), (2, 1));
        let error = changed(&[("pauses", 1.0)]).expect_err("no such key").to_string();
        assert!(error.contains("pauses"), "{error}");
        for name in Machine::number_names() {
            let problem = changed(&[(name, 1.0)]).err().map(|error| error.problem);
            assert_ne!(problem, Some(Problem::UnknownKey), "{name}");
        }
    }
}
